"""Programs with a command line: flags from dataclasses, exit codes, and errors without tracebacks.

Typer reads the flags; it is imported when a command line is read, not before.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_type_hints

from stcompile.base.boundary import SWITCH
from stcompile.base.errors import StcompileError
from stcompile.base.extras import MissingExtraError, require

DONE, FAILED, WRONG_USE, INTERRUPTED = 0, 1, 2, 130  # exit codes

Given = TypeVar("Given")


class UsageError(StcompileError):
    """A command line that asks for something that does not exist: exit code 2."""


class FlagError(ValueError, argparse.ArgumentTypeError):
    """Raised when the text typed for a flag does not fit; argparse shows the text as well."""


@dataclass(frozen=True)
class Flag:
    """The command-line flag of a field of a dataclass of options: ``epochs: Annotated[int,
    Flag("times that all images are seen", at_least(0), "N")] = 5``.

    ``parse`` makes the value from the typed text, or raises a `ValueError` that says what is wrong
    with it. ``default`` is the text of the default, for fields whose own default would say nothing.
    """

    help: str
    parse: Callable[[Any], Any] | None = None
    metavar: str | None = None
    default: str | None = None


def flags(options: type[Any]) -> Iterator[tuple[dataclasses.Field[Any], Any, Flag]]:
    """Every field of the dataclass that is a flag, with its type. A subclass that gives it another
    default does not say the flag again."""
    bases = [base for base in options.__mro__ if dataclasses.is_dataclass(base)]
    hints = [get_type_hints(base, include_extras=True) for base in bases]
    for field in dataclasses.fields(options):
        said = [hint[field.name] for hint in hints if field.name in hint]
        for kind in said:
            for flag in getattr(kind, "__metadata__", ()):
                if isinstance(flag, Flag):
                    yield field, kind.__origin__, flag
                    break
            else:
                continue
            break


def command_of(
    options: type[Given], run: Callable[[Given], int], description: str
) -> Callable[..., Any]:
    """A function for Typer whose parameters are the flags of ``options``; ``run`` gets what they
    say, and returns the exit code."""

    def command(**given: Any) -> int:
        return run(options(**given))

    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=Annotated[kind, _option(field, flag)],
        )
        for field, kind, flag in flags(options)
    ]
    vars(command)["__signature__"] = inspect.Signature(parameters)
    command.__doc__ = description
    return reported(command)


def _option(field: dataclasses.Field[Any], flag: Flag) -> Any:
    how: dict[str, Any] = {"help": flag.help, "metavar": flag.metavar}
    if flag.parse is not None:
        how["parser"] = parser_of(flag.parse)
    if flag.default is not None and field.default is None:
        how["show_default"] = flag.default
    return typer().Option(f"--{field.name.replace('_', '-')}", **how)


def parser_of(parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap ``parse`` for Typer: a `ValueError` becomes Typer's error for a bad parameter."""

    @functools.wraps(parse)
    def parser(text: Any) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise typer().BadParameter(str(error)) from None

    return parser


def reported(command: Callable[..., int | None]) -> Callable[..., None]:
    """The command with the flag ``--traceback``: its result is the exit code, and without that
    flag an error is its message alone."""
    option = typer().Option("--traceback", help="show where an error comes from, in all frames")
    own = inspect.signature(command, eval_str=True)
    shared = inspect.Parameter(
        "traceback",
        inspect.Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[bool, option],
    )

    @functools.wraps(command)
    def with_report(*arguments: Any, traceback: bool, **keywords: Any) -> None:
        if traceback:
            os.environ[SWITCH] = "1"
        code = status(lambda: command(*arguments, **keywords), traceback)
        raise typer().Exit(code)

    parameters = [*own.parameters.values(), shared]
    vars(with_report)["__signature__"] = own.replace(parameters=parameters)
    del vars(with_report)["__wrapped__"]
    with_report.__annotations__ = {p.name: p.annotation for p in parameters}
    return with_report


def status(run: Callable[[], int | None], shows_traceback: bool = False) -> int:
    """The exit code of a run; an error is printed."""
    try:
        return run() or DONE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        if shows_traceback:
            traceback.print_exception(error)
        elif isinstance(error, StcompileError):
            print(f"error: {error}", file=sys.stderr)
        else:
            said = "".join(traceback.format_exception_only(error)).strip()
            print(f"error: {said}\nhint: --traceback shows where", file=sys.stderr)
        return WRONG_USE if isinstance(error, UsageError | MissingExtraError) else FAILED


def application(
    commands: Mapping[str, Callable[..., Any]], description: str | None, **more: Any
) -> Any:
    """Make Typer's application from commands by name; the application is the command itself if its
    name is empty."""
    plain: dict[str, Any] = {"rich_markup_mode": None, "add_completion": False}
    app = typer().Typer(help=description, pretty_exceptions_enable=False, **plain, **more)
    for name, command in commands.items():
        app.command(name or None, help=as_written(command.__doc__))(command)
    return app


def start(app: Any, arguments: Sequence[str] | None = None, name: str | None = None) -> int:
    """Run an application with ``arguments``, by default those of the process; return the exit
    code."""
    try:
        app(args=None if arguments is None else list(arguments), prog_name=name)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else FAILED
    return DONE


def as_written(text: str | None) -> str:
    """Mark the paragraphs of a help text so that Typer leaves their lines as they are."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(f"\b\n{paragraph}" for paragraph in paragraphs)


def typer() -> Any:
    """Import Typer; raise a `MissingExtraError` with the command that installs it if it is
    missing."""
    return require("typer", "cli", "the command line")


# --- the command line -----------------------------------------------------------------------------


def at_least(lowest: int) -> Callable[[Any], int]:
    """The parser of a flag that takes an integer not below ``lowest``."""

    def integer(text: Any) -> int:
        try:
            value = int(text)
        except ValueError:
            raise FlagError(f"{text!r} is not an integer") from None
        if value < lowest:
            raise FlagError(f"{value} is less than {lowest}")
        return value

    return integer


def threads(text: Any) -> Any:
    """Parse a flag that takes a number of threads, or ``auto``."""
    return text if text == "auto" else at_least(1)(text)


def one_of(names: Sequence[str]) -> Callable[[Any], str]:
    """The parser of a flag that takes a name out of ``names``."""

    def name(text: Any) -> str:
        if text not in names:
            raise FlagError(f"{text!r} is none of {', '.join(names)}")
        return str(text)

    return name


def positive(text: Any) -> float:
    """Parse a flag that takes a finite number above zero."""
    value = _number(text)
    if not 0 < value < float("inf"):
        raise FlagError(f"{text} is not a finite number above 0")
    return value


def fraction(text: Any) -> float:
    """Parse a flag that takes a number from 0 to below 1."""
    value = _number(text)
    if not 0 <= value < 1:
        raise FlagError(f"{text} is not from 0 to below 1")
    return value


def _number(text: Any) -> float:
    try:
        return float(text)
    except ValueError:
        raise FlagError(f"{text!r} is not a number") from None
