"""Lists, tuples and ranges where NumPy makes arrays of them: in subscripts, as operands."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

examples = Examples()

V = np.array([1.1, -2.3, 3.2])
X = np.sin(np.arange(12.0)).reshape(3, 4)
LABELS = np.array([2, 0, 3])


@examples(X)
def ranges_as_indices(x):
    return (
        (x[range(2)], x[range(2, -1, -2)], x[range(-1, -3, -1)], x[:, range(1, 3)]),
        (x[..., range(2)], x[range(0)], x[range(3), range(3)], x[range(len(x) - 1)]),
    )


@examples(X, LABELS)
def a_range_beside_labels(x, labels):
    return x[range(len(x)), labels], x[range(3), [3, 0, 1]], x[(range(2), slice(1, 3))]


@examples(X)
def lists_as_indices(x):
    return (
        (x[[0, 2], :], x[:, [0, 2]], x[[0, 2], 1:], x[[]], x[([0, 1], [1, 2])]),
        (x[[True, False, True]], x[[True, False, True], 1], x[[[0, 1], [2, 0]]]),
        (x[[[0], [2]], [[0, 1]]], x[tuple(zip((0, 1), (1, 2)))], x[[np.int64(1), -1]]),
        (x[[0, 1], None], [x[i] for i in zip(range(2), [1, 2])]),
    )


@examples(X)
def lists_for_ix(x):
    flags = [True, False, True]
    return (
        (x[np.ix_([0, 2], [1, 2])], x[np.ix_(range(2), range(1, 3))]),
        (x[np.ix_(flags, [1, 2])], x[np.ix_([0, 1], [])], x[np.ix_(np.array(flags), [3])]),
    )


@examples(V)
def written_at_lists_and_ranges(x):
    y = np.zeros((3, 3)) + x
    y[range(2)] = x**2
    y[[0, 2], :] = 2 * x
    y[range(3), range(3)] += x * x
    y[[True, False, True]] *= x
    y[[0, 1], 1] -= x[0]
    y[np.ix_([0, 2], [0, 1])] = x[0] * x[1]
    y[:, range(2)] = y[:, range(2)] + 3 * x[:2]
    y[[[0], [1]], [0, 1]] += x[:2]
    y[range(0, 3, 2)] /= x
    y[[]] = 5.0
    y[1] = range(3)
    y.flat[[0, 5]] = x[:2]
    return y


@examples(V)
def added_at_lists_and_ranges(x):
    y = np.zeros((3, 3))
    np.add.at(y, range(2), x)
    np.add.at(y, ([0, 0], [1, 1]), x[:2])
    return y


@examples(V)
def written_in_a_long_loop(x):
    y = np.zeros((3, 3))
    for i in range(60):
        y[i % 3, range(2)] += x[0] * i
        y[[0, 2]] = y[[2, 0]] * 0.9 + x
    return y


@examples(V)
def operands_that_are_lists(x):
    return (
        (x - [1, 2, 3], [1, 2, 3] - x, (1, 2, 3) * x, x - [[1, 2, 3], [4, 5, 6]], x // [1, 2, 3]),
        (x * range(3), range(3) - x, [1.0, 2, 3] ** x, x % (2, 1.5, 2)),
        (x > [0, 3, 1], x > [0, 3, 1], x == range(3), x != (1, 2, 3)),
        (np.outer(x, x) @ [1, 2, 3], range(3) @ np.outer(x, x)),
    )


@examples(V)
def operands_with_items_known_at_run_time(x):
    return (
        (x * [x[0], 2 * x[1], 1.0], [x[0], 2 * x[1], 1.0] / x, [x, 2 * x] * x),
        np.outer(x, x) * [[x[0], 1, 2], [1, 1, 1], [x[1], 0, 1]],
    )


@examples(V)
def numbers_of_numpy_and_lists(x):
    return (
        (x[0] + [1, 2, 3], [x[1], 2, 3] - x[0], (x[1], 2, 3) / x[0], x[1] > [0, 3]),
        (np.float64(2) - [1, 2], np.float64(2) + [x[0], 1.0], x[0] * range(3)),
    )


@examples(V)
def augmented_by_lists(x):
    y = x * 2
    y += [1, 2, 3]
    y *= (x[0], 1, 2)
    y -= range(3)
    z = [1.0, 2.0]
    z += [x[0]]
    z *= x
    s = x[0]
    s += [1, 2]
    return y, z, s


@examples(V)
def functions_of_nested_lists(x):
    return (
        (np.sin([[x[0], x[1]], [x[2], 1.0]]), np.sum([x[0], x[1] * 2]), np.sum(range(3)) * x),
        (np.array([range(3), range(1, 4)]) * x, np.dot(range(3), x), np.where(x > 0, x, range(3))),
        (np.linalg.solve([[2.0, x[0]], [0.0, 3.0]], [x[1], 1.0]), np.take(x, range(2))),
    )


@examples(X)
def sizes_along_axes(x):
    ones = np.ones(np.size(x, 1))
    return np.sum(x) / np.size(x, 0) / np.size([x, x], -1) / np.size(x, axis=None), x * ones


test_program = examples.tests()


def test_a_compiled_program():
    def program(x):
        y = np.zeros((3, 3)) + x
        y[range(2), [1, 2]] += x[[0, 2]]
        return np.sum((y - [1, 2, 3]) ** 2 * x[range(3)])

    pytest.importorskip("numba")
    value, gradient = st.value_and_grad(program, level="compiled")(V)
    plain, expected = st.value_and_grad(program, level="readable")(V)
    np.testing.assert_allclose(value, program(V))
    np.testing.assert_allclose(plain, program(V))
    np.testing.assert_allclose(gradient, expected)


def test_repetitions_stay_repetitions():
    def program(x):
        return np.sum(x * np.array(np.int64(2) * [1.0, 2.0]))

    x = np.ones(4)
    np.testing.assert_array_equal(st.grad(program)(x), [1, 2, 1, 2])


def test_a_number_of_numpy_repeats_no_list():
    with pytest.raises(st.StcompileError, match="needs a number"):
        st.grad(lambda x: np.sum(x[0] * [1, 2]))(V)


def test_sizes_along_axes_that_change():
    def mean(x):
        return np.sum(x * x) / np.size(x, 0) / np.size(x, axis=1)

    gradient = st.grad(mean, dynamic=True)
    for n in (3, 5, 8):
        x = np.ones((n, 2)) * n
        np.testing.assert_allclose(gradient(x), 2 * x / x.size)
