"""Elementwise primitives into a given array, which may be that of an operand."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import into
from ..numpy.subscripts import exponent


@into(inplace=("x",))
def negative(out: Any, x: Any) -> None:
    np.negative(x, out=out)


@into(inplace=("x",))
def absolute(out: Any, x: Any) -> None:
    np.absolute(x, out=out)


@into(inplace=("x",))
def exp(out: Any, x: Any) -> None:
    np.exp(x, out=out)


@into(inplace=("x",))
def exp2(out: Any, x: Any) -> None:
    np.exp2(x, out=out)


@into(inplace=("x",))
def expm1(out: Any, x: Any) -> None:
    np.expm1(x, out=out)


@into(inplace=("x",))
def log(out: Any, x: Any) -> None:
    np.log(x, out=out)


@into(inplace=("x",))
def log2(out: Any, x: Any) -> None:
    np.log2(x, out=out)


@into(inplace=("x",))
def log10(out: Any, x: Any) -> None:
    np.log10(x, out=out)


@into(inplace=("x",))
def log1p(out: Any, x: Any) -> None:
    np.log1p(x, out=out)


@into(inplace=("x",))
def sqrt(out: Any, x: Any) -> None:
    np.sqrt(x, out=out)


@into(inplace=("x",))
def cbrt(out: Any, x: Any) -> None:
    np.cbrt(x, out=out)


@into(inplace=("x",))
def sign(out: Any, x: Any) -> None:
    np.sign(x, out=out)


@into(inplace=("x",))
def conjugate(out: Any, x: Any) -> None:
    np.conjugate(x, out=out)


@into(inplace=("x",))
def complex_sign(out: Any, x: Any) -> None:
    np.sign(x, out=out)


@into(inplace=("x",))
def tanh(out: Any, x: Any) -> None:
    np.tanh(x, out=out)


@into(inplace=("x",))
def sin(out: Any, x: Any) -> None:
    np.sin(x, out=out)


@into(inplace=("x",))
def cos(out: Any, x: Any) -> None:
    np.cos(x, out=out)


@into(inplace=("x",))
def tan(out: Any, x: Any) -> None:
    np.tan(x, out=out)


@into(inplace=("x",))
def arcsin(out: Any, x: Any) -> None:
    np.arcsin(x, out=out)


@into(inplace=("x",))
def arccos(out: Any, x: Any) -> None:
    np.arccos(x, out=out)


@into(inplace=("x",))
def arctan(out: Any, x: Any) -> None:
    np.arctan(x, out=out)


@into(inplace=("x",))
def sinh(out: Any, x: Any) -> None:
    np.sinh(x, out=out)


@into(inplace=("x",))
def cosh(out: Any, x: Any) -> None:
    np.cosh(x, out=out)


@into(inplace=("x",))
def arcsinh(out: Any, x: Any) -> None:
    np.arcsinh(x, out=out)


@into(inplace=("x",))
def arccosh(out: Any, x: Any) -> None:
    np.arccosh(x, out=out)


@into(inplace=("x",))
def arctanh(out: Any, x: Any) -> None:
    np.arctanh(x, out=out)


@into(inplace=("x",))
def square(out: Any, x: Any) -> None:
    np.square(x, out=out)


@into(inplace=("x",))
def reciprocal(out: Any, x: Any) -> None:
    np.reciprocal(x, out=out)


@into(inplace=("x",))
def floor(out: Any, x: Any) -> None:
    np.floor(x, out=out)


@into(inplace=("x",))
def ceil(out: Any, x: Any) -> None:
    np.ceil(x, out=out)


@into(inplace=("x",))
def rint(out: Any, x: Any) -> None:
    np.rint(x, out=out)


@into(inplace=("x",))
def trunc(out: Any, x: Any) -> None:
    np.trunc(x, out=out)


@into(inplace=("x",))
def deg2rad(out: Any, x: Any) -> None:
    np.deg2rad(x, out=out)


@into(inplace=("x",))
def rad2deg(out: Any, x: Any) -> None:
    np.rad2deg(x, out=out)


@into(inplace=("x",))
def logical_not(out: Any, x: Any) -> None:
    np.logical_not(x, out=out)


@into(inplace=("x",))
def isnan(out: Any, x: Any) -> None:
    np.isnan(x, out=out)


@into(inplace=("x",))
def isinf(out: Any, x: Any) -> None:
    np.isinf(x, out=out)


@into(inplace=("x",))
def isfinite(out: Any, x: Any) -> None:
    np.isfinite(x, out=out)


@into(inplace=("x",))
def invert(out: Any, x: Any) -> None:
    np.invert(x, out=out)


@into(inplace=("x", "y"))
def add(out: Any, x: Any, y: Any) -> None:
    np.add(x, y, out=out)


@into(inplace=("x", "y"))
def subtract(out: Any, x: Any, y: Any) -> None:
    np.subtract(x, y, out=out)


@into(inplace=("x", "y"))
def multiply(out: Any, x: Any, y: Any) -> None:
    np.multiply(x, y, out=out)


@into(inplace=("x", "y"))
def divide(out: Any, x: Any, y: Any) -> None:
    np.divide(x, y, out=out)


@into(inplace=("x", "y"))
def floor_divide(out: Any, x: Any, y: Any) -> None:
    np.floor_divide(x, y, out=out)


@into(inplace=("x", "y"))
def remainder(out: Any, x: Any, y: Any) -> None:
    np.remainder(x, y, out=out)


@into(inplace=("x", "y"))
def equal(out: Any, x: Any, y: Any) -> None:
    np.equal(x, y, out=out)


@into(inplace=("x", "y"))
def not_equal(out: Any, x: Any, y: Any) -> None:
    np.not_equal(x, y, out=out)


@into(inplace=("x", "y"))
def less(out: Any, x: Any, y: Any) -> None:
    np.less(x, y, out=out)


@into(inplace=("x", "y"))
def less_equal(out: Any, x: Any, y: Any) -> None:
    np.less_equal(x, y, out=out)


@into(inplace=("x", "y"))
def greater(out: Any, x: Any, y: Any) -> None:
    np.greater(x, y, out=out)


@into(inplace=("x", "y"))
def greater_equal(out: Any, x: Any, y: Any) -> None:
    np.greater_equal(x, y, out=out)


@into(inplace=("x", "y"))
def bitwise_and(out: Any, x: Any, y: Any) -> None:
    np.bitwise_and(x, y, out=out)


@into(inplace=("x", "y"))
def bitwise_or(out: Any, x: Any, y: Any) -> None:
    np.bitwise_or(x, y, out=out)


@into(inplace=("x", "y"))
def bitwise_xor(out: Any, x: Any, y: Any) -> None:
    np.bitwise_xor(x, y, out=out)


@into(inplace=("x", "y"))
def maximum(out: Any, x: Any, y: Any) -> None:
    np.maximum(x, y, out=out)


@into(inplace=("x", "y"))
def first_maximum(out: Any, x: Any, y: Any) -> None:
    np.maximum(x, y, out=out)


@into(inplace=("x", "y"))
def minimum(out: Any, x: Any, y: Any) -> None:
    np.minimum(x, y, out=out)


@into(inplace=("x", "y"))
def fmax(out: Any, x: Any, y: Any) -> None:
    np.fmax(x, y, out=out)


@into(inplace=("x", "y"))
def fmin(out: Any, x: Any, y: Any) -> None:
    np.fmin(x, y, out=out)


@into(inplace=("x", "y"))
def arctan2(out: Any, x: Any, y: Any) -> None:
    np.arctan2(x, y, out=out)


@into(inplace=("x", "y"))
def hypot(out: Any, x: Any, y: Any) -> None:
    np.hypot(x, y, out=out)


@into(inplace=("x", "y"))
def logaddexp(out: Any, x: Any, y: Any) -> None:
    np.logaddexp(x, y, out=out)


@into(inplace=("x", "y"))
def logical_and(out: Any, x: Any, y: Any) -> None:
    np.logical_and(x, y, out=out)


@into(inplace=("x", "y"))
def logical_or(out: Any, x: Any, y: Any) -> None:
    np.logical_or(x, y, out=out)


@into(inplace=("x", "y"))
def logical_xor(out: Any, x: Any, y: Any) -> None:
    np.logical_xor(x, y, out=out)


# What `x**y` does for an array and a number.


@into(inplace=("x", "y"))
def power(out: Any, x: Any, y: Any) -> None:
    if exponent(x, y, 2):
        np.square(x, out=out)
    elif exponent(x, y, 0.5):
        np.sqrt(x, out=out)
    elif exponent(x, y, -1):
        np.reciprocal(x, out=out)
    else:
        np.power(x, y, out=out)


@into(inplace=())
def where(out: Any, cond: Any, x: Any, y: Any) -> None:
    np.copyto(out, y)
    np.copyto(out, x, where=cond)


@into(inplace=("x",))
def clip(out: Any, x: Any, low: Any, high: Any) -> None:
    np.clip(x, low, high, out=out)


@into(inplace=())
def cast(out: Any, x: Any, *, dtype: Any) -> None:
    np.copyto(out, x, casting="unsafe")


@into(inplace=("x",))
def copy(out: Any, x: Any, *, order: str = "K") -> None:
    np.copyto(out, x)
