"""Values of translated code: what an expression is, as text and as facts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from stcompile.native.kinds import BOOL, INT, Array, Kind, Number
from stcompile.native.literals import float_text
from stcompile.native.sizes import integer_text, size_text
from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Dim, Size, Sizes

UNKNOWN: Any = object()
Binds = IntEnum("Binds", "ATOM UNARY PRODUCT SUM ORDER EQUAL AND OR CHOICE", start=0)
"""The strength by which operators bind, the strongest first."""


class NotInC(Exception):
    """A construct of generated code that is not translated, with its place in the text, and what to
    write instead ("" if nothing is known)."""

    def __init__(self, reason: str, line: int, hint: str = "") -> None:
        super().__init__(reason)
        self.line = line
        self.hint = hint


@dataclass(frozen=True)
class Value:
    """A translated expression: its kind (None for a tuple or a fact), its text, how strongly its
    operator binds, and its value if that is known; ``length`` is one that has a name, or a sum of
    them. ``is_counter`` says that it is an integer which never leaves an axis, ``is_const`` that it
    is an array which must not be written to, ``is_alone`` that a call is given it once."""

    kind: Kind | None
    code: str
    binds: int = Binds.ATOM
    static: Any = UNKNOWN
    length: Dim | None = None
    is_counter: bool = False
    is_const: bool = False
    is_alone: bool = True

    @property
    def number(self) -> Number:
        """The kind of what is a number."""
        assert isinstance(self.kind, Number)
        return self.kind

    @property
    def array(self) -> Array:
        """The kind of what is an array."""
        assert isinstance(self.kind, Array)
        return self.kind

    @property
    def of(self) -> Number:
        """The kind of the elements of an array, and of a number."""
        assert self.kind is not None
        return self.kind.of

    @property
    def dims(self) -> Sizes:
        """The lengths of an array; those of a number are ()."""
        assert self.kind is not None
        return self.kind.dims

    @property
    def has_axes(self) -> bool:
        """True for an array with an axis."""
        return isinstance(self.kind, Array) and bool(self.kind.dims)

    @property
    def size(self) -> Size | None:
        """The length that an integer is, if that is known."""
        is_integer = isinstance(self.static, int) and self.kind == INT
        return self.static if is_integer else self.length

    @property
    def known(self) -> Any:
        """The fact or the length that it is, if that is known while the code is written."""
        return self.static if self.length is None else self.length

    @property
    def sizes(self) -> Sizes | None:
        """The lengths that a tuple of integers has, or an integer alone, if they are known."""
        found = (self.size,) if isinstance(self.kind, Number) else self.static
        is_known = isinstance(found, tuple) and all(isinstance(n, int | Dim) for n in found)
        return found if is_known else None  # type: ignore[return-value]

    def within(self, binds: int) -> str:
        """The text as an operand of an operator."""
        return self.code if self.binds <= binds else f"({self.code})"


def as_shape(array: Value, dims: Sizes) -> Value:
    """The elements of an array as one of another shape: they lie in the same order."""
    kind = Array(array.of, dims)
    const = "const " if array.is_const else ""
    return Value(kind, f"(({const}{kind.pointer('')}){array.code})", is_const=array.is_const)


def cast(value: Value, kind: Number) -> Value:
    """A number as one of another type."""
    if value.kind == kind:
        return value
    if value.static is not UNKNOWN:
        return literal(kind.dtype.type(value.static).item(), kind)
    if kind == BOOL:
        return Value(BOOL, f"{value.within(Binds.EQUAL)} != 0", Binds.EQUAL)
    return Value(kind, f"({kind.c}){value.within(Binds.UNARY)}", Binds.UNARY)


def as_number(value: Value) -> Value | None:
    """A number, or the one of an array of shape (); None for other values."""
    if isinstance(value.kind, Array) and not value.kind.dims:
        return Value(value.kind.of, f"{value.code}[0]")
    return value if isinstance(value.kind, Number) else None


def static_value(value: Any) -> Value:
    """A fact that is known while the code is written."""
    if isinstance(value, bool | int | float):
        return literal(value)
    if isinstance(value, Dim):
        text = size_text(value)
        binds = Binds.ATOM if text.isidentifier() else Binds.SUM
        return Value(INT, text, binds, length=value, is_counter=least(value) >= 0)
    return Value(None, "", static=value)


def literal(value: Any, kind: Number | None = None) -> Value:
    """A number as it is written in C.

    >>> literal(0.5, Number(np.dtype("float32"))).code, literal(3).code
    ('0.5F', '3')
    """
    if kind is None:
        kind = Number(np.dtype(type(value)))
        kind = INT if kind.dtype.kind == "i" else kind
    if kind == BOOL:
        return Value(kind, "true" if value else "false", static=bool(value))
    if kind.dtype.kind in "iu":
        value = int(value)
        binds = Binds.UNARY if value < 0 else Binds.ATOM
        return Value(kind, integer_text(value), binds, value, is_counter=value >= 0)
    if kind.dtype.kind == "c":
        real, imaginary = (float_text(part, kind) for part in (value.real, value.imag))
        return Value(kind, f"CMPLX{kind.suffix.upper()}({real}, {imaginary})", static=value)
    code = float_text(float(value), kind)
    return Value(kind, code, Binds.UNARY if code.startswith("-") else Binds.ATOM, float(value))
