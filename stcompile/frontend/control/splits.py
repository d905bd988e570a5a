"""Errors that only the running program knows, and that a ``try`` around them catches.

The place where such an error may be raised is a branch: on one path the handler runs, on the other
one everything that follows. The second path is staged as the interpreter goes on (`Changes.split`),
and meets the first one at the end of the ``try`` statement, or at the end of the arm of a branch
that the place is in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

from stcompile.base.errors import StcompileError
from stcompile.frontend.control.merged import UNDEFINED
from stcompile.frontend.control.paths import (
    Path,
    attempted,
    codes_of,
    flags_joined,
    handled,
    meet,
    rest_of,
    stage_path,
)
from stcompile.frontend.state.failures import Guard, first_caught
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import Fallible, PathRaised, Raised, Returned, Signal
from stcompile.frontend.state.values import Scalar, Traced
from stcompile.wengert.ir import Atom

AT_TRY = object()


def closed_arm(run: Run, frame: Frame, block: Callable[[], Signal]) -> Signal:
    """Stage a block of statements on a path of its own. An error that only the running program
    knows ends it there: the path without the error meets that of its handler at its end."""
    ended: Signal = _closed(run, frame, block)
    return ended


def closed_value(run: Run, expression: Callable[[], Any]) -> Any:
    """Stage an expression on a path of its own: its value, which is `Fallible` if it may end in an
    error that only the running program knows."""
    return _closed(run, None, lambda: Returned(expression())).value


def _closed(run: Run, frame: Frame | None, action: Callable[[], Any]) -> Any:
    """The signal of a block of a frame, or of an expression (None), on a path of its own."""
    outer, run.arm = run.arm, (run.recorder.nesting, frame)
    split = len(run.splits)
    try:
        signal = action()
    except PathRaised:
        if len(run.splits) == split:
            raise
        signal = Raised()
    finally:
        run.arm = outer
    return close(run, frame or run.frame, split, signal)


def close(run: Run, frame: Frame, at: int, signal: Any) -> Any:
    """Let the paths since the splits after the first ``at``, which end here with a signal, meet the
    paths on which the errors were raised."""
    while len(run.splits) > at:
        split = run.splits[-1]
        assert run.journal is split.journal
        after = Path(run.recorder.equations, run.journal.after(), signal, run.made, split.age)
        run.rejoin(len(run.splits) - 1)
        signal = _meet(run, frame, split.predicate, [split.failed, after])
    if isinstance(signal, Raised):
        raise PathRaised
    return signal


def _meet(run: Run, frame: Frame, predicate: Atom, paths: list[Path]) -> Any:
    """Join two paths that were staged up to the end of the present statement; each goes on to the
    end of the function or of the step if the other one ends early."""

    def to_end(number: int) -> Path:
        path, rest = paths[number], partial(rest_of, run, frame)
        on = partial(closed_arm, run, frame, lambda: replayed(run, path) or attempted(run, rest))
        return stage_path(run, on)

    return meet(run, predicate, paths, to_end, lambda number, _: replayed(run, paths[number]))


def replayed(run: Run, path: Path) -> Any:
    """Do again what was done on a path, and return its result."""
    run.recorder.equations += path.equations
    for site, value in path.after.values():
        run.set(site, value)
    run.made = dict(path.made)
    return path.result


def raises_to(run: Run, error: StcompileError) -> Guard | None:
    """The guard that catches an error which the data decide; None if there is none, or if the
    error is not Python's."""
    if error.raised is None:
        return None
    found = first_caught((type(error.raised),), run.guards)
    return found[0] if found is not None and is_statement(found[0]) else None


def is_statement(guard: Guard) -> bool:
    """False for a guard that stands for a question, as that of `hasattr` does."""
    return any(block is not None and block.guard is guard for block in guard.frame.blocks)


def split_off(run: Run, failed: Traced, guard: Guard, action: Callable[[], Any]) -> None:
    """Go on where ``failed`` is false; where it is true ``action`` is run, which raises an error
    that ``guard`` catches."""
    if not is_statement(guard):
        refuse(run, guard, "an error")
    frame = _frame_at_end(run, guard)
    if frame is AT_TRY:
        path = stage_path(run, lambda: attempted(run, lambda: _to_handler(run, guard, action)))
    else:
        path = stage_path(run, lambda: attempted(run, lambda: _to_end(run, guard, frame, action)))
    run.split(guard, run.atom(failed), path)


