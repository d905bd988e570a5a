"""Functions that compiled loops call. Their text is printed beside the loops.

They raise what Python raises, where compiled code would go on with another number.
"""

from __future__ import annotations

import math
from typing import Any

from ..marks import helper


@helper
def quotient(x: Any, y: Any) -> Any:
    """``x / y`` of Python's numbers."""
    if y == 0:
        raise ZeroDivisionError("division by zero")
    return x / y


@helper
def int_sum(x: Any, y: Any) -> Any:
    """``x + y`` of Python's integers, which have 64 bits in compiled code."""
    total = x + y
    if (x < 0) == (y < 0) and (total < 0) != (x < 0):
        raise OverflowError("an integer is too large for 64 bits")
    return total


@helper
def int_difference(x: Any, y: Any) -> Any:
    """``x - y`` of Python's integers, which have 64 bits in compiled code."""
    total = x - y
    if (x < 0) != (y < 0) and (total < 0) != (x < 0):
        raise OverflowError("an integer is too large for 64 bits")
    return total


@helper
def int_product(x: Any, y: Any) -> Any:
    """``x * y`` of Python's integers, which have 64 bits in compiled code."""
    if abs(float(x) * float(y)) > 9.2e18:
        raise OverflowError("an integer is too large for 64 bits")
    return x * y


@helper
def whole(x: Any) -> Any:
    """``int(x)`` of a float."""
    if x != x:
        raise ValueError("cannot convert float NaN to integer")
    if not -9.2e18 < x < 9.2e18:
        raise OverflowError("cannot convert float to an integer of 64 bits")
    return int(x)


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
