"""Reductions of comprehensions whose ``if`` data decides: ``sum(v for v in x if v > 0)``.

How many items there are is known only at run time, so that there can be no list of them. A function
that reduces them takes each item in a branch of its own, as a loop with an ``if`` would.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable
from typing import Any

from stcompile.frontend.control.branches import choose, stage_path
from stcompile.frontend.control.comparisons import compare
from stcompile.frontend.control.conditions import combined, evaluate_test, negated, truth_of
from stcompile.frontend.operations.operators import BINARY, binary
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import Raised
from stcompile.frontend.state.values import Scalar, is_traced
from stcompile.wengert.types import is_number

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
    if function is min or function is max:
        return len(node.args) == 1 and names <= {"default"}
    lone = len(node.args) == 1 and not names
    return lone and (function is len if is_list else function is any or function is all)


def is_decided_by_data(run: Run, tests: list[ast.expr], frames: Iterable[Frame]) -> bool:
    """True if one of the tests is known only at run time, for one of the items."""
    for frame in frames:
        for test in tests:
            value = evaluate_test(run, test, frame)
            if is_traced(value):
                return True
            if not run.truth(value):
                break
    return False


def pairs_of(run: Run, node: ast.ListComp | ast.GeneratorExp, frames: Iterable[Frame]) -> Any:
    """Each item, as a flag and the function that makes it."""
    for frame in frames:
        flag: Any = True
        for test in node.generators[0].ifs:
            flag = combined(run, True, flag, functools.partial(_holds, run, test, frame))
        yield flag, functools.partial(run.evaluate, node.elt, frame)


def _holds(run: Run, test: ast.expr, frame: Frame) -> Any:
    return truth_of(run, evaluate_test(run, test, frame))


def reduce(run: Run, function: Any, pairs: Iterable[Pair], *given: Any) -> Any:
    """The reduction of the items whose flag holds; ``given`` is the start of a sum or the default
    of a maximum."""
    if function is sum:
        return _sum(run, pairs, *given)
    if function is len:
        return _sum(run, ((flag, functools.partial(_one, item)) for flag, item in pairs))
    if function is any or function is all:
        return _decide(run, function is all, pairs)
    return _extremum(run, function, pairs, *given)


def _one(item: Item) -> int:
    item()
    return 1


def _sum(run: Run, pairs: Iterable[Pair], start: Any = 0) -> Any:
    total = start
    for flag, item in pairs:
        before = total

        def added(before: Any = before, item: Item = item) -> Any:
            return binary(run, BINARY[ast.Add], before, item())

        total = _where(run, flag, added, before)
    return total


def _where(run: Run, flag: Any, then: Item, otherwise: Any) -> Any:
    if is_traced(flag):
        return choose(run, flag, then, lambda: otherwise)
    return then() if flag else otherwise


def _decide(run: Run, is_all: bool, pairs: Iterable[Pair]) -> Any:
    result: Any = is_all
    for flag, item in pairs:

        def counts(flag: Any = flag, item: Item = item) -> Any:
            wanted = negated(run, flag) if is_all else flag
            return combined(run, not is_all, wanted, lambda: truth_of(run, item()))

        result = combined(run, is_all, result, counts)
    return result


def _extremum(run: Run, function: Any, pairs: Iterable[Pair], *default: Any) -> Any:
    """The first of the largest or smallest items, if there is one."""
    comparison = ast.Gt() if function is max else ast.Lt()
    found: Any = False
    best: Any = None
    for flag, item in pairs:
        if not is_traced(flag) and not flag:
            continue
        if found is False:
            number = functools.partial(_number, run, item)
            found, best = flag, _where(run, flag, number, _zero(run, number))
            continue

        def better(best: Any = best, found: Any = found, item: Item = item) -> Any:
            value = _number(run, item)
            lost = combined(run, True, found, lambda: _not_beyond(run, comparison, value, best))
            return _where(run, negated(run, lost), lambda: value, best)

        best = _where(run, flag, better, best)
        found = combined(run, False, found, functools.partial(_same, flag))
    if found is True:
        return best
    if default:
        return default[0] if found is False else _where(run, found, lambda: best, default[0])
    from stcompile.library.filters import required

    try:
        function([])
    except ValueError as error:
        return run.call(required, [found, best, str(error)], {})


def _zero(run: Run, number: Item) -> Any:
    """A zero of the first number's type, in its place where it is not selected."""
    value = stage_path(run, number, is_trial=True).result
    if isinstance(value, Raised):
        return 0.0
    if not isinstance(value, Scalar):
        return type(value)(0)
    type_ = value.type
    return type_.python_type(0) if type_.kind == "python" else type_.dtype.type(0)


def _same(value: Any) -> Any:
    return value


def _not_beyond(run: Run, comparison: ast.cmpop, value: Any, best: Any) -> Any:
    return negated(run, truth_of(run, compare(run, comparison, value, best)))


def _number(run: Run, item: Item) -> Any:
    """An item that another one may replace: it has to be a number."""
    value = item()
    if not (isinstance(value, Scalar) or is_number(value)):
        run.refuse(
            "the largest or smallest of items that data decides on is taken of numbers alone",
            "write a loop with `if`",
        )
    return value
