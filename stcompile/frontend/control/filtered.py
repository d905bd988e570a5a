"""Reductions of comprehensions whose ``if`` data decides: ``any(v > 1 for v in x if v > 0)``.

`sum` and `len` add up where the ``if`` holds, without a list of the items. `any` and `all` end with
the first item that decides, so that each item is a condition of the next.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable
from typing import Any

from stcompile.frontend.control.conditions import combined, evaluate_test, negated, truth_of
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import is_traced

Item = Callable[[], Any]
Pair = tuple[Any, Item]  # whether an item is selected, and the function that makes it


def takes(function: Any, node: ast.Call) -> bool:
    """True for calls that reduce a comprehension of one loop with conditions. `any` and `all` take
    only generator expressions: a list is made as a whole before they could end early."""
    if not node.args or any(isinstance(part, ast.Starred) for part in node.args):
        return False
    items, names = node.args[0], {keyword.arg for keyword in node.keywords}
    if not isinstance(items, ast.ListComp | ast.GeneratorExp):
        return False
    (first, *rest) = items.generators
    if rest or not first.ifs or first.is_async:
        return False
    is_list = isinstance(items, ast.ListComp)
    if function is sum:
        return len(node.args) + len(names) <= 2 and names <= {"start"}
    lone = len(node.args) == 1 and not names
    return lone and (function is len if is_list else function is any or function is all)


def is_decided_by_data(run: Run, tests: list[ast.expr], frames: Iterable[Frame]) -> bool:
    """True if a test is known only at run time, for at least one of the items."""
    for frame in frames:
        for test in tests:
            value = evaluate_test(run, test, frame)
            if is_traced(value):
                return True
            if not run.truth(value):
                break
    return False


def pairs_of(
    run: Run, node: ast.ListComp | ast.GeneratorExp, frames: Iterable[Frame]
) -> Iterable[Pair]:
    """Yield for each item a flag and the function that makes the item."""
    for frame in frames:
        flag: Any = True
        for test in node.generators[0].ifs:
            flag = combined(run, True, flag, functools.partial(_holds, run, test, frame))
        yield flag, functools.partial(run.evaluate, node.elt, frame)


def _holds(run: Run, test: ast.expr, frame: Frame) -> Any:
    return truth_of(run, evaluate_test(run, test, frame))


def decide(run: Run, is_all: bool, pairs: Iterable[Pair]) -> Any:
    """`any` or `all` of the items whose flag holds."""
    result: Any = is_all
    for flag, item in pairs:

        def counts(flag: Any = flag, item: Item = item) -> Any:
            wanted = negated(run, flag) if is_all else flag
            return combined(run, not is_all, wanted, lambda: truth_of(run, item()))

        result = combined(run, is_all, result, counts)
    return result
