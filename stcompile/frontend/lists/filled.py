"""Lists whose number of items the data decide: their items are rows of arrays.

The list has a `Filled` in place of all its items. The arrays are as long as the list can become,
and an integer counts the rows that are items:

    out.append(v)             out[n] = v
                              n += 1
    np.array(out)             out[:n]
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.frontend.lists.buffers import blank, first_rows, freeze_item, row_at, store
from stcompile.frontend.lists.item_layouts import NOTHING, Layout, Rows, common_layout, leaves_of
from stcompile.frontend.operations.indexing import get_item
from stcompile.frontend.operations.operators import BINARY, binary
from stcompile.frontend.state.items import Counted
from stcompile.frontend.state.rests import (
    FILLED,
    FILLED_HINT,
    UNLIKE,
    ListArray,
    filled_in,
    rest_in,
)
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Scalar, described, is_traced, is_whole
from stcompile.library import lists
from stcompile.wengert.bounds import greatest, least, maximum
from stcompile.wengert.dims import Size, Symbol
from stcompile.wengert.ir import Variable
from stcompile.wengert.types import Type


@dataclass(frozen=True, eq=False)
class Filled(ListArray):
    """The first ``count`` rows of ``buffers``, arrays of ``capacity`` rows, one for each number or
    array in an item. The count is from ``low`` to ``high``, and was never above ``peak``."""

    reason: str = field(init=False, default=FILLED)
    hint: str = field(init=False, default=FILLED_HINT)
    layout: Layout = NOTHING
    buffers: tuple[Variable, ...] = ()
    capacity: Size = 0
    count: Any = 0
    low: int = 0
    high: Size = 0
    peak: Size = 0

    # --- adding and removing items -------------------------------------------------------------

    def with_items(self, run: Run, items: Sequence[Any]) -> Filled:
        """Add items for which there is room."""
        if not items:
            return self
        rows = [[*leaves_of(item)] for item in items]
        buffers = []
        for item in items:
            freeze_item(run, item)
        for buffer, column in zip(self.buffers, zip(*rows, strict=True), strict=True):
            value: Any = column[0]
            if len(items) > 1:
                value = run.as_array([*column], buffer.type.dtype)
            length = None if len(items) == 1 else len(items)
            buffers.append(store(run, buffer, value, self.count, length))
        return replace(
            self,
            buffers=tuple(buffers),
            count=binary(run, BINARY[ast.Add], self.count, len(items)),
            low=self.low + len(items),
            high=self.high + len(items),
            peak=maximum(self.peak, self.high + len(items)),
        )

    def _fitting(self, run: Run, more: Sequence[Any], capacity: Size, verb: str) -> Filled:
        """The items in arrays that also hold other items."""
        layout = common_layout(run, [self], more)
        if layout is None:
            run.refuse(UNLIKE, f"{verb} items of one type and shape")
        return filled(run, [self], layout, capacity)

    def extended(self, run: Run, items: Sequence[Any]) -> Filled:
        """Add items at the end; make room for them if need be."""
        needed: Any = self.high + len(items)
        capacity = self.capacity if least(self.capacity - needed) >= 0 else 2 * needed
        return self._fitting(run, items, capacity, "append").with_items(run, items)

    def joined(self, run: Run, other: Filled) -> Filled:
        """Add the items of another list at the end."""
        room: Any = self.high + other.high
        whole = self._fitting(run, [other], maximum(self.capacity, room), "append")
        other = filled(run, [other], whole.layout, other.capacity)
        at, size = whole.size(run), other.size(run)
        buffers = []
        for buffer, more in zip(whole.buffers, other.buffers, strict=True):
            part = run.read(first_rows(run, _row_type(more), iter([more]), size))
            buffers.append(store(run, buffer, part, at, size))
        return replace(
            whole,
            buffers=tuple(buffers),
            count=binary(run, BINARY[ast.Add], whole.count, other.count),
            low=whole.low + other.low,
            high=room,
            peak=maximum(whole.peak, room),
        )

    def without(self, run: Run, place: Any, is_last: bool) -> Filled:
        """Remove the item at a position that is in the list."""
        rest = self if is_last else self.rearranged(run, lists.without_place, [place])
        return replace(
            rest,
            count=binary(run, BINARY[ast.Sub], rest.count, 1),
            low=max(0, rest.low - 1),
            high=maximum(0, rest.high - 1),
        )

    def with_inserted(self, run: Run, index: Any, item: Any) -> Filled:
        """Insert an item before the item at an index."""
        place, count = run.call(lists.place_on_list, [index, self.count], {}), self.count
        return self.extended(run, [item]).rearranged(run, lists.with_last_at, [count, place])

    def rearranged(self, run: Run, places: Any, arguments: Sequence[Any]) -> Filled:
        """Permute the rows; ``places`` is a function of the library that gives the order."""
        capacity = run.integer(self.capacity)
        order = run.call(places, [capacity, *arguments], {})
        buffers = []
        for buffer in self.buffers:
            at = ("index", *((0, length, 1) for length in buffer.type.dims[1:]))
            buffers.append(run.record_atoms("index", (buffer, run.atom(order)), {"at": at})[0])
        return replace(self, buffers=tuple(buffers))

    # --- items ---------------------------------------------------------------------------------

    def place(self, run: Run, index: Any, message: str = "list index out of range") -> Any:
        """The position of an item, counted from the start, which is checked at run time if need
        be."""
        is_static = not is_traced(index)
        if is_static and not -greatest(self.high) <= index < greatest(self.high):
            run.raises(IndexError(message))
        if is_static and 0 <= index < self.low:
            return index
        if is_static and -self.low <= index < 0:
            return binary(run, BINARY[ast.Sub], self.count, -index)
        place, count = run.size_of(index), run.size_of(self.count)
        if place is not None and count is not None and least(place) >= 0 < least(count - place):
            return index
        return run.call(lists.place_of_item, [index, self.count, message], {})

    def at(self, run: Run, place: Any) -> Any:
        """The item at a position that is in the list."""
        buffers = iter(self.buffers)
        return trees.map_leaves(lambda _, t: row_at(run, next(buffers), t, place), self.layout)

    def item(self, run: Run, items: Any, index: Any) -> Any:
        if isinstance(index, slice):
            return run.own([self.part(run, index)])
        return self.at(run, self.place(run, _checked_place(run, index)))

    def set_item(self, run: Run, items: Any, index: Any, value: Any) -> None:
        text = "list assignment index out of range"
        place = self.place(run, _checked_place(run, index), text)
        whole = self._fitting(run, [value], self.capacity, "keep")
        freeze_item(run, value)
        pairs = zip(whole.buffers, leaves_of(value), strict=True)
        buffers = tuple(store(run, buffer, leaf, place, None) for buffer, leaf in pairs)
        _set(run, items, replace(whole, buffers=buffers))

    def part(self, run: Run, part: slice) -> Filled:
        """``items[start:stop]``, or all items reversed."""
        if part == slice(None, None, -1):
            return self.rearranged(run, lists.turned_round, [self.count])
        if part.step not in (None, 1):
            run.refuse("a slice with a step of a list whose length the data decide", FILLED_HINT)
        if part.start in (None, 0) and part.stop is None:
            return self
        ends = [0 if part.start is None else part.start, part.stop]
        if part.stop is None:
            ends[1] = self.count
        start, stop = (run.call(lists.place_on_list, [end, self.count], {}) for end in ends)
        count = run.call(lists.length_between, [start, stop], {})
        return replace(self.rearranged(run, lists.moved_to_front, [start]), count=count, low=0)

    def unpacked(self, run: Run, first: int, last: int | None) -> list[Any]:
        needed, is_least = first + (last or 0), last is not None
        if self.low < needed or not is_least:
            run.call(lists.require_items, [self.count, needed, is_least], {})
        found = [self.at(run, place) for place in range(first)]
        if last is None:
            return found
        end = binary(run, BINARY[ast.Sub], self.count, last)
        found.append(run.own([self.part(run, slice(first, end))]))
        places = (binary(run, BINARY[ast.Add], end, at) for at in range(last))
        return [*found, *(self.at(run, place) for place in places)]

    # --- the whole list ------------------------------------------------------------------------

    def truth(self, run: Run, items: list[Any]) -> Any:
        return run.record("greater", self.count, 0) if self.low == 0 else True

    def size(self, run: Run) -> Size:
        """The number of items, as the length of an axis."""
        size: Size | None = run.size_of(self.count)
        if size is None:
            size = run.named(self.count.atom, Symbol("n", self.low, self.high))
        return size

    def iterated(self, run: Run, items: list[Any]) -> Counted:
        def item(index: Any) -> Any:
            present = filled_in(items)
            if not isinstance(present, Filled) or present.count is not self.count:
                run.refuse(
                    "this loop changes the length of the list that it goes through",
                    "go through a copy: list(items)",
                )
            return present.at(run, index)

        return Counted(run.integer(self.size(run)), item, source=items)

    def as_array(self, run: Run) -> Array:
        size = self.size(run)
        return first_rows(run, self.layout, iter(self.buffers), size)

    def as_rows(self, run: Run) -> Rows:
        size, buffers = self.size(run) if self.buffers else 0, iter(self.buffers)
        return Rows(
            self.layout,
            {
                path: first_rows(run, type_, buffers, size)
                for path, type_ in trees.leaves(self.layout)
            },
        )

    def sorted(self, run: Run, reverse: bool) -> Filled:
        if not isinstance(self.layout, Type):
            run.refuse("the items of this list are no numbers: they have no order", FILLED_HINT)
        array = run.call(np.sort, [self.as_array(run)], {})
        if reverse:
            array = get_item(run, array, slice(None, None, -1))
        made, size = run.read(array), self.size(run)
        return replace(
            self, buffers=(store(run, blank(run, self.layout, self.capacity), made, 0, size),)
        )

    def operate(self, run: Run, python: Any, left: Any, right: Any) -> list[Any]:
        items, times = (left, right) if isinstance(left, list) else (right, left)
        if python is operator.mul and isinstance(times, int):
            made: list[Any] = run.own([])
            for _ in range(times):
                _extend(run, made, items)
            return made
        if python is not operator.add or not (type(left) is type(right) is list):
            run.refuse(f"this operator of a list: {FILLED}", FILLED_HINT)
        made = run.own([*left])
        _extend(run, made, right)
        return made

    def call(
        self,
        run: Run,
        items: list[Any],
        name: str,
        arguments: Sequence[Any],
        keywords: Mapping[str, Any],
    ) -> Any:
        method = METHODS.get(name)
        if method is None or keywords:
            run.refuse(f"`list.{name}` is not supported here: {FILLED}", FILLED_HINT)
        return method(run, items, *arguments)


def bounds_of(items: Sequence[Any]) -> tuple[int, Size, Size]:
    """The least and the greatest number of items, and the greatest number there has ever been."""
    found = filled_in(items)
    if not isinstance(found, Filled):
        return len(items), len(items), len(items)
    return found.low, found.high, found.peak


def filled(run: Run, items: Sequence[Any], layout: Layout, capacity: Size) -> Filled:
    """The items of a list as rows of arrays of length ``capacity``."""
    present, types = filled_in(items), [*leaves_of(layout)]
    if not isinstance(present, Filled) or not present.buffers:
        empty = tuple(blank(run, type_, capacity) for type_ in types)
        made = Filled(layout, empty, capacity)
        return made if present is not None else made.with_items(run, items)
    buffers = []
    for buffer, wanted in zip(present.buffers, types, strict=True):
        if buffer.type.dtype != wanted.dtype:
            (buffer,) = run.record_atoms("cast", (buffer,), {"dtype": wanted.dtype})
        if present.capacity != capacity:
            wider = blank(run, wanted, capacity)
            buffer = store(run, wider, buffer, 0, present.capacity)
        buffers.append(buffer)
    return replace(present, layout=layout, buffers=tuple(buffers), capacity=capacity)


def from_rows(run: Run, rows: Rows) -> Filled:
    """A list with an item for each row of the arrays of a result."""
    buffers = tuple(map(run.read, rows.columns.values()))
    size = buffers[0].type.dims[0]
    count, low, high = run.integer(size), least(size), greatest(size)
    return Filled(rows.layout, buffers, size, count, low, high, high)


def _row_type(buffer: Variable) -> Type:
    return Type.array(buffer.type.dtype, buffer.type.dims[1:])


def _checked_place(run: Run, index: Any) -> Any:
    """An index of a list as an integer."""
    is_traced_integer = isinstance(index, Scalar) and index.type.dtype.kind in "iu"
    if not (is_traced_integer or is_whole(index)):
        run.refuse(
            f"a list whose length the data decide is indexed by {described(index)}",
            "make an array of it first: `np.array(items)[1:]`",
        )
    return index


# --- methods of the list -------------------------------------------------------------------------


def _present(run: Run, items: list[Any]) -> Filled:
    found = filled_in(items)
    if isinstance(found, Filled):
        return found
    run.checked(rest_in(items))  # a loop that appends to it may not keep it as rows of arrays
    layout = common_layout(run, items) or NOTHING
    return filled(run, items, layout, len(items))


def _set(run: Run, items: list[Any], changed: Filled) -> None:
    run.note_contents(items)
    items[:] = [changed]


def _append(run: Run, items: list[Any], item: Any) -> None:
    _set(run, items, _present(run, items).extended(run, [item]))


def _extend(run: Run, items: list[Any], more: list[Any]) -> None:
    present, other = _present(run, items), filled_in(more)
    if isinstance(other, Filled):
        _set(run, items, present.joined(run, other))
    else:
        run.checked(rest_in(more))
        _set(run, items, present.extended(run, more))


def _pop(run: Run, items: list[Any], index: Any = -1) -> Any:
    present = _present(run, items)
    is_last = not is_traced(index) and index == -1
    message = "pop from empty list" if is_last else "pop index out of range"
    place = present.place(run, index, message)
    item = present.at(run, place)
    _set(run, items, present.without(run, place, is_last))
    return item


def _insert(run: Run, items: list[Any], index: Any, item: Any) -> None:
    _set(run, items, _present(run, items).with_inserted(run, index, item))


def _reverse(run: Run, items: list[Any]) -> None:
    _set(run, items, _present(run, items).part(run, slice(None, None, -1)))


def _clear(run: Run, items: list[Any]) -> None:
    run.note_contents(items)
    items.clear()


def _copy(run: Run, items: list[Any]) -> list[Any]:
    made: list[Any] = run.own([*items])
    return made


METHODS: dict[str, Callable[..., Any]] = {
    "append": _append,
    "pop": _pop,
    "clear": _clear,
    "copy": _copy,
    "extend": _extend,
    "insert": _insert,
    "reverse": _reverse,
}
