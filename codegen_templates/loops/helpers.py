"""Functions that compiled loops call. Their text is printed beside the loops.

They raise the errors of Python, where compiled code would go on with another number.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..marks import helper, reordered


@reordered
def added(total: Any, x: Any) -> Any:
    """``total + x`` in a sum whose terms may be added in any order: several at a time."""
    return total + x


@helper
def sign_of(x: Any) -> Any:
    """``np.sign(x)``, which is 0.0 for -0.0; Numba's is -0.0."""
    return np.sign(x) if x != 0 else abs(x)


@helper
def root(x: Any) -> Any:
    """``x ** 0.5`` of a NumPy scalar, which is `pow`: 0.0 for -0.0, and inf for -inf."""
    return np.sqrt(abs(x) if x == 0 or x == -np.inf else x)


@helper
def power_or_root(x: Any, y: Any) -> Any:
    """``np.power(x, y)`` of NumPy scalars, which is a root for 0.5."""
    return np.sqrt(x) if y == 0.5 else x**y


@helper
def root_of_cube(x: Any) -> Any:
    """``x ** 1.5``; `pow` takes several times as long."""
    if x > 0:
        return x * np.sqrt(x)
    return x**1.5


@helper
def over_root(x: Any) -> Any:
    """``x ** -0.5``."""
    if x > 0:
        return 1.0 / np.sqrt(x)
    return x**-0.5


@helper
def over_root_of_cube(x: Any) -> Any:
    """``x ** -1.5``."""
    if x > 0:
        return 1.0 / x / np.sqrt(x)
    return x**-1.5


@helper
def over_root_of_fifth_power(x: Any) -> Any:
    """``x ** -2.5``."""
    if x > 0:
        return 1.0 / x / x / np.sqrt(x)
    return x**-2.5


@helper
def quotient(x: Any, y: Any) -> Any:
    """``x / y`` of Python's numbers."""
    if y == 0:
        raise ZeroDivisionError("division by zero")
    return x / y


@helper
def complex_quotient(x: Any, y: Any) -> Any:
    """``x / y`` of NumPy's complex numbers: Smith's method, as NumPy has it."""
    a, b, c, d = x.real, x.imag, y.real, y.imag
    if abs(c) >= abs(d):
        if c == 0.0 and d == 0.0:
            return np.complex128(complex(a / abs(c), b / abs(c)))
        ratio = d / c
        scale = 1.0 / (c + d * ratio)
        return np.complex128(complex((a + b * ratio) * scale, (b - a * ratio) * scale))
    ratio = c / d
    scale = 1.0 / (d + c * ratio)
    return np.complex128(complex((a * ratio + b) * scale, (b * ratio - a) * scale))


@helper
def complex_reciprocal(x: Any) -> Any:
    """``1 / x`` of NumPy's complex numbers."""
    a, b = x.real, x.imag
    if abs(a) >= abs(b):
        ratio = b / a
        scale = 1.0 / (a + b * ratio)
        return np.complex128(complex(scale, -ratio * scale))
    ratio = a / b
    scale = 1.0 / (b + a * ratio)
    return np.complex128(complex(ratio * scale, -scale))


@helper
def complex_power(x: Any, n: Any) -> Any:
    """``x**n`` of a complex number of NumPy's and an integer, by squares, as NumPy has it."""
    power, square, left = np.complex128(1), np.complex128(x), abs(n)
    if n == 1 or n == 2 or n == 3:
        power = square if n == 1 else square * square
        left = 0
        if n == 3:
            power = square * power
    while left:
        if left % 2 == 1:
            power = power * square
        left //= 2
        if left:
            square = square * square
    if n >= 0:
        return power
    a, b = power.real, power.imag
    if x == 0.0:
        return np.complex128(complex(np.nan, np.nan))
    if a == 0.0 and b == 0.0:
        return np.complex128(complex(np.inf, np.nan))
    if abs(a) >= abs(b):
        scale = 1.0 / (a + b * (b / a))
        return np.complex128(complex(scale, -(b / a) * scale))
    scale = 1.0 / (b + a * (a / b))
    return np.complex128(complex((a / b) * scale, -scale))


