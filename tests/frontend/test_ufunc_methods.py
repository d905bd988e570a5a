"""Methods of ufuncs: `reduce`, `accumulate`, `outer`, `at`."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

RNG = np.random.default_rng(5)
A, B, M = RNG.normal(size=4), RNG.normal(size=3), RNG.normal(size=(3, 4))
C, LONG = RNG.normal(size=(2, 3, 4)), RNG.normal(size=40)
POSITIVE = np.abs(C) + 0.5
COUNTS = np.zeros(3)
example = Examples()


@example(M)
def sums(x):
    return np.add.reduce(x * x), np.add.reduce(x, axis=1, keepdims=True), np.add.reduce(x, None)


@example(C)
def along_axes(x):
    return np.add.reduce(x, (0, -1)) * np.multiply.reduce(x, axis=(0, 2)), np.multiply.reduce(x)


@example(LONG)
def of_a_vector(x):
    return np.add.reduce(x) * np.add.reduce(x[:9]) + np.multiply.reduce(1 + 0.1 * x)


@example(M)
def extrema(x):
    return np.maximum.reduce(x) + np.minimum.reduce(x * 2, axis=0), np.maximum.reduce(x, axis=-1)


@example(M)
def extremum_of_a_list(x):
    return np.maximum.reduce([x[0], x[1] * 2, np.zeros(4)]) * np.add.reduce([x[0], x[2]])


@example(A)
def of_numbers(x):
    return np.add.reduce(x[0] * x[1]) + np.add.reduce(x[2], axis=-1) + x


@example(M)
def conditions(x):
    some, all_ = np.logical_or.reduce(x > 0), np.logical_and.reduce([x > -1, x < 1])
    return np.where(some, x, x * x) + np.where(all_, x, 2 * x)


@example(POSITIVE)
def folds(x):
    return np.subtract.reduce(x) + np.divide.reduce(x, axis=0), np.hypot.reduce(x, axis=2)


@example(M)
def folds_that_keep_axes(x):
    return np.logaddexp.reduce(x, axis=1, keepdims=True) * np.fmax.reduce(x, axis=0)


@example(LONG)
def long_folds(x):
    return np.logaddexp.reduce(x) + np.subtract.reduce(x, axis=None)


@example(M)
def running(x):
    return np.add.accumulate(x) * np.add.accumulate(x, 1), np.multiply.accumulate(x, axis=-1)


@example(M)
def running_extrema(x):
    return np.maximum.accumulate(x, axis=1) * np.minimum.accumulate(x)


@example(LONG)
def long_running(x):
    return np.logaddexp.accumulate(x) + np.maximum.accumulate(x)


@example(A, B, wrt=(0, 1))
def products(x, y):
    return np.multiply.outer(x, y) + np.subtract.outer(x, y * y)


@example(M, B, wrt=(0, 1))
def of_more_axes(x, y):
    return np.multiply.outer(x, y), np.add.outer(y, x) * np.arctan2.outer(y, x)


@example(A, 1.5, wrt=(0, 1))
def outer_of_numbers(x, s):
    scaled = np.multiply.outer(s, x) + np.power.outer([2.0, 3.0], x)
    return scaled, np.multiply.outer(s, 2.0)


@example(np.ones(2, np.float32), rtol=1e-2)
def outer_of_float32(x):
    return np.multiply.outer(x, x), np.multiply.outer(x, 2.0), np.add.reduce(x)


@example(B)
def comparisons(x):
    return np.where(np.less.outer(x, x), np.add.outer(x, x), np.equal.outer(x, x))


@example(A)
def scattered(x):
    y = np.zeros(3)
    np.add.at(y, [0, 2, 0, 0], x * x)
    np.subtract.at(y, np.array([1, 1]), x[:2])
    np.subtract.at(y, [1, 1], 2)
    return y


@example(M, A, wrt=(0, 1))
def scattered_rows(x, v):
    y = x.copy()
    np.add.at(y, [0, 1, 0], v)
    np.add.at(y, (np.array([0, 0, 2]), np.array([1, 1, 3])), v[:3] * v[0])
    np.add.at(y, (slice(1, None), [3, 3]), v[:2])
    np.subtract.at(y, ([1, 1], 2), [v[0], 3.0])
    return y * y


@example(A)
def at_one_place(x):
    y = np.zeros((2, 4))
    np.add.at(y, 0, x)
    np.add.at(y, (1, 2), x[0])
    np.subtract.at(y, slice(0, 1), x * x)
    return y


@example(LONG)
def counted(x):
    labels = np.arange(40) % 3
    sums, counts = np.zeros(3), np.zeros(3, int)
    np.add.at(sums, labels, x)
    np.add.at(counts, labels, 1)
    np.subtract.at(counts, labels[:2], 1)
    return sums / counts


@example(LONG)
def seen_through_a_view(x):
    y = np.zeros((2, 20))
    first = y[0]
    for i in range(20):
        np.add.at(first, [i, 19 - i, i], x[i] * x[39 - i])
    return y


@example(np.ones(3, np.float32), rtol=1e-2)
def wider_values(x):
    y = x.copy()
    np.add.at(y, [0, 0], np.array([0.1, 0.7]))
    return y * x


@example(M, A, wrt=(0, 1))
def in_turn_at_places(x, v):
    y = x.copy()
    np.multiply.at(y, [0, 1, 0], v)
    np.divide.at(y, (np.array([0, 0, 2]), np.array([1, 1, 3])), v[:3] * v[:3] + 1)
    np.maximum.at(y, (slice(1, None), [3, 3]), v[:2])
    np.minimum.at(y, (1, 2), v[0])
    np.power.at(y, ([2, 2], [0, 1]), 2)
    return y * y


@example(LONG)
def in_turn_at_places_of_the_data(x):
    y = np.ones(3)
    places = (x > 0).astype(int) + (x > 1)
    np.multiply.at(y, places, 1 + 0.1 * x)
    np.logaddexp.at(y, places[:5], x[:5])
    return y


@example(M)
def between_places(x):
    return (
        np.add.reduceat(x[0], [0, 2, 1, 3]) * np.multiply.reduceat(x[1], [0, 1, 3, 2]),
        np.maximum.reduceat(x, [0, 2], axis=1) + np.logaddexp.reduceat(x, [1, 3], axis=1),
    )


@example(M)
def where_a_condition_holds(x):
    return (
        np.add.reduce(x, where=x > 0) * np.multiply.reduce(x, axis=0, where=x > -1),
        np.maximum.reduce(x, axis=1, initial=-1.0, where=x < 0.5),
        np.hypot.reduce(x, axis=(0, 1), initial=0.3, where=x > 0) * x,
        np.add.reduce(x, 1, None, None, True, 2.0) * x,
    )


test_values_and_gradients = example.tests()


def at_of_a_captured_array(x):
    np.add.at(COUNTS, [0], x[0, 0])
    return np.sum(COUNTS)


def of_integers(x):
    counts = np.zeros(3, int)
    np.add.at(counts, [0, 0], x[0, :2])
    return np.sum(x * counts[0])


def of_one_integer(x):
    counts = np.zeros(3, int)
    np.add.at(counts, 0, x[0, 0])
    return np.sum(x * counts[0])


@pytest.mark.filterwarnings("ignore:.*truncated")
@pytest.mark.parametrize("function", [of_integers, of_one_integer])
def test_sums_of_integers_are_cut(function):
    value, gradient = st.value_and_grad(function)(M + 1)
    assert value == function(M + 1)
    np.testing.assert_allclose(gradient, value / np.sum(M + 1))


def to_a_part_of_integers(x):
    counts = np.zeros(3, int)
    np.add.at(counts, slice(0, 2), x[0, 0])
    return np.sum(x * counts[0])


def unsigned(x):
    y = x * 2
    np.subtract.at(y, [0, 0], np.arange(4).astype(np.uint8))
    return np.sum(y)


def product_at(x):
    y = x > 0
    np.multiply.at(y, [0, 0], x[0] > 0)
    return np.sum(y)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: np.sum(np.add.reduceat(x, [0, 3])), "out-of-bounds in add.reduceat"),
        (lambda x: np.sum(np.add.reduce(x, axis=2)), "axis 2 is out of range"),
        (lambda x: np.sum(np.hypot.reduce(x, where=x > 0)), "has to specify 'initial'"),
        (lambda x: np.sum(np.subtract.reduce(x, axis=(0, 1))), "takes one axis"),
        (lambda x: np.sum(np.subtract.reduce(x[:0])), "has no identity"),
        (lambda x: np.sum(np.maximum.reduce(x[:0])), "no elements"),
        (lambda x: np.sum(x * np.bitwise_or.reduce(np.arange(3))), "convert to float"),
        (lambda x: np.sum(np.add.accumulate(x, axis=None)), "along one axis"),
        (lambda x: np.sum(np.sin.reduce(x)), "does not make one number of two"),
        (lambda x: np.sum(np.gcd.outer(x, x)), "is not supported"),
        (at_of_a_captured_array, "does not own"),
        (to_a_part_of_integers, "at places is not supported"),
        (lambda x: np.add.at(x * 2, [0], "a"), "cannot be added"),
        (unsigned, "np.subtract.at of u8"),
        (product_at, "of booleans is not supported"),
    ],
)
def test_refusals(function, reason):
    with pytest.raises(st.StcompileError, match=reason):
        st.grad(function)(M)
