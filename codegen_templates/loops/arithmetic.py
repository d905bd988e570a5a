"""Arithmetic where Python raises, and where Numba differs from NumPy.

Python's integers have 64 bits in compiled code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh
from ..numpy.calls import with_function
from ..numpy.subscripts import exponent
from .helpers import (
    added,
    complex_cos,
    complex_cosh,
    complex_exp,
    complex_power,
    complex_quotient,
    complex_reciprocal,
    complex_sin,
    complex_sinh,
    complex_tanh,
    float_floor,
    float_power,
    float_remainder,
    int_difference,
    int_floor,
    int_power,
    int_product,
    int_remainder,
    int_sum,
    over_root,
    over_root_of_cube,
    over_root_of_fifth_power,
    power_or_root,
    quotient,
    root,
    root_of_cube,
    sign_of,
    wrapped_floor,
    wrapped_power,
    wrapped_remainder,
)
from .kinds import as_float, as_int

FLOAT = float | np.floating
COMPLEX = complex | np.complexfloating


def _divides(y: Any) -> bool:
    """True for a number that is known not to be 0."""
    return isinstance(y, int | float) and y != 0


def _is_known(y: Any) -> bool:
    """True for a number that is known when the code is written."""
    return isinstance(y, int | float | np.integer | np.floating)


def _is(y: Any, number: float) -> bool:
    """True for a number that is known to equal ``number``."""
    return _is_known(y) and bool(y == number)


def _is_positive(y: Any) -> bool:
    """True for a number that is known to be above 0: an integer divided by it stays in range."""
    return _is_known(y) and bool(y > 0)


@fresh
def _double(x: Any) -> Any:
    if isinstance(x, np.complex128):
        return x
    return np.complex128(x)


@fresh
def divide(x: Any, y: Any) -> Any:
    if isinstance(x, COMPLEX) or isinstance(y, COMPLEX):
        if not isinstance(x, np.generic) and not isinstance(y, np.generic):
            return x / y
        if not isinstance(x, np.generic) and isinstance(y, np.float64):
            return x / y  # a float for Python, which raises
        if isinstance(x, np.complex64) and isinstance(y, np.complex64):
            return np.complex64(complex_quotient(x, y))
        return complex_quotient(_double(x), _double(y))
    if not isinstance(x, np.generic) and not isinstance(y, np.generic) and not _divides(y):
        return quotient(x, y)
    return x / y


@fresh
def strong_quotient(x: Any, y: Any) -> Any:
    if isinstance(x, COMPLEX) or isinstance(y, COMPLEX):
        if not isinstance(x, np.generic) and not isinstance(y, np.generic):
            return x / y if x else x
        if not isinstance(x, np.generic) and isinstance(y, np.float64):
            return x / y if x else x
        if isinstance(x, np.complex64) and isinstance(y, np.complex64):
            return np.complex64(complex_quotient(x, y)) if x else x
        return complex_quotient(_double(x), _double(y)) if x else x
    if not isinstance(x, np.generic) and not isinstance(y, np.generic) and not _divides(y):
        return quotient(x, y) if x else x
    return x / y if x else x


@fresh
def floor_divide(x: Any, y: Any) -> Any:
    if _is_positive(y):
        return x // y
    if isinstance(x, np.generic) or isinstance(y, np.generic):
        if isinstance(x, FLOAT) or isinstance(y, FLOAT):
            return x // y
        return wrapped_floor(x, y)
    if isinstance(x, float) or isinstance(y, float):
        return float_floor(x, y)
    return int_floor(as_int(x), as_int(y))


@fresh
def remainder(x: Any, y: Any) -> Any:
    if _is_positive(y):
        return x % y
    if isinstance(x, np.generic) or isinstance(y, np.generic):
        if isinstance(x, FLOAT) or isinstance(y, FLOAT):
            return x % y
        return wrapped_remainder(x, y)
    if isinstance(x, float) or isinstance(y, float):
        return float_remainder(x, y)
    return int_remainder(as_int(x), as_int(y))


@fresh
def invert(x: Any) -> Any:
    return ~as_int(x)


@fresh
def add(x: Any, y: Any) -> Any:
    if isinstance(x, int) and isinstance(y, int):
        return int_sum(as_int(x), as_int(y))
    return x + y


@fresh
def add_up(total: Any, x: Any) -> Any:
    return added(total, x)


@fresh
def subtract(x: Any, y: Any) -> Any:
    if isinstance(x, int) and isinstance(y, int):
        return int_difference(as_int(x), as_int(y))
    return x - y


@fresh
def multiply(x: Any, y: Any) -> Any:
    if isinstance(x, int) and isinstance(y, int):
        return int_product(as_int(x), as_int(y))
    return x * y


@fresh
def reciprocal(x: Any) -> Any:
    if isinstance(x, np.complex64):
        return np.complex64(complex_reciprocal(x))
    if isinstance(x, COMPLEX):
        return complex_reciprocal(x)
    return np.reciprocal(x)


@fresh
def power(x: Any, y: Any, *, spelling: str = "**") -> Any:
    if isinstance(x, np.complex64):
        return np.square(x)  # other powers are not taken
    if isinstance(x, COMPLEX):
        return complex_power(x, y)
    if not isinstance(x, np.generic) and not isinstance(y, np.generic):
        if isinstance(x, float) or isinstance(y, float):
            return float_power(as_float(x), as_float(y))
        return int_power(as_int(x), as_int(y))
    if exponent(x, y, 2):
        return np.square(x)
    if spelling == "np.power" and _is(y, 0.5):
        return np.sqrt(x)
    if spelling == "np.power" and isinstance(y, FLOAT) and not _is_known(y):
        return power_or_root(x, y)
    if exponent(x, y, 0.5):
        return root(x)
    if exponent(x, y, 1.5):
        return root_of_cube(x)
    if exponent(x, y, -0.5):
        return over_root(x)
    if exponent(x, y, -1.5):
        return over_root_of_cube(x)
    if exponent(x, y, -2.5):
        return over_root_of_fifth_power(x)
    if isinstance(y, FLOAT) or _is_positive(y):
        return x**y
    if not isinstance(x, FLOAT):
        return wrapped_power(x, y)
    return x ** np.float64(y)


@fresh
def sign(x: Any) -> Any:
    if x.dtype.kind == "f":
        return sign_of(x)
    return np.sign(x)


@fresh
def clip(x: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


@fresh
def _real_or_complex(x: Any, *, own: Any, function: Any) -> Any:
    """A function of NumPy of real numbers, and ``own`` of complex ones."""
    if isinstance(x, np.complex64):
        return np.complex64(own(x))
    if isinstance(x, COMPLEX):
        return own(x)
    return function(x)


exp = with_function(_real_or_complex, "np.exp", own=complex_exp)
sin = with_function(_real_or_complex, "np.sin", own=complex_sin)
cos = with_function(_real_or_complex, "np.cos", own=complex_cos)
sinh = with_function(_real_or_complex, "np.sinh", own=complex_sinh)
cosh = with_function(_real_or_complex, "np.cosh", own=complex_cosh)
tanh = with_function(_real_or_complex, "np.tanh", own=complex_tanh)
