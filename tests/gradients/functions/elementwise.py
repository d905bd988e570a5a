"""Operators, ufuncs and what else goes by elements; Python's `math`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from stcompile.codegen_templates.numpy.elementwise import first_maximum
from stcompile.transforms.user_primitive import UserPrimitive
from tests.gradients import arguments as a
from tests.gradients.functions.case import Case, alone, real, real_alone

OPERATORS = (
    Case("-x", lambda x: -x, a.unary()),
    alone("+x", lambda x: +x, a.unary()),
    Case("x + y", lambda x, y: x + y, a.broadcasting()),
    Case("x - y", lambda x, y: x - y, a.broadcasting()),
    Case("x * y", lambda x, y: x * y, a.broadcasting()),
    Case("x / y", lambda x, y: x / y, a.broadcasting(2, 0.4, 2.0)),
    real_alone("x // y", lambda x, y: x // y * x, a.dividing()),
    real("x % y", lambda x, y: x % y, a.dividing()),
    Case("x ** y", lambda x, y: x**y, a.broadcasting(2, 0.3, 2.0)),
    Case("x ** n", lambda x, n: x**n, a.unary(-1.5, 1.5, st.integers(0, 4))),
    Case("x ** -n", lambda x, n: x**n, a.unary(0.4, 1.5, st.sampled_from((-1.0, -2.0, -1.5)))),
    Case("x ** half", lambda x: x**0.5 + x**1.5, a.unary(0.3, 2.0)),
    Case("2 ** x", lambda x: 2**x + 2.5**x, a.unary()),
    real("abs(x)", lambda x: abs(x), a.unary(0.1, 1.5)),
    real("abs(-x)", lambda x: abs(x), a.unary(-1.5, -0.1)),
    Case("mixed", lambda x, y: 2 * x - y / 3 + (1 - x) * y - 0.5, a.broadcasting()),
    Case("one operand twice", lambda x: x * x - x / (2 + x) + x**x, a.unary(0.3, 2.0)),
    Case("broadcast against itself", lambda x: x[:, None] * x[None, :], a.array(1, 1)),
    Case("weak and strong", lambda x: np.float64(2.0) * x + np.array([1.0, 2.0]) * 3, a.single()),
    Case("three", lambda x, y, z: x * y + y * z + np.sin(z * x), a.broadcasting(3)),
    real("comparison", lambda x, y: (x > y) * x + (x <= y) * y * y, a.broadcasting()),
    Case("sum()", lambda x, y: sum([x, y * x, x], 1.0), a.broadcasting()),
)

UNARY = (
    Case("negative", lambda x: np.negative(x), a.unary()),
    alone("positive", lambda x: np.positive(x) * x, a.unary()),
    Case("exp", lambda x: np.exp(x), a.unary()),
    alone("exp2", lambda x: np.exp2(x), a.unary()),
    Case("expm1", lambda x: np.expm1(x), a.unary()),
    Case("log", lambda x: np.log(x), a.unary(0.3, 2.0)),
    Case("log2", lambda x: np.log2(x), a.unary(0.3, 2.0)),
    Case("log10", lambda x: np.log10(x), a.unary(0.3, 2.0)),
    Case("log1p", lambda x: np.log1p(x), a.unary(-0.5, 2.0)),
    Case("sqrt", lambda x: np.sqrt(x), a.unary(0.3, 2.0)),
    real_alone("cbrt", lambda x: np.cbrt(x), a.unary(-2.0, -0.3)),
    real("absolute", lambda x: np.absolute(x) + np.abs(x) * x, a.unary(-1.5, -0.1)),
    real("fabs", lambda x: np.fabs(x), a.unary(0.1, 1.5)),
    real("sign", lambda x: np.sign(x) * x, a.unary(-1.5, -0.1)),
    Case("tanh", lambda x: np.tanh(x), a.unary()),
    Case("sin", lambda x: np.sin(x), a.unary()),
    Case("cos", lambda x: np.cos(x), a.unary()),
    Case("tan", lambda x: np.tan(x), a.unary(-1.2, 1.2)),
    Case("arcsin", lambda x: np.arcsin(x), a.unary(-0.8, 0.8)),
    Case("arccos", lambda x: np.arccos(x), a.unary(-0.8, 0.8)),
    Case("arctan", lambda x: np.arctan(x), a.unary()),
    Case("sinh", lambda x: np.sinh(x), a.unary()),
    Case("cosh", lambda x: np.cosh(x), a.unary()),
    Case("arcsinh", lambda x: np.arcsinh(x), a.unary()),
    Case("arccosh", lambda x: np.arccosh(x), a.unary(1.3, 3.0)),
    Case("arctanh", lambda x: np.arctanh(x), a.unary(-0.8, 0.8)),
    Case("square", lambda x: np.square(x), a.unary()),
    Case("reciprocal", lambda x: np.reciprocal(x), a.unary(0.4, 2.0)),
    real("floor", lambda x: np.floor(x) * x, a.unary(1.1, 1.9)),
    real("ceil", lambda x: np.ceil(x) * x, a.unary(1.1, 1.9)),
    real_alone("trunc", lambda x: np.trunc(x) * x, a.unary(-1.9, -1.1)),
    real_alone("rint", lambda x: np.rint(x) * x, a.unary(0.6, 1.4)),
    real("round", lambda x: np.round(x) * x, a.unary(0.6, 1.4)),
    real("radians", lambda x: np.radians(x) * np.degrees(x), a.unary()),
    real_alone("frexp", lambda x: np.frexp(x)[0] * np.frexp(x)[1], a.unary(0.6, 0.9)),
    real_alone("asanyarray", lambda x: np.asanyarray(x) * x, a.unary()),
    real("deg2rad", lambda x: np.deg2rad(x), a.unary()),
    real("rad2deg", lambda x: np.rad2deg(x), a.unary()),
)

BINARY = (
    Case("add", lambda x, y: np.add(x, y), a.broadcasting()),
    Case("subtract", lambda x, y: np.subtract(x, y), a.broadcasting()),
    Case("multiply", lambda x, y: np.multiply(x, y), a.broadcasting()),
    Case("divide", lambda x, y: np.divide(x, y), a.broadcasting(2, 0.4, 2.0)),
    real_alone("floor_divide", lambda x, y: np.floor_divide(x, y) * y, a.dividing()),
    real("remainder", lambda x, y: np.remainder(x, y) + np.mod(x, y), a.dividing()),
    Case("power", lambda x, y: np.power(x, y), a.broadcasting(2, 0.3, 2.0)),
    real_alone("first_maximum", lambda x, y: first_maximum(x, y), a.broadcasting()),
    real("maximum", lambda x, y: np.maximum(x, y), a.broadcasting()),
    real("minimum", lambda x, y: np.minimum(x, y), a.broadcasting()),
    real("fmax", lambda x, y: np.fmax(x, y), a.broadcasting()),
    real("fmin", lambda x, y: np.fmin(x, y), a.broadcasting()),
    real("arctan2", lambda x, y: np.arctan2(x, y), a.broadcasting(2, 0.2, 1.5)),
    real("arctan2, left", lambda x, y: np.arctan2(x, y), a.broadcasting(2, -1.5, -0.2)),
    real_alone("hypot", lambda x, y: np.hypot(x, y), a.broadcasting(2, 0.2, 1.5)),
    real("logaddexp", lambda x, y: np.logaddexp(x, y), a.broadcasting()),
    real_alone("where", lambda x, y: np.where(x > 0.1, x, y * x), a.broadcasting()),
    alone("where, number", lambda x: np.where(np.array([True, False, True]), x, 0.5), a.single()),
    alone(
        "where, truth of numbers", lambda x: np.where(np.array([2, 0, -1]), x * x, x), a.single()
    ),
    real("where, truth of its own", lambda x: np.where(np.floor(x), x * x, x), a.unary(0.1, 1.9)),
    real("where, mask", lambda x: np.where(x < 0.3, 0.0, x * x), a.unary()),
    real_alone("clip", lambda x, y, z: np.clip(x, y, z), a.broadcasting(3)),
    real("clip, numbers", lambda x: np.clip(x, -0.4, 0.6), a.unary()),
    real_alone("clip, low", lambda x: np.clip(x, 0.1, None), a.unary()),
    real_alone("clip, high", lambda x: np.clip(x, None, 0.1) + x.clip(-1, 1), a.array()),
)

MATH = (
    real_alone("math.exp", lambda x: math.exp(x), a.single()),
    real_alone("math.expm1", lambda x: math.expm1(x), a.single()),
    real_alone("math.log", lambda x: math.log(x), a.single(0.3, 2.0)),
    real_alone("math.log1p", lambda x: math.log1p(x), a.single(-0.5, 2.0)),
    real_alone("math.log2", lambda x: math.log2(x), a.single(0.3, 2.0)),
    real_alone("math.log10", lambda x: math.log10(x), a.single(0.3, 2.0)),
    real_alone("math.sqrt", lambda x: math.sqrt(x), a.single(0.3, 2.0)),
    real_alone("math.sin", lambda x: math.sin(x), a.single()),
    real_alone("math.cos", lambda x: math.cos(x), a.single()),
    real_alone("math.tan", lambda x: math.tan(x), a.single(-1.2, 1.2)),
    real_alone("math.asin", lambda x: math.asin(x), a.single(-0.8, 0.8)),
    real_alone("math.acos", lambda x: math.acos(x), a.single(-0.8, 0.8)),
    real_alone("math.atan", lambda x: math.atan(x), a.single()),
    real_alone("math.atan2", lambda x, y: math.atan2(x, y), a.pair(0.2, 1.5)),
    real_alone("math.sinh", lambda x: math.sinh(x), a.single()),
    real_alone("math.erf", lambda x: math.erf(x), a.single()),
    real_alone("math.erfc", lambda x: math.erfc(x), a.single()),
    real_alone("math.cosh", lambda x: math.cosh(x), a.single()),
    real_alone("math.tanh", lambda x: math.tanh(x), a.single()),
    real_alone("math.asinh", lambda x: math.asinh(x), a.single()),
    real_alone("math.acosh", lambda x: math.acosh(x), a.single(1.3, 3.0)),
    real_alone("math.atanh", lambda x: math.atanh(x), a.single(-0.8, 0.8)),
    real_alone("math.fabs", lambda x: math.fabs(x), a.single(-1.5, -0.1)),
    real_alone("math.hypot", lambda x, y: math.hypot(x, y), a.pair(0.2, 1.5)),
    real_alone("math.hypot of one", lambda x: math.hypot(x), a.single(-1.5, -0.2)),
    real_alone("math.hypot of four", lambda x, y: math.hypot(x, y, 0.5, x), a.pair(0.2, 1.5)),
    real_alone("math.dist", lambda x, y: math.dist([x, y, 1], (y, 3.0, x)), a.pair(0.2, 0.8)),
    real_alone("math.fsum", lambda x, y: math.fsum([x, y * y, 2, x]), a.pair()),
    real_alone("math.log, base", lambda x, y: math.log(x, y) + math.log(x, 2), a.pair(1.2, 3.0)),
    real_alone("math.prod", lambda x, y: math.prod([x, y, 2, x], start=0.5), a.pair()),
    real_alone("math.pow", lambda x, y: math.pow(x, y), a.pair(0.3, 2.0)),
    real_alone("math.floor", lambda x: math.floor(x) * x, a.single(1.1, 1.9)),
    real_alone("math.ceil", lambda x: math.ceil(x) * x, a.single(1.1, 1.9)),
    real_alone("math.trunc", lambda x: math.trunc(float(x)) * x, a.single(1.1, 1.9)),
    real_alone("round of a number", lambda x: round(float(x), 1) * x, a.single(1.11, 1.14)),
)

ELEMENTWISE = (
    real_alone("logaddexp2", lambda x, y: np.logaddexp2(x, y), a.broadcasting()),
    real_alone("copysign", lambda x, y: np.copysign(x, y) * x, a.broadcasting(2, 0.1, 1.5)),
    real_alone("copysign, negative", lambda x: np.copysign(x, -2.0), a.unary(-1.5, -0.1)),
    real_alone("float_power", lambda x, y: np.float_power(x, y), a.broadcasting(2, 0.3, 2.0)),
    real_alone("fmod", lambda x, y: np.fmod(x, y), a.dividing()),
    real_alone("heaviside", lambda x, y: np.heaviside(x, y) * x, a.broadcasting(2, 0.1, 1.5)),
    real_alone("heaviside, at 0", lambda y: np.heaviside(0.0, y * y), a.unary()),
    real_alone("ldexp", lambda x: np.ldexp(x, 3) + np.ldexp(x, np.array(-1)), a.unary()),
    real_alone("nextafter", lambda x: np.nextafter(x, 2.0) * x, a.unary()),
    real_alone("spacing", lambda x: np.spacing(x) + x, a.unary(0.6, 0.9)),
    real_alone("sinc", lambda x: np.sinc(x) + np.sinc(x / 40), a.unary(0.1, 1.5)),
    real_alone("sinc, negative", lambda x: np.sinc(x), a.unary(-1.5, -0.01)),
    real_alone("signbit", lambda x: np.signbit(x) * x, a.unary(0.1, 1.5)),
    real_alone("round, decimals", lambda x: np.round(x, 1) * x + x, a.unary(0.26, 0.34)),
    real_alone("around", lambda x: np.around(x, -1) * x + np.fix(x) * x, a.unary(1.1, 1.9)),
    real_alone("conjugate", lambda x: np.conjugate(x) * np.conj(x), a.unary()),
    real_alone("x.conj", lambda x: x.conj() * x.conjugate(), a.array()),
    real_alone("real", lambda x: np.real(x) * x + np.imag(x) + np.real_if_close(x), a.array()),
    real_alone("angle", lambda x: np.angle(x) * x + np.angle(x, deg=True), a.unary()),
    real_alone(
        "nan_to_num",
        lambda x: np.nan_to_num(np.where([True, False, False], np.nan, x)) * x,
        a.of_shapes((3,)),
    ),
    real_alone("divmod", lambda x, y: list(np.divmod(x, y)), a.dividing()),
    real_alone("modf", lambda x: [part * x for part in np.modf(x)], a.unary(-1.9, -1.1)),
    real_alone(
        "isclose",
        lambda x: np.isclose(x, x + 1e-10) * x + np.allclose(x, 3 * x) * x + np.isin(x, [5.0]),
        a.unary(0.1, 1.5),
    ),
    real_alone(
        "array_equal",
        lambda x: x * np.array_equal(x, x) + x * np.array_equiv(x, 2.0),
        a.array(1, 3, 1),
    ),
    real_alone(
        "isposinf",
        lambda x: np.isposinf(np.float64(np.inf) * x) * x + np.isneginf(x) * x,
        a.unary(0.1, 1.5),
    ),
    real_alone(
        "integers",
        lambda x: np.gcd(np.array([4, 6]), 8) * x + np.lcm(2, np.array([1, 3])) * x
        + np.left_shift(np.array([1, 2]), 1) * np.right_shift(np.array([8, 2]), 1),
        a.single(),
    ),
)  # fmt: skip


def weigh(x: Any, y: Any) -> Any:
    return np.asarray(x * np.exp(y))


weighted = UserPrimitive(weigh, lambda out, x, y, d: (d * np.exp(y), d * out), None)

OF_USERS = (
    real_alone("a primitive of a user's", lambda x, y: weighted(x, y) * x, a.broadcasting()),
)
