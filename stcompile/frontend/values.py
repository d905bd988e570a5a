"""What a name of the user's program can hold while the program is staged.

A *static* value is an ordinary Python object and is not wrapped. A *traced* value is one of the
classes below. An ndarray of the user's program is a `Cell` that holds its current variable; every
array the user can name is an `Array`: a cell and the path of views that leads into it. Two arrays
share storage exactly if they share a cell, so a write through one is seen by the other.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, ClassVar, TypeAlias

import numpy as np

from stcompile.ir import Params, Variable
from stcompile.types import Type

Order: TypeAlias = tuple[int, ...] | None


@dataclass(frozen=True)
class ViewStep:
    """One view: the primitive that takes it, and its params."""

    primitive: str
    params: Params

    def __hash__(self) -> int:
        return hash((self.primitive, tuple(self.params.items())))


@dataclass(eq=False)
class Cell:
    """The storage of one ndarray. ``frozen`` says why it may not be written ("" if it may);
    ``order`` is the order of its axes in memory, slowest first (None: not known); ``depth`` is the
    nesting depth of the staging it belongs to."""

    tree_leaf: ClassVar[bool] = True
    variable: Variable
    order: Order
    frozen: str = ""
    depth: int = 0


@dataclass(eq=False)
class Array:
    """An ndarray: a cell, the views that lead into it, and its type."""

    tree_leaf: ClassVar[bool] = True
    cell: Cell
    type: Type
    path: tuple[ViewStep, ...] = ()


@dataclass(eq=False)
class Scalar:
    """A traced number: immutable, of kind ``python`` or ``scalar``."""

    tree_leaf: ClassVar[bool] = True
    atom: Variable

    @property
    def type(self) -> Type:
        return self.atom.type


Traced: TypeAlias = Array | Scalar


@dataclass(eq=False)
class Closure:
    """A function that the staged program itself defined. ``frame`` is where it was defined."""

    tree_leaf: ClassVar[bool] = True
    node: ast.FunctionDef | ast.Lambda
    frame: Any
    defaults: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "<lambda>")


@dataclass(eq=False)
class Bound:
    """A method: a function (real or staged) and the object it is bound to."""

    tree_leaf: ClassVar[bool] = True
    function: FunctionType | Closure | Callable[..., Any]
    receiver: Any


@dataclass(eq=False)
class ArrayMethod:
    """A method of a traced array or number, before it is called."""

    tree_leaf: ClassVar[bool] = True
    receiver: Traced
    name: str


@dataclass(eq=False)
class Iterator:
    """An iterator: its items are used up once."""

    tree_leaf: ClassVar[bool] = True
    items: list[Any]

    def take(self) -> list[Any]:
        """The items that are left."""
        left, self.items = self.items, []
        return left


@dataclass(eq=False)
class Partial:
    """``functools.partial`` of a real or a staged function."""

    tree_leaf: ClassVar[bool] = True
    function: Any
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


def is_traced(value: Any) -> bool:
    return isinstance(value, Array | Scalar)


def is_static(value: Any) -> bool:
    """True if nothing in the value depends on traced values."""
    if isinstance(value, Array | Scalar | ArrayMethod | Iterator | Partial):
        return False
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(is_static, value))
    if isinstance(value, dict):
        return all(map(is_static, value.values()))
    if isinstance(value, slice):
        return all(map(is_static, (value.start, value.stop, value.step)))
    return True


def describe(value: Any) -> str:
    """A traced value's type, or a static value's own, for messages."""
    if isinstance(value, Array | Scalar):
        return repr(value.type)
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    return type(value).__name__
