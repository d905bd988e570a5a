"""Arrays that equations compute from nothing: once, in the workspace, or in each step of a loop
that keeps them. New memory holds NaN here, so that what is never filled shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.plan.compiled import random, workspace_lines
from tests.programs import assert_like, check_gradient
from tests.uninitialised import spoilt_memory

A = np.array([0.1, -0.2, 0.3, 0.05, -0.15])


def factor_in_a_loop(a: Any) -> Any:
    h = np.zeros(5)
    for _ in range(17):
        h = np.tanh(np.ones((5, 5)) @ a + h)
    return np.sum(h)


def elementwise_factor(a: Any) -> Any:
    h = np.zeros(5)
    for _ in range(18):
        h = 0.8 * h + a * a * np.full(5, 0.3)
    return np.sum(h * h)


def collected(a: Any) -> Any:
    rows = []
    for _ in range(20):
        rows.append(np.ones(5))
    return np.sum(np.stack(rows) * a * a)


def collected_beside_others(a: Any) -> Any:
    rows, states, h = [], [], a
    for _ in range(20):
        h = np.sin(h + a)
        rows.append(np.arange(5.0))
        states.append(h)
    return np.sum(np.stack(rows) * np.stack(states) * h)


def carried(a: Any) -> Any:
    before, h = np.ones(5), a
    for _ in range(19):
        h, before = np.sin(h * before), np.eye(5)[1] + 0.5
    return np.sum(h) + np.sum(before * a)


def kalman(a: Any) -> Any:
    """A filter with its matrices made where they are used."""
    covariance, mean = np.eye(3), np.zeros(3)
    for t in range(20):
        look, noise = np.ones((1, 3)), np.eye(1)
        mean, covariance = 0.9 * mean, 0.81 * covariance + 0.1 * np.eye(3)
        gain = covariance @ look.T @ np.linalg.inv(look @ covariance @ look.T + noise)
        mean = mean + gain @ (a[t % 5 : t % 5 + 1] * 0.3 - look @ mean)
        covariance = (np.eye(3) - gain @ look) @ covariance
    return np.sum(mean * mean)


def nested(a: Any) -> Any:
    h = a
    for _ in range(17):
        for _ in range(18):
            h = np.tanh(h * np.full(5, 0.9) + a)
        h = h * np.ones(5)
    return np.sum(h)


def under_a_branch(a: Any) -> Any:
    h, rows = a, []
    for _ in range(18):
        if np.sum(h) > 0.05:
            factor = np.full(5, 0.7)
        else:
            factor = np.ones(5)
        rows.append(factor)
        h = np.sin(h * factor + a)
    return np.sum(h) + np.sum(np.stack(rows) * a)


def while_loop(a: Any) -> Any:
    h, steps = a, 0
    while steps < 30 and np.sum(h * h) < 4.0:
        h = h * 1.1 + np.ones(5) * a
        steps += 1
    return np.sum(h * np.ones(5))


def written_before_it_is_kept(a: Any) -> Any:
    rows = []
    for _ in range(18):
        row = np.zeros(5)
        row[1:] = a[:-1] * a[1:]
        rows.append(row)
    return np.sum(np.stack(rows) * a)


def part_of_a_concatenation(a: Any) -> Any:
    h = a
    for _ in range(18):
        h = np.sin(np.concatenate([np.ones(2), h])[:5] * a)
    return np.sum(h)


FUNCTIONS: list[Callable[[Any], Any]] = [
    factor_in_a_loop,
    elementwise_factor,
    collected,
    collected_beside_others,
    carried,
    kalman,
    nested,
    under_a_branch,
    while_loop,
    written_before_it_is_kept,
    part_of_a_concatenation,
]


@pytest.mark.parametrize("level", ["fast", "readable"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_constants_of_loops_are_filled(function: Callable[[Any], Any], level: Any) -> None:
    with spoilt_memory():
        value_and_grad = st.value_and_grad(function, level=level)
        compiled = st.compile(function, level=level)
        for a in (A, A[::-1].copy()):  # buffers hold what the last call left there
            assert_like(compiled(a), function(a), "the value")
            value, gradient = value_and_grad(a)
            assert_like(value, function(a), "the value beside the gradient")
            check_gradient(function, (a,), 0, gradient)


def test_constants_that_no_loop_keeps_are_made_once() -> None:
    lines = workspace_lines(st.grad(carried), A)
    assert any("np.eye(5" in line for line in lines)


def test_new_memory_is_spoilt_here() -> None:
    with spoilt_memory():
        assert np.isnan(np.empty(3)).all()
        assert np.isnan(np.empty_like(random(2, 2))).all()
    assert np.empty(3).shape == (3,)
