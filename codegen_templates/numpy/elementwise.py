"""Spellings of elementwise primitives that are not plain calls: operators, parts of results.

NumPy's functions and its operators differ on some numbers: ``spelling`` says which was meant."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh


@fresh
def negative(x: Any) -> Any:
    return -x


@fresh
def absolute(x: Any, *, spelling: str = "np.abs") -> Any:
    if spelling == "np.abs" and isinstance(x, np.ndarray | np.generic):
        return np.abs(x)
    return abs(x)


@fresh
def invert(x: Any) -> Any:
    return ~x


@fresh
def add(x: Any, y: Any) -> Any:
    return x + y


@fresh
def subtract(x: Any, y: Any) -> Any:
    return x - y


@fresh
def multiply(x: Any, y: Any, *, spelling: str = "*") -> Any:
    if spelling == "np.multiply":
        return np.multiply(x, y)
    return x * y


@fresh
def divide(x: Any, y: Any) -> Any:
    return x / y


@fresh
def floor_divide(x: Any, y: Any) -> Any:
    return x // y


@fresh
def remainder(x: Any, y: Any) -> Any:
    return x % y


@fresh
def power(x: Any, y: Any, *, spelling: str = "**") -> Any:
    if spelling == "np.power":
        return np.power(x, y)
    return x**y


@fresh
def equal(x: Any, y: Any) -> Any:
    return x == y


@fresh
def not_equal(x: Any, y: Any) -> Any:
    return x != y


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
def bitwise_and(x: Any, y: Any) -> Any:
    return x & y


@fresh
def bitwise_or(x: Any, y: Any) -> Any:
    return x | y


@fresh
def bitwise_xor(x: Any, y: Any) -> Any:
    return x ^ y


@fresh
def left_shift(x: Any, y: Any) -> Any:
    return x << y


@fresh
def right_shift(x: Any, y: Any) -> Any:
    return x >> y


@fresh
def first_maximum(x: Any, y: Any) -> Any:  # ties matter only for its derivative
    return np.maximum(x, y)


@fresh
def strong_product(x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.where(x == 0, 0.0, x * y)
    return x * y if x else x


@fresh
def strong_quotient(x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.where(x == 0, 0.0, x / y)
    return x / y if x else x


@fresh
def frexp(x: Any, *, part: str) -> Any:
    if part == "mantissa":
        return np.frexp(x)[0]
    return np.frexp(x)[1]
