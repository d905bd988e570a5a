"""Elementwise functions. The standard's functions take arrays: a Python number becomes an array
first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh
from ..numpy.calls import with_function
from ..numpy.subscripts import dtype_of


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


_ONE = (
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh"),
    *("arccosh", "arctanh", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "square"),
    *("reciprocal", "sign", "floor", "ceil", "trunc", "rint", "isnan", "isinf", "isfinite"),
    *("signbit", "logical_not"),
)
_TWO = (
    *("maximum", "minimum", "first_maximum", "arctan2", "hypot", "logaddexp", "copysign"),
    *("logical_and", "logical_or", "logical_xor"),
)
_OTHERWISE = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "rint": "round",
    "first_maximum": "maximum",
    "arctan2": "atan2",
}
"""Names of the standard that are not NumPy's."""

CALLS = {
    name: with_function(template, f"np.{_OTHERWISE.get(name, name)}")
    for template, names in ((_of_one, _ONE), (_of_two, _TWO))
    for name in names
}
"""The functions that are calls, by the names of their primitives."""


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
