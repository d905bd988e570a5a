"""How functions of Python's `math` module are written: on numbers, not on arrays."""

from __future__ import annotations

import math
from typing import Any

from ..marks import fresh


@fresh
def math_exp(x: Any) -> Any:
    return math.exp(x)


@fresh
def math_expm1(x: Any) -> Any:
    return math.expm1(x)


@fresh
def math_log(x: Any) -> Any:
    return math.log(x)


@fresh
def math_log1p(x: Any) -> Any:
    return math.log1p(x)


@fresh
def math_log2(x: Any) -> Any:
    return math.log2(x)


@fresh
def math_log10(x: Any) -> Any:
    return math.log10(x)


@fresh
def math_sqrt(x: Any) -> Any:
    return math.sqrt(x)


@fresh
def math_erf(x: Any) -> Any:
    return math.erf(x)


@fresh
def math_erfc(x: Any) -> Any:
    return math.erfc(x)


@fresh
def math_sin(x: Any) -> Any:
    return math.sin(x)


@fresh
def math_cos(x: Any) -> Any:
    return math.cos(x)


@fresh
def math_tan(x: Any) -> Any:
    return math.tan(x)


@fresh
def math_asin(x: Any) -> Any:
    return math.asin(x)


@fresh
def math_acos(x: Any) -> Any:
    return math.acos(x)


@fresh
def math_atan(x: Any) -> Any:
    return math.atan(x)


@fresh
def math_sinh(x: Any) -> Any:
    return math.sinh(x)


@fresh
def math_cosh(x: Any) -> Any:
    return math.cosh(x)


@fresh
def math_tanh(x: Any) -> Any:
    return math.tanh(x)


@fresh
def math_asinh(x: Any) -> Any:
    return math.asinh(x)


@fresh
def math_acosh(x: Any) -> Any:
    return math.acosh(x)


@fresh
def math_atanh(x: Any) -> Any:
    return math.atanh(x)


@fresh
def math_fabs(x: Any) -> Any:
    return math.fabs(x)


@fresh
def math_floor(x: Any) -> Any:
    return math.floor(x)


@fresh
def math_ceil(x: Any) -> Any:
    return math.ceil(x)


@fresh
def math_trunc(x: Any) -> Any:
    return math.trunc(x)


@fresh
def math_atan2(x: Any, y: Any) -> Any:
    return math.atan2(x, y)


@fresh
def math_hypot(xs: Any) -> Any:
    return math.hypot(*xs)


@fresh
def math_fsum(xs: Any) -> Any:
    return math.fsum(xs)


@fresh
def math_pow(x: Any, y: Any) -> Any:
    return math.pow(x, y)
