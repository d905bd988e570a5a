"""Check that a step of a loop leaves a state of the shape that the next step starts with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Set
from typing import Any

from stcompile.base.deferred import deferred
from stcompile.base.strides import alike
from stcompile.frontend.control.merge import Merger
from stcompile.frontend.control.merged import (
    ArrayOf,
    Builder,
    Counting,
    Filling,
    Keep,
    MergedCell,
    Parts,
    Shape,
    Slot,
    Spoiled,
    Window,
    children_of,
)
from stcompile.frontend.operations.affine import combined
from stcompile.frontend.operations.numbers import common_number
from stcompile.frontend.state.rests import count_of, rest_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.state import Key, reachable
from stcompile.frontend.state.values import Array, Scalar, is_numeric
from stcompile.wengert.ir import Atom, Variable

is_filled_alike = deferred("stcompile.frontend.control.filling", "is_filled_alike")
SHARED = "two arrays may share its storage after a loop"


def difference(after: Any, before: Any) -> int | None:
    """The difference of two integers, if it is known."""
    found = combined("subtract", after, before)
    return found if type(found) is int else None


class Matcher:
    """Find the values that a step leaves for the slots of its carry."""

    def __init__(self, run: Run, merger: Merger) -> None:
        self.run = run
        self.merger = merger
        self.values: dict[int, Callable[[], Any]] = {}
        self.cells: dict[int, tuple[MergedCell, Any]] = {}
        self._matching: set[tuple[int, int]] = set()  # structures: they may refer to themselves

    def match(self, shape: Shape, after: Any) -> bool:
        """True if a value has the given shape; notes the values that are in the slots."""
        if isinstance(shape, Spoiled):
            return True
        if isinstance(shape, Keep):
            return self._is_kept(shape.value, after)
        if isinstance(shape, Counting):
            return difference(after, shape.head) == shape.step
        if isinstance(shape, Slot):
            self.values[shape.index] = lambda: after
            wanted = self.merger.slots[shape.index].type
            if isinstance(after, Variable):
                return after.type == wanted
            zero_dimensional = isinstance(after, Array) and not after.type.ndim
            if not (is_numeric(after) or zero_dimensional):
                return False
            return common_number(Scalar(Variable("head", wanted)), after) == wanted
        if isinstance(shape, ArrayOf):
            return self._match_array(shape, after)
        if isinstance(shape, Filling):
            items = after if isinstance(after, list) else [after]
            alike = is_filled_alike(self.run, shape, items, self.values)
            return alike and self.match(shape.count, count_of(items))
        if isinstance(shape, Window):
            return all(map(self.match, shape.parts, after[len(after) - len(shape.parts) :]))
        assert isinstance(shape, Parts)  # before the loop nothing moves with its counter
        if (id(shape), id(after)) in self._matching:
            return True
        self._matching.add((id(shape), id(after)))
        if not shape.frozen and self.run.is_disowned(after):
            return False
        if isinstance(after, list) and any(isinstance(part, Filling) for part in shape.parts):
            return all(self.match(part, after) for part in shape.parts)
        ours, theirs = children_of(self.run, shape.first), children_of(self.run, after)
        if type(shape.first) is not type(after) or ours is None or theirs is None:
            return False
        if [step for step, _ in ours] != [step for step, _ in theirs]:
            return False
        pairs = zip(shape.parts, theirs, strict=True)
        return all(self.match(part, value) for part, (_, value) in pairs)

    def _is_kept(self, value: Any, after: Any) -> bool:
        if value is after:
            return True
        if isinstance(value, list) and rest_in(value) is not None:
            return isinstance(after, list) and rest_in(after) is not None
        if isinstance(value, Array) and isinstance(after, Array):
            return value.cell is after.cell and value.path == after.path
        if isinstance(value, Variable):
            return bool(value == after)
        return isinstance(Merger(self.run, "", 0).merge(value, after), Keep)

    def _match_array(self, shape: ArrayOf, after: Any) -> bool:
        if not isinstance(after, Array) or after.type != shape.type or after.path != shape.path:
            return False
        cell = after.cell
        if cell.variable.type != shape.cell.type:
            return False
        known = self.cells.setdefault(id(shape.cell), (shape.cell, cell))
        if known[1] is not cell:
            return False
        lies = shape.cell.strides
        now = self.run.layouts.of(cell.made)
        if lies is not None and not alike(cell.made.type.dims, lies, now):
            return False
        self.values[shape.cell.index] = lambda: cell.variable
        return True

    def shares(self, merged: set[Key]) -> bool:
        """True if the step leaves a writable array in storage that another value refers to as
        well."""
        run = self.run
        outside = reachable(run.frames, merged, run.owned)
        left: set[int] = set()
        for cell, after in self.cells.values():
            if not cell.frozen and (after.lent or id(after) in outside or id(after) in left):
                return True
            left.add(id(after))
        return False

    def spread(self, builder: Builder) -> bool:
        """Freeze the arrays at the start of the step under those names where the step leaves a
        frozen array, since the next step starts with it. True if there are any."""
        pairs = [(builder.cell(merged), after) for merged, after in self.cells.values()]
        found = False
        while late := [(head, after) for head, after in pairs if after.frozen and not head.frozen]:
            found = True
            for head, after in late:
                self.run.freeze(head, after.frozen)
        return found

    def freeze_shared(self, mergers: list[Merger], heads: Set[int]) -> None:
        """Freeze the merged arrays and structures of ``heads`` that a step leaves in shared
        storage, or that a list gets from the previous step."""
        *_, rows = mergers
        for row in rows.cells:
            row.frozen = SHARED if id(row.second) in heads else row.frozen
        structures = [part for merger in mergers for part in merger.structures]
        times = Counter(id(part.second) for part in structures)
        for part in structures:
            part.frozen = part.frozen or times[id(part.second)] > 1 or id(part.second) in heads
        owners: dict[int, list[MergedCell]] = {}
        for cell in [cell for merger in mergers for cell in merger.cells]:
            left = self.cells[id(cell)][1] if id(cell) in self.cells else cell.second
            owners.setdefault(id(left), []).append(cell)
        for shared in owners.values():
            if len(shared) > 1:
                for cell in shared:
                    cell.frozen = cell.frozen or SHARED

    def atoms(self, slots: Any, variables: list[Variable]) -> list[Atom]:
        """The atom that the step leaves in each slot; a slot that the step does not change keeps
        its value."""
        return [self._atom(index, slot.type, variables[index]) for index, slot in enumerate(slots)]

    def _atom(self, index: int, type: Any, head: Variable) -> Atom:
        if index not in self.values:
            return head
        value = self.values[index]()
        return Merger(self.run, "", 0).converted(value, type)
