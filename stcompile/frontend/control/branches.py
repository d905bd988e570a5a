"""Branches on values that are known only at run time: both paths are staged, and one is taken.

Both paths are staged, each from the state before them; where they meet, a `cond` equation chooses
between the states that they leave (see `merge`). A path that ends early, with ``return``, ``break``
or ``continue``, meets the other path at the end of the function's or the loop's body: the other
path is staged together with the statements that follow up to there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from stcompile.base.errors import StcompileError, TypingError
from stcompile.frontend.control.paths import (
    Path,
    attempted,
    ending,
    join,
    join_values,
    record_raise,
    rest_of,
    stage_path,
)
from stcompile.frontend.control.splits import (
    closed_arm,
    closed_value,
    let_through,
    raises_to,
    split_off,
)
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import (
    Raised,
    Signal,
)
from stcompile.frontend.state.values import Traced


def predicate_of(run: Run, value: Traced) -> Traced:
    """A traced value as a condition: it is refused where NumPy finds its truth ambiguous."""
    if value.type.size != 1:
        run.refuse(
            f"the truth of an array of shape {value.type.dims} is ambiguous",
            "use np.any or np.all, or choose item by item with np.where",
            TypingError,
        )
    return value


def branch(
    run: Run, test: Traced, then: Callable[[], Signal], otherwise: Callable[[], Signal]
) -> Signal:
    """Run one of two blocks, by the truth of ``test``; return the signal that it ends with."""
    predicate = run.atom(predicate_of(run, test))
    frame, blocks = run.frame, (then, otherwise)
    then, otherwise = arms = [partial(_arm, run, frame, block) for block in blocks]
    found = _both(run, test, [partial(closed_arm, run, frame, arm) for arm in arms], blocks)
    if isinstance(found, int):
        return arms[found]()
    first, second = found
    for ended, block in ((first, otherwise), (second, then)):
        if isinstance(ended.result, Raised):
            record_raise(run, predicate, ended, ended is first)
            return block()
    if first.result is None and second.result is None:
        join(run, predicate, first, second)
        return None
    if first.result is None:
        first = stage_path(run, partial(_to_the_end, run, then))
    if second.result is None:
        second = stage_path(run, partial(_to_the_end, run, otherwise))
    for ended, again in ((first, otherwise), (second, then)):
        if isinstance(ended.result, Raised):
            record_raise(run, predicate, ended, ended is first)
            return again() or rest_of(run, run.frame)
    return ending(run, predicate, first, second)


def _both(
    run: Run, test: Traced, staged: Sequence[Callable[[], Any]], blocks: Sequence[Callable[[], Any]]
) -> tuple[Path, Path] | int:
    """The paths of two blocks, ``staged`` aside. If one of them raises an error that a handler
    catches, the path to the handler is split off, and the number of the other block is returned:
    it goes on."""
    paths: list[Path] = []
    for number, action in enumerate(staged):
        try:
            paths.append(stage_path(run, action))
        except StcompileError as error:
            guard = raises_to(run, error)
            if guard is None:
                raise
            failed = run.record("not", test) if number else test
            split_off(run, failed, guard, blocks[number])
            return 1 - number
    return paths[0], paths[1]


def _to_the_end(run: Run, block: Callable[[], Signal]) -> Signal:
    """Stage a block and the statements that follow it."""
    frame = run.frame
    return closed_arm(run, frame, lambda: attempted(run, lambda: block() or rest_of(run, frame)))


def _arm(run: Run, frame: Frame, block: Callable[[], Signal]) -> Signal:
    """Stage an arm of a branch. If it raises an error that a handler in the function catches, it
    goes on in the handler, and the path ends with the function or the step of the loop."""
    try:
        return block()
    except StcompileError as error:
        if error.raised is None or error.is_conditional:
            raise
        failed = error
    return attempted(run, lambda: rest_of(run, frame, failed))


def choose(run: Run, test: Traced, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """The value of one of two expressions, by the truth of ``test``."""
    predicate, arms = run.atom(predicate_of(run, test)), (then, otherwise)
    values = [partial(closed_value, run, partial(attempted, run, arm)) for arm in arms]
    found = _both(run, test, values, arms)
    if isinstance(found, int):
        return arms[found]()
    first, second = found
    for ended, block in ((first, otherwise), (second, then)):
        if isinstance(ended.result, Raised):
            record_raise(run, predicate, ended, ended is first)
            return block()
    value = join_values(run, predicate, first, second, (first.result, second.result))
    return run.checked(let_through(run, True, value))