@helper
def complex_exp(x: Any) -> Any:
    """``np.exp(x)`` of a complex number, also where Numba multiplies infinity by zero."""
    if x.imag == 0.0:
        return np.complex128(complex(np.exp(x.real), x.imag))
    return np.exp(x)


@helper
def complex_sin(x: Any) -> Any:
    """``np.sin(x)`` of a complex number, also where Numba multiplies infinity by zero."""
    if x.real == 0.0:
        return np.complex128(complex(x.real, np.sinh(x.imag)))
    if not np.isfinite(x.real):
        if x.imag == 0.0:
            return np.complex128(complex(np.nan, x.imag))
        if np.isinf(x.imag):
            return np.complex128(complex(np.nan, np.inf))
    return np.sin(x)


@helper
def complex_cos(x: Any) -> Any:
    """``np.cos(x)`` of a complex number, also where Numba multiplies infinity by zero."""
    if x.real == 0.0:
        return np.complex128(complex(np.cosh(x.imag), -x.real if x.imag > 0.0 else x.real))
    if not np.isfinite(x.real):
        if x.imag == 0.0:
            return np.complex128(complex(np.nan, 0.0))
        if np.isinf(x.imag):
            return np.complex128(complex(np.inf, np.nan))
    return np.cos(x)


@helper
def complex_sinh(x: Any) -> Any:
    """``np.sinh(x)`` of a complex number."""
    turned = complex_sin(np.complex128(complex(-x.imag, x.real)))
    return np.complex128(complex(turned.imag, -turned.real))


@helper
def complex_cosh(x: Any) -> Any:
    """``np.cosh(x)`` of a complex number."""
    return complex_cos(np.complex128(complex(-x.imag, x.real)))


@helper
def complex_tanh(x: Any) -> Any:
    """``np.tanh(x)`` of a complex number: Kahan's method, as NumPy has it."""
    a, b = x.real, x.imag
    if abs(a) > 22.0 and (np.isfinite(b) or np.isinf(a)):
        rest = 4.0 * np.sin(b) * np.cos(b) * np.exp(-2.0 * abs(a)) if np.isfinite(b) else 0.0
        return np.complex128(complex(np.copysign(1.0, a), rest))
    if b == 0.0 or (a == 0.0 and not np.isfinite(b)):
        return np.complex128(complex(np.tanh(a), b if b == 0.0 else np.nan))
    t, s = np.tan(b), np.sinh(a)
    slope = 1.0 + t * t
    below = 1.0 + slope * s * s
    return np.complex128(complex(slope * np.sqrt(1.0 + s * s) * s / below, t / below))


@helper
def int_sum(x: Any, y: Any) -> Any:
    """``x + y`` of Python's integers, which have 64 bits in compiled code."""
    if x > 9223372036854775807 - y if y > 0 else x < -9223372036854775807 - (y + 1):
        raise OverflowError("an integer is too large for 64 bits")
    return x + y


@helper
def int_difference(x: Any, y: Any) -> Any:
    """``x - y`` of Python's integers, which have 64 bits in compiled code."""
    if x < -9223372036854775807 + (y - 1) if y > 0 else x > 9223372036854775807 + y:
        raise OverflowError("an integer is too large for 64 bits")
    return x - y


@helper
def int_product(x: Any, y: Any) -> Any:
    """``x * y`` of Python's integers, which have 64 bits in compiled code."""
    if abs(float(x) * float(y)) > 9.2e18:
        raise OverflowError("an integer is too large for 64 bits")
    return x * y


@helper
def int_floor(x: Any, y: Any) -> Any:
    """``x // y`` of Python's integers, which have 64 bits in compiled code."""
    if y == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    if y == -1:
        if x < -9223372036854775807:
            raise OverflowError("an integer is too large for 64 bits")
        return -x
    return x // y


@helper
def int_remainder(x: Any, y: Any) -> Any:
    """``x % y`` of Python's integers."""
    if y == 0:
        raise ZeroDivisionError("integer modulo by zero")
    return 0 if y == -1 else x % y


@helper
def int_power(x: Any, y: Any) -> Any:
    """``x**y`` of Python's integers, which have 64 bits in compiled code."""
    if abs(float(x)) ** y > 9.2e18:
        raise OverflowError("an integer is too large for 64 bits")
    return x**y


