"""Methods and attributes of arrays and numbers, constructors, and the math module."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.primal import Primal
from tests.programs import Examples, assert_same

examples = Examples()

X = np.linspace(0.3, 1.7, 6).reshape(2, 3)
CUBE = np.random.default_rng(0).permutation(np.linspace(-1.0, 1.0, 24)).reshape(2, 3, 4)


@examples(X)
@examples(CUBE)
def attributes_are_static(x):
    assert isinstance(x, np.ndarray)
    sizes = x.shape[0] * x.ndim + x.size + len(x) + np.ndim(x) + np.size(x) + np.shape(x)[-1]
    return x * sizes, x.dtype == np.float64, x.dtype.itemsize, x.nbytes, x.itemsize, x.T.shape


@examples(CUBE)
def methods_that_reduce(x):
    return (
        (x.sum(), x.sum(axis=1), x.sum((0, -1)), x.sum(axis=0, keepdims=True)),
        (x.mean(), x.mean(axis=-1), x.max(axis=1), x.min(), x.max(axis=(0, 1))),
        (x.prod(axis=0), x.var(), x.std(axis=1, ddof=1), x.cumsum(axis=1)),
        (x.argmax(), x.argmin(axis=0), (x > 0).any(), (x > -2).all(axis=1)),
    )


@examples(CUBE)
def methods_that_reshape(x):
    return (
        (x.reshape(6, 4), x.reshape((4, -1)), x.reshape(-1), x.ravel(), x.flatten()),
        (x.T, x.transpose(), x.transpose(1, 2, 0), x.transpose((2, 0, 1)), x.swapaxes(0, -1)),
        (x[:1].squeeze(), x[:1].squeeze(axis=0), x.repeat(2, axis=0)),
    )


@examples(X, rtol=2e-3)
def other_methods(x):
    return (
        (x.copy(), x.astype(np.float32), x.astype("f8"), x.clip(0.5, 1.2), x.dot(x.T)),
        (x[0, 0].item() * 2, x.sum().item(), float(x[0, 1]), x[:1, :1].item()),
        x.sum().astype(np.float32),
    )


@examples(X)
def numpy_scalars_have_methods_too(x):
    s = np.sum(x)
    return (
        (s.sum(), s.reshape(1), s.dtype == x.dtype, s.shape, s.ndim, s.T, s.copy()),
        (s.reshape(()), np.squeeze(s), np.cumsum(s), s[..., None], s[None], s[()], np.ravel(s)),
    )


@examples(X)
def constructors(x):
    n = x.shape[1]
    return (
        (np.zeros(n) + x, np.ones((2, 1)) * x, np.full(n, 2.5) * x, np.eye(n) + x[0]),
        (np.arange(n) * x, np.arange(1.0, n + 1) * x, np.linspace(0, 1, n) * x, np.identity(n)),
        (np.zeros_like(x), np.ones_like(x, dtype=np.float32) * x, np.full_like(x, 3) * x),
        (np.full(n, np.sum(x)), np.array([1.0, x[0, 0]]), np.asarray([[1, 2, 3]]) * x),
        (np.zeros(n, dtype=x.dtype) * x, np.zeros(0), np.empty((2, 0))),
    )


@examples(CUBE)
def functions_on_shapes(x):
    return (
        (np.reshape(x, (3, -1)), np.transpose(x, (0, 2, 1)), np.swapaxes(x, 0, 1), np.ravel(x)),
        (np.moveaxis(x, 0, -1), np.moveaxis(x, (0, 1), (1, 2)), np.expand_dims(x, (0, 2))),
        (np.squeeze(x[:, :1]), np.broadcast_to(x, (2, 2, 3, 4)), np.atleast_2d(x[0, 0])),
        (np.concatenate([x, x[:1]], axis=0), np.concatenate((x, x), axis=None)),
        (np.stack([x, x * 2], axis=-1), np.vstack([x[0], x[1]]), np.hstack([x, x])),
        (np.split(x, 3, axis=1), np.split(x, [1, 3], axis=2), np.flip(x, 1), np.flip(x)),
        (np.roll(x, 2), np.roll(x, (1, -1), axis=(0, 2)), np.pad(x, ((0, 0), (1, 2), (0, 1)))),
        np.repeat(x, 2, axis=-1),
    )


@examples(X)
def functions_on_elements(x):
    return (
        (np.exp(x), np.expm1(x), np.log(x), np.log1p(x), np.sqrt(x), np.abs(x), np.sign(x)),
        (np.tanh(x), np.sin(x), np.cos(x), np.tan(x), np.sinh(x), np.cosh(x)),
        (np.arcsin(x / 2), np.arccos(x / 2), np.arctan(x), np.arctan2(x, 2 * x), np.hypot(x, 1)),
        (np.square(x), np.reciprocal(x), np.power(x, 3), np.maximum(x, 1), np.minimum(x, 1)),
        (np.where(x > 1, x, -x), np.clip(x, None, 1), np.clip(x, 0.5, None), np.logaddexp(x, 1)),
        (np.negative(x), np.add(x, 1), np.subtract(1, x), np.divide(x, 2), np.true_divide(1, x)),
    )


@examples(X, X.T.copy(), wrt=(0, 1))
def linear_algebra(x, y):
    return (
        (np.dot(x, y), np.matmul(x, y), x[0] @ y, y[0] @ x, x[0] @ x[1], np.dot(x[0], 2.0)),
        (np.outer(x[0], y[:, 0]), np.dot(x[0], x[1]), x @ y[:, 0], np.dot(3.0, y)),
        np.stack([x, x]) @ y,
    )


@examples(1.3)
@examples(0.4)
def the_math_module_gives_python_floats(a):
    return (
        (math.exp(a), math.log(a), math.sqrt(a), math.sin(a), math.cos(a), math.tan(a)),
        (math.tanh(a), math.atan(a), math.asin(a / 2), math.acos(a / 2), math.sinh(a)),
        (math.log1p(a), math.expm1(a), math.log10(a), math.log2(a), math.fabs(-a)),
        (math.atan2(a, 2.0), math.hypot(a, 1.0), math.pow(a, 2), math.cosh(a), math.pi * a),
        (math.floor(a), math.ceil(a), math.trunc(a)),
    )


@examples(X, rtol=2e-3)
def the_math_module_takes_numpy_scalars(x):
    scale = math.sqrt(x.shape[0]) * math.exp(x[0, 0])
    return x * scale, math.sqrt(np.sum(x)) * x.astype(np.float32), math.prod([2, 3]) * x


@examples(1.3, rtol=2e-3)
def conversions_between_kinds(a):
    return float(a), np.float32(a) * 2, np.float64(a), np.asarray(a), np.array([a, 2]), np.sin(a)


@examples(np.float32(1.3))
def conversions_of_scalars(s):
    return float(s) * 0.1, np.float64(s) * s, s.item(), np.asarray(s) * 0.1, int(s)


@examples(np.array(1.3))
def axes_of_arrays_without_axes(x):
    extremes = np.max(x, axis=-1, keepdims=True) + np.min(x * x, axis=0) + np.ptp(x, axis=0)
    return (
        np.sum(x * 2.0, axis=0),
        np.prod(x, axis=-1),
        np.cumsum(x, axis=0),
        extremes,
        np.argmax(x, 0),
    )


test_program = examples.tests()


@pytest.mark.parametrize("kind", [float, np.float32, np.float64])
def test_math_on_each_kind_of_number(kind):
    def root(x):
        return math.sqrt(x) * 2

    assert_same(Primal(root)(kind(2)), root(kind(2)), "the root")
    assert type(st.value_and_grad(root)(kind(2))[0]) is float


def test_a_one_element_array_becomes_a_number():
    def loss(x):
        return float(x.reshape(())) * x[0].item()

    assert st.grad(loss)(np.array([3.0])) == np.array([6.0])
