"""Mutation: arrays are cells; several names, containers and closures may share one.

Nothing in this file is special to stcompile: every program is an exercise in what NumPy does when
an array with several names is written to. The compiled function must do the same.
"""

from __future__ import annotations

import numpy as np

from tests.programs import Examples

examples = Examples()

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)
V = np.linspace(-1.0, 1.0, 5)
SQUARE = np.linspace(0.1, 0.9, 9).reshape(3, 3)


@examples(X)
def augmented_assignment_changes_the_array(x):
    y = x.copy()
    same = y
    y += x
    y *= 2
    y -= x[0]
    y /= 3
    y **= 2
    other = y
    y = y + 1
    return y, same, other is same


@examples(X)
def augmented_assignment_of_numbers_does_not(x):
    s = np.sum(x)
    t = s
    s += 1
    a = 2.0
    b = a
    a *= 3
    return s, t, a * x, b * x


@examples(V)
def writing_elements(x):
    y = np.zeros(5)
    y[0] = x[1]
    y[1] += x[0] * x[0]
    y[-1] = 2 * y[1]
    y[2:4] = x[:2]
    y[2:4] *= x[0]
    y[3] -= 1
    return y, y[3] * x


@examples(V)
def writing_slices(x):
    y = x * 2
    y[::2] = x[:3]
    y[::-2] += x[2:]
    y[1:-1] = 0
    y[4:1:-1] -= x[:3]
    y[5:] = 7
    y[:] = y[::-1] * x
    y[-100:2] = y[3:100]
    return y


@examples(X)
def writing_rows_and_columns(x):
    y = np.zeros((3, 4))
    y[0] = 1
    y[:2, 1:] = x
    y[2, :3] = x[0]
    y[:, 0] += y[:, 1]
    y[..., -1] = x[1]
    y[1, 2] *= x[0, 0]
    y[1][2] += 5
    y[:, ::-1][0] += 1
    return y


@examples(X)
def an_overlapping_write_reads_first(x):
    y = x.ravel().copy()
    y[1:] = y[:-1]
    z = x.copy()
    z[:] = z[::-1]
    z += z[0]
    w = x.ravel().copy()
    w[1:] += w[:-1]
    w[::-1] -= w
    return y, z, w


@examples(X)
def two_names(x):
    a = x * 1
    b = a
    a[0] = 0
    b[1] *= 2
    c = a = b
    c += 1
    return a, b, c, a is b


@examples(X)
def a_list_that_holds_an_array_twice(x):
    y = x.copy()
    items = [y, y, x * 1]
    items[0] += 1
    items[1][0] = 5
    items[2] += y
    items[2] = items[2] + 1
    d = {"y": y}
    d["y"] -= 1
    d["z"] = d["y"]
    d["z"] *= 2
    return y, items, d


@examples(X)
def tuples_hold_arrays_not_values(x):
    pair = x * 1, x * 2
    first, _ = pair
    first += 1
    pair[1][0] = 0
    return pair


@examples(X)
def functions_change_their_arguments(x):
    def fill(a, value=1.0):
        a[:] = value
        a = a + 5
        return a

    y, z = x * 2, x * 3
    w = fill(y)
    fill(z[0], x[1])
    fill(z[1], value=fill(z[0]))
    return y, z, w


@examples(X)
def closures_change_arrays_around_them(x):
    y = np.zeros(3)

    def add(row):
        y[0] += 1
        y[1:] += row[1:]

    for row in x:
        add(row)
    return y


@examples(X)
def scalars_are_copies(x):
    y = x.copy()
    s = y[0, 0]
    s += 100
    y[0, 0] = 5
    t = y[0][1]
    y[0][1] = 6
    return y, s, t


@examples(X)
def zero_dimensional_arrays_are_arrays(x):
    a = np.array(0.0)
    b = a
    a += x[0, 0]
    a[...] *= 2
    b[()] += 1
    c = np.zeros(())
    c[...] = x[0, 1]
    d = e = np.full((), 0.5)
    d *= x[1, 1]
    d -= 1
    return a, b, c, a + 1, a[()] * 2, d, e, d is e


@examples(X)
def chains_of_comparison_keep_old_values(x):
    y = x.copy()
    old = y.copy()
    before = y * 1
    y[0] = 0
    return (y - old) * before, np.sum(y) * old


@examples(V)
def running_sums(x):
    y = np.zeros(5)
    total = 0.0
    for i in range(5):
        total = total + x[i]
        y[i] = total
        if i:
            y[i] += y[i - 1] * x[i]
    return y


@examples(SQUARE)
def triangular_solve(a):
    x = np.ones(3)
    for i in range(3):
        for j in range(i):
            x[i] -= a[i, j] * x[j]
        x[i] /= a[i, i]
    return x


@examples(X.astype(np.float32), X)
def the_dtype_of_the_array_stays(x, wide):
    y = x.copy()
    y += wide
    y[0] = wide[1]
    y *= 1.1
    n = np.zeros(3, np.int64)
    n += 2
    n[0] = 7.9
    n[1] -= 5
    return y, n * x


@examples(X)
def index_arrays_write_into_the_array(x):
    y = x.copy()
    rows = np.array([1, 0])
    y[rows, [0, 2]] = 5
    y[[0, 0], [1, 1]] += 1
    y[:, [2, 0]] *= x[:, :2]
    y[rows] -= 1
    y[rows][0] = 99
    y.T[[0]] = x[:, 2]
    return y


@examples(X)
def fill_and_methods_that_write(x):
    y = x.copy()
    y[0].fill(2.0)
    y.T[1].fill(x[0, 0])
    return y * x


@examples(X)
def a_value_used_before_and_after_a_write(x):
    y = x * 1
    a = np.exp(y)
    y[0] = 0
    b = np.exp(y)
    y += a
    return a * b, y


test_program = examples.tests()
