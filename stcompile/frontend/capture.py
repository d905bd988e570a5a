"""Values that a function reads from outside: arguments, globals, closures, attributes.

Each is mirrored once by the identity of the object, so that an array reached by two ways is one
cell. An array or a float becomes an input (of the program: a *hidden* one if it is no argument);
anything else is a static value and a *guard*, which the dispatcher checks at every call, so that a
changed global never meets a stale program. Real objects of the user are never mutated.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from stcompile import trees
from stcompile.frontend.values import Array, Cell, Order, Scalar, Traced
from stcompile.ir import Variable
from stcompile.recorder import Recorder
from stcompile.types import type_of

Read = Callable[[], Any]


@dataclass(frozen=True)
class Leaf:
    """An argument's array or number: which argument, the path inside it, and its variable."""

    argument: str
    path: trees.Path
    variable: Variable


@dataclass(frozen=True)
class Hidden:
    """A captured array or number: its variable, and how to read it at each call."""

    variable: Variable
    read: Read
    description: str


@dataclass(frozen=True)
class Guard:
    """A captured static value that the program depends on."""

    read: Read
    expected: Any
    description: str

    def holds(self) -> bool:
        try:
            return same(self.read(), self.expected)
        except (AttributeError, LookupError, ValueError):
            return False


def same(value: Any, expected: Any) -> bool:
    """Identity, or equality of plain immutable values of one type, part by part."""
    if value is expected:
        return True
    if type(value) is not type(expected):
        return False
    if isinstance(value, tuple | frozenset):
        return len(value) == len(expected) and all(map(same, value, expected))
    return isinstance(value, int | str | bytes | complex | np.dtype | np.generic) and bool(
        value == expected
    )


