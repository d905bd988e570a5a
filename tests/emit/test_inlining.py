"""Values that are written where they are used must mean what they meant where they were made."""

from __future__ import annotations

import numpy as np

import stcompile as st
from tests.programs import check

X = np.arange(6.0).reshape(2, 3) + 1


def view_of_a_value_made_before_a_write(x):
    y = x * 1.0
    kept = [(y * 2).T, 0]  # a view without a name, of a value without a name
    y[0, 0] = 50.0
    s = np.sum(kept[0])
    return s * np.sum(y)


def view_used_on_both_sides_of_a_write(x):
    y = x * 1.0
    row = y[1]
    before = np.sum(row * x[0])
    y[1, 2] = 7.0
    return before + np.sum(row * x[1])


def number_read_before_a_write(x):
    y = x * 1.0
    items = [y[0, 0], y[0, 1]]
    y[0] = 0.0
    return items[0] * items[1] + np.sum(y)


def test_nothing_moves_past_a_write():
    check(view_of_a_value_made_before_a_write, X)
    check(view_used_on_both_sides_of_a_write, X)
    check(number_read_before_a_write, X)


def test_a_value_used_twice_is_computed_once():
    gradient = st.value_and_grad(lambda x: np.sum(np.exp(x) * np.exp(x)), level="readable")
    np.testing.assert_allclose(gradient(X)[1], 2 * np.exp(2 * X))
    code = [line for line in gradient.source(X).splitlines() if "#" not in line]
    assert sum(line.count("np.exp(x)") for line in code) == 1