def let_through(run: Run, ended: Any, value: Any) -> Any:
    """The value of a block that ``ended``, a flag, with this value; an error with which it may have
    ended is raised again."""
    if not isinstance(value, Fallible):
        return value
    for code in sorted(codes_of(run, value)):
        error = list(run.errors.values())[code - 1]
        guard = raises_to(run, error)
        if guard is None:
            continue  # it was raised elsewhere: a block is left only for a handler around it
        is_code = value.code == code
        if isinstance(value.code, Scalar):
            is_code = run.record("equal", value.code, code)
        flag = flags_joined(run, "and", ended, is_code)
        if flag is True:
            throw(run, error)
        split_off(run, flag, guard, partial(throw, run, error))
    return value.value


def throw(run: Run, error: StcompileError) -> NoReturn:
    """Raise an error again, within the guards around the present statement."""
    again = type(error)(error.reason, location=error.location, hint=error.hint)
    again.raised, again.guards, again.is_opaque = error.raised, run.guards, error.is_opaque
    raise again


def _leaving(run: Run, error: StcompileError) -> Signal:
    """The end of a block in an error that a ``try`` around the block catches."""
    key = type(error.raised), str(error.raised), error.location, error.is_opaque
    run.errors.setdefault(key, error)
    return Returned(Fallible(1 + list(run.errors).index(key), UNDEFINED))


def _frame_at_end(run: Run, guard: Guard) -> Any:
    """The frame of the block at the end of which the paths meet; `AT_TRY` if that is the end of the
    ``try`` statement, None if it is the end of an expression."""
    nesting = run.recorder.nesting
    at = run.guards.index(guard)
    around = run.guards[: at + 1]
    inner = [split for split in run.splits[guard.splits :] if split.guard not in around]
    if inner and inner[-1].nesting == nesting:
        return inner[-1].guard.frame
    if guard.nesting == nesting:
        return AT_TRY
    if run.arm is None or run.arm[0] != nesting:
        refuse(run, guard, "an error")
    assert run.arm is not None
    return run.arm[1]


def _to_handler(run: Run, guard: Guard, action: Callable[[], Any]) -> Signal:
    """Run the handler of an error that ``action`` raises, and what the blocks in between do at
    their end."""
    error = _error_of(action)
    for inner in reversed(run.guards):
        with outside(run, inner):
            if inner is guard:
                return closed_arm(run, inner.frame, partial(_handled, run, guard, error))
            if inner.handle(error)[0]:
                refuse(run, guard, type(error.raised).__name__)
    raise AssertionError("a guard is among those around the statement")


def _handled(run: Run, guard: Guard, error: StcompileError) -> Signal:
    """Run the handler of an error. An error that it raises goes to a handler in the function."""

    def handle() -> Signal:
        is_over, signal = guard.handle(error)
        if not is_over:
            refuse(run, guard, type(error.raised).__name__)
        return signal  # type: ignore[no-any-return]

    return handled(run, guard.frame, handle)


def _to_end(run: Run, guard: Guard, frame: Frame | None, action: Callable[[], Any]) -> Signal:
    """Run the handler of an error that ``action`` raises, and the statements after it, to the end
    of the function or the step of the loop."""
    error = _error_of(action)
    within = [inner for inner in run.guards if inner.nesting == run.recorder.nesting - 1]
    for inner in reversed(within):
        if inner.frame is frame:
            break
        with outside(run, inner):
            if inner.handle(error)[0]:
                refuse(run, inner, type(error.raised).__name__)
    if frame is None:
        return _leaving(run, error)

    def rest() -> Signal:
        try:
            return rest_of(run, frame, error)
        except StcompileError as other:
            if other is not error:
                raise
            return _leaving(run, error)

    return closed_arm(run, frame, rest)


def _error_of(action: Callable[[], Any]) -> StcompileError:
    try:
        action()
    except StcompileError as error:
        if error.raised is None:
            raise
        error.is_conditional = False
        return error
    raise AssertionError("the action raises")


def refuse(run: Run, guard: Guard, names: str) -> NoReturn:
    run.refuse(
        f"whether this raises {names}, which line {guard.line} would take, is known only at run "
        "time",
        "test for it with `if`, or let the error through",
    )


@contextmanager
def outside(run: Run, guard: Guard) -> Iterator[None]:
    """Within the block, set the frame of a guard back to the guard's position."""
    frame, guards = guard.frame, run.guards
    blocks, errstate = frame.blocks, frame.errstate
    at = next(i for i, b in enumerate(blocks) if b is not None and b.guard is guard)
    block = blocks[at]
    assert block is not None
    frame.blocks, frame.errstate, run.guards = blocks[:at], block.errstate, block.guards
    try:
        yield
    finally:
        frame.blocks, frame.errstate, run.guards = blocks, errstate, guards
