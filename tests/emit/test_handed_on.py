"""What loops hand on to their next step, where names exchange their values."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.programs import assert_like, check_gradient
from tests.uninitialised import spoilt_memory

X = np.array([0.3, -0.2, 0.5])
W = np.array([[0.3, 0.2, -0.1], [0.0, 0.4, 0.2], [-0.3, 0.1, 0.2]])


def rotated(x: Any) -> Any:
    a, b, c = x, x * 2, x * 3
    for _ in range(17):
        a, b, c = b, c, a
    return np.sum(a) + 2 * np.sum(b * b) + 3 * np.sum(c)


def tribonacci(x: Any) -> Any:
    a, b, c = x, x, x
    for _ in range(17):
        a, b, c = b, c, 0.3 * (a + b)
    return np.sum(c)


def two_cycles_and_a_chain(x: Any) -> Any:
    a, b, c, d, e, f = (x * k for k in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
    for _ in range(18):
        a, b, c, d, e, f = b, a, d * 0.9, e, c, f + a
    return np.sum(a * b) + 2 * np.sum(c * d) + np.sum(e) + np.sum(np.sin(f))


def one_value_for_several(x: Any) -> Any:
    a, b, c = x, x * 2, x * 3
    for _ in range(18):
        a, b, c = b, b, a
    return np.sum(a * b) + 2 * np.sum(c)


def reversed_views(x: Any) -> Any:
    a, b, c = x * 1.0, x * 2, x * 3
    for _ in range(19):
        a, b, c = b[::-1], c[::-1], 0.5 * a
    return np.sum(a * x) + 2 * np.sum(b) + np.sum(c * c)


def queue(x: Any) -> Any:
    waiting = [x * k for k in (1.0, 2.0, 3.0, 4.0)]
    for _ in range(20):
        waiting.append(waiting.pop(0) * 0.9 + waiting[1])
    return np.sum(waiting[0] * waiting[3]) + np.sum(waiting[2])


def rows_of_one_argument(x: Any) -> Any:
    start = np.outer(np.array([1.0, -0.5, 0.7]), x)
    h, c, o = start[0], start[1], start[2]
    for _ in range(18):
        h, c, o = np.tanh(c * o), np.tanh(W @ h) * o, h + c * 0.1
    return np.sum(h * c) + np.sum(o)


def numbers_and_arrays(x: Any) -> Any:
    a, b, s, t = x * 1.0, x * 0.5, x[0], x[1]
    for _ in range(17):
        a, b, s, t = b, a * s, t, s * 0.9
    return np.sum(a) + np.sum(b) * s + t


def under_a_branch(x: Any) -> Any:
    a, b, c = x, x * 2, x * 3
    for _ in range(18):
        if np.sum(a) > 0.7:
            a, b, c = c * 0.5, a, b
        else:
            a, b, c = b, c, a
    return np.sum(a) + 2 * np.sum(b * b) + 3 * np.sum(c)


def nested(x: Any) -> Any:
    a, b, c = x, x * 2, x * 3
    for _ in range(17):
        for _ in range(18):
            a, b, c = c, a, b
        a, b = b * 0.9, a
    return np.sum(a) + 2 * np.sum(b * b) + 3 * np.sum(c)


FUNCTIONS: list[Callable[[Any], Any]] = [
    rotated,
    tribonacci,
    two_cycles_and_a_chain,
    one_value_for_several,
    reversed_views,
    queue,
    rows_of_one_argument,
    numbers_and_arrays,
    under_a_branch,
    nested,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_exchanges_compile_and_are_right(function: Callable[[Any], Any]) -> None:
    check(function)


@pytest.mark.parametrize("places", list(itertools.product(range(3), repeat=3)))
def test_every_way_to_hand_three_names_on(places: tuple[int, ...]) -> None:
    i, j, k = places

    def function(x: Any) -> Any:
        a, b, c = x * 1.0, x * 2, x * 3
        for _ in range(17):
            held = [a, b, c]
            a, b, c = held[i], held[j] * 0.9, held[k]
        return np.sum(a * a) + 2 * np.sum(b) + 3 * np.sum(c * x)

    with spoilt_memory():
        assert_like(st.compile(function)(X), function(X), "the value")


def check(function: Callable[[Any], Any]) -> None:
    with spoilt_memory():
        assert_like(st.compile(function)(X), function(X), "the value")
        value_and_grad = st.value_and_grad(function)
        for x in (X, X[::-1] * 0.5):
            value, gradient = value_and_grad(x)
            assert_like(value, function(x), "the value beside the gradient")
            check_gradient(function, (x,), 0, gradient)
