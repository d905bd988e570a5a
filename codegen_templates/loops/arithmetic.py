"""Arithmetic where Python raises, and where Numba does something else than NumPy.

Python's integers have 64 bits in compiled code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh
from ..numpy.subscripts import exponent
from .helpers import int_difference, int_product, int_sum, quotient


def _divides(y: Any) -> bool:
    """True for a number that is known not to be 0."""
    return isinstance(y, int | float) and y != 0


@fresh
def divide(x: Any, y: Any) -> Any:
    if not isinstance(x, np.generic) and not isinstance(y, np.generic) and not _divides(y):
        return quotient(x, y)
    return x / y


@fresh
def add(x: Any, y: Any) -> Any:
    if isinstance(x, int) and isinstance(y, int):
        return int_sum(x, y)
    return x + y


@fresh
def subtract(x: Any, y: Any) -> Any:
    if isinstance(x, int) and isinstance(y, int):
        return int_difference(x, y)
    return x - y


@fresh
def multiply(x: Any, y: Any) -> Any:
    if isinstance(x, int) and isinstance(y, int):
        return int_product(x, y)
    return x * y


@fresh
def power(x: Any, y: Any) -> Any:
    if exponent(x, y, 2):
        return np.square(x)
    if exponent(x, y, 0.5):
        return np.sqrt(x)
    return x**y


@fresh
def sign(x: Any) -> Any:
    if x.dtype.kind == "f":
        return np.sign(x) + 0.0
    return np.sign(x)