@helper
def wrapped_floor(x: Any, y: Any) -> Any:
    """``x // y`` of NumPy's integers."""
    if y == 0:
        return y
    if y == -1:
        return x if x < -9223372036854775807 else -x
    return x // y


@helper
def wrapped_remainder(x: Any, y: Any) -> Any:
    """``x % y`` of NumPy's integers."""
    if y == 0 or y == -1:
        return np.int64(0)
    return x % y


@helper
def wrapped_power(x: Any, y: Any) -> Any:
    """``x**y`` of NumPy's integers."""
    if y < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    return x**y


@helper
def float_floor(x: Any, y: Any) -> Any:
    """``x // y`` of Python's floats."""
    if y == 0:
        raise ZeroDivisionError("float floor division by zero")
    return x // y


@helper
def float_remainder(x: Any, y: Any) -> Any:
    """``x % y`` of Python's floats."""
    if y == 0:
        raise ZeroDivisionError("float modulo by zero")
    return x % y


@helper
def float_power(x: Any, y: Any) -> Any:
    """``x**y`` of Python's floats, which are never complex in compiled code."""
    if x == 0.0 and -math.inf < y < 0.0:
        raise ZeroDivisionError("0.0 cannot be raised to a negative power")
    if x < 0.0 and abs(x) != math.inf and y != np.floor(y) and y == y:
        raise ValueError("a negative number to a fractional power is complex")
    power = np.power(x, y)
    if abs(power) == math.inf and abs(x) != math.inf and abs(y) != math.inf:
        raise OverflowError("Numerical result out of range")
    return float(power)


@helper
def math_power(x: Any, y: Any) -> Any:
    """Compute ``math.pow(x, y)``."""
    power = np.power(x, y)
    if abs(x) != math.inf and abs(y) != math.inf:
        if abs(power) == math.inf and x != 0.0:
            raise OverflowError("math range error")
        if abs(power) == math.inf or (power != power and x == x and y == y):
            raise ValueError("math domain error")
    return float(power)


@helper
def end_of_slice(end: Any, length: Any, low: Any) -> Any:
    """The place that the end of a slice stands for, on an axis; it is not before ``low``."""
    if end < 0:
        end += length
    return int(max(low, min(end, length)))


@helper
def index_within(i: Any, length: Any, axis: Any) -> Any:
    """The place on an axis that the index ``i`` stands for."""
    place = int(i + length if i < 0 else i)
    if place | (length - 1 - place) < 0:  # either has a sign: one comparison
        raise IndexError("index", i, "is out of bounds for axis", axis, "with size", length)
    return place


@helper
def whole(x: Any) -> Any:
    """``int(x)`` of a float."""
    if x != x:
        raise ValueError("cannot convert float NaN to integer")
    if not -9.2e18 < x < 9.2e18:
        raise OverflowError("cannot convert float to an integer of 64 bits")
    return np.int64(x)


@helper
def in_domain(y: Any, x: Any) -> Any:
    """``y``, a function of `math` of ``x``, if ``x`` is where it is defined."""
    if (y != y and x == x) or (math.isinf(y) and not math.isinf(x)):
        raise ValueError("math domain error")
    return y


@helper
def in_range(y: Any, x: Any) -> Any:
    """``y``, a function of `math` of ``x``, if it is not too large."""
    if math.isinf(y) and not math.isinf(x):
        raise OverflowError("math range error")
    return y


@helper
def expit_of(x: Any) -> Any:
    """``1 / (1 + exp(-x))``."""
    return 1.0 / (1.0 + np.exp(-x))


@helper
def log_gamma(x: Any) -> Any:
    """``scipy.special.gammaln(x)``, whose limit at ``-inf`` is not that of C."""
    return -math.inf if x == -math.inf else math.lgamma(x)


@helper
def normal_below(x: Any) -> Any:
    """The probability that a standard normal number is below ``x``."""
    return 0.5 * math.erfc(-x * 0.7071067811865476)


@helper
def x_log_y(x: Any, y: Any) -> Any:
    """``x * log(y)``, which is 0 where ``x`` is."""
    return 0.0 if x == 0.0 and y == y else x * np.log(y)
