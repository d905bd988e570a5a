"""Loops that count: `while` on conditions that are known, and integers that each step moves by the
same number. They are kept where they are long, so that no program grows with their steps."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import stcompile as st
from tests.programs import Example, Examples

examples = Examples()
X = np.array([0.4, -0.7, 1.3])


@examples(X, 30)
def upwards(x, n):
    i = 0
    while i < n:
        x = x + 0.01 * np.sin(x * i)
        i += 1
    return np.sum(x) * i


@examples(X, 41)
def downwards_by_two(x, n):
    i = n
    while i > 0:
        i = i - 2
        x = x + 0.01 * np.sin(x) / (i + 5.5)
    return np.sum(x) * i


@examples(X, 25)
def unequal_in_unequal(x, n):
    i = 1
    while i != n:
        j = 0
        while j <= n and x.shape[0] > 1:
            x = x * 0.999 + j * 0.001
            j += 1
        i += 1
    return np.sum(x) * j + i


@examples(X, 300)
def squares(x, n):
    """No range of steps is known to hold: they are tried one by one."""
    i = 1
    while i * i < n:
        x = x * 1.001 + i
        i += 1
    return np.sum(x) * i


@examples(X, 30)
def with_an_else_and_a_continue(x, n):
    i = 0
    while i < n:
        i += 1
        if i % 3 == 0:
            continue
        x = x * 1.001 + i
    else:
        x = x * 2
    return np.sum(x) * i


@examples(X, 30)
def an_end_that_moves(x, n):
    i, m = 0, 3
    while i < m:
        x = x * 1.001 + i
        if i == 10:
            m = 25
        i += 1
        m = m + (1 if m < n else 0)
    return np.sum(x) * i * m


@examples(X, 40)
def an_end_that_a_late_step_moves(x, n):
    i, m = 0, n
    while i < m:
        x = x * 1.001 + i
        if i == 20:
            m = 30
        i += 1
    return np.sum(x) * i * m


@examples(X, 60)
def an_end_that_comes_nearer(x, n):
    i, j = 0, n
    while i < j:
        x = x * 1.001 + i - j
        i, j = i + 1, j - 2
    return np.sum(x) * i + j


@examples(X, 40)
def a_count_that_changes_its_step(x, n):
    i, by = 0, 1
    while i < n:
        x = x * 1.001 + i
        i += by
        if i > 10:
            by = 3
    return np.sum(x) * i


@examples(X, 40)
def a_break_that_data_decide(x, n):
    i = 0
    while i < n:
        x = x * 1.01 + 0.01 * i
        if x[0] > 2.0:
            break
        i += 1
    return np.sum(x) * i


@examples(X, 24)
def a_condition_with_a_walrus(x, n):
    i = 0
    while (j := i + 1) < n:
        x = x * 1.001 + j
        i += 1
    return np.sum(x) * i * j


class Counter:
    def __init__(self):
        self.at = 0


@examples(X, 24)
def an_attribute(x, n):
    counter = Counter()
    while counter.at < n:
        x = x * 1.001 + counter.at
        counter.at += 1
    return np.sum(x) * counter.at


@examples(X, 24)
def in_a_helper(x, n):
    i = 0

    def go_on():
        nonlocal i
        i += 1

    while i < n:
        x = x * 1.001 + i
        go_on()
    return np.sum(x) * i


@examples(np.sin(np.arange(48.0)))
def a_position_beside_the_counter(x):
    k, total = 0, 0.0
    for a in range(24):
        total = total + x[k] * x[k - 1]
        if a % 2 == 0:
            total = total * 0.99
        k += 2
    return total * k


@examples(np.sin(np.arange(90.0)))
def a_position_through_two_loops(x):
    k, total = 0, 0.0
    for a in range(20):
        for b in range(4):
            total = total * 0.9 + x[k] * (a + b)
            k += 1
        k -= 1
    return total * k


@examples(X)
def a_count_of_some_steps(x):
    k = 0
    for a in range(30):
        x = x * 0.99 + k
        if a % 3 == 0:
            k += 1
    return np.sum(x) * k


@examples(X)
def a_count_up_to_a_break(x):
    k = 0
    for a in range(30):
        k += 2
        x = x * 1.1 + 0.01 * a
        if x[0] > 3.0:
            break
    return np.sum(x) * k


@examples(X)
def a_number_that_becomes_a_float(x):
    k = 0
    for a in range(30):
        x = x * 0.9 + k
        k = k + 1 if a < 7 else k + 0.5
    return np.sum(x) * k


test_values_and_gradients = examples.tests()


@pytest.mark.parametrize(
    "function", [upwards, downwards_by_two, unequal_in_unequal, with_an_else_and_a_continue]
)
def test_the_source_does_not_grow(function):
    lines = [len(st.grad(function).source(X, n).splitlines()) for n in (201, 2001)]
    assert lines[0] == lines[1]


def test_an_integer_that_is_counted_is_known_afterwards():
    def padded(x):
        n = 0
        for t in range(20):
            x = x + t
            n += 2
        return np.sum(np.ones(n)) * np.sum(x)

    Example(padded, (X,)).check()


def nested(x, steps):
    for _ in range(steps):
        y = x.copy()
        for i in range(1, x.shape[0] - 1):
            y[i] = 0.5 * (x[i - 1] + x[i + 1])
        x = y
    return np.sum(x * x)


def test_a_short_loop_with_a_long_body_is_kept():
    x = np.sin(np.arange(12.0))
    Example(nested, (x, 8)).check()
    eight, sixteen = (len(st.grad(nested).source(x, steps).splitlines()) for steps in (8, 16))
    assert eight == sixteen


def test_a_few_short_steps_are_written_out():
    source = st.grad(nested).source(np.sin(np.arange(5.0)), 2)
    assert "for " not in source


def keyed(x, weights):
    for k in range(60):
        x = np.sin(x) * weights[str(k % 7)] + np.cos(x) * k - x / 7 + np.tanh(x) * 0.5
    return np.sum(x)


def test_a_long_loop_that_cannot_be_kept_warns():
    weights = {str(k): 0.1 * k for k in range(7)}
    with pytest.warns(st.UnrolledWarning) as caught:
        st.grad(keyed)(X, weights)
    (warning,) = caught
    text = str(warning.message)
    assert "for k in range(60)" in text and "60 steps" in text
    assert "key" in text or "known only at run time" in text


def test_a_shorter_one_does_not():
    def few(x, weights):
        for k in range(17):
            x = np.sin(x) * weights[str(k % 7)]
        return np.sum(x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        st.grad(few)(X, {str(k): 0.1 * k for k in range(7)})