class Captures:
    """The mirrors of everything read so far."""

    def __init__(self, recorder: Recorder, orders: dict[Variable, Order]) -> None:
        self._recorder = recorder
        self._orders = orders
        self._arguments: dict[int, Array] = {}  # the arguments' arrays, by identity
        self.leaves: list[Leaf] = []
        self.hidden: list[Hidden] = []
        self.guards: dict[tuple[int, str], Guard] = {}
        self._mirrors: dict[int, tuple[Any, Any]] = {}  # id -> (the object, kept alive; mirror)
        self._numbers: dict[tuple[int, str], Scalar] = {}
        self._origin: dict[int, tuple[Any, Read, str]] = {}  # real objects read by attribute

    # --- arguments -----------------------------------------------------------------------------

    def argument(self, name: str, value: Any, writeable: bool = False) -> Any:
        """The mirror of an argument: every array or float in it becomes an input."""

        def leaf(path: trees.Path, item: Any) -> Any:
            if not is_input(item):
                return item
            variable = self._recorder.variable(type_of(item), trees.path_name(name, path))
            self.leaves.append(Leaf(name, path, variable))
            if not isinstance(item, np.ndarray):
                return Scalar(variable)
            shown = trees.show_path(name, path)
            frozen = "" if writeable else f"{shown} belongs to the caller"
            if id(item) in self._arguments:
                frozen = "the same array is passed twice"
                self._arguments[id(item)].cell.frozen = frozen
            self._arguments[id(item)] = mirror = self._cell(variable, item, frozen)
            return mirror

        return trees.map_leaves(leaf, value)

    # --- captured values -----------------------------------------------------------------------

    def captured(self, value: Any, read: Read, description: str) -> Any:
        """The mirror of a value that the function reads from outside."""
        if is_input(value):
            return self._hidden(value, read, description)
        if id(value) in self._mirrors:
            return self._mirrors[id(value)][1]
        if type(value) in (list, tuple, dict) or trees.is_namedtuple(value):
            return self._structure(value, read, description)
        if isinstance(value, set):
            self._guard(frozenset(value), lambda: frozenset(read()), description)
            return frozenset(value)
        self._guard(value, read, description)
        if has_attributes(value):
            self._origin.setdefault(id(value), (value, read, description))
        return value

    def attribute(self, owner: Any, name: str, value: Any) -> Any:
        """The mirror of ``owner.name``, where ``owner`` is a real object."""
        if id(owner) not in self._origin:  # made while staging: nothing outside can change it
            return value
        _, read, description = self._origin[id(owner)]
        return self.captured(value, lambda: getattr(read(), name), f"{description}.{name}")

    def guard(self, read: Read, description: str) -> Any:
        """A static fact about the outside: its value now, guarded."""
        value = read()
        self._guard(value, read, description)
        return value

    def reader(self, value: Any) -> Read | None:
        """How a real object is reached, if it is one of the outside."""
        found = self._origin.get(id(value))
        return found[1] if found else None

    def track(self, value: Any, read: Read, description: str) -> None:
        """Remember how a real object is reached, for its attributes."""
        self._origin.setdefault(id(value), (value, read, description))

    def _structure(self, value: Any, read: Read, description: str) -> Any:
        shape = trees.map_leaves(lambda path, leaf: None, value)
        kind = type(value)

        def structure() -> Any:
            now = read()
            return (type(now), repr(trees.map_leaves(lambda path, leaf: None, now)))

        self._guard((kind, repr(shape)), structure, description)

        def leaf(path: trees.Path, item: Any) -> Any:
            shown = trees.show_path(description, path)
            return self.captured(item, lambda: follow(read(), path), shown)

        mirror = trees.map_leaves(leaf, value)
        self._mirrors[id(value)] = (value, mirror)
        return mirror

    def _hidden(self, value: Any, read: Read, description: str) -> Traced:
        if isinstance(value, np.ndarray):
            if id(value) in self._mirrors:
                mirror: Traced = self._mirrors[id(value)][1]
                return mirror
        elif (id(value), description) in self._numbers:
            return self._numbers[id(value), description]
        hint = description.rsplit(".", 1)[-1]
        hint = "".join(c if c.isalnum() or c == "_" else "_" for c in hint).strip("_") or "captured"
        variable = self._recorder.variable(type_of(value), hint)
        self.hidden.append(Hidden(variable, read, description))
        if isinstance(value, np.ndarray):
            array = self._cell(variable, value, f"{description} is not a local array")
            self._mirrors[id(value)] = (value, array)
            return array
        self._numbers[id(value), description] = scalar = Scalar(variable)
        self._mirrors[id(scalar)] = (value, scalar)  # keeps the number's id taken
        return scalar

    def _guard(self, value: Any, read: Read, description: str) -> None:
        if isinstance(value, types.ModuleType):
            return
        self.guards.setdefault((id(value), description), Guard(read, value, description))

    def _cell(self, variable: Variable, value: np.ndarray[Any, Any], frozen: str) -> Array:
        order = self._orders[variable] = memory_order(value)
        return Array(Cell(variable, order, frozen), variable.type)

    def inputs(self) -> Iterator[Variable]:
        """All inputs: the arguments' leaves, then the hidden ones."""
        yield from (leaf.variable for leaf in self.leaves)
        yield from (hidden.variable for hidden in self.hidden)


def follow(value: Any, path: trees.Path) -> Any:
    """The part of a structure at a path."""
    for kind, key in path:
        value = getattr(value, key) if kind == "attribute" else value[key]
    return value


def memory_order(value: np.ndarray[Any, Any]) -> Order:
    """The order of an array's axes in memory, slowest first; None if there are gaps between its
    elements or it runs backwards."""
    if value.flags.c_contiguous:
        return tuple(range(value.ndim))
    order = sorted(range(value.ndim), key=lambda axis: -value.strides[axis])
    return tuple(order) if value.transpose(order).flags.c_contiguous else None


def is_input(value: Any) -> bool:
    """True for what is traced: arrays of numbers, floats, complex and inexact NumPy scalars."""
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray and value.dtype.kind in "biufc"
    return type(value) in (float, complex) or isinstance(value, np.inexact)


def has_attributes(value: Any) -> bool:
    """True for objects whose attributes may be read while staging."""
    return not isinstance(value, int | str | bytes | type(None) | np.dtype | np.generic)
