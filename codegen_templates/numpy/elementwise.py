"""Spellings of elementwise primitives that are not plain calls: operators, parts of results.

NumPy's functions and its operators differ on some numbers: ``spelling`` says which was meant."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import Table, fresh

SPELLINGS: Table = {
    "negative": lambda x: -x,
    "invert": lambda x: ~x,
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "divide": lambda x, y: x / y,
    "floor_divide": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "equal": lambda x, y: x == y,
    "not_equal": lambda x, y: x != y,
    "bitwise_and": lambda x, y: x & y,
    "bitwise_or": lambda x, y: x | y,
    "bitwise_xor": lambda x, y: x ^ y,
    "left_shift": lambda x, y: x << y,
    "right_shift": lambda x, y: x >> y,
}


@fresh
def absolute(x: Any, *, spelling: str = "np.abs") -> Any:
    if spelling == "np.abs" and isinstance(x, np.ndarray | np.generic):
        return np.abs(x)
    return abs(x)


@fresh
def multiply(x: Any, y: Any, *, spelling: str = "*") -> Any:
    if spelling == "np.multiply":
        return np.multiply(x, y)
    return x * y


@fresh
def power(x: Any, y: Any, *, spelling: str = "**") -> Any:
    if spelling == "np.power":
        return np.power(x, y)
    return x**y


@fresh
def less(x: Any, y: Any, *, spelling: str = "<") -> Any:
    if spelling == "np.less":
        return np.less(x, y)
    return x < y


@fresh
def less_equal(x: Any, y: Any, *, spelling: str = "<=") -> Any:
    if spelling == "np.less_equal":
        return np.less_equal(x, y)
    return x <= y


@fresh
def greater(x: Any, y: Any, *, spelling: str = ">") -> Any:
    if spelling == "np.greater":
        return np.greater(x, y)
    return x > y


@fresh
def greater_equal(x: Any, y: Any, *, spelling: str = ">=") -> Any:
    if spelling == "np.greater_equal":
        return np.greater_equal(x, y)
    return x >= y


@fresh
def first_maximum(x: Any, y: Any) -> Any:  # ties matter only for its derivative
    return np.maximum(x, y)


@fresh
def strong_product(x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray) and x.ndim > 0:
        return np.where(x == 0, 0.0, x * y)
    if isinstance(y, np.ndarray) and y.ndim > 0:
        return np.where(x == 0, 0.0, x * y)
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.where(x == 0, 0.0, x * y)[()]
    return x * y if x else x


@fresh
def strong_quotient(x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray) and x.ndim > 0:
        return np.where(x == 0, 0.0, x / y)
    if isinstance(y, np.ndarray) and y.ndim > 0:
        return np.where(x == 0, 0.0, x / y)
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.where(x == 0, 0.0, x / y)[()]
    return x / y if x else x


@fresh
def frexp(x: Any, *, part: str) -> Any:
    if part == "mantissa":
        return np.frexp(x)[0]
    return np.frexp(x)[1]
