"""Elementwise functions. The standard's functions take arrays: a Python number becomes an array
first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh
from ..numpy.calls import with_function
from .numbers import dtype_of


@fresh
def _of_one(x: Any, *, function: Any) -> Any:
    if isinstance(x, np.ndarray | np.generic):
        return function(x)
    return function(np.asarray(x, dtype=dtype_of(x)))


@fresh
def _of_two(x: Any, y: Any, *, function: Any) -> Any:
    if isinstance(x, np.ndarray | np.generic) or isinstance(y, np.ndarray | np.generic):
        return function(x, y)
    return function(np.asarray(x, dtype=dtype_of(x)), y)


sin = with_function(_of_one, "np.sin")
cos = with_function(_of_one, "np.cos")
tan = with_function(_of_one, "np.tan")
arcsin = with_function(_of_one, "np.asin")
arccos = with_function(_of_one, "np.acos")
arctan = with_function(_of_one, "np.atan")
sinh = with_function(_of_one, "np.sinh")
cosh = with_function(_of_one, "np.cosh")
tanh = with_function(_of_one, "np.tanh")
arcsinh = with_function(_of_one, "np.asinh")
arccosh = with_function(_of_one, "np.acosh")
arctanh = with_function(_of_one, "np.atanh")
exp = with_function(_of_one, "np.exp")
expm1 = with_function(_of_one, "np.expm1")
log = with_function(_of_one, "np.log")
log1p = with_function(_of_one, "np.log1p")
log2 = with_function(_of_one, "np.log2")
log10 = with_function(_of_one, "np.log10")
sqrt = with_function(_of_one, "np.sqrt")
square = with_function(_of_one, "np.square")
reciprocal = with_function(_of_one, "np.reciprocal")
sign = with_function(_of_one, "np.sign")
floor = with_function(_of_one, "np.floor")
ceil = with_function(_of_one, "np.ceil")
trunc = with_function(_of_one, "np.trunc")
rint = with_function(_of_one, "np.round")
isnan = with_function(_of_one, "np.isnan")
isinf = with_function(_of_one, "np.isinf")
isfinite = with_function(_of_one, "np.isfinite")
signbit = with_function(_of_one, "np.signbit")
logical_not = with_function(_of_one, "np.logical_not")
maximum = with_function(_of_two, "np.maximum")
minimum = with_function(_of_two, "np.minimum")
first_maximum = with_function(_of_two, "np.maximum")
arctan2 = with_function(_of_two, "np.atan2")
hypot = with_function(_of_two, "np.hypot")
logaddexp = with_function(_of_two, "np.logaddexp")
copysign = with_function(_of_two, "np.copysign")
logical_and = with_function(_of_two, "np.logical_and")
logical_or = with_function(_of_two, "np.logical_or")
logical_xor = with_function(_of_two, "np.logical_xor")


@fresh
def absolute(x: Any, *, spelling: str = "np.abs") -> Any:
    if isinstance(x, np.ndarray | np.generic):
        return np.abs(x)
    return abs(x)


@fresh
def strong_product(x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray | np.generic) or isinstance(y, np.ndarray | np.generic):
        return np.where(x == 0, np.zeros_like(x * y), x * y)
    return x * y if x else x


@fresh
def strong_quotient(x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray | np.generic) or isinstance(y, np.ndarray | np.generic):
        return np.where(x == 0, np.zeros_like(x / y), x / y)
    return x / y if x else x


@fresh
def where(condition: Any, x: Any, y: Any) -> Any:
    if isinstance(condition, np.ndarray | np.generic):
        if isinstance(x, np.ndarray | np.generic) or isinstance(y, np.ndarray | np.generic):
            return np.where(condition, x, y)
        return np.where(condition, np.asarray(x, dtype=dtype_of(x)), y)
    return np.where(
        np.asarray(condition, dtype=dtype_of(condition)), np.asarray(x, dtype=dtype_of(x)), y
    )


@fresh
def clip(x: Any, low: Any, high: Any) -> Any:
    if isinstance(x, np.ndarray | np.generic):
        return np.minimum(np.maximum(x, low), high)
    return np.minimum(np.maximum(np.asarray(x, dtype=dtype_of(x)), low), high)
