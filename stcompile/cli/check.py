"""``stcompile check``: gradients of a file against finite differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from stcompile.base.command import DONE, FAILED, UsageError
from stcompile.base.errors import StcompileError
from stcompile.base.wording import table
from stcompile.cli.arguments import NoArgumentsError, arguments_of
from stcompile.cli.files import Found, Target, functions_of, load, parse_wrt, raised_in
from stcompile.cli.flags import ARGS, NPZ, WRT
from stcompile.transforms.check import TOLERANCE, compared, worst_of


@dataclass(frozen=True)
class Verdict:
    """What became of one function: a row of the table, and what is said below it."""

    name: str
    verdict: str
    arguments: str = ""
    entries: int = 0
    error: float | None = None
    said: str = ""

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
                entries = compared(gradient, given.positional, given.keywords)
        except StcompileError as error:
            verdicts.append(Verdict(function.name, "refused", given.origin, said=str(error)))
            continue
        worst = worst_of(entries)
        wrong = worst is not None and not worst.relative <= tolerance
        verdicts.append(
            Verdict(
                function.name,
                "WRONG" if wrong else "right" if entries else "nothing to compare",
                given.origin,
                len(entries),
                worst.relative if worst else None,
                str(worst.refusal()) if worst and wrong else "",
            )
        )
    head = "function", "arguments from", "entries", "worst error", "gradient"
    print(table([head, *(verdict.row for verdict in verdicts)]))
    for verdict in verdicts:
        if verdict.said:
            print(f"\n{verdict.name}: {verdict.said}")
    if all(verdict.verdict == "no arguments" for verdict in verdicts):
        raise UsageError(
            "there are no arguments to check a function with",
            hint="write doctests that call them, or a function example_args() that returns a dict "
            "of argument tuples by the names of functions",
        )
    return FAILED if any(verdict.said for verdict in verdicts) else DONE
