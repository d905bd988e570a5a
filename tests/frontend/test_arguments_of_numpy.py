"""Arguments that functions of NumPy take, in all the forms in which people write them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.options import Options
from stcompile.transforms.primal import Primal
from tests.programs import READABLE, Examples, assert_like

X = np.array([1.5, -2.0, 0.5])
M = np.array([[2.0, 1.0], [1.0, 3.0]])
INTEGERS = np.array([13, 25, 7])
FLAGS = np.array([True, False, True])
examples = Examples()


@examples(X)
def filled(x):
    return np.full(3, x) * np.full((2, 3), x), np.full((2, 2), x[0])


@examples(X)
def complex_of_parts(x):
    z = complex(x[0], x[1]) * complex(2.0, x[2])
    return z.real + 2 * z.imag


@examples(X)
def repeated(x):
    return np.repeat(x, [1, 0, 2]), np.repeat(x, [2]), x.repeat([3, 1, 1])


@examples(M)
def repeated_rows(x):
    return np.repeat(x, [1, 2], axis=0) * 2.0, np.repeat(x, [2, 0, 1, 1])


@examples(M)
def padded(x):
    constants = ((1.0, 2.0), (3.0, 4.0))
    return np.pad(x, ((1, 2), (3, 0)), constant_values=constants), np.pad(x, 1, "constant")


@examples(X)
@examples(np.array([0.3, 1.4, -2.0, 0.1, 4.0, 2.5]))
def quantiles(x):
    names = ("nearest", "lower", "higher", "midpoint", "hazen", "weibull", "inverted_cdf")
    names += ("averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf")
    names += ("median_unbiased", "normal_unbiased", "linear")
    return [np.quantile(x, q, method=name) for name in names for q in (0, 0.4, 0.5, 0.97)]


@examples(M)
def quantiles_of_rows(x):
    return np.percentile(x, [20, 70], axis=1, method="hazen", keepdims=True) * 2.0


@examples(X)
def compressed(x):
    return x.compress([True, False, True]), np.compress([False, True, True], x)


@examples(X)
def chosen(x):
    return np.choose([0, 1], [x[:2], [2.5, 3.5]])


@examples(M)
@examples(np.stack([M, M + 1]))
def condition_numbers(x):
    return np.linalg.cond(x, 1), np.linalg.cond(x, "fro"), np.linalg.cond(x)


@examples(X)
def by_methods_of_numbers(x):
    n = np.int64(3)
    return x * n.sum() + n.astype(float), x * n.reshape(-1), x + np.int8(4).item()


@examples(X)
def by_magnitudes(x):
    return x / np.fabs(np.array([-128, 3, 5], np.int8)) * np.fabs(np.arange(1, 4) * 10) ** 20


test_values_and_gradients = examples.tests()


VALUES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    *((lambda x: np.fabs(x), (INTEGERS.astype(kind),)) for kind in ("i1", "u1", "i8", "?", "f4")),
    (lambda x: np.fabs(x), (np.array([-128], np.int8),)),
    (lambda x: np.fabs(x), (np.array(-3),)),
    (lambda x: np.round(x, -1), (INTEGERS,)),
    (lambda x: x.round(-1), (INTEGERS.astype(np.uint8),)),
    (lambda z: np.round(z, 1), (X * (1.234 + 2.345j),)),
    *((lambda x: np.conjugate(x), (x,)) for x in (np.array(True), np.bool_(True), FLAGS)),
    (lambda b: (b**2, b**3, b**0, b[0] ** 2, np.power(b, 2)), (FLAGS,)),
    (lambda b: (b**2, b**3, np.power(b, 2)), (np.array(True),)),
    (lambda a: (a << 1, a >> 1, 1 << a, np.left_shift(a, 2), a[0] << 1), (INTEGERS,)),
    (lambda a: (int(a[0]) << 1, int(a[0]) >> int(a[1])), (INTEGERS,)),
    (lambda x: np.unwrap(x, period=4), (np.array([0, 5, -11, 3], np.int8),)),
    (lambda x: np.unwrap(x, period=5), (np.array([0, 5, -11, 3]),)),
    (lambda x: np.unwrap(x, discont=4), (X * 5,)),
    (lambda x: (np.nanquantile(x, 0.3), np.nanquantile(x, 0.3, axis=0)), (np.zeros((0, 3)),)),
    (lambda x: np.linalg.cond(x, 1), (np.ones((2, 2), bool),)),
    (lambda x: np.linalg.cond(x), (np.zeros((2, 2)),)),
    (lambda x: np.linalg.cond(x, 1), (M.astype(np.float32),)),
    (lambda x: np.linalg.cond(x, 1), (M * 1j,)),
    *((lambda x: np.quantile(x, 0.5, keepdims=True), (x,)) for x in (np.array(2.0), X)),
    (lambda x: np.expand_dims(np.sum(x), ()), (X,)),
    (lambda x: (np.transpose(x), np.squeeze(x), x.transpose()), (np.float32(2),)),
    (lambda x: (np.transpose(x), np.squeeze(x)), (np.int64(2),)),
    (lambda x: (np.isin(x, [1, 2]), np.isin(x, 3, invert=True)), (np.array(2.0),)),
    (lambda x: (np.argsort(x), np.argpartition(x, 0), np.pad(x, 1)), (np.array(2.0),)),
    (lambda z, w: (z + w, np.add(z, w), (z - w) * np.ones(2, "c8")), (1 + 2j, np.float64(2))),
    (lambda x: x + np.full((2, 2), x, dtype=int), (M,)),
    (lambda x: np.polymul(x, x), (np.array([True, True]),)),
    *(
        (lambda x, name=name: np.quantile(x, [0.3, 0.5], method=name), (X.astype(np.float32),))
        for name in ("linear", "midpoint", "hazen", "lower", "averaged_inverted_cdf")
    ),
    (lambda x: (np.quantile(x, 0.3), np.quantile(x, [0, 1])), (X.astype(np.float32),)),
    (lambda x: (np.quantile(x, 1), np.quantile(x, [0, 1]), np.percentile(x, 30)), (INTEGERS,)),
]


@pytest.mark.parametrize("at", range(len(VALUES)))
def test_values_and_kinds(at: int) -> None:
    function, arguments = VALUES[at]
    for options in (READABLE, Options()):
        assert_like(Primal(function, options)(*arguments), function(*arguments), "the result")


REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    (lambda x: np.fabs(x), (1j * X,), "no np.fabs of complex numbers"),
    (lambda x: np.nanquantile(x, 0.3), (1j * X,), "a must be an array of real numbers"),
    (lambda x: np.positive(x), (np.True_,), "no np.positive of booleans"),
    (lambda x: x.mT, (X,), "at least two dimensions"),
    (lambda x: x.mT, (np.float64(2),), "has no attribute `mT`"),
    (lambda x: x.dot(x), (np.float64(2),), "has no attribute `dot`"),
    (lambda x: np.average(x, axis=0, weights=x), (np.array(2.0),), "axis 0 is out of bounds"),
    (lambda x: np.linalg.multi_dot([x, x, x]), (np.ones((2, 2, 2)),), "vectors or matrices"),
    (lambda x: x * math.trunc(np.int64(3)), (X,), "doesn't define __trunc__"),
    (lambda x: np.ediff1d(x, to_end=9), (np.ones(2, np.uint8),), "must be compatible"),
    (lambda x: x * np.sum(np.int64(3), axis=(0, 1)), (X,), "axis 0 is out of bounds"),
    (lambda x: x * np.fmax(np.uint8(3), -1), (X,), "-1 out of bounds for uint8"),
    (lambda x: np.linspace(0, x[0], "a"), (X,), "not supported between instances|interpreted"),
    (lambda x: np.repeat(x, [1, 2]), (X,), "could not be broadcast"),
    (lambda x: np.quantile(x, 0.5, method="a"), (X,), "not a valid method"),
]


@pytest.mark.parametrize("at", range(len(REFUSED)))
def test_what_numpy_raises_is_refused(at: int) -> None:
    function, arguments, text = REFUSED[at]
    with pytest.raises(Exception, match="."):
        function(*arguments)
    with pytest.raises((st.TypingError, st.LanguageError), match=text) as caught:
        Primal(function)(*arguments)
    assert caught.value.location is not None
    assert not isinstance(caught.value, st.InternalError)
    assert "nn.md" not in (caught.value.hint or "")
