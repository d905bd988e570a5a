"""Lists whose length differs between two paths, or before and after a step of a loop.

Where the paths meet, the items are rows of arrays, and an integer counts the rows (see
`stcompile.frontend.lists.filled`). A loop carries the arrays and the integer. The greatest
length of a list follows from the number of items that a step adds at most, and from the number of
steps.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stcompile.base import trees
from stcompile.frontend.control.merged import UNDEFINED, Counting, Filling, Keep, Parts, Shape
from stcompile.frontend.lists.filled import Filled, bounds_of, filled
from stcompile.frontend.lists.item_layouts import Layout, common_layout, leaves_of
from stcompile.frontend.state.rests import UNLIKE, count_of, filled_in, rest_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Affine, Array, Rest
from stcompile.wengert.bounds import greatest, least, maximum
from stcompile.wengert.dims import ENDLESS, Dim, Size, varies
from stcompile.wengert.types import Type

NO_BOUND = "this list may get longer with every step, and how many steps there are has no bound"
BOUND_IT = "give the loop a bound: `for _ in range(1000):` and `if not items: break`"
ROOM = 8
Items = list[Any] | None  # None on a path that never reaches the place where paths meet
NewSlot = Callable[[Type, Callable[[], Any], Callable[[], Any], str], int]


def filling_of(
    run: Run,
    slot: NewSlot,
    merge: Callable[[Any, Any, str], Shape],
    pair: tuple[Items, Items],
    before: list[Any] | None = None,
    hint: str = "",
) -> Filling | None:
    """The shape of two lists, one of which may have more items; None if the items are not rows of
    arrays. ``before`` are the items that both paths started with."""
    known = [items for items in pair if items is not None]
    layout = common_layout(run, *known)
    if layout is None:
        return None
    bounds = [bounds_of(items) for items in known]
    low, high = min(b[0] for b in bounds), maximum(*(b[1] for b in bounds))
    peak = maximum(*(b[2] for b in bounds))
    present = [found for found in map(filled_in, known) if isinstance(found, Filled)]
    room = max(ROOM, 2 * greatest(peak)) if not present else 0  # they may be appended to again
    capacity = maximum(peak, room, *(found.capacity for found in present))
    start = _start(run, before, pair, layout, capacity)
    sides = [_side(run, items, layout, capacity, start) for items in pair]
    rows = Filled(layout, (), capacity, low=low, high=high, peak=peak)
    return _with_slots(slot, merge, pair, sides, Filling(rows, Keep(0)), hint)


@dataclass(frozen=True)
class _Start:
    """The items that a list has before the paths, in arrays that are made there, and the contents
    of the items at that time."""

    items: list[Any]
    rows: Filled
    contents: list[Any]

    def is_as_before(self) -> bool:
        """True if no path has written to the items, so that their contents are as before the
        paths."""
        now = _contents(self.items)
        return len(now) == len(self.contents) and all(map(operator.is_, now, self.contents))


def _contents(items: list[Any]) -> list[Any]:
    """The numbers in the items of a list, and the variables that hold its arrays."""
    leaves = (leaf for _, leaf in trees.leaves(items))
    return [leaf.cell.variable if isinstance(leaf, Array) else leaf for leaf in leaves]


def _start(
    run: Run, before: list[Any] | None, pair: tuple[Items, Items], layout: Layout, capacity: Size
) -> _Start | None:
    """The items that a list has before the paths, if both paths leave them in their places."""
    if before is None or filled_in(before) is not None:
        return None
    for items in pair:
        if items is None or len(items) < len(before) or filled_in(items) is not None:
            return None
        if not all(a is b for a, b in zip(items, before, strict=False)):
            return None
    return _Start(before, filled(run, before, layout, capacity), _contents(before))


def _side(
    run: Run,
    items: Items,
    layout: Layout,
    capacity: Size,
    start: _Start | None,
) -> Callable[[], Filled]:
    """The rows of one path, made at its end when they are first asked for."""

    def made() -> Filled:
        assert items is not None
        if start is None or not start.is_as_before():
            return filled(run, items, layout, capacity)
        return start.rows.extended(run, items[len(start.items) :])

    return functools.cache(made)


def _with_slots(
    slot: NewSlot,
    merge: Callable[[Any, Any, str], Shape],
    pair: tuple[Items, Items],
    sides: Sequence[Callable[[], Filled]],
    shape: Filling,
    hint: str,
) -> Filling:
    def reader(which: int, place: int) -> Callable[[], Any]:
        if pair[which] is None:
            return lambda: UNDEFINED
        return lambda: sides[which]().buffers[place]

    rows = shape.rows
    types = [Type.array(t.dtype, (rows.capacity, *t.dims)) for t in leaves_of(rows.layout)]
    slots = tuple(slot(t, reader(0, k), reader(1, k), hint) for k, t in enumerate(types))
    if isinstance(shape.count, Counting):
        return replace(shape, slots=slots)
    counts = [UNDEFINED if items is None else count_of(items) for items in pair]
    count = merge(counts[0], counts[1], f"{hint}_length" if hint else "")
    return replace(shape, slots=slots, count=count)


@dataclass(frozen=True)
class _Bounds:
    """The effect of a step on the length of a list: the most items that it adds (``rate``), the
    room that it needs beyond the items at its start (``slack``), the least number of items at its
    start (``low``), and the differences that occur (``rates``)."""

    rate: Size
    slack: Size
    low: int
    rates: frozenset[Size | None] = frozenset()

    def with_step(self, head: Sequence[Any], after: Sequence[Any]) -> _Bounds:
        (low, high, _), (next_low, next_high, peak) = bounds_of(head), bounds_of(after)
        rate = _outside(next_high - high)
        return _Bounds(
            maximum(self.rate, rate),
            maximum(self.slack, _outside(peak - high), rate),
            self.low if next_low >= low else 0,
            self.rates | {rate if next_low - low == next_high - high else None},
        )


def _outside(size: Size) -> Size:
    """An upper bound of a size in all steps that is known outside of the loop."""
    return greatest(size) if varies(size) else size


@dataclass(eq=False)
class Filler:
    """A list whose length the steps of a loop change. There are at most ``limit`` steps;
    ``counter`` counts them if all are made. ``head`` are the items that a step starts with."""

    before: list[Any]
    limit: Size | None
    counter: Affine | None
    head: list[Any] = field(default_factory=list)
    bounds: _Bounds = _Bounds(0, 0, 0)

    def __post_init__(self) -> None:
        self.head = self.before
        self.bounds = _Bounds(0, 0, bounds_of(self.before)[0])

    def note(self, after: list[Any]) -> bool:
        """Widen the bounds by a step that leaves the items ``after``. False if the bounds already
        hold."""
        outer, self.bounds = self.bounds, self.bounds.with_step(self.head, after)
        return self.bounds != outer

    def shape(
        self, run: Run, slot: NewSlot, merge: Any, after: list[Any], hint: str
    ) -> Shape | None:
        """The shape of the list at the start of a step; None if its greatest length is not known
        but steps do nothing but append to it."""
        before = self.before
        found = self._filling(run, slot, merge, after, hint)
        if found is not None:
            return Parts(before, after, (found,))
        appends = all(a is b for a, b in zip(before, after, strict=False))
        if appends and rest_in(before) is None and len(after) > len(before):
            return None
        if common_layout(run, before, after) is None:
            return Keep([Rest(UNLIKE, "append numbers or arrays of one type and shape")])
        return Keep([Rest(NO_BOUND, BOUND_IT)])

    def _filling(
        self, run: Run, slot: NewSlot, merge: Any, after: list[Any], hint: str
    ) -> Filling | None:
        """The shape of the list as rows of arrays; None if its items are not rows, or if its
        greatest length is not known."""
        layout, high = common_layout(run, self.before, after), self._highest(0)
        if layout is None or high is None:
            return None
        present, capacity = filled_in(self.before), high + self.bounds.slack
        if isinstance(present, Filled):
            capacity = maximum(present.capacity, capacity)
        rows = Filled(layout, (), capacity, low=self.bounds.low, high=high, peak=high)
        shape = Filling(rows, self._count(run), rate=self.bounds.rate)
        pair = self.before, after
        sides = [_side(run, self.before, layout, capacity, None)] * 2
        return _with_slots(slot, merge, pair, sides, shape, hint)

    def _count(self, run: Run) -> Shape:
        """The number of items at the start of a step, if it moves with the counter."""
        start, rates = run.size_of(count_of(self.before)), self.bounds.rates
        (rate, *others) = rates
        if self.counter is None or start is None or others or not isinstance(rate, int) or not rate:
            return Keep(0)
        return Counting(run.integer(start), rate, self.counter)

    def after(self, run: Run, shape: Filling) -> Filling:
        """The shape of the list after the loop."""
        high = self._highest(1)
        assert high is not None
        count = shape.count
        if isinstance(count, Counting):
            assert self.limit is not None
            count = Keep(run.integer(run.size_of(count.start) + count.step * self.limit))
        rows = shape.rows
        peak = maximum(rows.capacity, high)
        return replace(shape, count=count, rows=replace(rows, high=high, peak=peak))

    def _highest(self, more: int) -> Size | None:
        """The most items at the start of the last step, or of ``more`` steps after it."""
        start, rate = bounds_of(self.before)[1], self.bounds.rate
        if rate == 0:
            return start
        if self.limit is None:
            return None
        steps: Any = self.limit - 1 + more
        if isinstance(steps, Dim):
            rate = greatest(rate)
        return None if greatest(rate) >= ENDLESS else start + rate * steps


def is_filled_alike(
    run: Run, shape: Filling, after: list[Any], values: dict[int, Callable[[], Any]]
) -> bool:
    """True if a list that a step leaves has the given shape, its number of items left aside; notes
    the values of the slots."""
    rows, (low, high, peak) = shape.rows, bounds_of(after)
    if common_layout(run, [rows], after) != rows.layout:
        return False
    if low < rows.low or least(rows.high + shape.rate - high) < 0:
        return False
    if least(rows.capacity - peak) < 0:
        return False
    made = functools.cache(lambda: filled(run, after, rows.layout, rows.capacity).buffers)
    for place, index in enumerate(shape.slots):
        values[index] = lambda place=place: made()[place]  # type: ignore[misc]
    return True
