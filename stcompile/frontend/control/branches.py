"""Branches on values that are known only at run time: both paths are staged, and one is taken.

Both paths are staged, each from the state before them; where they meet, a `cond` equation chooses
between the states that they leave (see `merge`). A path that ends early, with ``return``, ``break``
or ``continue``, meets the other path at the end of the function's or the loop's body: the other
path is staged together with the statements that follow up to there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from stcompile.base.errors import StcompileError, TypingError
from stcompile.frontend.control.paths import (
    Path,
    attempted,
    handled,
    join_values,
    meet,
    past_error,
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
from stcompile.frontend.state.signals import Signal
from stcompile.frontend.state.values import Traced, is_traced


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
    arms = [partial(handled, run, frame, block) for block in blocks]
    found = _both(run, test, [partial(closed_arm, run, frame, arm) for arm in arms], blocks)
    if isinstance(found, int):
        return arms[found]()
    return meet(
        run,
        predicate,
        found,
        lambda number: stage_path(run, partial(_to_the_end, run, arms[number])),
        lambda number, to_end: arms[number]() or (rest_of(run, frame) if to_end else None),
    )


def _both(
    run: Run, test: Traced, staged: Sequence[Callable[[], Any]], blocks: Sequence[Callable[[], Any]]
) -> list[Path] | int:
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
    return paths


def _to_the_end(run: Run, block: Callable[[], Signal]) -> Signal:
    """Stage a block and the statements that follow it."""
    frame = run.frame
    return closed_arm(run, frame, lambda: attempted(run, lambda: block() or rest_of(run, frame)))


def choose(run: Run, test: Traced, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """The value of one of two expressions, by the truth of ``test``."""
    predicate, arms = run.atom(predicate_of(run, test)), (then, otherwise)
    values = [partial(closed_value, run, partial(attempted, run, arm)) for arm in arms]
    found = _both(run, test, values, arms)
    if isinstance(found, int):
        return arms[found]()
    only = past_error(run, predicate, found)
    if only is not None:
        return arms[only]()
    first, second = found
    value = join_values(run, predicate, first, second, (first.result, second.result))
    return run.checked(let_through(run, True, value))


def by_test(
    run: Run,
    node: ast.If | ast.IfExp,
    frame: Frame,
    test: Any,
    decide: Callable[..., Any],
    stage: Callable[[Any, Frame], Any],
) -> Any:
    """Stage one of the two parts of a statement or an expression by its ``test``; both, by
    ``decide``, if the test is known only at run time."""
    if not is_traced(test):
        return stage(node.body if run.truth(test) else node.orelse, frame)
    run.at(node.test, frame, lambda: predicate_of(run, test))
    return decide(run, test, *(partial(stage, part, frame) for part in (node.body, node.orelse)))
