"""Branches and loops that differ between the items of a batch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.batch.checks import assert_batch, close

ROWS = np.random.default_rng(0).normal(size=(12, 3))
NUMBERS = ROWS[:6, 0]


def branches(x: Any) -> Any:
    if x[0] > 0:
        if x[1] > 0:
            return np.sqrt(x[0]) * x
        return np.log(x[0]) * x
    elif x[1] < -0.5:
        y = x[0] * x
    else:
        y = np.exp(x)
        y[0] = x[2]
    return y + 1


def root(a: Any) -> Any:
    x = 1.0
    while abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x


def steps(x: Any, n: Any) -> Any:
    s = x
    for k in range(n):
        s = np.sin(s) * x + k
    return s


def stops(x: Any) -> Any:
    s = 0.0
    for k in range(40):
        s = s + x[0] * k
        if s > 3:
            break
        if s < -5:
            return s * x
    return s + x


def recurrent(x: Any, w: Any) -> Any:
    h = np.zeros(2)
    states = []
    for t in range(30):
        h = np.tanh(w @ h + x[t % 3] + x[0])
        states.append(h)
    return np.stack(states)[::7].sum(axis=0)


def test_branches() -> None:
    assert_batch(branches, ROWS)


def test_branches_that_all_items_go() -> None:
    assert_batch(branches, np.abs(ROWS))


def test_while_loops_end_apart() -> None:
    assert_batch(root, np.abs(NUMBERS) + 0.1)


def test_counted_loops_end_apart() -> None:
    assert_batch(steps, NUMBERS, np.array([0, 3, 50, 7, 1, 2]))


def test_what_an_item_leaves_early() -> None:
    assert_batch(stops, ROWS)


def test_loops_that_are_kept() -> None:
    w = np.random.default_rng(1).normal(size=(4, 2, 2))
    assert_batch(recurrent, ROWS[:4], w, wrt=1)
    assert_batch(recurrent, ROWS[:4], w[0], axes=(0, None), wrt=1)
    assert_batch(recurrent, ROWS[0], w, axes=(None, 0), wrt=0)


def guarded(x: Any) -> Any:
    return np.log(x) if x > 0 else 3 * x


@pytest.mark.parametrize("rows", ([-1.0, 0.0, 2.0], [-1.0, -2.0], [1.0, 2.0]))
def test_no_item_computes_what_it_does_not_go_to(rows: list[float]) -> None:
    """Neither a warning nor a NaN of the other branch."""
    x = np.array(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        close(st.vmap(guarded)(x), [guarded(one) for one in x])
        expected = [1 / one if one > 0 else 3.0 for one in x]
        close(st.vmap(st.grad(guarded))(x), expected)
        close(st.grad(lambda x: np.sum(st.vmap(guarded)(x)))(x), expected)
        tangents = st.jvp(st.vmap(guarded), (x,), (np.ones_like(x),))[1]
        close(tangents, expected)


def counted(s: Any, w: Any) -> Any:
    i, total = 0, 0.0
    while i < len(w) and w[i] < s:
        total = total + w[i] * s
        i += 1
    return total


def looked_up(k: Any, w: Any) -> Any:
    return w[k] * 2 if k < len(w) else w[0] * w[1]


def put(k: Any, w: Any) -> Any:
    y = w * w
    if 0 <= k < len(w):
        y[k] = w[0]
    return y


def differences_below(s: Any, w: Any) -> Any:
    i, total = 0, 0.0
    while i + 1 < len(w) and w[i + 1] - w[i] < s:
        total = total + w[i] * s
        i += 1
    return total


def until(s: Any, w: Any) -> Any:
    i, total = 0, 0.0
    while not (i >= len(w) or w[i] > s):
        total = total + w[i] * w[i] * s
        i += 1
    return total


@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
@pytest.mark.parametrize("function", [differences_below, until])
def test_guards_that_end_apart(function: Any, level: Any) -> None:
    w, bounds = np.array([0.1, 0.4, 0.5]), np.array([0.45, 5.0, -1.0, 0.2])
    close(st.vmap(function, (0, None), level=level)(bounds, w), [function(s, w) for s in bounds])
    slopes = [st.grad(function, 1)(s, w) for s in bounds]
    close(st.vmap(st.grad(function, 1), (0, None), level=level)(bounds, w), slopes)


def test_an_index_behind_its_guard() -> None:
    """An item that has no element there does not read it."""
    w = np.array([0.1, 0.4, 0.5])
    axes = (0, None)
    assert_batch(counted, np.array([0.45, 5.0, -1.0]), w, axes=axes)
    assert_batch(counted, np.array([0.45, 5.0, -1.0]), w, axes=axes, wrt=1)
    assert_batch(looked_up, np.array([2, 7, -1, 3]), w, axes=axes, wrt=1)
    assert_batch(put, np.array([2, 7, -1, 3]), w, axes=axes, wrt=1)


def infinite(x: Any) -> Any:
    return np.sqrt(x) if x >= 0 else x


def test_an_infinite_derivative_stays_with_its_item() -> None:
    """What is lent to other items has no derivative, not even 0 times infinity."""
    x = np.array([0.0, -1.0, -2.0])
    with np.errstate(divide="ignore"):
        found = st.grad(lambda x: np.sum(st.vmap(infinite)(x)))(x)
    assert found.tolist() == [np.inf, 1.0, 1.0]


def checked(x: Any) -> Any:
    if x > 0:
        assert x < 10, "too large"
    return x * x


def test_assertions_hold_for_all_items() -> None:
    assert st.vmap(checked)(np.array([1.0, -20.0])).tolist() == [1.0, 400.0]
    with pytest.raises(AssertionError, match="too large"):
        st.vmap(checked)(np.array([1.0, 20.0, -5.0]))


@st.custom_rule(backward=lambda r, d: (d * r[0], d * r[1]), example=(2.0, 3.0))
def product(x: Any, w: Any) -> Any:
    return x * w, (w, x)


def test_custom_rules() -> None:
    assert_batch(lambda x, w: product(x, w) * x, NUMBERS, NUMBERS[::-1].copy(), wrt=1)
    assert_batch(lambda x, w: product(x, w) * x, NUMBERS, np.array(0.5), axes=(0, None), wrt=1)
    assert_batch(lambda x, w: product(x, w) * x, np.array(0.5), NUMBERS, axes=(None, 0), wrt=0)


def test_stopped_gradients() -> None:
    found = st.vmap(st.grad(lambda x: x * st.stop_gradient(x)))(NUMBERS)
    close(found, NUMBERS)
