"""Memory that steps of kernels use one after the other is allocated before the loop."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.programs import finite_difference

pytest.importorskip("numba")


def filtered(q: Any, y: Any) -> Any:
    """A Kalman filter: products of 4 x 4 numbers in each step."""
    F = np.eye(4) + 0.1 * np.eye(4, k=2)
    x, P, total = np.zeros(4), np.eye(4), 0.0
    for t in range(len(y)):
        x = F @ x
        P = F @ P @ F.T + q * np.eye(4)
        S = P[:2, :2] + 0.5 * np.eye(2)
        K = P[:, :2] @ np.linalg.inv(S)
        e = y[t] - x[:2]
        total = total + e @ np.linalg.solve(S, e)
        x = x + K @ e
        P = P - K @ P[:2]
    return total


def handed_on(q: Any, y: Any) -> Any:
    """Each step reads the array that the one before has filled: it has memory of its own."""
    before = q * y[0]
    total = 0.0
    for t in range(1, len(y)):
        after = np.empty_like(before)
        for i in range(len(before)):
            after[i] = np.sin(before[len(before) - 1 - i]) * y[t, i] + q
        total = total + np.sum(after * before)
        before = after
    return total


def until(q: Any, y: Any) -> Any:
    t, total = 0, 0.0
    while total < 5.0 and t < len(y):
        row = np.outer(y[t] * q, y[t])
        total = total + np.sum(row @ row)
        t += 1
    return total


def rows(q: Any, y: Any) -> Any:
    """Arrays that a list keeps until the loop is over."""
    kept = []
    for t in range(len(y)):
        kept.append(np.cumsum(y[t]) * q)
    return np.sum(np.array(kept) ** 2) + kept[0][0] * kept[-1][1]


@pytest.mark.parametrize(
    "function",
    [pytest.param(filtered, marks=pytest.mark.slow), handed_on, until, rows],
    ids=lambda f: f.__name__,
)
def test_value_and_gradient(function: Any) -> None:
    y = np.random.default_rng(3).normal(size=(12, 2))
    value, slope = st.value_and_grad(function, level="compiled")(0.3, y)
    np.testing.assert_allclose(value, function(0.3, y))
    expected = finite_difference(lambda q: float(function(q, y)), 0.3)
    np.testing.assert_allclose(slope, expected, rtol=1e-5)


def test_steps_allocate_what_they_hand_on_alone() -> None:
    compiled = st.differentiable(filtered, level="compiled")
    source = compiled.value_and_grad.source(0.3, np.zeros((12, 2)))
    kernel = source[source.index("def kernel_1") :]
    in_steps = re.findall(r"^ {8}(\w+) = np\.empty", kernel, re.MULTILINE)
    assert {re.sub(r"_\d+$", "", name) for name in in_steps} <= {"x", "P", "d_x", "d_P"}, in_steps
    assert len(re.findall(r"^ {4}\w+ = np\.empty", kernel, re.MULTILINE)) > len(in_steps)
