"""``stcompile check``: gradients of a file against finite differences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import typer

from stcompile.base.command import DONE, FAILED, UsageError
from stcompile.base.errors import GradientCheckError, StcompileError
from stcompile.base.wording import table
from stcompile.cli.arguments import NoArgumentsError, arguments_of
from stcompile.cli.files import Found, Target, functions_of, load, parse_wrt, raised_in
from stcompile.cli.flags import ARGS, NPZ, WRT
from stcompile.transforms.check import TOLERANCE, Compared, compared, worst_of


@dataclass(frozen=True)
class Verdict:
    """The verdict on a function: a row of the table, and the text below it."""

    name: str
    verdict: str
    arguments: str = ""
    entries: int = 0
    error: float | None = None
    said: str = ""
    noted: tuple[str, ...] = ()

    @property
    def row(self) -> tuple[str, ...]:
        error = "" if self.error is None else f"{self.error:.1e}"
        return self.name, self.arguments, str(self.entries or ""), error, self.verdict


def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE.py[:FUNCTION]",
            help="all differentiable functions of a file, or one",
            show_default=False,
        ),
    ],
    args: ARGS = None,
    npz: NPZ = None,
    wrt: WRT = None,
    tolerance: Annotated[
        float, typer.Option("--tolerance", metavar="X", help="largest relative error")
    ] = TOLERANCE,
) -> int:
    """Compare gradients with finite differences.

    They are compared with forward mode as well. Integers and masks among the
    arguments are varied within their range.

    Checked is every function of the file that is decorated (or every one, if none is)
    and that has arguments: a doctest that calls it, or a function example_args(). The
    exit code is 1 if a gradient is wrong, or cannot be computed.

    Examples:
      stcompile check model.py
      stcompile check model.py:loss --args "ones((3, 2)), ones((4, 3))"
      stcompile check model.py:loss --npz arguments.npz --wrt x
    """
    target = Target.parse(file)
    if target.name is None and args is None and npz is None:
        module = load(target.path)
        names = functions_of(module)
        if not names:
            raise UsageError(f"{target.path} defines no function")
        found = [Found(target.path, module, name, value) for name, value in names.items()]
    else:
        found = [target.load()]
    verdicts = []
    for function in found:
        try:
            given = arguments_of(function, args, npz)
        except NoArgumentsError:
            if len(found) == 1:
                raise
            verdicts.append(Verdict(function.name, "no arguments"))
            continue
        try:
            gradient = function.differentiable(parse_wrt(wrt)).value_and_grad
            with raised_in(target.path, f"raises in `{function.name}`"):
                found_there = compared(gradient, given.positional, given.keywords)
        except GradientCheckError as error:
            verdicts.append(Verdict(function.name, "WRONG", given.origin, said=str(error)))
            continue
        except StcompileError as error:
            verdicts.append(Verdict(function.name, "refused", given.origin, said=str(error)))
            continue
        entries = found_there.differences
        wrong = found_there.wrong(tolerance)
        worst = worst_of(wrong or entries)
        verdicts.append(
            Verdict(
                function.name,
                "WRONG" if wrong else "right" if entries else "nothing to compare",
                given.origin,
                len(entries),
                worst.relative if worst else None,
                str(worst.refusal()) if worst and wrong else "",
                tuple(notes_of(found_there)),
            )
        )
    head = "function", "arguments from", "entries", "worst error", "gradient"
    print(table([head, *(verdict.row for verdict in verdicts)]))
    for verdict in verdicts:
        for note in verdict.noted:
            print(f"\n{verdict.name}: {note}")
        if verdict.said:
            print(f"\n{verdict.name}: {verdict.said}")
    if all(verdict.verdict == "no arguments" for verdict in verdicts):
        raise UsageError(
            "there are no arguments to check a function with",
            hint="write doctests that call them, or a function example_args() that returns a dict "
            "of argument tuples by the names of functions",
        )
    return FAILED if any(verdict.said for verdict in verdicts) else DONE


def notes_of(found: Compared) -> Iterator[str]:
    """Notes on the integers that were varied and that could not be, and why forward mode was not
    compared."""
    taken: dict[str, list[str]] = {}
    left_out = []
    for variation in found.varied:
        if variation.left_out:
            left_out.append(f"{variation} ({variation.left_out})")
        else:
            taken.setdefault(variation.where, []).append(variation.which)
    if taken:
        shown = "; ".join(f"{where}: {', '.join(which)}" for where, which in taken.items())
        yield f"also compared with {shown}"
    if left_out:
        yield f"not compared with {'; '.join(left_out)}"
    if found.without_forward:
        yield f"not compared with forward mode: {found.without_forward}"
