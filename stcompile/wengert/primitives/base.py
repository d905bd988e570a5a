"""The definition of a primitive: a name, a type rule, and a few facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stcompile.wengert import dims as sizes
from stcompile.wengert.dims import Sizes
from stcompile.wengert.types import Type

Types = tuple[Type, ...]
Infer = Callable[[Types, Mapping[str, Any]], Types]


class OperandError(Exception):
    """Operands that a primitive does not take, in NumPy's own terms (both shapes shown)."""


class UnsupportedOperandError(OperandError):
    """Operands that NumPy takes, but no primitive of stcompile does."""


@dataclass(frozen=True)
class Primitive:
    """An operator of the Wengert list.

    ``infer(input types, params)`` gives the output types or raises `OperandError`. ``rule`` names
    the derivative rule (another primitive's if this primitive is a second spelling of the same
    function). ``linear`` primitives are linear in all their inexact inputs together, so that the
    tangent of the output is the primitive itself, applied to tangents.

    A ``view`` shows elements of its first operand, and computes nothing; it ``rearranges`` if it
    shows all of them, each once, and ``reshapes`` if it leaves them in their order. A ``reduction``
    has the params ``axis`` and ``keepdims``. A primitive that ``assigns`` writes its second operand
    to a part of the first. ``control`` runs the programs among its params.
    """

    name: str
    infer: Infer
    rule: str = ""
    elementwise: bool = False
    linear: bool = False
    view: bool = False
    rearranges: bool = False
    reshapes: bool = False
    reduction: bool = False
    assigns: bool = False
    control: bool = False
    effects: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.rule:
            object.__setattr__(self, "rule", self.name)


def broadcast(name: str, types: Types) -> Sizes:
    """The common dims of the operands, or `OperandError` with their shapes."""
    try:
        return sizes.broadcast(*(t.dims for t in types))
    except ValueError:
        arrays = [t.dims for t in types if t.dims]
        raise OperandError(f"{name}: {shapes(*arrays)} do not broadcast") from None


def shapes(*dims: Sizes) -> str:
    """Shapes as text: ``shapes (2, 3) and (4,)``."""
    return "shapes " + " and ".join(str(d) for d in dims)


def array_or_scalar(dtype: np.dtype[Any], dims: Sizes) -> Type:
    """The type of a ufunc's result: NumPy gives a scalar if no dimension is left."""
    return Type.array(dtype, dims) if dims else Type.scalar(dtype)


def require_array(name: str, t: Type) -> Type:
    if t.kind != "array":
        raise OperandError(f"{name}: takes an array, not the number {t}")
    return t


def require_numpy(name: str, t: Type) -> Type:
    """Check that a value is NumPy's, an array or a scalar, not a Python number."""
    if t.kind == "python":
        raise OperandError(f"{name}: takes a NumPy value, not a Python {t}")
    return t


def require_integer(name: str, t: Type) -> Type:
    if t.dtype.kind not in "iu":
        raise OperandError(f"{name}: indices are integers, not {t}")
    return t


def require_count(name: str, types: Types, count: int) -> None:
    if len(types) != count:
        raise OperandError(f"{name}: takes {count} operands, not {len(types)}")


def require_axes(name: str, axes: tuple[int, ...], dims: Sizes) -> None:
    """Check that axes are distinct and within ``dims``; the frontend has made negative axes
    positive."""
    for axis in axes:
        if not 0 <= axis < len(dims):
            raise OperandError(f"{name}: axis {axis} is out of bounds for shape {dims}")
    if len(set(axes)) != len(axes):
        raise OperandError(f"{name}: axes {axes} repeat")


def require_assignable(name: str, v: Type, dtype: np.dtype[Any], dims: Sizes) -> None:
    """Check that ``v`` can be assigned to a part of shape ``dims`` of an array of that dtype."""
    if v.dtype.kind == "c" and dtype.kind != "c":
        raise UnsupportedOperandError(f"{name}: {v} would lose its imaginary part in {dtype}")
    value = v.dims
    while len(value) > len(dims) and value[0] == 1:
        value = value[1:]
    fits = len(value) <= len(dims) and all(
        have in (1, want) for have, want in zip(reversed(value), reversed(dims), strict=False)
    )
    if not fits:
        raise OperandError(f"{name}: shape {v.dims} does not broadcast into shape {dims}")
