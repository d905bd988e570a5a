"""Lists whose number of items the data decide: their items are rows of arrays.

The list has a `Filled` in place of all its items. The arrays are as long as the list can become,
and an integer counts the rows that are items:

    out.append(v)             out[n] = v
                              n += 1
    np.array(out)             out[:n]
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stcompile.frontend.operations.item_layouts import (
    common_layout,
    item_of,
    leaves_of,
    types_in,
)
from stcompile.frontend.operations.operators import BINARY, binary
from stcompile.frontend.operations.subscripts import place_on_axis
from stcompile.frontend.state.rests import FILLED, FILLED_HINT, UNLIKE, filled_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import (
    Affine,
    Array,
    Cell,
    Counted,
    Filled,
    Layout,
    Scalar,
    is_traced,
)
from stcompile.library import lists
from stcompile.wengert.bounds import greatest, least, maximum
from stcompile.wengert.dims import Dim, Size, Sizes, Symbol
from stcompile.wengert.ir import Atom, Variable
from stcompile.wengert.types import Type

COPIED = "a list whose length the data decide has a copy of it"
OUT_OF_RANGE = "list index out of range"


def bounds_of(items: Sequence[Any]) -> tuple[int, Size, Size]:
    """The least and the greatest number of items, and the greatest number there has ever been."""
    filled = filled_in(items)
    if filled is None:
        return len(items), len(items), len(items)
    return filled.low, filled.high, filled.peak


# --- filling -------------------------------------------------------------------------------------


def fill(run: Run, items: Sequence[Any], layout: Layout, capacity: Size) -> Filled:
    """The items of a list as rows of arrays of length ``capacity``."""
    present = filled_in(items)
    if present is None:
        return _with_items(run, _empty(run, layout, capacity), items)
    if not present.buffers:
        return _empty(run, layout, capacity)
    buffers = []
    for buffer, wanted in zip(present.buffers, types_in(layout), strict=True):
        if buffer.type.dtype != wanted.dtype:
            (buffer,) = run.record_atoms("cast", (buffer,), {"dtype": wanted.dtype})
        if present.capacity != capacity:
            wider = _blank(run, wanted, capacity)
            buffer = _store(run, wider, buffer, 0, present.capacity)
        buffers.append(buffer)
    return replace(present, layout=layout, buffers=tuple(buffers), capacity=capacity)


def _empty(run: Run, layout: Layout, capacity: Size) -> Filled:
    buffers = tuple(_blank(run, type_, capacity) for type_ in types_in(layout))
    return Filled(FILLED, FILLED_HINT, layout, buffers, capacity)


def _blank(run: Run, type_: Type, capacity: Size) -> Variable:
    params = {"shape": (capacity, *type_.dims), "dtype": type_.dtype}
    (made,) = run.record_atoms("full", (run.atom(type_.dtype.type(0)),), params)
    return made


def _with_items(run: Run, filled: Filled, items: Sequence[Any]) -> Filled:
    """Add items for which there is room."""
    if not items:
        return filled
    rows = [[*leaves_of(item, filled.layout)] for item in items]
    buffers = []
    for item in items:
        _tie(run, item)
    for buffer, column in zip(filled.buffers, zip(*rows, strict=True), strict=True):
        value: Any = column[0] if len(items) == 1 else run.as_array([*column], buffer.type.dtype)
        length = None if len(items) == 1 else len(items)
        buffers.append(_store(run, buffer, value, filled.count, length))
    return replace(
        filled,
        buffers=tuple(buffers),
        count=binary(run, BINARY[ast.Add], filled.count, len(items)),
        low=filled.low + len(items),
        high=filled.high + len(items),
        peak=maximum(filled.peak, filled.high + len(items)),
    )


def _tie(run: Run, item: Any) -> None:
    """Freeze an item that is copied, so that nothing changes it: for the program the copy is the
    item."""
    if isinstance(item, Array):
        run.freeze(item.cell, COPIED)
    elif isinstance(item, tuple | list):
        run.disown(item)
        for part in item:
            _tie(run, part)


def extended(run: Run, filled: Filled, items: Sequence[Any]) -> Filled:
    """Add items at the end; make room for them if need be."""
    layout = common_layout(run, [filled], items)
    if layout is None:
        run.refuse(UNLIKE, "append items of one type and shape")
    needed: Any = filled.high + len(items)
    capacity = filled.capacity
    if least(capacity - needed) < 0:
        capacity = 2 * needed
    return _with_items(run, fill(run, [filled], layout, capacity), items)


def joined(run: Run, filled: Filled, other: Filled) -> Filled:
    """Add the items of another list at the end."""
    layout = common_layout(run, [filled], [other])
    if layout is None:
        run.refuse(UNLIKE, "append items of one type and shape")
    room: Any = filled.high + other.high
    filled = fill(run, [filled], layout, maximum(filled.capacity, room))
    other = fill(run, [other], layout, other.capacity)
    at, size = size_in(run, filled), size_in(run, other)
    buffers = []
    for buffer, more in zip(filled.buffers, other.buffers, strict=True):
        part = run.atom(_joined(run, _row_type(more), [more], size))
        assert isinstance(part, Variable)
        buffers.append(_store(run, buffer, part, at, size))
    return replace(
        filled,
        buffers=tuple(buffers),
        count=binary(run, BINARY[ast.Add], filled.count, other.count),
        low=filled.low + other.low,
        high=room,
        peak=maximum(filled.peak, room),
    )


def _row_type(buffer: Variable) -> Type:
    return Type.array(buffer.type.dtype, buffer.type.dims[1:])


def _within(run: Run, buffer: Variable, index: Any) -> Any:
    """An index of the rows of an array whose length may have a name."""
    dim, place = buffer.type.dims[0], run.size_of(index)
    return place_on_axis(run, place, dim) if isinstance(dim, Dim) and place is not None else index


def _part(index: Any, row: Sizes, length: Size | None) -> tuple[tuple[Variable, ...], Any]:
    """The operands and the params of a slice of rows, or of a single row (``length`` is None)."""
    counters: tuple[Variable, ...] = ()
    start: tuple[Any, ...] = (index,)
    if isinstance(index, Affine):
        counters = tuple(counter for counter, _ in index.terms)
        start = (index.offset, *(coefficient for _, coefficient in index.terms))
    elif isinstance(index, Scalar):
        counters, start = (index.atom,), (0, 1)
    return counters, {
        "start": (start, *((0,) for _ in row)),
        "length": (1 if length is None else length, *row),
        "step": (1,) * (1 + len(row)),
        "drop": (0,) if length is None else (),
    }


def _store(run: Run, buffer: Variable, value: Any, index: Any, length: Size | None) -> Variable:
    index = _within(run, buffer, index) if length is None else index
    counters, params = _part(index, buffer.type.dims[1:], length)
    operands: tuple[Atom, ...] = (buffer, run.atom(value), *counters)
    (made,) = run.record_atoms("update", operands, params)
    hint = run.recorder.hints.get(buffer)
    if hint:
        run.recorder.hints[made] = hint
    return made


# --- items ---------------------------------------------------------------------------------------


def place_in(run: Run, filled: Filled, index: Any, message: str = OUT_OF_RANGE) -> Any:
    """The position of an item, counted from the start, which is checked at run time if need be."""
    is_static = not is_traced(index)
    if is_static and not -greatest(filled.high) <= index < greatest(filled.high):
        run.raises(IndexError(message))
    if is_static and 0 <= index < filled.low:
        return index
    if is_static and -filled.low <= index < 0:
        return binary(run, BINARY[ast.Sub], filled.count, -index)
    place, count = run.size_of(index), run.size_of(filled.count)
    if place is not None and count is not None and least(place) >= 0 < least(count - place):
        return index
    return run.call(lists.place_of_item, [index, filled.count, message], {})


def item_at(run: Run, filled: Filled, place: Any) -> Any:
    """The item at a position that is in the list."""
    leaves = (
        _row(run, buffer, type_, place)
        for buffer, type_ in zip(filled.buffers, types_in(filled.layout), strict=True)
    )
    return item_of(leaves, filled.layout)


def _row(run: Run, buffer: Variable, type_: Type, place: Any) -> Any:
    counters, params = _part(_within(run, buffer, place), buffer.type.dims[1:], None)
    (row,) = run.record_atoms("slice", (buffer, *counters), params)
    if type_.kind == "python":
        (row,) = run.record_atoms("to_python", (row,), {"dtype": type_.dtype})
    value = run.value(row)
    if isinstance(value, Array):
        run.freeze(value.cell, COPIED)
    return value


def with_item(run: Run, filled: Filled, place: Any, item: Any) -> Filled:
    """Replace the item at a position that is in the list."""
    layout = common_layout(run, [filled, item])
    if layout is None:
        run.refuse(UNLIKE, "keep items of one type and shape")
    filled = fill(run, [filled], layout, filled.capacity)
    _tie(run, item)
    pairs = zip(filled.buffers, leaves_of(item, layout), strict=True)
    return replace(filled, buffers=tuple(_store(run, b, leaf, place, None) for b, leaf in pairs))


def with_rows(run: Run, filled: Filled, rows: Sequence[Variable]) -> Filled:
    """Replace all items by the same number of other items, given as ``rows``."""
    size, buffers = size_in(run, filled), []
    for row, type_ in zip(rows, types_in(filled.layout), strict=True):
        buffers.append(_store(run, _blank(run, type_, filled.capacity), row, 0, size))
    return replace(filled, buffers=tuple(buffers))


def rearranged(run: Run, filled: Filled, places: Any, arguments: Sequence[Any]) -> Filled:
    """Permute the rows; ``places`` is a function of the library that gives the order."""
    capacity = run.integer(filled.capacity)
    order = run.call(places, [capacity, *arguments], {})
    buffers = []
    for buffer in filled.buffers:
        at = ("index", *((0, length, 1) for length in buffer.type.dims[1:]))
        buffers.append(run.record_atoms("index", (buffer, run.atom(order)), {"at": at})[0])
    return replace(filled, buffers=tuple(buffers))


def without(run: Run, filled: Filled, place: Any, is_last: bool) -> Filled:
    """Remove the item at a position that is in the list."""
    if not is_last:
        filled = rearranged(run, filled, lists.without_place, [place])
    return replace(
        filled,
        count=binary(run, BINARY[ast.Sub], filled.count, 1),
        low=max(0, filled.low - 1),
        high=maximum(0, filled.high - 1),
    )


def with_inserted(run: Run, filled: Filled, index: Any, item: Any) -> Filled:
    """Insert an item before the item at an index."""
    place, count = run.call(lists.place_on_list, [index, filled.count], {}), filled.count
    return rearranged(run, extended(run, filled, [item]), lists.with_last_at, [count, place])


def part_of(run: Run, filled: Filled, part: slice) -> Filled:
    """``items[start:stop]``, or all items reversed."""
    if part == slice(None, None, -1):
        return rearranged(run, filled, lists.turned_round, [filled.count])
    if part.step not in (None, 1):
        run.refuse("a slice with a step of a list whose length the data decide", FILLED_HINT)
    if part.start in (None, 0) and part.stop is None:
        return filled
    ends = [0 if part.start is None else part.start, part.stop]
    if part.stop is None:
        ends[1] = filled.count
    start, stop = (run.call(lists.place_on_list, [end, filled.count], {}) for end in ends)
    count = run.call(lists.length_between, [start, stop], {})
    moved = rearranged(run, filled, lists.moved_to_front, [start])
    return replace(moved, count=count, low=0)


# --- the whole list ------------------------------------------------------------------------------


def size_in(run: Run, filled: Filled) -> Size:
    """The number of items, as the length of an axis."""
    size: Size | None = run.size_of(filled.count)
    if size is None:
        size = run.named(filled.count.atom, Symbol("n", filled.low, filled.high))
    return size


def counted(run: Run, items: list[Any]) -> Counted:
    """The items for a loop, which may change items, but not their number."""
    filled = filled_in(items)
    assert filled is not None

    def item(index: Any) -> Any:
        present = filled_in(items)
        if present is None or present.count is not filled.count:
            run.refuse(
                "this loop changes the length of the list that it goes through",
                "go through a copy: list(items)",
            )
        return item_at(run, present, index)

    return Counted(run.integer(size_in(run, filled)), item, source=items)


def as_array(run: Run, filled: Filled) -> Array:
    """``np.array`` of the list."""
    size = size_in(run, filled)
    return _joined(run, filled.layout, iter(filled.buffers), size)


def columns_of(run: Run, filled: Filled) -> list[Array]:
    """An array for each number or array in an item, with a row for each item."""
    size = size_in(run, filled) if filled.buffers else 0
    types = types_in(filled.layout)
    return [
        _joined(run, type_, [buffer], size)
        for buffer, type_ in zip(filled.buffers, types, strict=True)
    ]


def from_columns(run: Run, layout: Layout, columns: Sequence[Array]) -> Filled:
    """A list with an item for each row of the arrays ``columns``."""
    buffers = tuple(map(run.read, columns))
    size = buffers[0].type.dims[0]
    count, low, high = run.integer(size), least(size), greatest(size)
    return Filled(FILLED, FILLED_HINT, layout, buffers, size, count, low, high, high)


def _joined(run: Run, layout: Layout, buffers: Iterable[Variable], size: Size) -> Array:
    found = iter(buffers)
    if isinstance(layout, Type):
        buffer = next(found)
        if size == buffer.type.dims[0]:
            return Array(Cell(buffer, depth=run.depth, born=run.age()), buffer.type)
        _, params = _part(0, buffer.type.dims[1:], size)
        array: Array = run.record("slice", Array(Cell(buffer), buffer.type), **params)
        return array
    parts = [_joined(run, part, found, size) for part in layout.parts]
    dtype = np.result_type(*(part.type.dtype for part in parts))
    stacked: Array = run.record("stack", *(run.cast(part, dtype) for part in parts), axis=1)
    return stacked
