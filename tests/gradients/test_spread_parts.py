"""Sums that keep their axes, of parts of arrays, and elements of such sums: what belongs to one
element of a sum belongs to all that was summed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st

X = np.array([1.3, -0.7, 1.5, 0.9, 1.2, -1.7, 0.4])
H = 1e-6


def element(x: Any, i: Any) -> Any:
    s = np.sum(x[2:6], keepdims=True)
    return s[0] * x[0]


def square(x: Any, i: Any) -> Any:
    y = x * x
    s = np.sum(y[5:1:-2], keepdims=True)
    return s[0] * s[0] * y[1]


def by_the_data(x: Any, i: Any) -> Any:
    s = np.sum(x[2:6], keepdims=True)
    return s[i] * x[0]


def of_columns(x: Any, i: Any) -> Any:
    m = x[:6].reshape(2, 3)
    s = np.sum(m[:, 1:], axis=0, keepdims=True)
    return s[i, 1] * x[0] + s[0, 0] * x[1]


def of_transposed(x: Any, i: Any) -> Any:
    m = x[:6].reshape(2, 3)
    s = np.mean(m[:, 1:].T, axis=1, keepdims=True)
    return s[1, i] * x[0]


def several(x: Any, i: Any) -> Any:
    s = np.sum(x[2:6], keepdims=True)
    return s[i] * s[0] + s[-1] * x[0]


FUNCTIONS = (element, square, by_the_data, of_columns, of_transposed, several)


@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_all_that_was_summed_gets_its_share(function: Callable[..., Any], level: Any) -> None:
    if level == "compiled":
        pytest.importorskip("numba")
    gradient = st.grad(function, level=level)
    for i in (0, -1):
        steps = H * np.eye(len(X))
        expected = [(function(X + h, i) - function(X - h, i)) / (2 * H) for h in steps]
        np.testing.assert_allclose(gradient(X, i), expected, atol=1e-8)
