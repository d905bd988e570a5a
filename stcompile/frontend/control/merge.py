"""Merge the values of two paths of control flow where they meet.

A `Merger` takes pairs of values and describes the merged values by *shapes*: a value on which both
paths agree is kept, numbers and the contents of arrays become *slots*, which an equation with an
output for each slot will fill, structures are merged part by part, and values that cannot be merged
become a `Poison`: they must not be read afterwards.

Storage needs care. Two arrays merge into an array with storage of its own only if nobody can see a
difference: only the merged names refer to them, and on both paths the same names share an array.
Otherwise the merged array may be read, but neither it nor the two arrays may be written.
"""

from __future__ import annotations

import ast
import contextlib
import gc
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from stcompile.analysis.layouts import common
from stcompile.base import trees
from stcompile.base.classes import MISSING
from stcompile.base.deferred import deferred
from stcompile.base.wording import an
from stcompile.frontend.control.merged import (
    BUILT,
    UNDEFINED,
    ArrayOf,
    Builder,
    Filling,
    Keep,
    MergedCell,
    Moving,
    Parts,
    RowOf,
    Shape,
    Slot,
    SlotInfo,
    Spoiled,
    Stored,
    children_of,
)
from stcompile.frontend.control.moving import SizesInStep, counters_within, is_long_as
from stcompile.frontend.control.unbound import as_maybe, is_read_elsewhere
from stcompile.frontend.operations.data_model import class_value
from stcompile.frontend.operations.numbers import common_number, reads_as_number
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.items import TAKEN, Counted, Generated, Iterator
from stcompile.frontend.state.rests import UNLIKE, filled_in, is_filled, name_of, rest_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.state import (
    AttributeSite,
    CellSite,
    ContentsSite,
    Key,
    NameSite,
    PositionSite,
    ShapeSite,
    Site,
    reachable,
)
from stcompile.frontend.state.values import (
    DICT_VIEWS,
    Affine,
    Array,
    Cell,
    Field,
    GeneratorMethod,
    GeneratorValue,
    Maybe,
    Poison,
    Rest,
    Row,
    Scalar,
    Text,
    Unread,
    Value,
    describe,
)
from stcompile.wengert.dims import Symbol
from stcompile.wengert.ir import Atom, Constant, Variable
from stcompile.wengert.primitives.control import undefined
from stcompile.wengert.types import Type, is_number

filling_of = deferred("stcompile.frontend.control.filling", "filling_of")
EITHER = "it may be either of two arrays, depending on a value known only at run time"


World: TypeAlias = Callable[[], AbstractContextManager[None]]
NewSlot: TypeAlias = Callable[[Type, Callable[[], Any]], int]


def _is_rest(item: Any) -> bool:
    return isinstance(item, Rest)


