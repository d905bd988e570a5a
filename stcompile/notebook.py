"""``%load_ext stcompile``: the cell magic ``%%gradient``, which shows a function and its gradient.

IPython calls this module; it is not imported by anything else.
"""

from __future__ import annotations

import argparse
import ast
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from stcompile.base import html
from stcompile.base.errors import ArgumentsError
from stcompile.base.options import LEVELS, Level, Options
from stcompile.base.shown import Shown, Source
from stcompile.calls.arguments import Wrt
from stcompile.differentiable import Differentiable
from stcompile.frontend.operations.binding import signature_of

USAGE = "%%gradient [--level readable|fast|compiled] [--wrt NAME,...] [ARGUMENT ...]"
HINT = f"write {USAGE}; an argument is a name, an expression in quotes, or NAME=EXPRESSION"


@dataclass(frozen=True, repr=False)
class Beside(Shown):
    """A function, and its value and gradient in the code that is generated for some arguments."""

    function: Source
    gradient: Source

    def __str__(self) -> str:
        return f"{str(self.function).rstrip()}\n\n\n{self.gradient}"

    def html(self) -> str:
        return html.beside(html.code(self.function), html.code(self.gradient))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ArgumentsError(f"%%gradient: {message}", hint=HINT)


def gradient(shell: Any, line: str, cell: str) -> Beside | None:
    """Run a cell, and show the last function that it defines beside its gradient.

    The line names the arguments for which the gradient is compiled, in the function's order or by
    its names; arguments that it does not name are the notebook's variables of the same names, or
    the function's defaults.
    """
    parser = _Parser(prog="%%gradient", add_help=False)
    parser.add_argument("--level", choices=LEVELS, default="readable")
    parser.add_argument("--wrt", default=None)
    parser.add_argument("arguments", nargs="*")
    given = parser.parse_args(shlex.split(line))
    name = _last_function(shell.transform_cell(cell))
    if not shell.run_cell(cell).success:
        return None  # the error has been shown
    function = _differentiable(shell.user_ns[name], given.wrt, given.level)
    values = _values(function, given.arguments, shell.user_ns)
    written = Source(function.grad.definition_text)
    return Beside(written, function.source(*values.args, **values.kwargs))


def _last_function(cell: str) -> str:
    try:
        names = [n.name for n in ast.parse(cell).body if isinstance(n, ast.FunctionDef)]
    except SyntaxError:
        names = [""]  # the cell says so when it is run
    if not names:
        raise ArgumentsError(
            "%%gradient shows the last function that is defined below it, but there is none",
            hint="define one with def",
        )
    return names[-1]


def _differentiable(function: Any, wrt: str | None, level: Level) -> Differentiable[..., Any, Any]:
    """The function by the arguments that were asked for, or else by its own."""
    own: Wrt = 0
    if isinstance(function, Differentiable):
        own, function = function.wrt, function.function
    names = tuple(wrt.split(",")) if wrt else ()
    chosen: Wrt = names[0] if len(names) == 1 else names or own
    return Differentiable(function, chosen, Options(level))


def _values(
    function: Differentiable[..., Any, Any], given: list[str], names: Mapping[str, Any]
) -> Any:
    """The arguments to compile for, bound to the function's parameters."""
    signature = signature_of(function.function)
    positional, keywords = [], {}
    for text in given:
        name, equals, expression = text.partition("=")
        is_named = bool(equals) and name.strip() in signature.parameters
        value = _value(expression if is_named else text, names)
        if is_named:
            keywords[name.strip()] = value
        else:
            positional.append(value)
    try:
        bound = signature.bind_partial(*positional, **keywords)
    except TypeError as error:
        raise ArgumentsError(f"%%gradient: {error}", hint=HINT) from None
    for parameter in signature.parameters.values():
        if parameter.name in bound.arguments or parameter.default is not parameter.empty:
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.name not in names:
            raise ArgumentsError(
                f"%%gradient: there is no value for the argument `{parameter.name}`",
                hint=f"define a variable `{parameter.name}`, or write "
                f"%%gradient {parameter.name}=EXPRESSION",
            )
        bound.arguments[parameter.name] = names[parameter.name]
    return bound


def _value(text: str, names: Mapping[str, Any]) -> Any:
    try:
        return eval(text, dict(names))
    except Exception as error:
        raise ArgumentsError(
            f"%%gradient: `{text}` raises {type(error).__name__}: {error}", hint=HINT
        ) from None


def load(shell: Any) -> None:
    """Register the magic with an IPython shell."""

    def run(line: str, cell: str) -> Beside | None:
        return gradient(shell, line, cell)

    run.__doc__ = f"{gradient.__doc__}\n\n    {USAGE}"
    shell.register_magic_function(run, magic_kind="cell", magic_name="gradient")
