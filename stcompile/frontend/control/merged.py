"""Shapes of merged values, and the construction of values from shapes.

A *shape* says on which parts of a value both paths agree, which parts are *slots* that an equation
fills, and which parts cannot be known. A `Builder` makes values of shapes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from stcompile.base import trees
from stcompile.base.classes import names_of, own_attributes, set_own
from stcompile.base.containers import is_derived, made_like, parts_of, set_parts
from stcompile.base.strides import Strides, dense_order, is_natural, natural, order_of
from stcompile.frontend.control.moving import SizesInStep, Step
from stcompile.frontend.operations.affine import combined
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import (
    Affine,
    Array,
    Cell,
    Grown,
    Poison,
    Row,
    Scalar,
    Value,
    ViewStep,
)
from stcompile.wengert.bounds import generic
from stcompile.wengert.dims import Size, Sizes, UnknownSizeError
from stcompile.wengert.ir import Atom, Constant, Variable, as_variable, freeze
from stcompile.wengert.types import Type


@dataclass(frozen=True)
class Keep:
    """A value on which both paths agree: it stays as it is."""

    value: Any


@dataclass(frozen=True)
class Moving:
    """A view or an integer that moves with the counter of the loop that leaves it."""

    value: Any


@dataclass(frozen=True)
class Counting:
    """An integer to which every step of a loop adds the same number: ``start + step * counter`` at
    the start of a step."""

    start: Any
    step: int
    counter: Affine

    @property
    def head(self) -> Any:
        return combined("add", self.start, self.counter.scaled(self.step, 0))

    def after(self, steps: int) -> Any:
        """The value of the integer after a number of steps."""
        return combined("add", self.start, self.step * steps)


@dataclass(frozen=True)
class Slot:
    """A number that an equation gives."""

    index: int


@dataclass(frozen=True)
class RowOf(Slot):
    """A number that an inner loop collected in the array of the slot."""

    row: Row


@dataclass(frozen=True)
class Stored(Slot):
    """The variable of a cell that both paths know: its contents."""

    cell: Cell


@dataclass(eq=False)
class MergedCell:
    """The storage that stands for the storage of two merged arrays."""

    index: int
    type: Type
    strides: Strides
    first: Cell
    second: Cell
    frozen: str = ""

    @property
    def order(self) -> tuple[int, ...]:
        """The axes in the order of memory, the slowest first; in their own order if the layout is
        not known."""
        dims, size = self._shape, self.type.dtype.itemsize
        if self.strides is None or dims is None or is_natural(dims, self.strides, size):
            return tuple(range(self.type.ndim))
        return order_of(dims, self.strides)

    @property
    def is_dense(self) -> bool:
        """True if there are no gaps between its elements."""
        dims, size = self._shape, self.type.dtype.itemsize
        return dims is not None and dense_order(dims, self.strides, size) is not None

    @property
    def _shape(self) -> tuple[int, ...] | None:
        """The dims as numbers that stand for them; None if the layout does not follow from
        numbers."""
        try:
            shape: tuple[int, ...] = generic(self.type.dims)
        except UnknownSizeError:
            return None
        return shape


@dataclass(frozen=True)
class ArrayOf:
    """An array in a merged cell."""

    cell: MergedCell
    type: Type
    path: tuple[ViewStep, ...] = ()


@dataclass(eq=False)
class Parts:
    """A structure like ``first`` and ``second``, merged part by part. The program may change it
    unless it is ``frozen``."""

    first: Any
    second: Any
    parts: tuple[Shape, ...] = ()
    frozen: bool = False


@dataclass(eq=False)
class Window:
    """A list that the steps of a loop append to: its items from ``before`` the loop, the ``rest``,
    and its last items."""

    before: list[Any]
    rest: Grown
    parts: tuple[Shape, ...]


@dataclass(frozen=True)
class Filling:
    """A list whose number of items is known only at run time: a `Filled` without arrays and count,
    ``rows``, the ``slots`` of its arrays, and its ``count``. A step of a loop adds at most ``rate``
    items."""

    rows: Any
    count: Shape
    slots: tuple[int, ...] = ()
    rate: Size = 0


@dataclass(frozen=True)
class Spoiled:
    """No value that may be read, for a reason that begins with a verb, or with a name."""

    reason: str

    def of(self, name: str) -> Spoiled:
        """The same of a variable; a reason that has a name keeps it."""
        return self if self.reason[0] == "`" else Spoiled(f"`{name}` {self.reason}")


Shape: TypeAlias = Keep | Moving | Counting | Slot | ArrayOf | Parts | Window | Filling | Spoiled


@dataclass(frozen=True)
class SlotInfo:
    """The type of a slot, how to read its value on either path, and a name for it."""

    type: Type
    first: Callable[[], Any]
    second: Callable[[], Any]
    hint: str


class Undefined:
    """The value on a path that never reaches the place where paths meet, or that leaves no
    value."""


UNDEFINED = Undefined()


class Builder:
    """Make values of shapes; values share parts where the shapes do. Values that move with the
    counter of a loop are taken at ``step``."""

    def __init__(self, run: Run, atoms: Sequence[Atom], step: SizesInStep | None = None) -> None:
        self.run = run
        self.atoms = atoms
        self.step = step
        self._cells: dict[int, Cell] = {}
        self._made: dict[int, Any] = {}

    def all(self, shapes: Sequence[Shape]) -> list[Any]:
        return [self.value(shape) for shape in shapes]

    def value(self, shape: Shape) -> Any:
        if isinstance(shape, Keep):
            return shape.value
        if isinstance(shape, Moving):
            assert self.step is not None
            value = shape.value
            if isinstance(value, Array):
                return self.step.array(value)
            assert isinstance(self.step, Step)
            return self.step.integer(value)
        if isinstance(shape, Counting):
            step = self.step
            return shape.after(step.number + 1) if isinstance(step, Step) else shape.head
        if isinstance(shape, Slot):
            return self.number(shape)
        if isinstance(shape, Spoiled):
            return Poison(shape.reason)
        if isinstance(shape, ArrayOf):
            return self.array(shape)
        if isinstance(shape, Filling):
            return self._filled(shape)
        if isinstance(shape, Window):
            return [*shape.before, shape.rest, *map(self.value, shape.parts)]
        if id(shape) not in self._made:
            made = self._structure(shape)
            if shape.frozen:
                self.run.disown(made)
        return self._made[id(shape)]

    def _filled(self, shape: Filling) -> Any:
        buffers = []
        for index in shape.slots:
            buffer = as_variable(self.atoms[index])
            with contextlib.suppress(UnknownSizeError):
                dims, size = generic(buffer.type.dims), buffer.type.dtype.itemsize
                self.run.layouts.note(buffer, natural(dims, size))
            buffers.append(buffer)
        count = self.value(shape.count)
        return replace(shape.rows, buffers=tuple(buffers), count=count)

    def _structure(self, shape: Parts) -> Any:
        """Make a structure with its parts, which may refer back to it."""
        like, run = shape.first, self.run
        if isinstance(like, Frame):
            frame = self._made[id(shape)] = replace(like, names={}, born=run.age())
            frame.parent, *values = map(self.value, shape.parts)
            frame.names.update(zip(sorted(like.names), values, strict=True))
            run.frames.append(frame)
        elif type(like) is list:
            items: list[Any] = run.own([])
            self._made[id(shape)] = items
            items += map(self.value, shape.parts)
        elif type(like) is dict:
            table: dict[Any, Any] = run.own({})
            self._made[id(shape)] = table
            table.update(zip(like, map(self.value, shape.parts), strict=True))
        elif is_derived(like):
            instance = self._made[id(shape)] = run.own(made_like(like))
            set_parts(instance, like, map(self.value, shape.parts))
        elif not isinstance(like, BUILT):
            instance = self._made[id(shape)] = run.own(object.__new__(type(like)))
            for (name, _), part in zip(own_attributes(like), shape.parts, strict=True):
                set_own(instance, name, self.value(part))
        else:
            parts = [self.value(part) for part in shape.parts]
            self._made[id(shape)] = rebuilt(run, like, parts)
        return self._made[id(shape)]

    def number(self, shape: Slot) -> Any:
        atom = self.atoms[shape.index]
        if isinstance(shape, RowOf):
            assert isinstance(atom, Variable)
            return replace(shape.row, atom=atom)
        if isinstance(shape, Stored):
            assert isinstance(atom, Variable)
            self.run.layouts.note(atom, self.run.layouts.of(shape.cell.made))
            return atom
        return atom.value if isinstance(atom, Constant) else Scalar(atom)

    def array(self, shape: ArrayOf) -> Array:
        path = shape.path if self.step is None else self.step.path(shape.path)
        return Array(self.cell(shape.cell), shape.type, path)

    def cell(self, merged: MergedCell) -> Cell:
        if id(merged) not in self._cells:
            variable = as_variable(self.atoms[merged.index])
            self.run.layouts.note(variable, merged.strides)
            cell = Cell(variable, merged.frozen, self.run.depth, self.run.age())
            cell.stands_for_others = merged.first is not merged.second
            self._cells[id(merged)] = cell
        return self._cells[id(merged)]

    @property
    def made(self) -> set[int]:
        """The identities of the cells and structures that were made."""
        return {*map(id, self._cells.values()), *map(id, self._made.values())}


class RowBuilder(Builder):
    """Make the values that the steps of a loop left, step by step: rows of the arrays ``atoms``, in
    which the loop collected them."""

    def __init__(self, run: Run, atoms: Sequence[Atom], slots: Sequence[SlotInfo]) -> None:
        super().__init__(run, atoms)
        self.slots = slots

    def go_to(self, step: Step) -> None:
        self.step = step
        self._made = {}

    def number(self, shape: Slot) -> Any:
        assert isinstance(self.step, Step)
        rows = as_variable(self.atoms[shape.index])
        at = self.step.number
        if isinstance(shape, RowOf):
            return replace(shape.row, atom=rows, index=(at, *shape.row.index))
        return Row(rows, (at,), self.slots[shape.index].type)

    def array(self, shape: ArrayOf) -> Array:
        assert isinstance(self.step, Step)
        cell = self.cell(shape.cell)
        row = self.step.type(shape.cell.type).dims
        path = [slice_step(self.step.number, row)]
        order = shape.cell.order
        if order != tuple(range(len(order))):  # collected with its axes in the order of memory
            axes = tuple(map(order.index, range(len(order))))
            path.append(ViewStep("transpose", freeze({"axes": axes})))
        return Array(cell, self.step.type(shape.type), (*path, *self.step.path(shape.path)))

    def cell(self, merged: MergedCell) -> Cell:
        if id(merged) not in self._cells:
            rows = as_variable(self.atoms[merged.index])
            if not merged.is_dense:
                self.run.layouts.note(rows, None)
            self._cells[id(merged)] = Cell(rows, merged.frozen, self.run.depth, self.run.age())
        return self._cells[id(merged)]


BUILT = (tuple, Value, slice)  # made from their parts, all at once


def children_of(run: Run, value: Any) -> Sequence[tuple[Any, Any]] | None:
    """The parts of a structure, of a function that the program defined, or of an object that it
    made. The parts of a function are the values that its code reads from the frames around it."""
    if isinstance(value, Value | Frame):
        return value.parts()
    if isinstance(value, slice):
        return [("start", value.start), ("stop", value.stop), ("step", value.step)]
    if type(value) is set or isinstance(value, type):
        return None
    if type(value) in (list, tuple, dict):
        return trees.children(value)
    if is_derived(value):
        return parts_of(value) if run.made_at(value) is not None else None
    if trees.children(value) is None and run.made_at(value) is None:
        return None
    items = enumerate(value) if isinstance(value, tuple) else ()
    return [*items, *own_attributes(value)]


def rebuilt(run: Run, like: Any, parts: Sequence[Any]) -> Any:
    """Make a structure like ``like``, which cannot refer to itself, from new ``parts``."""
    if isinstance(like, Value):
        return like.with_parts([*parts])
    if isinstance(like, slice):
        return slice(*parts)
    if type(like) is tuple:
        return tuple(parts)
    instance: Any = tuple.__new__(type(like), parts[: len(like)])
    for (name, _), part in zip(own_attributes(like), parts[len(like) :], strict=True):
        set_own(instance, name, part)
    return run.own(instance) if names_of(instance) is not None else instance


def slice_step(t: int, row: Sizes) -> ViewStep:
    """The view of row ``t`` of an array, or of the start of that row, for rows of the given
    shape."""
    params = {
        "start": ((t,), *((0,) for _ in row)),
        "length": (1, *row),
        "step": (1, *(1 for _ in row)),
        "drop": (0,),
    }
    return ViewStep("slice", freeze(params))
