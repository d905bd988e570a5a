"""The table of everything that is differentiated: one line a function.

A case is a function of arrays, numbers and static values as a user would write it, with a strategy
for its arguments. ``exact``: it can be evaluated at complex arguments, so that its derivative is
known to rounding error; otherwise central differences are taken. ``oracle``: autograd knows
it, with negative axes too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from stcompile.codegen_templates.numpy.elementwise import first_maximum
from stcompile.nn import logsumexp, softmax_cross_entropy
from stcompile.transforms.user_primitive import UserPrimitive
from tests.gradients import arguments as a


@dataclass(frozen=True)
class Case:
    """A function under test with its arguments."""

    name: str
    function: Callable[..., Any]
    arguments: a.Arguments
    exact: bool = True
    oracle: bool = True


def real(name: str, function: Callable[..., Any], arguments: a.Arguments) -> Case:
    """A case of real numbers only."""
    return Case(name, function, arguments, exact=False)


def alone(name: str, function: Callable[..., Any], arguments: a.Arguments) -> Case:
    """A case that autograd does not know."""
    return Case(name, function, arguments, oracle=False)


def real_alone(name: str, function: Callable[..., Any], arguments: a.Arguments) -> Case:
    """A case of real numbers that autograd does not know."""
    return Case(name, function, arguments, exact=False, oracle=False)


COLUMNS = a.of_shapes((3, 2), (3, 1))

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

REDUCTIONS = (
    Case("sum", lambda x, axis, keep: np.sum(x, axis, keepdims=keep), a.reduced()),
    Case("mean", lambda x, axis, keep: np.mean(x, axis, keepdims=keep), a.reduced(empty=False)),
    alone("prod", lambda x, axis, keep: np.prod(x, axis, keepdims=keep), a.reduced()),
    Case("max", lambda x, axis, keep: np.max(x, axis, keepdims=keep), a.reduced(empty=False)),
    Case("min", lambda x, axis, keep: np.min(x, axis, keepdims=keep), a.reduced(empty=False)),
    real("var", lambda x, axis, keep: np.var(x, axis, keepdims=keep), a.reduced(empty=False)),
    real(
        "var, ddof",
        lambda x, axis, keep: np.var(x, axis, ddof=1, keepdims=keep),
        a.reduced(empty=False, more=1),
    ),
    real_alone(
        "std",
        lambda x, axis, keep: np.std(x, axis, keepdims=keep),
        a.reduced(empty=False, more=1),
    ),
    real_alone(
        "std, ddof",
        lambda x, axis, keep: x.std(axis, ddof=1, keepdims=keep),
        a.reduced(empty=False, more=1, arrays_only=True),
    ),
    Case("cumsum", lambda x, axis: np.cumsum(x, axis), a.with_axis(none=True)),
    alone("amax, amin", lambda x: np.amax(x, 0) * np.amin(x), a.array(1, 3, 1)),
    Case("sum of a list", lambda x, y: np.sum([x, y * x, 2.0]), a.pair()),
    alone("prod of zeros", lambda x: np.prod(x * np.array([1.0, 0.0, 2.0])), a.of_shapes((3,))),
    real(
        "argmax",
        lambda x, axis: x * np.argmax(x, axis, keepdims=True),
        a.with_axis(0, none=True, min_side=1),
    ),
)

METHODS = (
    Case(
        "x.sum", lambda x, axis, keep: x.sum(axis=axis, keepdims=keep), a.reduced(arrays_only=True)
    ),
    Case("x.mean, x.max, x.min", lambda x: x.mean(0) + x.max(0) * x.min(0), a.array(1, 3, 1)),
    alone("x.prod, x.cumsum", lambda x: x.prod(-1, keepdims=True) * x.cumsum(-1), a.array(1, 3)),
    real("x.var, x.std", lambda x: x.var(0) + x.std(0), a.of_shapes((3, 2))),
    alone("x.dot", lambda x, y: x.dot(y), a.dot()),
    Case("x.reshape", lambda x, shape: x.reshape(shape) * x.reshape(*shape), a.reshaping()),
    alone("x.transpose", lambda x, axes: x.transpose(axes), a.permuting()),
    Case("x.T", lambda x: x.T * 2.0, a.array()),
    alone("x.mT", lambda x: x.mT, a.array(2)),
    Case("x.ravel, x.flatten", lambda x: x.ravel() * x.flatten(), a.array()),
    Case("x.squeeze", lambda x, axis: x.squeeze(axis), a.squeezing()),
    Case("x.swapaxes", lambda x, axis: x.swapaxes(axis, 0), a.with_axis()),
    alone("x.repeat", lambda x, n, axis: x.repeat(n, axis), a.repeating()),
    alone("x.astype", lambda x: x.astype(x.dtype) * x.astype(x.dtype, copy=False), a.array()),
    real_alone("astype", lambda x: np.astype(x, np.float64) * x, a.array()),
    alone("x.copy", lambda x: x.copy() * x, a.array()),
    alone("x.tolist", lambda x: [v * 2 for v in x.tolist()], a.of_shapes((3,))),
    real_alone("x.item", lambda x: x.item() * x, a.of_shapes((1, 1))),
    real_alone("x.round", lambda x: x.round() * x, a.array(low=0.6, high=1.4)),
)

GRID, ROW = a.of_shapes((3, 4)), a.of_shapes((4,))
SQUARE_GRID = a.of_shapes((3, 3))
GRID_AND_ROW, TWO_ROWS = a.of_shapes((3, 4), (4,)), a.of_shapes((4,), (4,))
SERIES = a.of_shapes((2, 2), (4,))
KINDS_OF_SERIES = {
    "poly": polynomial,
    "cheb": chebyshev,
    "leg": legendre,
    "herm": hermite,
    "herme": hermite_e,
    "lag": laguerre,
}
CAPTURED = chebyshev.Chebyshev([0.5, -1.0, 2.0], domain=[0, 2])
GRID_WITH_NAN = GRID.map(lambda drawn: (np.where(np.eye(3, 4, 1, bool), np.nan, drawn[0]),))

LINEAR = (
    Case("x @ y", lambda x, y: x @ y, a.matmul()),
    Case("matmul", lambda x, y: np.matmul(x, y), a.matmul()),
    Case("dot", lambda x, y: np.dot(x, y), a.dot()),
    alone("tensordot", lambda x, y: np.tensordot(x, y, 1), a.of_shapes((2, 3), (3, 2))),
    alone("einsum", lambda x, y: np.einsum("ij,jk->ki", x, y), a.of_shapes((2, 3), (3, 2))),
    alone(
        "einsum, diagonal",
        lambda x: np.einsum("iij->j", x) * np.einsum("iii", x),
        a.of_shapes((3, 3, 3)),
    ),
    alone("einsum, sums", lambda x: np.einsum("ij->", x) * np.einsum("ij->j", x), GRID),
    alone(
        "einsum, three",
        lambda x, y: np.einsum("ij,jk,kl->li", x, y, x),
        a.of_shapes((3, 2), (2, 3)),
    ),
    alone("einsum, vectors", lambda v, w: np.einsum("i,i,j->ij", v, w, v), TWO_ROWS),
    alone(
        "einsum, lone axes",
        lambda x, y: np.einsum("ij,kl->il", x, y),
        a.of_shapes((2, 3), (3, 2)),
    ),
    Case("inner", lambda x, y: np.inner(x, y), a.inner()),
    alone("outer", lambda x, y: np.outer(x, y), a.broadcasting()),
    *(
        real_alone(name, lambda x, y, function=getattr(np, name): function(x, y), drawn)
        for name, drawn in (
            ("vecdot", a.of_shapes((2, 1, 3), (2, 3))),
            ("matvec", a.of_shapes((2, 3, 4), (4,))),
            ("vecmat", a.of_shapes((3,), (2, 3, 2))),
        )
        if hasattr(np, name)
    ),
    real_alone("vecdot, axis", lambda x, y: np.linalg.vecdot(x, y, axis=0), COLUMNS),
    real_alone("vdot", lambda x, y: np.vdot(x, y), a.stacking(axis=False)),
    Case("x @ x.T", lambda x: x @ x.T, a.array(2, 2)),
    Case("x.T @ y @ x", lambda x, y: x.T @ y @ x, a.of_shapes((3, 2), (3, 3))),
    Case("products of slices", lambda x, y: x[1:] @ y[:, ::2], a.of_shapes((3, 2), (2, 3))),
)

SHAPES = (
    real_alone(
        "reshape, F",
        lambda x: x.reshape((4, -1), order="F") * np.reshape(x.T * 2, (4, 6), "F"),
        a.of_shapes((2, 3, 4)),
    ),
    real_alone("ravel, F", lambda x: x.T.ravel("F") * (x * x).flatten("F"), a.of_shapes((2, 3, 4))),
    Case("reshape", lambda x, shape: np.reshape(x, shape), a.reshaping()),
    Case("ravel", lambda x: np.ravel(x) * 2, a.unary()),
    alone("transpose", lambda x, axes: np.transpose(x, axes), a.permuting()),
    alone("permute_dims", lambda x, axes: np.permute_dims(x, axes), a.permuting()),
    alone("matrix_transpose", lambda x: np.matrix_transpose(x), a.array(2)),
    Case("swapaxes", lambda x, axis: np.swapaxes(x, axis, -1), a.with_axis()),
    Case("moveaxis", lambda x, source, target: np.moveaxis(x, source, target), a.moving()),
    alone("expand_dims", lambda x, axis: np.expand_dims(x, axis), a.expanding()),
    Case("squeeze", lambda x, axis: np.squeeze(x, axis), a.squeezing()),
    alone("broadcast_to", lambda x, shape: np.broadcast_to(x, shape), a.spreading()),
    Case("concatenate", lambda x, y, axis: np.concatenate([x, y, x], axis), a.joining()),
    alone("concatenate, flat", lambda x, y: np.concatenate((x, y), axis=None), a.rows()),
    Case("stack", lambda x, y, axis: np.stack([x, y, x], axis), a.stacking()),
    Case("vstack", lambda x, y: np.vstack([x, y]), a.rows()),
    Case("hstack", lambda x, y: np.hstack([x, y]), a.columns()),
    Case("atleast_1d", lambda x: np.atleast_1d(x), a.unary()),
    Case("atleast_2d", lambda x: np.atleast_2d(x), a.unary()),
    alone("split", lambda x, at, axis: np.split(x, at, axis), a.splitting()),
    alone("array_split", lambda x, at, axis: np.array_split(x, at, axis), a.splitting(False)),
    alone("flip", lambda x, axis: np.flip(x, axis), a.flipping()),
    Case("flipud, fliplr", lambda x: np.flipud(x) * np.fliplr(x), a.array(2)),
    alone("roll", lambda x, shift, axis: np.roll(x, shift, axis), a.rolling()),
    alone("roll, one axis twice", lambda x: np.roll(x, (1, 2), (0, -1)), a.array(1, 1)),
    Case("pad", lambda x, width: np.pad(x, width, "constant"), a.padding()),
    alone("pad, edge", lambda x: np.pad(x, ((1, 2), (0, 3)), "edge"), GRID),
    alone("pad, reflect", lambda x: np.pad(x, ((5, 2), (0, 3)), "reflect"), GRID),
    alone("pad, symmetric", lambda x: np.pad(x, 4, "symmetric"), GRID),
    alone("pad, wrap", lambda x: np.pad(x, (2, 5), "wrap"), ROW),
    alone("pad, value", lambda x: np.pad(x, 1, constant_values=2.0), a.array(1)),
    alone("repeat", lambda x, n, axis: np.repeat(x, n, axis), a.repeating()),
    alone("sliding_window_view", lambda x: sliding_window_view(np.pad(x, 1), 2, 0), a.array(1)),
)


def write_slice(x: Any, at: Any, value: Any) -> Any:
    y = x * x
    y[at] = value * 2.0
    return y * x


def add_to_slice(x: Any, at: Any, value: Any) -> Any:
    y = x * x
    y[at] += value * x[at]
    return y * x


def scale_slice(x: Any, at: Any, value: Any) -> Any:
    y = np.copy(x)
    y[at] *= value
    y[at] -= 1.0
    return y


def write_items(x: Any, i: Any) -> Any:
    y = np.zeros_like(x)
    y[i] = x[i] * 2.0
    y[i] += x[i] * x[i]
    return y * x


def fill(x: Any, value: Any) -> Any:
    y = np.ones(3)
    y.fill(value)
    y[:2] += x
    return y


def write_items_of_a_mask(x: Any, y: Any) -> Any:
    z = x * y
    z[y > 0.1] = 2.0
    z[y < -0.1] = x[y < -0.1] * x[y < -0.1]
    z[y > 0.5] *= y[y > 0.5]
    return z


def reduce_items_of_a_mask(x: Any, y: Any) -> Any:
    rows = y[:, 0] > 0.1
    return np.mean(x[y > 0.1] ** 2) + np.prod(x[y < 0.1]) + np.sum(x[rows], axis=0) * x[0]


INDEXING = (
    Case("x[basic]", lambda x, at: x[at], a.basic()),
    Case("x[basic] twice", lambda x, at: x[at] * x[at], a.basic()),
    alone("x[..., 1]", lambda x: x[..., 1] * x[0, ...], a.of_shapes((2,))),
    Case("x[i]", lambda x, i: x[i], a.fancy()),
    Case("x[i, j]", lambda x, i, j: x[i, j], a.fancy(2)),
    Case("x[i, j, k]", lambda x, i, j, k: x[i, j, k], a.fancy(3)),
    Case("x[i, :, j]", lambda x, i, j: x[:, None][i, 0, j], a.fancy(2)),
    Case("x[1, i]", lambda x, i, j: x[1, i] * x[:, j][:, :1], a.of_shapes((3, 3)).map(
        lambda drawn: (*drawn, np.array([0, 2]), np.array([1, 1, 0])))),
    Case("x[..., i]", lambda x, i: x.T[..., i], a.fancy()),
    Case("x[i, None]", lambda x, i: x[i, None] * np.sum(x[None, i]), a.fancy()),
    Case("x[list]", lambda x: x[[0, 2, -1, 0]] * x[[1]], a.of_shapes((3, 2))),
    Case("x[i][slice]", lambda x, i: x[i, None][..., ::-1] * x[1:].sum(), a.fancy()),
    real_alone("y[basic] = value", write_slice, a.writing()),
    real_alone("y[basic] += value", add_to_slice, a.writing()),
    real_alone("y[basic] *= value", scale_slice, a.writing()),
    real_alone("y[i] = value", write_items, a.fancy(unique=True)),
    real_alone("y[mask] = value", write_items_of_a_mask, a.masking()),
    real_alone("np.sum(x[mask])", reduce_items_of_a_mask, a.masking()),
    real_alone("fill", fill, a.pair()),
)  # fmt: skip

CREATION = (
    real_alone("full", lambda x: np.full((2, 3), x) * np.full(2, x, float)[:, None], a.single()),
    real_alone("full_like", lambda x, y: np.full_like(np.ones(3), x * y) + x, a.pair()),
    Case("array", lambda x, y: np.array([x, 1.0, x * y, y]), a.pair()),
    Case("array, nested", lambda x, y: np.array([[x, y], [y * y, 2.0]]) @ np.ones(2), a.pair()),
    alone("asarray", lambda x: np.asarray(x) * 2, a.unary()),
    alone("copy", lambda x: np.copy(x) * np.array(x), a.unary()),
    alone("asfortranarray", lambda x: np.asfortranarray(x) * 2, a.array(1)),
    alone("ascontiguousarray", lambda x: np.ascontiguousarray(x.T), a.array(1)),
    real_alone("float", lambda x: float(x) ** 2, a.single()),
    real_alone("float64", lambda x: np.float64(x) * x, a.single()),
    alone("zeros and ones", lambda x: np.zeros(3) + x * np.ones_like(np.empty(3)), a.single()),
    Case("arange, eye", lambda x: x * np.arange(3.0) + np.eye(3) * x, a.of_shapes((3,))),
)

RANDOM = (
    real_alone(
        "normal", lambda x, y: np.random.default_rng(3).normal(x, y), a.broadcasting(2, 0.4, 2.0)
    ),
    real_alone(
        "uniform", lambda x, y: np.random.default_rng(3).uniform(-x, y), a.broadcasting(2, 0.4, 2.0)
    ),
    real_alone("exponential", lambda x: np.random.default_rng(3).exponential(x), a.unary(0.4, 2.0)),
)

LIBRARY = (
    alone("softmax_cross_entropy", lambda x, y: softmax_cross_entropy(x, y), a.classified()),
    alone(
        "softmax", lambda x: np.exp(x) / np.sum(np.exp(x), 1, keepdims=True), a.of_shapes((3, 2))
    ),
    alone("logsumexp", lambda x, axis, keep: logsumexp(x, axis, keep), a.exponents()),
)


def write_along_axis(x: Any, i: Any) -> Any:
    y = x * x
    np.put_along_axis(y, i, 2 * x[:, :1], 1)
    return y


def polynomials(x: Any, v: Any) -> Any:
    """Objects of `numpy.polynomial`, made here and outside."""
    first = polynomial.Polynomial(v, domain=[-2, 1])
    second = first.deriv() * polynomial.Polynomial(x[0], [-2, 1]) - first.integ(1, k=v[0])
    third = 2.0 * chebyshev.Chebyshev(x[1], domain=[0.0, 2.0]) + CAPTURED
    return second(x) * third.deriv(2)(v[0]) + CAPTURED.integ(lbnd=0.5)(x) * len(second)


def write_diagonal(x: Any) -> Any:
    y = x * x
    np.fill_diagonal(y, 3 * x[0, 0])
    return y * x


def write_where(x: Any, v: Any) -> Any:
    y = x * x
    np.copyto(y, v * v, where=x > 0)
    np.putmask(y, x < -1, 3 * x)
    return y


INDICES = (
    alone("ndindex", lambda x: [x[i] * i[0] for i in np.ndindex(x.shape)], GRID),
    alone("ndenumerate", lambda x: [v * i for (i, _), v in np.ndenumerate(x)], GRID),
    alone("indices", lambda x: x * np.indices((3, 4))[1], GRID),
    alone("fromfunction", lambda v: np.fromfunction(lambda i, j: i * v[0] + j * v, (3, 4)), ROW),
    alone("triu_indices", lambda x: x[np.triu_indices(3, 1)], GRID),
    alone("tril_indices", lambda x: x[np.tril_indices(3, 0, 4)], GRID),
    alone("diag_indices", lambda x: x[np.diag_indices(3)], GRID),
    alone("triu_indices_from", lambda x: x[np.triu_indices_from(x, 1)], GRID),
    alone("tril_indices_from", lambda x: x[np.tril_indices_from(x)], GRID),
    alone("diag_indices_from", lambda x: x[np.diag_indices_from(x)], SQUARE_GRID),
    real_alone("unravel_index", lambda x: x[np.unravel_index(np.argmax(x), x.shape)] * x, GRID),
    real_alone(
        "ravel_multi_index",
        lambda x: np.ravel(x)[np.ravel_multi_index((np.argmax(x, 1), [0, 1, 2]), (4, 3))] * x[:, 0],
        GRID,
    ),
    alone("flat", lambda x: [v * 2 for v in x.flat] + [x.flat[3], x.T.flat[1:5]], GRID),
)

KNOTS = np.array([-1.0, -0.2, 0.6, 1.1])
VECTORS = st.sampled_from([((4,), (3,)), ((3,), (4,)), ((5,), (2,)), ((1,), (2,))]).flatmap(
    lambda dims: a.of_shapes(*dims)
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

CALCULUS = (
    alone("diff", lambda x, axis: np.diff(x, axis=axis), a.with_axis()),
    alone("diff, twice", lambda x: np.diff(x, 2) * np.diff(x, 3)[:, :1], GRID),
    alone("diff, ends", lambda x, v: np.diff(x, prepend=0, append=v[:3, None]), GRID_AND_ROW),
    alone("ediff1d", lambda x: np.ediff1d(x) * 2 + np.ediff1d(x[0], [1.0], x)[0], GRID),
    alone("gradient", lambda x: list(np.gradient(x)), GRID),
    alone("gradient, edges", lambda x: np.gradient(x, 0.5, axis=-1, edge_order=2), GRID),
    real_alone(
        "gradient, uneven",
        lambda x, v: (
            np.gradient(x, KNOTS + v / 9, axis=1, edge_order=1)
            * np.gradient(x, KNOTS - v / 9, axis=1, edge_order=2)
        ),
        GRID_AND_ROW,
    ),
    alone("trapezoid", lambda x, axis: np.trapezoid(x, axis=axis), a.with_axis()),
    alone("trapezoid, x", lambda x, v: np.trapezoid(x, v) * np.trapezoid(x, x * x), GRID_AND_ROW),
    real_alone("unwrap", lambda x: np.unwrap(4 * x), GRID),
    alone("polyval", lambda p, x: np.polyval(p, x), a.of_shapes((3,), (2, 2))),
    *(
        alone(
            f"series, {name}val", lambda x, c, val=getattr(module, f"{name}val"): val(x, c), SERIES
        )
        for name, module in KINDS_OF_SERIES.items()
    ),
    *(
        alone(f"{name}der", lambda c, der=getattr(module, f"{name}der"): der(c, 2, axis=1), GRID)
        for name, module in KINDS_OF_SERIES.items()
        if name in ("cheb", "leg", "lag")
    ),
    *(
        real_alone(
            f"{name}int",
            lambda x, v, integral=getattr(module, f"{name}int"): integral(
                x, 2, k=[1, v[0]], lbnd=v[1], scl=v[2], axis=-1
            ),
            GRID_AND_ROW,
        )
        for name, module in KINDS_OF_SERIES.items()
        if name in ("cheb", "leg", "lag")
    ),
    real_alone("lagvander", lambda x: laguerre.lagvander(x, 3) * legendre.legvander(x, 3), ROW),
    real_alone(
        "series, add",
        lambda x, v: polynomial.polyadd(x[0], v[:2]) * legendre.legsub(v[:2], x[1]),
        GRID_AND_ROW,
    ),
    real_alone("polymul", lambda x, v: polynomial.polymul(x[0], v), GRID_AND_ROW),
    real_alone("np.polymul", lambda x, v: np.polymul(x[0], v) * 2, GRID_AND_ROW),
    real_alone("chebmul", lambda x, v: chebyshev.chebmul(x[0], v[:3]), GRID_AND_ROW),
    alone("polyvalfromroots", lambda x, r: polynomial.polyvalfromroots(x, r), SERIES),
    real_alone("Polynomial", lambda x, v: polynomials(x, v), GRID_AND_ROW),
    alone("polyder", lambda p: np.polyder(p) * np.polyder(p, 2)[0], ROW),
    alone("polyint", lambda p: np.polyint(p) * np.polyint(p, 2, [1, 2])[0], ROW),
    real_alone("polyfit", lambda y: np.polyfit(KNOTS, y, 2), ROW),
    real_alone("polyfit, w", lambda x, y: np.polyfit(KNOTS + x / 9, y, 1, w=1 + y * y), TWO_ROWS),
    *(
        real_alone(f"convolve, {mode}", lambda x, y, mode=mode: np.convolve(x, y, mode), VECTORS)
        for mode in ("full", "same", "valid")
    ),
    *(
        real_alone(f"correlate, {mode}", lambda x, y, mode=mode: np.correlate(x, y, mode), VECTORS)
        for mode in ("full", "same", "valid")
    ),
    alone("polyadd", lambda p, q: np.polyadd(p, q[1:]) * np.polysub(q[2:], p), TWO_ROWS),
    real_alone("interp", lambda x, v: np.interp(x, KNOTS, v), GRID_AND_ROW),
    real_alone(
        "interp, knots", lambda v, w: np.interp([0.1, 0.4, 9.0], KNOTS + v / 9, w), TWO_ROWS
    ),
    real_alone("interp, number", lambda x, w: np.interp(x, [0.0, 1.0], w), a.of_shapes((), (2,))),
    real_alone("interp, one knot", lambda x, w: np.interp(x, [0.0], w), a.of_shapes((2,), (1,))),
)

ORDER = (
    real_alone("sort", lambda x, axis: np.sort(x, axis) * x, a.with_axis()),
    real_alone("sort, flat", lambda x: np.sort(x, None), a.array()),
    real_alone("argsort", lambda x: x[np.argsort(x[:, 0])] * x.argsort(), GRID),
    real_alone("partition", lambda x: np.partition(x, 1) * np.partition(x, (0, -1), 0), GRID),
    real_alone(
        "argpartition", lambda x: x[np.argpartition(x[:, 1], 1)] * x.argpartition(0), GRID
    ),
    real_alone("lexsort", lambda x: x[np.lexsort((x[:, 0], x[:, 1]))], GRID),
    real_alone("searchsorted", lambda x: np.searchsorted(KNOTS, x, "right") * x, a.unary()),
    real_alone("x.searchsorted", lambda x: KNOTS.searchsorted(x) * x, a.unary()),
    real_alone("histogram", lambda x: np.histogram(x, KNOTS)[0][1] * x, a.unary()),
    real_alone(
        "histogram, density",
        lambda x: np.histogram(x, KNOTS, density=True)[0][1] * x,
        a.of_shapes((5,)),
    ),
    real_alone(
        "histogram, known",
        lambda x: np.sum(np.histogram([1, 2, 2, 4], 3, weights=[1, 2, 3, 4])[0] * x[0, 0]),
        GRID,
    ),
    real_alone(
        "unique",
        lambda x: x[np.unique([2, 0, 2, 1])]
        * np.unique(np.array([3, 1, 3]) * 2, return_counts=True)[1][1],
        GRID,
    ),
    real_alone("histogram, bins", lambda x: np.histogram(x, 4, (-1, 1))[0][2] * x, a.unary()),
    real_alone("digitize", lambda x: np.digitize(x, KNOTS) * x, a.unary()),
    alone("take", lambda x: np.take(x, [0, 2, -1], axis=1) * np.take(x, 5) * x.take([1]), GRID),
    alone("take, integer", lambda x: np.take(x, 1, 0), GRID),
    real_alone("take_along_axis", lambda x: np.take_along_axis(x, np.argsort(x, 0), 0) * x, GRID),
    real_alone("put_along_axis", write_along_axis, GRID.map(
        lambda drawn: (*drawn, np.array([[0, 2], [3, 1], [2, 0]])))),
    real_alone("choose", lambda x: np.choose((x > 0) + 0, [x, x * x]), GRID),
    real_alone("x.choose", lambda x: np.array([2, 0, 1, 0]).choose([x, x * x, 3.0]), GRID),
    real_alone("select", lambda x: np.select([x > 0.5, x > 0], [x * x, 2.0], x), GRID),
    alone("compress", lambda x: np.compress([1, 0, 1], x, axis=0), GRID),
    alone("extract", lambda v: np.extract([True, False, True, True], v), ROW),
    real_alone("piecewise", lambda x: np.piecewise(x, [x < 0, x > 1], [np.sin, 3.0, abs]), GRID),
    real_alone("copyto", write_where, GRID_AND_ROW),
    real_alone("bincount", lambda v: np.bincount([0, 2, 2, 1], v, minlength=5), ROW),
    real_alone("bincount, counts", lambda v: np.bincount([1, 1, 3], minlength=4) * v, ROW),
    real_alone(
        "median", lambda x, axis: np.median(x, axis), a.with_axis(none=True, min_side=1)
    ),
    real_alone("median, axes", lambda x: np.median(x, (0, -1), keepdims=True), a.array(2, 3, 1)),
    real_alone(
        "quantile",
        lambda x: np.quantile(x, 0.25, keepdims=True) * np.quantile(x, [0.0, 0.5, 1.0], axis=1),
        a.of_shapes((3, 5)),
    ),
    real_alone("percentile", lambda x: np.percentile(x, 75, axis=0), a.of_shapes((5, 2))),
)  # fmt: skip

STATISTICS = (
    real_alone("ptp", lambda x: np.ptp(x, 0) * np.ptp(x), GRID),
    real_alone("count_nonzero", lambda x: np.count_nonzero(x, axis=0) * x, GRID),
    alone("average", lambda x, v: np.average(x, axis=1, weights=v * v), GRID_AND_ROW),
    alone("average, all", lambda x: np.average(x, weights=1 + x * x) * np.average(x, 0), GRID),
    alone(
        "average, returned",
        lambda x: [part * 1.0 for part in np.average(x, 1, x * x, returned=True)],
        GRID,
    ),
    real_alone("cov", lambda x: np.cov(x) * np.cov(x[0], bias=True), GRID),
    real_alone("cov, two", lambda v, w: np.cov(v, w, ddof=0), TWO_ROWS),
    real_alone("corrcoef", lambda x: np.corrcoef(x, rowvar=False), a.of_shapes((3, 2))),
    alone("cumprod", lambda x, axis: np.cumprod(x, axis), a.with_axis(none=True)),
    alone("x.cumprod", lambda x: (x * np.array([1.0, 0.0, 2.0, 0.0])).cumprod(-1), GRID),
    alone(
        "cumulative_sum",
        lambda x, axis: np.cumulative_sum(x, axis=axis, include_initial=True),
        a.with_axis(),
    ),
    alone("cumulative_prod", lambda x, axis: np.cumulative_prod(x, axis=axis), a.with_axis()),
    real_alone("nansum", lambda x: np.nansum(x) * np.nansum(x, 1), GRID_WITH_NAN),
    real_alone("nanprod", lambda x: np.nanprod(x, 0, keepdims=True), GRID_WITH_NAN),
    real_alone("nancumsum", lambda x: np.nancumsum(x, 1) * np.nancumprod(x, 0), GRID_WITH_NAN),
    real_alone("nanmean", lambda x: np.nanmean(x) * np.nanmean(x, 0), GRID_WITH_NAN),
    real_alone("nanmax", lambda x: np.nanmax(x) * np.nanmin(x, 0), GRID_WITH_NAN),
    real_alone(
        "nanargmax", lambda x: np.nanargmax(x) * np.nansum(x, 0) + np.nanargmin(x, 0), GRID_WITH_NAN
    ),
    real_alone("nanvar", lambda x: np.nanvar(x) * np.nanvar(x, 0, ddof=1), GRID_WITH_NAN),
    real_alone("nanstd", lambda x: np.nanstd(x, 1, keepdims=True), GRID_WITH_NAN),
    real_alone(
        "nanquantile", lambda x: np.nanquantile(x, 0.25, 1) * np.nanquantile(x, 0.75), GRID_WITH_NAN
    ),
    real_alone("nanpercentile", lambda x: np.nanpercentile(x, [20, 70], axis=0), GRID_WITH_NAN),
    real_alone("nanmedian", lambda x: np.nanmedian(x) * np.nanmedian(x, 1), GRID_WITH_NAN),
)

MATRICES = (
    alone("diag", lambda x, v: np.diag(v, 1)[:3, :4] * np.diag(v, -1)[1:4, :4] + np.diag(x)[0],
          GRID_AND_ROW),
    alone("diag, square", lambda v: np.diag(v) @ np.diagflat(v), ROW),
    alone("diagonal", lambda x: np.diagonal(x, 1) * x.diagonal(), GRID),
    alone("diagonal, axes", lambda x, k: np.diagonal(x, k, 2, -3), a.of_shapes((2, 3, 4)).flatmap(
        lambda drawn: st.tuples(st.just(drawn[0]), st.integers(-5, 5)))),
    real_alone("fill_diagonal", write_diagonal, GRID),
    alone("trace", lambda x: np.trace(x) * x.trace(1), GRID),
    alone("trace, axes", lambda x: np.trace(x, 0, 2, 0), a.of_shapes((2, 3, 4))),
    alone("tri", lambda x: np.tri(3, 4, -1) * x + np.tri(3)[0, 0], GRID),
    alone("tril", lambda x, k: np.tril(x, k) * 2 + np.triu(x, k) * x, a.array(2).flatmap(
        lambda drawn: st.tuples(st.just(drawn[0]), st.integers(-3, 3)))),
    alone("tril, vector", lambda v: np.tril(v) @ np.triu(v, 1), ROW),
    real_alone("vander", lambda v: np.vander(v) * np.vander(v, 4, increasing=True), ROW),
    alone("kron", lambda x, y: np.kron(x, y), a.broadcasting()),
    alone("cross", lambda x, y: np.cross(x, y), a.of_shapes((2, 3), (3,))),
    alone(
        "cross, axes",
        lambda x, y: np.cross(x, y, axisa=0, axisc=0),
        a.of_shapes((3, 2), (2, 3)),
    ),
    alone("append", lambda x, y, axis: np.append(x, y, axis), a.joining()),
    alone("append, flat", lambda x, y: np.append(x, y), a.rows()),
    alone("insert", lambda x: np.insert(x, 1, x[0, 0]) * 2, GRID),
    alone("insert, several", lambda x: np.insert(x, [0, -1, 2], 2 * x[:, :3], axis=1), GRID),
    real_alone("insert, row", lambda x, v: np.insert(x, 3, v * v, axis=0), GRID_AND_ROW),
    alone("delete", lambda x: np.delete(x, [0, -1], 1) * np.delete(x, slice(1, 3), 1), GRID),
    alone("delete, flat", lambda x: np.delete(x, 3), GRID),
)  # fmt: skip

ARRANGEMENT = (
    alone("tile", lambda x: np.tile(x, 2), a.array()),
    alone(
        "tile, axes",
        lambda x: np.tile(x, (2, 1, 2)) * np.tile(x, (3,))[:1, :1],
        a.array(2, 2, 1),
    ),
    alone("resize", lambda x: np.resize(x, (5, 4)) * np.resize(x, 4), GRID),
    alone("rot90", lambda x, k: np.rot90(x, k, (0, -1)), a.array(2).flatmap(
        lambda drawn: st.tuples(st.just(drawn[0]), st.integers(-5, 5)))),
    alone("rollaxis", lambda x: np.rollaxis(x, 2) + np.rollaxis(x, -1, 0), a.of_shapes((2, 3, 4))),
    alone("rollaxis, forth", lambda x: np.rollaxis(x, 0, 2), a.of_shapes((2, 3, 4))),
    alone("atleast_3d", lambda x: np.atleast_3d(x), a.unary()),
    alone("dstack", lambda x, y: np.dstack([x, y]), a.stacking(1, axis=False)),
    alone("column_stack", lambda x: np.column_stack([x, x[:, 0]]), GRID),
    alone("block", lambda x, v: np.block([[x, x * x], [v, 1.0, 2.0, v[:2]]]), GRID_AND_ROW),
    alone("hsplit", lambda x: [*np.hsplit(x, 2), *np.vsplit(x, [2]), *np.hsplit(x[0], [1])], GRID),
    alone("dsplit", lambda x: list(np.dsplit(x, 2)), a.of_shapes((3, 2, 4))),
    alone("unstack", lambda x: [*np.unstack(x), *np.unstack(x, axis=-1)], GRID),
    alone("meshgrid", lambda v, w: list(np.meshgrid(v, w)), TWO_ROWS),
    alone(
        "meshgrid, sparse",
        lambda v, w: list(np.meshgrid(v, w, v, sparse=True, indexing="ij")),
        TWO_ROWS,
    ),
    alone("broadcast_arrays", lambda x, y: [p * 1 for p in np.broadcast_arrays(x, y)],
          a.broadcasting()),
    alone("ix_", lambda x: x[np.ix_([0, 2], [1, 1, 3])], GRID),
    alone("apply_along_axis", lambda x: np.apply_along_axis(lambda v: v * v.sum(), 0, x), GRID),
    alone("apply_along_axis, sums", lambda x: np.apply_along_axis(np.sum, 1, x * x), GRID),
    alone("apply_over_axes", lambda x: np.apply_over_axes(np.sum, x * x, [0, 1]), GRID),
)  # fmt: skip

# Far from singular, with eigenvalues and singular values that are far apart.
PILLARS = 4.0 * np.diag([1.0, 3.0, 6.0])
SQUARE = a.of_shapes((3, 3)).map(lambda drawn: (drawn[0] + PILLARS,))
SQUARES = a.of_shapes((2, 3, 3)).map(lambda drawn: (drawn[0] + PILLARS,))
TALL = a.of_shapes((4, 3)).map(lambda drawn: (drawn[0] + np.eye(4, 3) @ PILLARS,))
WIDE = a.of_shapes((2, 3, 4)).map(lambda drawn: (drawn[0] + PILLARS @ np.eye(3, 4),))
SYSTEM = a.of_shapes((3, 3), (3,)).map(lambda drawn: (drawn[0] + PILLARS, drawn[1]))
SYSTEMS = a.of_shapes((2, 3, 3), (3, 2)).map(lambda drawn: (drawn[0] + PILLARS, drawn[1]))
OBSERVED = a.of_shapes((4, 3), (4, 2)).map(
    lambda drawn: (drawn[0] + np.eye(4, 3) @ PILLARS, drawn[1])
)
FACTORS = a.of_shapes((2, 3), (3, 4), (4, 2), (2,))

LINALG = (
    real_alone("inv", lambda x: np.linalg.inv(x), SQUARES),
    real_alone("solve", lambda x, y: np.linalg.solve(x, y), SYSTEM),
    real_alone("solve, several", lambda x, y: np.linalg.solve(x, y), SYSTEMS),
    real_alone("solve, stacks", lambda x, y: np.linalg.solve(x, y[:, 0]), SYSTEMS),
    real_alone("det", lambda x: np.linalg.det(x) * np.linalg.det(x[0]) / 1e3, SQUARES),
    real_alone("slogdet", lambda x: [part * 1.0 for part in np.linalg.slogdet(x)], SQUARES),
    real_alone("cholesky", lambda x: np.linalg.cholesky(x), SQUARES),
    real_alone("eigh", lambda x: np.linalg.eigh(x).eigenvalues, SQUARES),
    real_alone("eigh, vectors", lambda x: np.linalg.eigh(x)[1] ** 2, SQUARES),
    real_alone("eigh, upper", lambda x: np.linalg.eigh(x, "U")[1][..., 0] ** 2, SQUARE),
    real_alone("eigvalsh", lambda x: np.linalg.eigvalsh(x) * np.linalg.eigvalsh(x, "U"), SQUARE),
    real_alone("svd, U", lambda x: np.linalg.svd(x, full_matrices=False)[0] ** 2, TALL),
    real_alone("svd, Vh", lambda x: np.linalg.svd(x, False).Vh ** 2, TALL),
    real_alone("svd, wide", lambda x: np.linalg.svd(x, full_matrices=False).U ** 2, WIDE),
    real_alone("svd, wide Vh", lambda x: np.linalg.svd(x, full_matrices=False)[2] ** 2, WIDE),
    real_alone("svd, S", lambda x: np.linalg.svd(x)[1] * np.linalg.svd(x, False, False), SQUARES),
    real_alone("svdvals", lambda x: np.linalg.svdvals(x), WIDE),
    real_alone("qr, Q", lambda x: np.linalg.qr(x)[0], TALL),
    real_alone("qr, R", lambda x: np.linalg.qr(x).R * np.linalg.qr(x, "r"), SQUARES),
    real_alone("pinv", lambda x: np.linalg.pinv(x), TALL),
    real_alone("pinv, wide", lambda x: np.linalg.pinv(x), WIDE),
    real_alone("lstsq", lambda x, y: np.linalg.lstsq(x, y)[0], OBSERVED),
    real_alone(
        "lstsq, rcond",
        lambda x, y: np.linalg.lstsq(x, y, rcond=None)[0] + np.linalg.lstsq(x, y, rcond=-1)[0],
        OBSERVED,
    ),
    real_alone("lstsq, one", lambda x, y: np.linalg.lstsq(x, y[:, 0])[0], OBSERVED),
    real_alone("norm", lambda x: np.linalg.norm(x) * np.linalg.norm(x[0]), TALL),
    real_alone(
        "norm, vectors",
        lambda x: np.linalg.norm(x, axis=0) * np.linalg.norm(x, 3, 1, keepdims=True),
        TALL,
    ),
    real_alone(
        "norm, sums",
        lambda x: np.linalg.norm(x, 1, 0) * np.linalg.norm(x, np.inf, 0),
        TALL,
    ),
    real_alone(
        "norm, least",
        lambda x: np.linalg.norm(x, -np.inf, 0) * np.linalg.norm(x, 0, 0),
        TALL,
    ),
    real_alone("norm, matrix", lambda x: np.linalg.norm(x, 1) * np.linalg.norm(x, np.inf), TALL),
    real_alone("norm, spectral", lambda x: np.linalg.norm(x, 2) * np.linalg.norm(x, "nuc"), SQUARE),
    real_alone("matrix_norm", lambda x: np.linalg.matrix_norm(x, ord=-2, keepdims=True), WIDE),
    real_alone(
        "vector_norm",
        lambda x: np.linalg.vector_norm(x) * np.linalg.norm(x, None, (0, 2)),
        WIDE,
    ),
    real_alone("cond", lambda x: np.linalg.cond(x) * np.linalg.cond(x, -2), SQUARES),
    real_alone("cond, fro", lambda x: np.linalg.cond(x, "fro"), SQUARES),
    real_alone("matrix_rank", lambda x: np.linalg.matrix_rank(x)[:, None, None] * x, SQUARES),
    real_alone("matrix_power", lambda x: [np.linalg.matrix_power(x / 9, n) for n in (0, 1, 2, 5)],
               SQUARES),
    real_alone("matrix_power, inverse", lambda x: np.linalg.matrix_power(x, -2), SQUARE),
    real_alone(
        "multi_dot",
        lambda x, y, z, v: np.linalg.multi_dot([x, y, z, x]) * v[:, None],
        FACTORS,
    ),
    real_alone(
        "multi_dot, vectors",
        lambda x, y, z, v: np.linalg.multi_dot([v, x, y, z, v]),
        FACTORS,
    ),
    real_alone("multi_dot, three", lambda x, y, z, v: np.linalg.multi_dot([x, y, z]), FACTORS),
    real_alone("tensorinv", lambda x: np.linalg.tensorinv(x[:, None], 2), SQUARE),
    real_alone("tensorsolve", lambda x, y: np.linalg.tensorsolve(x, y), SYSTEM),
    real_alone("linalg aliases",
        lambda x, v: np.linalg.trace(x) * np.linalg.diagonal(x) * np.linalg.outer(v, v)
        * np.linalg.cross(v, x[0]) * np.linalg.matmul(x, x) / 1e3
        * np.linalg.tensordot(x, x, axes=1) * np.linalg.matrix_transpose(x) / 1e3,
        SYSTEM),
)  # fmt: skip


def weigh(x: Any, y: Any) -> Any:
    return np.asarray(x * np.exp(y))


weighted = UserPrimitive(weigh, lambda out, x, y, d: (d * np.exp(y), d * out), None)

OF_USERS = (
    real_alone("a primitive of a user's", lambda x, y: weighted(x, y) * x, a.broadcasting()),
)


def with_parts(x: Any) -> Any:
    z = np.zeros(x.shape, complex)
    z.real = x
    z.imag[1:] = x[1:] * x[:-1]
    z.real += 1.0
    return z


# Complex numbers on the way; test_complex.py has more of them.
COMPLEX = (
    real_alone("complex conjugate", lambda x: np.abs(np.conjugate(x * 1j) + x), a.unary(0.2, 1.5)),
    real_alone("complex parts", lambda x: np.real(x * 1j + x) * np.imag((1 - 2j) * x), a.unary()),
    real_alone("complex sign", lambda x: np.sign(x + 2j).real, a.unary()),
    real_alone("eig", lambda x: np.abs(np.linalg.eig(x * (1 + 0.5j)).eigenvalues), SQUARES),
    real_alone("eig, vectors", lambda x: np.abs(np.linalg.eig(x + 0.5j * x.mT)[1]) ** 2, SQUARES),
    real_alone("eigvals", lambda x: np.linalg.eigvals(x * (2 - 1j)).imag, SQUARE),
    real_alone("eigh, complex", lambda x: np.abs(np.linalg.eigh(x * (1 + 0.5j))[1]) ** 2, SQUARES),
    real_alone("svd, complex", lambda x: np.abs(np.linalg.svd(x + 0.5j * x.mT)[0]) ** 2, SQUARES),
    real_alone("pinv, rcond", lambda x: np.linalg.pinv(np.outer(x[0], x[:, 0]), 1e-3) * 99, SQUARE),
    real_alone("z.real = x", lambda x: np.abs(with_parts(x)), a.array(1, 1)),
    real_alone("fft, ifft", lambda x: np.abs(np.fft.ifft(np.fft.fft(x, 4) ** 2)), GRID),
    real_alone("rfft, irfft", lambda x: np.fft.irfft(np.fft.rfft(x) * 1j, 5), GRID),
)

CASES: tuple[Case, ...] = (
    *OF_USERS,
    *(*LINALG, *COMPLEX),
    *(*ELEMENTWISE, *CALCULUS, *ORDER, *STATISTICS, *MATRICES, *ARRANGEMENT, *INDICES),
    *(*OPERATORS, *UNARY, *BINARY, *MATH, *REDUCTIONS, *METHODS),
    *(*LINEAR, *SHAPES, *INDEXING, *CREATION, *RANDOM, *LIBRARY),
)
