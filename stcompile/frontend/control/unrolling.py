"""The cost of unrolling a loop, and the warning of an unrolled loop that is long."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from stcompile.base.errors import Caution, StcompileError, UnrolledWarning
from stcompile.base.location import Location
from stcompile.base.thresholds import (
    UNROLLED_EQUATIONS,
    UNROLLED_STEPS,
    WARNED_EQUATIONS,
)
from stcompile.frontend.state.run import Run
from stcompile.wengert.ir import Equation, Program

T = TypeVar("T")
_PROGRAMS = ("program", "then", "otherwise", "condition", "body")


class TooLong(StcompileError):
    """Raised while a loop is unrolled if it takes too many equations."""

    def __init__(self) -> None:
        super().__init__("this loop takes too many equations")


def equations_in(equations: Sequence[Equation]) -> int:
    """Count equations, including those of sub-programs that run with them: a loop that is kept
    counts as a single step."""
    inner = (equation.params.get(name) for equation in equations for name in _PROGRAMS)
    return len(equations) + sum(equations_in(p.equations) for p in inner if isinstance(p, Program))


def place_of(where: Location) -> Hashable:
    """A key that tells loops apart: their position in the text, and the call sites that led
    there."""
    return where.file, where.line, where.column, where.caller and place_of(where.caller)


def written_out(run: Run, where: Location, steps: int, write: Callable[[], T]) -> T:
    """Unroll a loop by ``write``; raise `TooLong` if that takes too many equations, and from then
    on for every loop of so many steps at the same place: nested loops are staged again and
    again."""
    key = place_of(where), steps
    if key in run.attempts.long:
        raise TooLong
    try:
        with run.attempt():
            return write()
    except TooLong:
        run.attempts.long.add(key)
        raise


def is_short(steps: int, equations: int = 0, of: int = 1) -> bool:
    """True for a loop that is unrolled: few ``steps``, which together have not too many equations.
    Its first ``of`` steps have the given number of ``equations``."""
    return steps <= UNROLLED_STEPS and equations * steps <= UNROLLED_EQUATIONS * of


def note_kept(run: Run, where: Location, steps: int, start: int) -> None:
    """Note a loop that was kept, as an equation after the first ``start``."""
    cost, kept = steps * equations_in(run.recorder.equations[start:]), run.attempts.kept
    kept[_key(where)] = max(cost, kept.get(_key(where), 0))


def why_unrolled(run: Run, where: Location) -> StcompileError | None:
    """The reason why a loop has to be unrolled, if it is known before staging it; else None."""
    return run.attempts.refused.get(_key(where))


def _key(where: Location) -> Hashable:
    return where.file, where.line, where.column


def warn_if_long(
    run: Run, where: Location, start: int, steps: int, refusal: StcompileError | None
) -> None:
    """Warn of an unrolled loop if its equations, after the first ``start``, are many. ``refusal``
    says why it could not be kept."""
    made = equations_in(run.recorder.equations[start:])
    if made <= WARNED_EQUATIONS or where.shown is None:
        return
    reason = f"this loop is written out: its {steps} steps are {made} equations"
    hint = "compiling it takes time in proportion"
    if refusal is not None:
        line = refusal.location.line if refusal.location is not None else where.line
        reason += f". It cannot be kept as a loop, because of line {line}: {refusal.reason}"
        hint = refusal.hint or hint
    run.cautions.append(Caution(where.shown, reason, hint, UnrolledWarning))