@dataclass(eq=False)
class Merger:
    """Merge the values of two paths that started at ``age``. ``construct`` is the statement, for
    messages; ``worlds`` enter the state at the end of either path, where its containers have their
    items."""

    run: Run
    construct: str
    age: int
    worlds: tuple[World, World] = (contextlib.nullcontext, contextlib.nullcontext)
    hidden: Set[Variable] = frozenset()  # variables that exist only inside the paths
    counter: Variable | None = None  # the counter of a loop that makes all its steps
    binds: Symbol | None = None  # the counter that lengths inside the loop may depend on
    has_flags: bool = False  # names that have a value on one path only get a flag
    has_rows: bool = False  # values are collected in the rows of one array
    may_be_set: bool = False  # whether attributes from outside may be set on one path only
    outside: Mapping[Hashable, Any] | None = None  # values made around the paths (see `inside`)
    slots: list[SlotInfo] = field(default_factory=list)
    widened: set[int] = field(default_factory=set)  # slots of floats that may be ints
    _cells: dict[tuple[int, int], MergedCell] = field(default_factory=dict)
    _containers: dict[tuple[int, int], Parts] = field(default_factory=dict)
    _rows: dict[Variable, int] = field(default_factory=dict)  # slots of collected numbers
    _kept: list[Any] = field(default_factory=list)
    _alive: list[Any] = field(default_factory=list)  # objects whose ids are in use

    @property
    def cells(self) -> list[MergedCell]:
        return list(self._cells.values())

    @property
    def structures(self) -> list[Parts]:
        return list(self._containers.values())

    # --- sites ---------------------------------------------------------------------------------

    def site(self, site: Site, first: Any, second: Any) -> Shape:
        """The merged state of a site."""
        if isinstance(site, CellSite):
            if first is second:
                return Keep(first)
            hint = self.run.recorder.hints.get(first, "")
            slot = self.slot(first.type, lambda: first, lambda: second, hint)
            return Stored(slot, site.owner)
        if isinstance(site, ShapeSite):  # of an array that the other path does not know
            return Keep(first)
        if isinstance(site, PositionSite):
            return Keep(first if first == second else TAKEN)
        if isinstance(site, ContentsSite):
            longer = self._longer_on_a_path(site, first, second)
            return longer or self._contents(site.container, first, second)
        hint = site.name
        if isinstance(site, AttributeSite) and (first is MISSING) is not (second is MISSING):
            of_class = class_value(self.run, site.owner, hint)  # read by the path without it
            first, second = (of_class if v is MISSING else v for v in (first, second))
        if isinstance(site, NameSite) and self._needs_flag(site, first, second):
            shape: Shape = self.flagged(as_maybe(first), as_maybe(second), hint)
        else:
            shape = self.merge(first, second, hint)
        if not isinstance(shape, Spoiled):
            return shape
        change = self.run.outside.changes.get(site.key)
        if isinstance(site, NameSite) or change is not None:
            shape = shape.of(hint)
        if change is not None and self.may_be_set:
            return self._set_on_a_path(change.entered, first, second, shape)
        return shape

    def _needs_flag(self, site: NameSite, first: Any, second: Any) -> bool:
        """True for a name that may have no value where the paths meet, if it is read there."""
        pair = first, second
        if not any(value is MISSING or isinstance(value, Maybe) for value in pair):
            return False
        has_flag = self.has_flags or any(isinstance(value, Maybe) for value in pair)
        return has_flag and first is not second and is_read_elsewhere(site.frame, site.name)

    def flagged(self, first: Maybe, second: Maybe, hint: str) -> Shape:
        """The shape of a name that has a value on one path only, or perhaps."""
        value = self.merge(first.value, second.value, hint)
        if isinstance(value, Spoiled):
            return value
        flag = self.merge(first.flag, second.flag, hint and f"has_{hint}")
        return Parts(first, second, (flag, value))

    def _set_on_a_path(self, entered: Any, first: Any, second: Any, shape: Spoiled) -> Shape:
        """The state of an attribute from outside that one path sets, and the other leaves as it
        ``entered``."""
        before = entered.read() if isinstance(entered, Unread) else entered

        def set_by(value: Any) -> Maybe:
            if isinstance(value, Maybe):
                return value
            is_left = value is before
            return Maybe(shape.reason, flag=not is_left, value=UNDEFINED if is_left else value)

        one, other = set_by(first), set_by(second)
        if one.flag is True and other.flag is True:
            return shape
        flag, value = self.merge(one.flag, other.flag), self.merge(one.value, other.value)
        return shape if isinstance(value, Spoiled) else Parts(one, other, (flag, value))

    def _longer_on_a_path(self, site: Site, first: Any, second: Any) -> Shape | None:
        """The state of a list of an object from outside that gets items on one path only."""
        is_one = isinstance(first, list) and len(first) != len(second)
        if not (is_one and self.may_be_set and site.key in self.run.outside.changes):
            return None
        if self.run.attempts.keeping:
            return None
        common = min(len(first), len(second))
        if any(a is not b for a, b in zip(first, second, strict=False)):
            return None
        parts: list[Shape] = [self.merge(item, item) for item in first[:common]]
        for item in first[common:] or second[common:]:
            reason = f"this list has the item on one path only: see {self.construct}"
            left = Maybe(reason, flag=False, value=UNDEFINED)
            held = item if isinstance(item, Maybe) else Maybe(reason, flag=True, value=item)
            held = replace(held, reason=reason)
            one, other = (held, left) if first[common:] else (left, held)
            part = self.flagged(one, other, "")
            if isinstance(part, Spoiled):
                return None
            parts.append(part)
        return Parts(first, second, tuple(parts))

    def _contents(self, container: Any, first: Any, second: Any) -> Shape:
        kind = type(container).__name__
        if isinstance(container, set):
            if first != second:
                self._refuse(f"{an(kind)} has different items on the two paths", "use an array")
            return Keep(first)
        same = len(first) == len(second)
        if type(container) is list:  # unknown items are in the same places
            same = [*map(_is_rest, first)] == [*map(_is_rest, second)]
            varies = not same or filled_in(first) is not None
            filling = self._filling(first, second, container) if varies else None
            if filling is not None:
                return Parts(first, second, (filling,))
        if isinstance(container, dict):
            same = list(first) == list(second)
        if not same and type(container) is list:
            reason = "this list gets items on one path that it does not get on the other"
            hint = "append numbers or arrays of one type and shape"
            return Keep([Rest(f"{reason}: see {self.construct}", hint)])
        if not same:
            self._refuse(
                f"{an(kind)} gets items on one path that it does not get on the other",
                "change it on both paths alike, or use an array and np.where",
            )
        pairs = zip(_items(first), _items(second), strict=True)
        return Parts(first, second, tuple(self.merge(a, b) for a, b in pairs))

    def _filling(
        self, first: list[Any] | None, second: list[Any] | None, container: Any = None
    ) -> Filling | None:
        """Merge two lists as rows of arrays; None stands for a path that is never read."""
        run, before = self.run, None if container is None else [*container]
        hint = name_of(run, container)
        found: Filling | None = filling_of(
            run, self.slot, self.merge, (first, second), before, hint
        )
        return found

    # --- values --------------------------------------------------------------------------------

    def merge(self, first: Any, second: Any, hint: str = "") -> Shape:
        """The shape of a value that is ``first`` on one path and ``second`` on the other path."""
        if first is second:
            self._kept.append(first)
            return Keep(first)
        if first is UNDEFINED or second is UNDEFINED:
            return self.defined(second if first is UNDEFINED else first, first is UNDEFINED, hint)
        if is_filled(first) and is_filled(second):
            return self._filling([first], [second]) or Spoiled(UNLIKE)
        are_flagged = isinstance(first, Maybe) and isinstance(second, Maybe)
        for value, other in ((first, second), (second, first)):
            if value is MISSING:
                return Spoiled(f"has a value on one path only: see {self.construct}")
            if isinstance(value, Poison) and not are_flagged:
                return Spoiled(value.reason)
            if value is None and other is not None:
                return self._unlike(first, second)
        if isinstance(first, Array) and isinstance(second, Array):
            return self._arrays(first, second, hint)
        if reads_as_number(first) and reads_as_number(second):
            return self._numbers(first, second, hint)
        if isinstance(first, Value) and first.is_same(second):
            return Keep(first)
        return self._structures(first, second, hint)

    def _numbers(self, first: Any, second: Any, hint: str) -> Shape:
        numbers = isinstance(first, Scalar) and isinstance(second, Scalar)
        if numbers and first.identity == second.identity:
            return Keep(first)
        if is_number(first) and is_number(second) and Constant(first) == Constant(second):
            return Keep(first)
        common = common_number(first, second)
        if common is None:
            return self._unlike(first, second)
        return Slot(self.slot(common, lambda: first, lambda: second, hint))

    def _arrays(self, first: Array, second: Array, hint: str) -> Shape:
        if first.cell is second.cell and first.path == second.path:
            self._kept.append(first)
            return Keep(first)
        if first.type != second.type:
            return self._unlike(first, second)
        base = first.cell.variable.type
        if first.path == second.path and base == second.cell.variable.type:
            whole = hint if not first.path else ""
            return ArrayOf(self._cell(first.cell, second.cell, whole), first.type, first.path)
        for array in (first, second):  # views of two arrays: the merged value can only be read
            self.run.freeze(array.cell, EITHER)
        run = self.run
        index = self.slot(first.type, lambda: run.read(first), lambda: run.read(second), hint)
        merged = MergedCell(index, first.type, None, first.cell, second.cell, EITHER)
        return ArrayOf(merged, first.type)

    def _cell(self, first: Cell, second: Cell, hint: str) -> MergedCell:
        key = id(first), id(second)
        if key not in self._cells:
            index = self.slot(
                first.variable.type, lambda: first.variable, lambda: second.variable, hint
            )
            type_, strides_of = first.variable.type, self.run.layouts.of
            strides = common(type_.dims, strides_of(first.made), strides_of(second.made))
            frozen = first.frozen or second.frozen
            self._cells[key] = MergedCell(index, type_, strides, first, second, frozen)
        return self._cells[key]

    def _structures(self, first: Any, second: Any, hint: str) -> Shape:
        if type(first) is not type(second):
            return self._unlike(first, second)
        if id(first) in self.run.origins or id(second) in self.run.origins:
            return self._unlike(first, second)  # objects that belong to the caller
        key = id(first), id(second)
        if key in self._containers:
            return self._containers[key]
        ours, theirs = self._children(first, 0), self._children(second, 1)
        if ours is None or theirs is None:
            same = trees.is_plain_key(first) and first == second
            return Keep(first) if same else self._unlike(first, second)
        if isinstance(first, list):
            pair = [[part for _, part in parts] for parts in (ours, theirs)]
            is_filled = any(filled_in(items) is not None for items in pair)
            filling = self._filling(*pair) if is_filled or len(ours) != len(theirs) else None
            if filling is not None:
                self._alive += [first, second]
                shape = self._containers[key] = Parts(first, second, (filling,))
                return shape
        rest = rest_in(part for _, part in (*ours, *theirs))
        if rest is not None:
            return Spoiled(rest.reason)
        if [step for step, _ in ours] != [step for step, _ in theirs]:
            return self._unlike(first, second)
        if isinstance(first, Frame) and (_may_change(first) or _may_change(second)):
            reason = "is one of two functions around which names may still change"
            return Spoiled(f"{reason}: see {self.construct}")
        self._alive += [first, second]
        shape = self._containers[key] = Parts(first, second)  # a part may refer to it
        pairs = zip(ours, theirs, strict=True)
        shape.parts = tuple(self.merge(a, b) for (_, a), (_, b) in pairs)
        spoiled = next((part for part in shape.parts if isinstance(part, Spoiled)), None)
        if spoiled is not None and isinstance(first, BUILT):  # useless without a part
            del self._containers[key]
            return spoiled
        return shape

    def _children(self, value: Any, which: int) -> Sequence[tuple[Any, Any]] | None:
        with self.worlds[which]():
            return children_of(self.run, value)

    def _unlike(self, first: Any, second: Any) -> Spoiled:
        ours, theirs = _described(first), _described(second)
        if ours == theirs:
            return Spoiled(f"is not the same {describe(first)} on both paths: see {self.construct}")
        return Spoiled(f"is {ours} on one path and {theirs} on the other: see {self.construct}")

    def defined(self, value: Any, is_second: bool, hint: str) -> Shape:
        """The shape of a value that only one path leaves, if the other path is never read."""

        def slot(type: Type, read: Callable[[], Any]) -> int:
            first, second = (_undefined, read) if is_second else (read, _undefined)
            return self.slot(type, first, second, hint)

        if is_filled(value):
            pair = (None, [value]) if is_second else ([value], None)
            return self._filling(*pair) or Spoiled(UNLIKE)
        if isinstance(value, Rest):
            return Keep(value)
        if isinstance(value, Poison) and not isinstance(value, Maybe):
            return Spoiled(value.reason)
        if isinstance(value, Scalar):
            return self._number_inside(value, slot)
        if isinstance(value, Array):
            return self._array_inside(value, slot)
        if isinstance(value, GeneratorValue) and value.born > self.age:
            return Spoiled(f"is a random generator made inside: see {self.construct}")
        if self._is_opaque(value):
            return Spoiled(f"is a {describe(value)} made inside: see {self.construct}")
        children = self._children(value, int(is_second))
        if children is None or self._is_old(value) or id(value) in self.run.origins:
            return Keep(value)
        self._alive.append(value)
        key = id(value), 0
        if key not in self._containers:
            shape = self._containers[key] = Parts(value, value)  # a part may refer to it
            shape.frozen = self.run.is_disowned(value)
            shape.parts = tuple(self.defined(part, is_second, "") for _, part in children)
        return self._containers[key]

    def _number_inside(self, value: Scalar, slot: NewSlot) -> Shape:
        """The shape of a number that only one path leaves."""
        if isinstance(value, Affine) and self._is_moving(value):
            return Moving(value)
        if isinstance(value, Row) and value.atom in self.hidden:
            if value.atom not in self._rows:
                self._rows[value.atom] = slot(value.atom.type, lambda: value.atom)
            return RowOf(self._rows[value.atom], value)
        return Slot(slot(value.type, lambda: value))

    def _array_inside(self, value: Array, slot: NewSlot) -> Shape:
        """The shape of an array that only one path leaves."""
        if self.run.is_named_within(value, self.outside):
            return Spoiled(f"has a length that is known only inside: see {self.construct}")
        counters = counters_within(value, self.hidden)
        varies = is_long_as(value, self.binds)
        if varies and self.counter is not None:
            counters = counters | {self.counter}
        is_kept = not counters or self._is_moving(value)
        is_old = is_kept and value.cell.born <= self.age
        if varies and not (is_old or (self.has_rows and self.counter is not None)):
            return Spoiled(f"has another length in each step: see {self.construct}")
        copied = value.path and counters and (not varies or self.has_rows)
        if copied and not (is_kept and not self._is_collected(value)):
            run = self.run
            run.freeze(value.cell, "a part of it, at an index known only at run time, is kept")
            index = slot(value.type, lambda: run.read(value))
            part = MergedCell(index, value.type, None, value.cell, value.cell, EITHER)
            return ArrayOf(part, value.type)
        if value.cell.born <= self.age:
            return Moving(value) if counters or varies else Keep(value)
        key = id(value.cell), 0
        if key not in self._cells:
            cell = value.cell
            index = slot(cell.variable.type, lambda: cell.variable)
            type_ = cell.variable.type
            strides = None if type_.varies else self.run.layouts.of(cell.made)
            self._cells[key] = MergedCell(index, type_, strides, cell, cell, cell.frozen)
        return ArrayOf(self._cells[key], value.type, value.path)

    def _is_moving(self, value: Affine | Array) -> bool:
        """True for a value that moves only with the counter of a loop that makes all its steps, so
        that its value after each step is known."""
        counters = counters_within(value, self.hidden)
        if isinstance(value, Array) and is_long_as(value, self.binds):
            counters.add(self.counter)  # type: ignore[arg-type]
        return counters == {self.counter}

    def _is_collected(self, value: Array) -> bool:
        """True for a view that is better collected, as a copy: a view, but not a row, of an array
        that nobody writes, or of an argument that nobody has written so far. Rows that are put
        together again are a part of the array."""
        (first, *rest), rows = value.path, value.cell.variable.type.dims[1:]
        whole = first.primitive == "slice" and first.params["length"][1:] == rows
        is_row = whole and first.params["drop"] == (0,) and first.params["start"][0][1:] == (1,)
        cell = value.cell
        is_as_given = bool(cell.frozen) or (cell.lent and cell.variable == cell.made)
        return is_as_given and bool(rest or not is_row)

    def _is_old(self, value: Any) -> bool:
        """True for values that existed before the paths began."""
        if isinstance(value, Frame):
            return value.born <= self.age
        born = self.run.made_at(value)
        return born is not None and born <= self.age

    def _is_opaque(self, value: Any) -> bool:
        """True for objects that may hold values from inside the paths, which cannot be looked
        up."""
        if isinstance(value, Iterator):
            return value.born > self.age
        if isinstance(value, Text):
            return any(isinstance(piece, Field) for piece in value.pieces)
        if type(value) in DICT_VIEWS:
            return not all(map(self._is_old, gc.get_referents(value)))
        return isinstance(value, Generated | GeneratorMethod | Counted)

    def slot(
        self, type: Type, first: Callable[[], Any], second: Callable[[], Any], hint: str
    ) -> int:
        self.slots.append(SlotInfo(type, first, second, hint))
        return len(self.slots) - 1

    def _refuse(self, reason: str, hint: str) -> None:
        self.run.refuse(
            f"{reason}, depending on a value known only at run time: see {self.construct}", hint
        )

    def _alive_outside(self, merged: set[Key]) -> list[Any]:
        """The values that the merged state refers to, or that objects from outside hold."""
        held = self.run.outside.held.items()
        return [*self._kept, *(v for (at, n), v in held if (AttributeSite, at, n) not in merged)]

    def keep(self, value: Any) -> None:
        """Note that the merged state refers to a value."""
        self._kept.append(value)

    # --- the end -------------------------------------------------------------------------------

    def settle(self, merged: set[Key]) -> None:
        """Decide which merged arrays may be written, now that all sites are known."""
        outside = reachable(self.run.frames, merged, self.run.owned, self._alive_outside(merged))
        merges = list(self._cells.values())
        for cell in merges:
            partners = [m for m in merges if m.first is cell.first or m.second is cell.second]
            shared = [c for c in (cell.first, cell.second) if c.lent or id(c) in outside]
            if len(partners) > 1 or shared:
                cell.frozen = cell.frozen or EITHER
                for original in shared:
                    self.run.freeze(original, EITHER)
        structures = list(self._containers.values())
        for shape in structures:
            twins = [s for s in structures if s.first is shape.first or s.second is shape.second]
            shared = [c for c in (shape.first, shape.second) if id(c) in outside]
            originals = (shape.first, shape.second)
            if len(twins) > 1 or shared or any(map(self.run.is_disowned, originals)):
                shape.frozen = True
                for original in shared:
                    self.run.disown(original)

    def atoms(self, which: str, start: int = 0) -> list[Atom]:
        """The values of the slots from ``start`` on, on the ``first`` or the ``second`` path; to be
        called inside that path."""
        slots = self.slots[start:]
        values = [getattr(slot, which)() for slot in slots]
        self.widened |= {start + i for i, v in enumerate(values) if self._is_widened(v, slots[i])}
        return [self.converted(value, slot.type) for value, slot in zip(values, slots, strict=True)]

    def _is_widened(self, value: Any, slot: Any) -> bool:
        """True for an int in the place of a float, or of what may be one."""
        if isinstance(value, Scalar) and not isinstance(value, Affine):
            return self.run.atom(value) in self.run.widened
        return type(value) is int and slot.type.inexact

    def converted(self, value: Any, to: Type) -> Atom:
        run = self.run
        if value is UNDEFINED:
            (absent,) = run.record_atoms("undef", (), undefined(to))
            return absent
        if is_number(value):
            if to.kind == "python":
                return Constant(to.python_type(value))
            return Constant(to.dtype.type(value))
        atom = run.atom(value)
        if atom.type != to:
            (atom,) = run.record_atoms("to_scalar", (atom,), {})
            if atom.type != to:
                (atom,) = run.record_atoms("cast", (atom,), {"dtype": to.dtype})
        return atom

    def build(
        self, shapes: Sequence[Shape], atoms: Sequence[Atom], step: SizesInStep | None = None
    ) -> list[Any]:
        """Values of the given shapes, with ``atoms`` in the slots, after ``step`` of a loop."""
        return Builder(self.run, atoms, step).all(shapes)


def _may_change(frame: Frame) -> bool:
    """True if a name of a frame may get another value: its code runs, or a function in it says
    ``nonlocal``."""
    return bool(frame.blocks) or any(isinstance(n, ast.Nonlocal) for n in ast.walk(frame.node))


def _undefined() -> Any:
    return UNDEFINED


def _items(contents: Any) -> list[Any]:
    return list(contents.values()) if isinstance(contents, dict) else list(contents)


def _described(value: Any) -> str:
    if is_number(value) or isinstance(value, str):
        return repr(value)
    if type(value) in (list, tuple, dict):
        return f"a {describe(value)} of {len(value)} {'item' if len(value) == 1 else 'items'}"
    return "None" if value is None else describe(value)
