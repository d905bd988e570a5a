"""Nested lists of numbers and arrays as arrays.

The items of a list that a rolled loop filled are rows of an array: they are read as slices of the
array.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.base.thresholds import FEWEST_ROWS
from stcompile.frontend.operations.layout import in_c_order, is_in_c_order
from stcompile.frontend.state.rests import filled_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import LISTED, Array, Cell, Row, has_axes
from stcompile.wengert.ir import Variable
from stcompile.wengert.types import is_number

MOST_IN_TURN = 8  # arrays that a loop filled together


def array_of(run: Run, value: Any, dtype: np.dtype[Any] | None) -> Array:
    """A nested list of numbers and arrays as an array, as np.array makes it."""
    filled = filled_in(value)
    if filled is not None:
        whole: Array = filled.as_array(run)
        return run.cast(whole, dtype) if dtype else whole
    flat, shape = _flatten(run, value)
    if all(is_number(item) for item in flat):
        exact = np.array(flat, dtype) if dtype or flat else np.array([], np.float64)
        items = tuple(exact.ravel().tolist())
        made: Array = run.record("constant", values=items, shape=shape, dtype=exact.dtype)
        return made
    rows = stacked_rows(run, flat)
    if rows is not None:
        if len(shape) > 1:
            rows = run.view(rows, "reshape", shape=(*shape, *rows.type.dims[1:]))
        return run.cast(rows, dtype) if dtype else rows
    columns = _columns(run, value) if len(shape) > 1 else None
    if columns is not None:
        joined = in_c_order(run, run.record("stack", *columns, axis=1))
        return run.cast(joined, dtype) if dtype else joined
    if any(has_axes(item) for item in flat):
        parts = [item if isinstance(item, Array) else run.as_array(item) for item in value]
        stacked = in_c_order(run, run.record("stack", *parts, axis=0))
        return run.cast(stacked, dtype) if dtype else stacked
    atoms = [run.atom(item) for item in flat]
    found = dtype or np.result_type(*(atom.type.dtype for atom in atoms))
    array: Array = run.record("array", *flat, shape=shape, dtype=found)
    return array


def _flatten(run: Run, value: Any) -> tuple[list[Any], tuple[int, ...]]:
    """The items of a nested list, and its shape; ragged lists are refused."""
    if not isinstance(value, LISTED):
        return [run.checked(value)], ()
    parts = [_flatten(run, item) for item in value]
    shapes = {shape for _, shape in parts}
    if len(shapes) > 1:
        run.refuse(
            "the rows of this nested list have different lengths",
            "give all rows as many items",
            TypingError,
        )
    inner = shapes.pop() if shapes else ()
    return [item for items, _ in parts for item in items], (len(value), *inner)


def _are_sliced(first: Any, rows: int, period: int) -> bool:
    """True if consecutive rows are read as slices: if there are many, or if they are all rows of
    the array."""
    if rows * period >= FEWEST_ROWS:
        return True
    return rows > 1 and rows == _rows_in_all(first)


def _rows_in_all(item: Any) -> int:
    """The number of rows of the array that an item is a row of."""
    if isinstance(item, Row):
        return math.prod(item.atom.type.dims[: len(item.index)])
    return math.prod(item.cell.variable.type.dims[: len(item.path)])


def _columns(run: Run, rows: Sequence[Any]) -> list[Array] | None:
    """The columns of a list of lists, if each is known or most of its items are rows of the same
    array."""
    found: list[Array] = []
    for column in zip(*rows, strict=True):
        known = all(map(is_number, column))
        made = array_of(run, column, None) if known else stacked_rows(run, column)
        if made is None:
            return None
        found.append(made)
    return found


def stacked_rows(run: Run, items: Sequence[Any]) -> Array | None:
    """``np.array(items)`` if most of the items are rows of the same array, as few slices of it, in
    C order; None if they are not."""
    parts: list[Any] = []
    is_sliced = False
    at = 0
    while at < len(items):
        period, rows = _rows_at(items, at)
        if not _are_sliced(items[at], rows, period):
            parts.append(run.record("expand_dims", run.as_array(items[at]), axis=(0,)))
            at += 1
            continue
        parts.append(_in_turn(run, [_slice(run, items[at + k], rows) for k in range(period)]))
        is_sliced = True
        at += rows * period
    if not is_sliced:
        return None
    if len(parts) == 1:
        whole: Array = run.record("copy", parts[0])
        return whole if is_in_c_order(run, whole) else run.record("copy", parts[0], order="C")
    joined: Array = in_c_order(run, run.record("concatenate", *parts, axis=0))
    return joined


def place_in(item: Any) -> tuple[Any, int] | None:
    """The array that an item is a row of, and the number of the row. If the array has a dimension
    for each of several loops, its rows are numbered through them."""
    if isinstance(item, Row):
        dims, index = item.atom.type.dims, item.index
        return item.atom, int(np.ravel_multi_index(index, dims))
    if not isinstance(item, Array) or not item.path:
        return None
    dims = item.cell.variable.type.dims
    for step in item.path:
        if step.primitive != "slice" or step.params["drop"] != (0,) or step.counters:
            return None
    index = tuple(step.params["start"][0][0] for step in item.path)
    lengths = [step.params["length"][1:] for step in item.path]
    steps = [step.params["step"] for step in item.path]
    whole = all(length == dims[k + 1 :] for k, length in enumerate(lengths))
    if not whole or any(s != 1 for step in steps for s in step):
        return None
    return item.cell, int(np.ravel_multi_index(index, dims[: len(index)]))


def _rows_at(items: Sequence[Any], at: int) -> tuple[int, int]:
    """The number of arrays that the next items are rows of in turn, and the number of rows of
    each."""
    first = place_in(items[at])
    if first is None:
        return 1, 1
    alike = _kind(items[at])
    for period in range(1, min(MOST_IN_TURN, len(items) - at) + 1):
        rows = min(_end_of_run(items, at + k, period) for k in range(period))
        if rows > 1:
            return period, rows
        if at + period < len(items) and _kind(items[at + period]) != alike:
            break
    return 1, 1


def _kind(item: Any) -> Any:
    """A key that is equal for items that can be stacked together."""
    if isinstance(item, Row):
        return item.kept
    return item.type if isinstance(item, Array) else None


def _end_of_run(items: Sequence[Any], at: int, period: int) -> int:
    """The number of items, from a position on, every ``period``, that are consecutive rows of the
    same array."""
    first = place_in(items[at])
    rows = 1
    while first is not None and at + rows * period < len(items):
        if place_in(items[at + rows * period]) != (first[0], first[1] + rows):
            break
        rows += 1
    return rows


def _in_turn(run: Run, parts: Sequence[Array]) -> Array:
    """Interleave the rows of some arrays."""
    first, *rest = parts
    if not rest:
        return first
    stacked: Array = run.record("stack", *parts, axis=1)
    shape = (len(parts) * first.type.dims[0], *first.type.dims[1:])
    return run.view(stacked, "reshape", shape=shape)


def _slice(run: Run, first: Any, count: int) -> Array:
    found = place_in(first)
    assert found is not None
    source: Variable = first.atom if isinstance(first, Row) else first.cell.variable
    depth = len(first.index) if isinstance(first, Row) else len(first.path)
    base = Array(Cell(source, "a part of a list"), source.type)
    if depth > 1:
        rows = int(np.prod(source.type.dims[:depth]))
        base = run.view(base, "reshape", shape=(rows, *source.type.dims[depth:]))
    dims = base.type.dims
    if count == dims[0]:
        return base
    params: dict[str, Any] = {
        "start": ((found[1],), *((0,) for _ in dims[1:])),
        "length": (count, *dims[1:]),
        "step": (1,) * len(dims),
        "drop": (),
    }
    return run.view(base, "slice", **params)
