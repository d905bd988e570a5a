"""Nested lists of numbers and arrays as arrays.

The items of a list that a rolled loop filled are rows of one array: they are read as slices of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.base.thresholds import FEWEST_ROWS
from stcompile.frontend.operations.layout import in_c_order
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Cell, Row
from stcompile.wengert.ir import Variable
from stcompile.wengert.types import is_number


def array_of(run: Run, value: Any, dtype: np.dtype[Any] | None) -> Array:
    """A nested list of numbers and arrays as an array, as np.array makes it."""
    flat, shape = _flatten(run, value)
    if all(is_number(item) for item in flat):
        exact = np.array(flat, dtype) if dtype or flat else np.array([], np.float64)
        items = tuple(exact.ravel().tolist())
        made: Array = run.record("constant", values=items, shape=shape, dtype=exact.dtype)
        return made
    rows = stacked_rows(run, value)
    if rows is not None:
        return run.cast(rows, dtype) if dtype else rows
    if any(isinstance(item, Array) and item.type.ndim for item in flat):
        parts = [item if isinstance(item, Array) else run.as_array(item) for item in value]
        stacked = in_c_order(run, run.record("stack", *parts, axis=0))
        return run.cast(stacked, dtype) if dtype else stacked
    atoms = [run.atom(item) for item in flat]
    found = dtype or np.result_type(*(atom.type.dtype for atom in atoms))
    array: Array = run.record("array", *flat, shape=shape, dtype=found)
    return array


def _flatten(run: Run, value: Any) -> tuple[list[Any], tuple[int, ...]]:
    """The items of a nested list, and its shape; ragged lists are refused."""
    if not isinstance(value, list | tuple):
        return [run.checked(value)], ()
    parts = [_flatten(run, item) for item in value]
    shapes = {shape for _, shape in parts}
    if len(shapes) > 1:
        run.refuse(
            "the rows of this nested list have different lengths", "make them equal", TypingError
        )
    inner = shapes.pop() if shapes else ()
    return [item for items, _ in parts for item in items], (len(value), *inner)


def stacked_rows(run: Run, items: Sequence[Any]) -> Array | None:
    """``np.stack(items)`` where most of the items are rows of one array, as few slices of it;
    None where they are not."""
    parts: list[Any] = []
    is_sliced = False
    at = 0
    while at < len(items):
        stop = _end_of_run(items, at)
        if stop - at < FEWEST_ROWS:
            parts.append(run.record("expand_dims", run.as_array(items[at]), axis=(0,)))
            at += 1
            continue
        parts.append(_slice(run, items[at], stop - at))
        is_sliced = True
        at = stop
    if not is_sliced:
        return None
    if len(parts) == 1:
        whole: Array = run.record("copy", parts[0])
        return whole
    joined: Array = run.record("concatenate", *parts, axis=0)
    return joined


def _place(item: Any) -> tuple[Any, int] | None:
    """The array that an item is a row of, and which row."""
    if isinstance(item, Row):
        return item.atom, item.index
    if not isinstance(item, Array) or len(item.path) != 1:
        return None
    (step,) = item.path
    if step.primitive != "slice" or step.params["drop"] != (0,) or step.counters:
        return None
    dims = item.cell.variable.type.dims
    whole = step.params["length"][1:] == dims[1:] and all(s == 1 for s in step.params["step"])
    return (item.cell, step.params["start"][0][0]) if whole else None


def _end_of_run(items: Sequence[Any], at: int) -> int:
    """The end of the consecutive rows that start at a position."""
    first = _place(items[at])
    stop = at + 1
    while first is not None and stop < len(items):
        place = _place(items[stop])
        if place is None or place[0] is not first[0] or place[1] != first[1] + stop - at:
            break
        stop += 1
    return stop


def _slice(run: Run, first: Any, count: int) -> Array:
    if isinstance(first, Row):
        source: Variable = first.atom
        start = first.index
    else:
        source, start = first.cell.variable, first.path[0].params["start"][0][0]
    base = Array(Cell(source, "a part of a list"), source.type)
    dims = source.type.dims
    if count == dims[0]:
        return base
    params: dict[str, Any] = {
        "start": ((start,), *((0,) for _ in dims[1:])),
        "length": (count, *dims[1:]),
        "step": (1,) * len(dims),
        "drop": (),
    }
    return run.view(base, "slice", **params)
