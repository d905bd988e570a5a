"""Reading arrays: integers, slices, ellipsis, new axes and arrays of integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples, check

examples = Examples()

V = np.linspace(-1.0, 1.0, 6)
X = np.sin(np.arange(60.0)).reshape(3, 4, 5)
ROWS = np.array([2, 0, 2, -1])


@examples(X)
def integers(x):
    return x[0], x[-1, 2], x[1, -2, 3], x[0][1][2], x[np.int64(1)], x[(2, 1)]


@examples(X)
def slices(x):
    return (
        (x[1:], x[:-1], x[:, ::2], x[::-1], x[:, 3:0:-2], x[5:], x[-2:, :, :2]),
        (x[1:2, 0], x[:, -1:], x[0, ::-1, 1::3], x[slice(0, 2)], x[:, slice(None, None, 2)]),
    )


@examples(X)
def ellipsis_and_new_axes(x):
    return (
        (x[...], x[..., 0], x[0, ...], x[1, ..., -1], x[..., 1:3], x[:, ..., 2]),
        (x[None], x[..., None], x[:, None, 0], x[np.newaxis, 1, :, None], x[0, 0, 0, None]),
    )


@examples(X)
def slices_of_slices(x):
    return x[1:][:, 1:][..., ::-1][0], x[::2].T[1:, ::-1][2:4], x[1][::-1][:2].reshape(-1)[::3]


@examples(X, ROWS)
def index_arrays(x, rows):
    return x[rows], x[:, rows], x[rows, rows], x[..., rows], x[[0, 0, 1]], x[rows][:, rows]


@examples(X, ROWS)
def index_arrays_beside_slices_and_integers(x, rows):
    return (
        (x[rows, 1], x[rows, :, 0], x[0, rows], x[1:, rows, ::2], x[rows, 1:3]),
        (x[:, rows, rows], x[rows, :, rows], x[rows[:, None], rows[None, :]], x[rows, None]),
        (x[[[0, 1], [2, 0]]], x[np.arange(3), ..., -1], x[0, :, rows]),
    )


@examples(V, ROWS)
def repeated_entries_add_up(x, rows):
    return x[rows] * np.arange(1, 5), x[np.array([1, 1, 1])] ** 2, x[np.zeros((2, 2), int)]


@examples(V, np.array([3, 1], np.int8))
@examples(V, np.array([], np.int64))
@examples(V, np.array(2))
@examples(V, np.array([3, 1], np.uint16))
def kinds_of_index_arrays(x, index):
    return x[index] * 2, x[index + 1]


@examples(V)
def static_counters_index(x):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * x[-i - 1] + np.sum(x[i : i + 2]) * x[len(x) // 2]
    return total


@examples(V)
def results_of_argmax_index(x):
    best = np.argmax(x)
    return x[best] * 2, x[np.argmin(x)] + x[best]


@examples(V)
def empty_selections(x):
    return x[:0], x[3:3], x[6:], np.sum(x[:0]), x[::-1][6:]


test_program = examples.tests()


def test_an_index_array_may_change_between_calls():
    gradient = st.grad(lambda x, i: np.sum(x[i] * x[i]))
    for index in ([0, 1], [1, 1], [-1, 0]):
        expected = np.zeros(6)
        np.add.at(expected, index, 2 * V[index])
        np.testing.assert_allclose(gradient(V, np.array(index)), expected)


def test_an_index_out_of_range_is_numpy_s_error():
    gradient = st.grad(lambda x, i: np.sum(x[i]))
    with pytest.raises(IndexError):
        gradient(V, np.array([6]))


@pytest.mark.parametrize("step", [None, 1, 3, -1, -2])
@pytest.mark.parametrize("stop", [None, 4, -2, -9])
@pytest.mark.parametrize("start", [None, 1, -2, 9])
def test_slices_read_and_written(start, stop, step):
    part = slice(start, stop, step)

    def program(x):
        y = x * 2
        y[part] = x[part] * x[part]
        y[part] += 1
        return x[part], y

    check(program, V)


@pytest.mark.parametrize("index", [(..., 1), (None, ..., 1), slice(1, 2), (1, ...)], ids=str)
@pytest.mark.parametrize("shape", [(1,), (1, 1)], ids=str)
def test_axes_of_length_one_in_front_are_stored(index: Any, shape: tuple[int, ...]) -> None:
    """NumPy allows a value more axes than the place has, if they are of length 1."""

    def store(x, y):
        z = y * 1.0
        z[index] = x
        return np.sum(z * z * np.arange(3.0))

    x, y = np.full(shape, 5.0), np.ones(3)
    assert st.compile(store)(x, y) == store(x, y) == 27.0
    d_x, d_y = st.grad(store, wrt=(0, 1))(x, y)
    np.testing.assert_array_equal(d_x, np.full(shape, 10.0))
    np.testing.assert_array_equal(d_y, [0.0, 0.0, 4.0])


def test_an_element_takes_no_array_with_axes() -> None:
    def store(x):
        z = np.zeros(3)
        z[1] = x
        return z

    with pytest.raises(ValueError, match="setting an array element with a sequence"):
        store(np.ones(1))
    with pytest.raises(st.TypingError, match="setting an array element with a sequence"):
        st.compile(store)(np.ones(1))
