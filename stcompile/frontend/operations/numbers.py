"""Values that read as numbers, and the common type of two numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.frontend.state.values import Array, Scalar, is_numeric
from stcompile.wengert.types import Type, is_number, type_of


def reads_as_number(value: Any) -> bool:
    """True for numbers, and for arrays without dimensions, which are read as numbers."""
    zero_dimensional = isinstance(value, Array) and not value.type.ndim
    return is_numeric(value) or zero_dimensional


def common_number(first: Any, second: Any) -> Type | None:
    """The type that holds either number exactly; None if there is no such type.

    A weak number joins a NumPy scalar of its precision, and a static number any type that holds its
    value.
    """
    ours, theirs = (_number_type(x) for x in (first, second))
    if ours == theirs:
        return ours
    for value, weak, other in ((first, ours, theirs), (second, theirs, ours)):
        if weak.kind == "python" and weak.dtype == other.dtype:
            return other
        is_static = is_number(value)
        if is_static and weak.kind == "python" and _holds(other, value):
            return other
    return None


def _number_type(value: Any) -> Type:
    if isinstance(value, Array):
        return Type.scalar(value.type.dtype)
    return value.type if isinstance(value, Scalar) else type_of(value)


def _holds(type: Type, value: Any) -> bool:
    """True if a number can be written in a type without a change of value."""
    if isinstance(value, bool) or type.dtype.kind not in "iuf":
        return False
    if type.dtype.kind in "iu":
        range_of = np.iinfo(type.dtype)
        return isinstance(value, int) and range_of.min <= value <= range_of.max
    if isinstance(value, int | float):
        converted = float(type.dtype.type(value))
        return converted == value or math.isnan(value)
    return False
