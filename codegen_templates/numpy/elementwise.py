"""How elementwise primitives are written: operators where Python has one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh


@fresh
def negative(x: Any) -> Any:
    return -x


@fresh
def absolute(x: Any) -> Any:
    if isinstance(x, np.ndarray | np.generic):
        return np.abs(x)
    return abs(x)


@fresh
def invert(x: Any) -> Any:
    return ~x


@fresh
def exp(x: Any) -> Any:
    return np.exp(x)


@fresh
def exp2(x: Any) -> Any:
    return np.exp2(x)


@fresh
def expm1(x: Any) -> Any:
    return np.expm1(x)


@fresh
def log(x: Any) -> Any:
    return np.log(x)


@fresh
def log2(x: Any) -> Any:
    return np.log2(x)


@fresh
def log10(x: Any) -> Any:
    return np.log10(x)


@fresh
def log1p(x: Any) -> Any:
    return np.log1p(x)


@fresh
def sqrt(x: Any) -> Any:
    return np.sqrt(x)


@fresh
def cbrt(x: Any) -> Any:
    return np.cbrt(x)


@fresh
def sign(x: Any) -> Any:
    return np.sign(x)


@fresh
def conjugate(x: Any) -> Any:
    return np.conjugate(x)


@fresh
def tanh(x: Any) -> Any:
    return np.tanh(x)


@fresh
def sin(x: Any) -> Any:
    return np.sin(x)


@fresh
def cos(x: Any) -> Any:
    return np.cos(x)


@fresh
def tan(x: Any) -> Any:
    return np.tan(x)


@fresh
def arcsin(x: Any) -> Any:
    return np.arcsin(x)


@fresh
def arccos(x: Any) -> Any:
    return np.arccos(x)


@fresh
def arctan(x: Any) -> Any:
    return np.arctan(x)


@fresh
def sinh(x: Any) -> Any:
    return np.sinh(x)


@fresh
def cosh(x: Any) -> Any:
    return np.cosh(x)


@fresh
def arcsinh(x: Any) -> Any:
    return np.arcsinh(x)


@fresh
def arccosh(x: Any) -> Any:
    return np.arccosh(x)


@fresh
def arctanh(x: Any) -> Any:
    return np.arctanh(x)


@fresh
def square(x: Any) -> Any:
    return np.square(x)


@fresh
def reciprocal(x: Any) -> Any:
    return np.reciprocal(x)


@fresh
def floor(x: Any) -> Any:
    return np.floor(x)


@fresh
def ceil(x: Any) -> Any:
    return np.ceil(x)


@fresh
def rint(x: Any) -> Any:
    return np.rint(x)


@fresh
def trunc(x: Any) -> Any:
    return np.trunc(x)


@fresh
def deg2rad(x: Any) -> Any:
    return np.deg2rad(x)


@fresh
def rad2deg(x: Any) -> Any:
    return np.rad2deg(x)


@fresh
def logical_not(x: Any) -> Any:
    return np.logical_not(x)


@fresh
def isnan(x: Any) -> Any:
    return np.isnan(x)


@fresh
def isinf(x: Any) -> Any:
    return np.isinf(x)


@fresh
def isfinite(x: Any) -> Any:
    return np.isfinite(x)


@fresh
def add(x: Any, y: Any) -> Any:
    return x + y


@fresh
def subtract(x: Any, y: Any) -> Any:
    return x - y


@fresh
def multiply(x: Any, y: Any) -> Any:
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
def power(x: Any, y: Any) -> Any:
    return x**y


@fresh
def equal(x: Any, y: Any) -> Any:
    return x == y


@fresh
def not_equal(x: Any, y: Any) -> Any:
    return x != y


@fresh
def less(x: Any, y: Any) -> Any:
    return x < y


@fresh
def less_equal(x: Any, y: Any) -> Any:
    return x <= y


@fresh
def greater(x: Any, y: Any) -> Any:
    return x > y


@fresh
def greater_equal(x: Any, y: Any) -> Any:
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
def maximum(x: Any, y: Any) -> Any:
    return np.maximum(x, y)


@fresh
def first_maximum(x: Any, y: Any) -> Any:  # operands that tie differ in its derivative alone
    return np.maximum(x, y)


@fresh
def minimum(x: Any, y: Any) -> Any:
    return np.minimum(x, y)


@fresh
def fmax(x: Any, y: Any) -> Any:
    return np.fmax(x, y)


@fresh
def fmin(x: Any, y: Any) -> Any:
    return np.fmin(x, y)


@fresh
def arctan2(x: Any, y: Any) -> Any:
    return np.arctan2(x, y)


@fresh
def hypot(x: Any, y: Any) -> Any:
    return np.hypot(x, y)


@fresh
def logaddexp(x: Any, y: Any) -> Any:
    return np.logaddexp(x, y)


@fresh
def logical_and(x: Any, y: Any) -> Any:
    return np.logical_and(x, y)


@fresh
def logical_or(x: Any, y: Any) -> Any:
    return np.logical_or(x, y)


@fresh
def logical_xor(x: Any, y: Any) -> Any:
    return np.logical_xor(x, y)


@fresh
def where(cond: Any, x: Any, y: Any) -> Any:
    return np.where(cond, x, y)


@fresh
def clip(x: Any, low: Any, high: Any) -> Any:
    return np.clip(x, low, high)


@fresh
def signbit(x: Any) -> Any:
    return np.signbit(x)


@fresh
def spacing(x: Any) -> Any:
    return np.spacing(x)


@fresh
def frexp(x: Any, *, part: str) -> Any:
    if part == "mantissa":
        return np.frexp(x)[0]
    return np.frexp(x)[1]


@fresh
def i0(x: Any) -> Any:
    return np.i0(x)


@fresh
def sinc(x: Any) -> Any:
    return np.sinc(x)


@fresh
def logaddexp2(x: Any, y: Any) -> Any:
    return np.logaddexp2(x, y)


@fresh
def copysign(x: Any, y: Any) -> Any:
    return np.copysign(x, y)


@fresh
def heaviside(x: Any, y: Any) -> Any:
    return np.heaviside(x, y)


@fresh
def fmod(x: Any, y: Any) -> Any:
    return np.fmod(x, y)


@fresh
def float_power(x: Any, y: Any) -> Any:
    return np.float_power(x, y)


@fresh
def ldexp(x: Any, y: Any) -> Any:
    return np.ldexp(x, y)


@fresh
def nextafter(x: Any, y: Any) -> Any:
    return np.nextafter(x, y)


@fresh
def left_shift(x: Any, y: Any) -> Any:
    return np.left_shift(x, y)


@fresh
def right_shift(x: Any, y: Any) -> Any:
    return np.right_shift(x, y)


@fresh
def gcd(x: Any, y: Any) -> Any:
    return np.gcd(x, y)


@fresh
def lcm(x: Any, y: Any) -> Any:
    return np.lcm(x, y)
