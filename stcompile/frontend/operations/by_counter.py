"""The length of a list that grows with the counter of a loop, and the items of a list by the
counter: rows of the array that they are in, or of an array that they are copied into before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np

from stcompile.frontend.operations.affine import combined
from stcompile.frontend.operations.layout import is_in_c_order
from stcompile.frontend.operations.nested import place_in, stacked_rows
from stcompile.frontend.state.asking import STATIC_INDEX, ask_for_grid
from stcompile.frontend.state.rests import arrays_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Affine, Array, Cell, Grown, Row, Scalar, described
from stcompile.wengert.types import Type

Get: TypeAlias = Callable[[Run, Any, Any], Any]  # the item of an array at an index


@dataclass(frozen=True)
class Table:
    """A table of items; ``item`` gives the item for a counter. ``copied`` are the arrays that were
    copied for the table, each with its copy: while the loop runs neither may change."""

    item: Callable[[Affine], Any]
    copied: tuple[tuple[Cell, Cell], ...] = ()


def table_of(run: Run, items: Sequence[Any], get: Get) -> Table:
    """A table of the items of a list that does not change."""
    first = run.checked(items[0])
    if type(first) is tuple:
        return _of_tuples(run, items, len(first), get)
    table = _of_rows(run, items, get) or _of_arrays(run, items, get) or _of_numbers(run, items, get)
    if table is None:
        run.refuse(
            "the items of this list are not arrays or numbers of one type",
            "stack them into an array (`np.stack(items)`) and loop over its rows",
        )
    return table


def length_of(run: Run, items: Sequence[Any]) -> Any:
    """The length of a list: affine in the counter of a loop that appends to it."""
    held = arrays_in(items)
    if held is not None:
        return held.count
    total: Any = 0
    for item in items:
        is_counted = isinstance(item, Grown) and item.count is not None
        total = combined("add", total, item.count if is_counted else 1)
        if not is_counted:
            run.checked(item)
    return total


def place_of(run: Run, items: Sequence[Any], index: Affine) -> Any:
    """An affine index of a list that a loop appends to, counted from the end, if its distance from
    the end is constant; else the index itself. In the first step all counters are 0."""
    if all(counter in run.starting for counter, _ in index.terms):
        return index.offset
    if not any(isinstance(item, Grown) and item.count is not None for item in items):
        return index
    distance = combined("subtract", index, length_of(run, items))
    return distance if type(distance) is int and distance < 0 else index


def item_at_counter(run: Run, items: Sequence[Any], index: Affine, get: Get) -> Any:
    """The item of a list at an affine index, if the items that it may reach are rows of the same
    array."""
    low, high = index.low, index.high
    if high < 0:
        index, low, high = index.scaled(1, len(items)), low + len(items), high + len(items)
    if low >= 0 and high < len(items):
        part = items[low : high + 1]
        table = _of_rows(run, [run.checked(item) for item in part], get)
        if table is not None:
            return table.item(index.scaled(1, -low))
    refuse_index(run, items)


def refuse_index(run: Run, items: Any) -> NoReturn:
    """Refuse to index a list by a traced value, unless a loop can keep the list as an array."""
    ask_for_grid(run, items)
    run.refuse(f"{described(items)} is indexed by a value known only at run time", STATIC_INDEX)


def _of_tuples(run: Run, items: Sequence[Any], length: int, get: Get) -> Table:
    if any(type(item) is not tuple or len(item) != length for item in items):
        run.refuse("the items of this list are tuples of different lengths", "make them alike")
    parts = [table_of(run, column, get) for column in zip(*items, strict=True)]
    copied = tuple(pair for part in parts for pair in part.copied)
    return Table(lambda index: tuple(part.item(index) for part in parts), copied)


def _of_rows(run: Run, items: Sequence[Any], get: Get) -> Table | None:
    """A table of rows of the same array, at equal distances."""
    places = [place_in(item) for item in items]
    if len(items) < 2 or places[0] is None or places[1] is None:
        return None
    source, start = places[0]
    step = places[1][1] - start
    expected = [(source, start + step * k) for k in range(len(items))]
    if not step or places != expected:
        return None
    first = items[0]
    if isinstance(first, Row):
        if any(item.kept != first.kept for item in items):
            return None
        whole = Array(Cell(source, "a part of a list"), source.type)
        return Table(_numbers(run, get, whole, first.kept, start, step))
    if len(first.path) > 1:
        return None
    array = Array(source, source.variable.type)
    return Table(lambda index: get(run, array, index.scaled(step, start)))


def _numbers(
    run: Run, get: Get, array: Array, kept: Type, start: int = 0, step: int = 1
) -> Callable[[Affine], Any]:
    """A function from an affine index to the number there, for numbers that are the elements of an
    array in the order of its memory."""

    def item(index: Affine) -> Any:
        flat = array
        if array.type.ndim > 1:
            flat = run.view(array, "reshape", shape=(array.type.count,))
        number = get(run, flat, index.scaled(step, start))
        is_python = kept.kind == "python"
        return run.record("to_python", number, dtype=kept.dtype) if is_python else number

    return item


def _of_arrays(run: Run, items: Sequence[Any], get: Get) -> Table | None:
    """A table of arrays of the same type in C order: they are copied into a single array."""
    first = items[0]
    if not isinstance(first, Array):
        return None
    for item in items:
        if not isinstance(item, Array) or item.type != first.type:
            return None
        if not is_in_c_order(run, item):
            return None
    stacked = stacked_rows(run, items) or run.record("stack", *items, axis=0)
    copied = tuple((item.cell, stacked.cell) for item in items)
    return Table(lambda index: get(run, stacked, index), copied)


def _of_numbers(run: Run, items: Sequence[Any], get: Get) -> Table | None:
    """A table of floats of the same type; integers may be needed as numbers that are known."""
    if not all(isinstance(item, Scalar | float | np.floating) for item in items):
        return None
    kept, *others = (
        item.type if isinstance(item, Scalar) else run.atom(item).type for item in items
    )
    if any(other != kept for other in others) or not kept.inexact:
        return None
    array = stacked_rows(run, items)
    if array is None:
        array = run.record("array", *items, shape=(len(items),), dtype=kept.dtype)
    return Table(_numbers(run, get, array, kept))
