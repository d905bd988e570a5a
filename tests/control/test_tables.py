"""Lists of lists that kept loops read and write: values and gradients, that no program grows with
their lengths, and rows that have other names as well."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.frontend.control import unrolling
from tests.fuzz import judge_arrays, tables

N, M = 5, 3


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    """Loops of three steps are kept already."""
    monkeypatch.setattr(unrolling, "UNROLLED_STEPS", 2)


def edit_distance(x, n):
    d = [[0.0] * (n + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        d[i][0] = i * x
        d[0][i] = i * x
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            cost = np.sin(x * i) ** 2 + np.cos(x * j)
            d[i][j] = min(d[i - 1][j] + x, d[i][j - 1] + x, d[i - 1][j - 1] + cost)
    return d[n][n]


def knapsack(x, n):
    best = []
    for _ in range(n + 1):
        best.append([0.0] * (n + 1))
    for i in range(1, n + 1):
        for w in range(n + 1):
            best[i][w] = best[i - 1][w]
            if w >= 2:
                best[i][w] = max(best[i][w], best[i - 1][w - 2] + np.sin(x * i))
    return best[n][n]


def pascal(x, n):
    t = [[0] * (n + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        t[i][0] = x
        for j in range(1, i + 1):
            t[i][j] = (t[i - 1][j - 1] + t[i - 1][j]) * 0.5 * x
    return t[n][1] + t[n - 1][-2]


def elimination(x, n):
    a = [[np.exp(-((i - j) ** 2)) * x + float(i == j) for j in range(n)] for i in range(n)]
    y = [x * i for i in range(n)]
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i][k] / a[k][k]
            for j in range(k, n):
                a[i][j] -= factor * a[k][j]
            y[i] -= factor * y[k]
    return y[n - 1] / a[n - 1][n - 1]


def replaced_rows(x, n):
    rows = [[x] * n for _ in range(n)]
    for i in range(1, n):
        rows[i] = [np.sin(x * j) for j in range(n)]
        for j in range(1, n):
            rows[i][j] += rows[i - 1][j - 1] * x
    return rows[n - 1][n - 1] * rows[1][2]


def of_three_levels(x, n):
    cube = [[[0.0, x] for _ in range(n)] for _ in range(n)]
    for i in range(1, n):
        for j in range(n):
            cube[i][j][0] = cube[i - 1][j][1] * x
            cube[i][j][1] += cube[i][j - 1][0]
    return cube[n - 1][n - 1][1] + cube[2][-1][0]


def counted_by_while(x, n):
    t, i = [[x] * n for _ in range(n)], 1
    while i < n:
        t[i][0] = t[i - 1][1] * x + len(t)
        t[i][i % 3] = np.sin(t[i][0] + t[-i][0])
        i += 1
    return t[n - 1][0] + t[n - 1][1]


def one_list(x, n):
    zs = [0.0] * n
    zs[0] = x
    for i in range(1, n):
        zs[i] = np.sin(zs[i - 1]) * x + zs[-i]
    return zs[n - 1]


DYNAMIC = [
    edit_distance, knapsack, pascal, elimination, replaced_rows, of_three_levels, counted_by_while,
    one_list,
]  # fmt: skip


def assert_right(function: Any, *args: Any) -> None:
    x, *others = args
    value, gradient = st.value_and_grad(function, level="readable")(*args)
    assert value == function(*args)
    h = 1e-6
    difference = (function(x + h, *others) - function(x - h, *others)) / (2 * h)
    np.testing.assert_allclose(gradient, difference, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("function", DYNAMIC)
def test_a_table_is_an_array(function):
    """Right, and as long for many rows as for some."""
    lengths = []
    for n in (9, 20):
        with warnings.catch_warnings():
            warnings.simplefilter("error", st.UnrolledWarning)
            lengths.append(len(st.grad(function, level="readable").source(0.37, n).splitlines()))
    assert lengths[0] == lengths[1] < 120
    assert_right(function, 0.37, 6)


def table_of(x):
    return [[x * 0.1 * (i + j) for j in range(M)] for i in range(N)]


# --- rows with other names -----------------------------------------------------------------------


def named_before(x):
    t = table_of(x)
    row = t[2]
    for i in range(1, N):
        t[i][0] = t[i - 1][1] * x
        t[i][1] += t[i][0]
    row[0] *= 2.0
    return sum(row) + t[2][0]


def written_by_name(x):
    t = table_of(x)
    row = t[2]
    for i in range(1, N):
        t[i][0] = t[i - 1][1] * x
        row[1] = row[1] + t[i][0]
    return sum(t[2])


def named_in_the_step(x):
    t = table_of(x)
    for i in range(1, N):
        row = t[i]
        row[0] = t[i - 1][1] * x
        t[i][1] += row[0]
    return sum(map(sum, t)) + row[0]


def one_row_many_times(x):
    t = [[x] * M] * N
    for i in range(1, N):
        t[i][0] = t[i - 1][1] * x + t[i][0]
    return sum(map(sum, t))


def a_row_twice(x):
    t = table_of(x)
    t[3] = t[1]
    for i in range(1, N):
        t[i][0] = t[i - 1][1] * x + t[i][0]
    return sum(map(sum, t))


def a_row_of_two_tables(x):
    t, u = table_of(x), table_of(x * 2)
    u[4] = t[3]
    for i in range(1, N):
        t[i][0] = t[i - 1][1] * x + u[i][0]
        u[i][1] = t[i][0] + 1.0
    return sum(map(sum, t)) + sum(map(sum, u))


def one_row_for_another(x):
    t = table_of(x)
    for i in range(1, N):
        t[i] = t[i - 1]
        t[i][0] += x
    return sum(map(sum, t))


def exchanged(x):
    t = table_of(x)
    for i in range(1, N):
        t[i], t[i - 1] = t[i - 1], t[i]
        t[i][0] = t[i - 1][1] * x
    return sum(map(sum, t)) + t[0][0]


def named_when_set(x):
    t = table_of(x)
    for i in range(1, N):
        t[i] = row = [x * i] * M
        row[0] = t[i - 1][0] * x
    return sum(map(sum, t))


def named_before_it_was_set(x):
    t = table_of(x)
    old = t[2]
    for i in range(1, N):
        t[i] = [x * i + t[i - 1][0] * 0.1] * M
    return sum(t[2]) + 10 * sum(old)


def named_and_set(x):
    t = table_of(x)
    for i in range(1, N):
        row = [x * i] * M
        t[i] = row
        t[i][0] = t[i - 1][0] * x
    return sum(map(sum, t)) + 10 * sum(row)


def of_a_function(x):
    t = table_of(x)

    def row(i):
        return t[i]

    for i in range(1, N):
        row(i)[0] = t[i - 1][1] * x
    return sum(map(sum, t))


def iterated(x):
    t = table_of(x)
    for i in range(1, N):
        for row in t:
            row[0] = row[0] * 0.5 + x
        t[i][1] = t[i - 1][0]
    return sum(map(sum, t))


def turned_round(x):
    t = table_of(x)
    for i in range(1, N):
        t.reverse()
        t[i].reverse()
        t[i][0] = t[i - 1][1] * x
    return sum(map(sum, t)) + t[0][0]


def copied(x):
    t, same = table_of(x), 0.0
    for i in range(1, N):
        u = t.copy()
        t[i][0] = t[i - 1][1] * x
        u[i][1] = x
        same = same + (u[i] is t[i])
    return sum(map(sum, t)) + same


def longer_rows(x):
    t = table_of(x)
    for i in range(1, N):
        t[i].append(t[i - 1][0])
        t[i][0] = t[i - 1][1] * x
    return sum(map(sum, t)) + len(t[3])


def set_on_one_path(x):
    t = table_of(x)
    for i in range(1, N):
        t[i][0] = t[i - 1][1] * x
        if t[i][0] > 0.1:
            t[i] = [x * 2] * M
        else:
            t[i][1] = x
    return sum(map(sum, t))


def set_by_the_index(x):
    t = table_of(x)

    def put(i):
        t[i] = [x] * M
        return 0

    for i in range(1, N):
        t[i][put(i)] = x * 3
        t[i][1] = t[i][put(i - 1)] * t[i - 1][0]
    return sum(map(sum, t))


def rolling(x):
    before = [x] * N
    for i in range(1, N):
        now = [x * i] * N
        for j in range(1, N):
            now[j] = 0.5 * (now[j - 1] + before[j])
        before = now
    return sum(before)


def differentiated_inside(x):
    t = table_of(x)
    for i in range(1, N):
        t[i][0] = st.grad(lambda z, i=i: z * t[i - 1][1] * z)(x)
    return sum(map(sum, t))


def integers(x):
    t = [[0] * M for _ in range(N)]
    for i in range(1, N):
        t[i][0] = t[i - 1][0] + i
    return x * [1.0, 2.0, x][t[2][0] % 3] * t[N - 1][0]


NAMED = [
    named_before, written_by_name, named_in_the_step, one_row_many_times, a_row_twice,
    a_row_of_two_tables, one_row_for_another, exchanged, named_when_set, named_before_it_was_set,
    named_and_set, of_a_function, iterated, turned_round, copied, longer_rows, set_on_one_path,
    set_by_the_index, rolling, differentiated_inside, integers,
]  # fmt: skip


@pytest.mark.parametrize("function", NAMED)
def test_rows_with_other_names(function):
    assert_right(function, 0.37)


def test_a_warning_says_what_to_write():
    def named(x):
        t = [[x] * 3 for _ in range(60)]
        for i in range(1, 60):
            row = t[i]
            for j in range(3):
                row[j] = np.sin(t[i - 1][j] * x) + x * np.cos(t[i - 1][j])
        return row[2]

    with pytest.warns(st.UnrolledWarning) as caught:
        st.grad(named, level="readable")(0.3)
    text = str(caught[0].message)
    assert "table[i][j]" in text and "line" in text


@pytest.mark.parametrize("seed", range(10))
def test_random_tables(seed, monkeypatch):
    """Small tables, in loops that are kept all the same."""
    monkeypatch.setattr(tables, "SIZES", ((4, 3), (3, 4)))
    source, calls = tables.program(seed)
    verdict = judge_arrays.judge_source(source, calls[:1], light=True, names=tables.HELPERS)
    assert verdict.kind in ("right", "refused"), verdict.details
