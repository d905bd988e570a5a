"""Python's ``sorted`` with traced keys: one `np.argsort`, and the items taken in its order."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.errors import TypingError
from stcompile.frontend.control.comparisons import compare
from stcompile.frontend.control.conditions import refuse_truth
from stcompile.frontend.operations.indexing import get_item
from stcompile.frontend.operations.numbers import common_number
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Poison, Scalar, described, is_numeric, is_traced
from stcompile.wengert.ir import Variable
from stcompile.wengert.types import is_number

_UNKNOWN = Poison(
    "which of the sorted items this is a part of is known only at run time",
    "read the numbers and arrays of the items alone",
)


class Measure:
    """A key of a class with its own ``__lt__``, which is called as Python would call it."""

    def __init__(self, run: Run, key: Any) -> None:
        self.run, self.key = run, key

    def __lt__(self, other: Measure) -> bool:
        less = compare(self.run, ast.Lt(), self.key, other.key)
        if is_traced(less):
            refuse_truth(self.run, less, "`sorted` by a method of the keys")
        return self.run.truth(less)


def sorted_by(run: Run, items: Sequence[Any], keys: Sequence[Any], reverse: bool) -> list[Any]:
    """The items in the order of their keys, numbers or tuples of numbers; items with equal keys
    stay in order. Numbers and arrays at the same position in all items are stacked, and taken in
    the new order; anything else must be the same in all items, or not be read."""
    known = _known_parts(keys)
    if known is not None:
        try:
            places = sorted(range(len(items)), key=known.__getitem__, reverse=reverse)
        except TypeError as error:
            run.raises(error)
        return [items[place] for place in places]
    columns = _columns(run, keys)
    if len(items) < 2:
        return list(items)
    if reverse:
        columns = [column[::-1] for column in columns]
    arrays = [run.as_array(_promoted(run, column)) for column in columns]
    if len(arrays) == 1:
        order = run.call(np.argsort, arrays, {"kind": "stable"})
    else:
        order = run.call(np.lexsort, [tuple(reversed(arrays))], {})
    if reverse:
        last = len(items) - 1
        order = run.record("subtract", last, get_item(run, order, slice(None, None, -1)))
    return _taken(run, items, order)


def _known_parts(keys: Sequence[Any]) -> list[Any] | None:
    """The leading parts of the keys that are known, if they differ between any two keys: then
    Python compares nothing that follows, as in ``sorted(losses.items())``."""
    if not all(isinstance(key, tuple | list) for key in keys):
        return None
    count = min(len(list(itertools.takewhile(_is_plain, key))) for key in keys)
    parts = [tuple(key[:count]) for key in keys]
    is_decided = count > 0 and all(one != two for one, two in itertools.combinations(parts, 2))
    return parts if is_decided else None


def _is_plain(part: Any) -> bool:
    return type(part) in (str, bytes, bool, int, float)


def _columns(run: Run, keys: Sequence[Any]) -> list[list[Any]]:
    """The keys as columns of numbers, the most significant first."""
    rows = [list(key) if isinstance(key, tuple | list) else [key] for key in keys]
    for key, row in zip(keys, rows, strict=True):
        if len(row) != len(rows[0]) or isinstance(key, tuple | list) != isinstance(
            keys[0], tuple | list
        ):
            run.refuse("these keys have different numbers of parts", "sort by keys of one form")
        for part in row:
            is_one = is_numeric(part) or _is_one(part)
            if not is_one:
                run.refuse(
                    f"`sorted` compares {described(part)} beside values known only at run time",
                    "sort by a key that is a number, or a tuple of numbers",
                )
    return [[row[i] for row in rows] for i in range(len(rows[0]) if rows else 0)]


def _is_one(value: Any) -> bool:
    return isinstance(value, Array) and value.type.size == 1 and value.type.ndim == 0


def _promoted(run: Run, column: Sequence[Any]) -> list[Any]:
    for value in column:
        if is_traced(value) and value.type.dtype.kind == "c":
            run.refuse("complex numbers have no order", "sort by a real key", TypingError)
    return list(column)


def _taken(run: Run, items: Sequence[Any], order: Any) -> list[Any]:
    """The items in the new order."""
    structures = [_structure(item) for item in items]
    if any(structure != structures[0] for structure in structures):
        return [_UNKNOWN] * len(items)
    rows = ([leaf for _, leaf in trees.leaves(item)] for item in items)
    columns = [_of_one_type(run, column) for column in zip(*rows, strict=True)]
    stacks = [_stacked(run, column) for column in columns]
    found = []
    for place in range(len(items)):
        index = run.record("to_python", get_item(run, order, place), dtype=np.dtype(np.int64))
        leaves = iter([_leaf(run, c, s, index) for c, s in zip(columns, stacks, strict=True)])
        found.append(_rebuilt(run, items[0], leaves))
    return found


def _structure(item: Any) -> Any:
    parts = trees.children(item)
    if parts is None:
        return None
    return type(item), tuple((step, _structure(part)) for step, part in parts)


def _rebuilt(run: Run, item: Any, leaves: Any) -> Any:
    parts = trees.children(item)
    if parts is None:
        return next(leaves)
    made = trees.with_children(item, [_rebuilt(run, part, leaves) for _, part in parts])
    return run.own(made) if isinstance(made, list | dict) else made


def _of_one_type(run: Run, column: Sequence[Any]) -> Sequence[Any]:
    """Convert the numbers at the same position of all items to the type that holds them all, if
    there is such a type: a Python number may stand beside NumPy's, as where control flow paths
    meet."""
    are_numbers = all(is_numeric(value) for value in column)
    if not are_numbers or not any(map(is_traced, column)):
        return column
    first, *others = sorted(column, key=is_number)  # a known number fits any type that can hold it
    common = run.atom(first).type
    for value in others:
        made = common_number(Scalar(Variable("one", common)), value)
        if made is None:
            return column
        common = made
    if common.kind == "python":
        return column
    numbers: list[Any] = []
    for value in column:
        if is_number(value):
            numbers.append(common.dtype.type(value))
        else:
            is_weak = run.atom(value).type.kind == "python"
            numbers.append(run.record("to_scalar", value) if is_weak else value)
    return numbers


def _stacked(run: Run, column: Sequence[Any]) -> Any:
    """Stack the leaves at the same position of all items; None if they are not numbers of the same
    type."""
    if not any(map(is_traced, column)):
        if all(value is column[0] for value in column) or not all(map(is_number, column)):
            return None
        kinds = {type(value) for value in column}
        return run.as_array(list(column)) if len(kinds) == 1 else None
    types = {run.atom(value).type for value in column if is_traced(value) or is_number(value)}
    if len(types) != 1 or not all(is_traced(v) or is_number(v) for v in column):
        return None
    for value in column:
        if isinstance(value, Array):
            run.freeze(value.cell, "`sorted` has put it at a place that data decides")
    return run.call(np.stack, [list(column)], {})


def _leaf(run: Run, column: Sequence[Any], stack: Any, index: Any) -> Any:
    """The leaf of the item at the position ``index``."""
    if stack is None:
        first = column[0]
        same = all(value is first or (is_number(value) and value == first) for value in column)
        return first if same and not is_traced(first) else _UNKNOWN
    taken = get_item(run, stack, index)
    first = column[0]
    kind = run.atom(first).type
    if kind.kind == "python":
        return run.record("to_python", taken, dtype=kind.dtype)
    if isinstance(taken, Array):
        taken = run.record("copy", taken)
        run.freeze(taken.cell, "`sorted` has put it at a place that data decides")
    return taken
