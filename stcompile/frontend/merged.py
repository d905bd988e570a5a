"""What a value is made of where control flow paths meet, and values made of that.

A *shape* says what both paths agree on, what is a *slot* that an equation fills, and what cannot be
known. A `Builder` makes values of shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import stcompile.trees as trees
from stcompile.frontend.run import Run
from stcompile.frontend.values import Array, Cell, Order, Poison, Scalar, ViewStep
from stcompile.ir import Atom, Constant, Variable, freeze
from stcompile.types import Type


@dataclass(frozen=True)
class Keep:
    """Both paths agree."""

    value: Any


@dataclass(frozen=True)
class Slot:
    """A number that an equation gives."""

    index: int


@dataclass(frozen=True)
class Stored(Slot):
    """The variable of a cell that both paths know: its contents."""


@dataclass(eq=False)
class MergedCell:
    """The storage that stands for that of two arrays."""

    index: int
    type: Type
    order: Order
    first: Cell
    second: Cell
    frozen: str = ""


@dataclass(frozen=True)
class ArrayOf:
    """An array in a merged cell."""

    cell: MergedCell
    type: Type
    path: tuple[ViewStep, ...] = ()


@dataclass(eq=False)
class Parts:
    """A structure like ``first`` and ``second``, merged part by part. It may be changed unless it
    is ``frozen``."""

    first: Any
    second: Any
    parts: tuple[Shape, ...]
    frozen: bool = False


@dataclass(frozen=True)
class Spoiled:
    reason: str


Shape: TypeAlias = Keep | Slot | ArrayOf | Parts | Spoiled


@dataclass(frozen=True)
class SlotInfo:
    """A slot's type, how to read its value on either path, and a name for it."""

    type: Type
    first: Callable[[], Any]
    second: Callable[[], Any]
    hint: str


class Undefined:
    """The value of a path that never gets to where paths meet, or that leaves none."""


UNDEFINED = Undefined()


class Builder:
    """Makes values of shapes; what is shared in the shapes is shared in the values."""

    def __init__(self, run: Run, atoms: Sequence[Atom]) -> None:
        self.run = run
        self.atoms = atoms
        self._cells: dict[int, Cell] = {}
        self._made: dict[int, Any] = {}

    def all(self, shapes: Sequence[Shape]) -> list[Any]:
        return [self.value(shape) for shape in shapes]

    def value(self, shape: Shape) -> Any:
        if isinstance(shape, Keep):
            return shape.value
        if isinstance(shape, Slot):
            atom = self.atoms[shape.index]
            if isinstance(shape, Stored):
                return atom
            return atom.value if isinstance(atom, Constant) else Scalar(atom)
        if isinstance(shape, Spoiled):
            return Poison(shape.reason)
        if isinstance(shape, ArrayOf):
            return Array(self.cell(shape.cell), shape.type, shape.path)
        if id(shape) not in self._made:
            parts = [self.value(part) for part in shape.parts]
            made = self._made[id(shape)] = rebuilt(self.run, shape.first, parts)
            if shape.frozen:
                self.run.disown(made)
        return self._made[id(shape)]

    def cell(self, merged: MergedCell) -> Cell:
        if id(merged) not in self._cells:
            variable = self.atoms[merged.index]
            assert isinstance(variable, Variable)
            self.run.orders[variable] = merged.order
            self._cells[id(merged)] = Cell(
                variable, merged.order, merged.frozen, self.run.depth, self.run.age()
            )
        return self._cells[id(merged)]


def children_of(run: Run, value: Any) -> Sequence[tuple[Any, Any]] | None:
    """The parts of a structure or of an object that the program made."""
    if type(value) is set or isinstance(value, Array | Scalar | Poison):
        return None
    children = trees.children(value)
    if children is None and id(value) in run.owned and hasattr(value, "__dict__"):
        return list(vars(value).items())
    return children


def rebuilt(run: Run, like: Any, parts: Sequence[Any]) -> Any:
    """A structure like another with new parts."""
    if trees.children(like) is None:
        instance = run.own(object.__new__(type(like)))
        vars(instance).update(zip(vars(like), parts, strict=True))
        return instance
    made = trees.with_children(like, list(parts))
    return made if isinstance(made, tuple) else run.own(made)


def slice_step(t: int, dims: tuple[int, ...]) -> ViewStep:
    """The view of row ``t`` of an array with rows of shape ``dims[1:]``."""
    rest = dims[1:]
    params = {
        "start": ((t,), *((0,) for _ in rest)),
        "length": (1, *rest),
        "step": (1, *(1 for _ in rest)),
        "drop": (0,),
    }
    return ViewStep("slice", freeze(params))
