"""Checkpoints of functions in which the data decide a length or a number of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st

X = np.array([0.5, -1.0, 2.0, 0.1, 3.0])
A = 1.5


def selected(x: Any, a: Any) -> Any:
    v = x[x > 0]
    return np.sum(a * np.log(v) ** 2)


def unique(x: Any, a: Any) -> Any:
    return np.sum(np.unique(x) ** 2 * a**2)


def selected_twice(x: Any, a: Any) -> Any:
    v = x[x > 0]
    w = v[v < 2.5]
    return np.sum(w * np.cumsum(w)) * a**2


def in_pieces(x: Any, a: Any) -> Any:
    return np.sum(np.piecewise(x, [x < 0, x >= 0], [lambda q: q * a, lambda q: a * q**2]))


def endless_length(x: Any, a: Any) -> Any:
    k = int(x[2] * 1.6)
    return np.sum(np.arange(k) * a**2 * x[0]) + np.sum(x[:k] ** 2) * a


def while_loop(x: Any, a: Any) -> Any:
    k = 0
    total = 0.0
    while total < 3.0 and k < len(x):
        total = total + x[k] ** 2 * a
        k += 1
    return total * np.sum(x[:k] ** 2) * a


def in_a_loop(x: Any, a: Any) -> Any:
    total = 0.0
    for i in range(3):
        v = x[x > 0.45 * i]
        total = total + np.sum(v**2 * a**2) * x[i]
    return total


FUNCTIONS = (
    selected,
    unique,
    selected_twice,
    in_pieces,
    endless_length,
    while_loop,
    in_a_loop,
)


def gradients(f: Callable[..., Any], level: Any) -> Any:
    return st.grad(f, wrt=("x", "a"), level=level)(X, A)


def tangent(f: Callable[..., Any], level: Any) -> Any:
    return st.jvp(f, (X, A), (np.cos(X), 0.3), level=level)[1]


def hessian(f: Callable[..., Any], level: Any) -> Any:
    return st.hessian(f, wrt="x", level=level)(X, A)


def hessian_in_reverse(f: Callable[..., Any], level: Any) -> Any:
    return st.hessian(f, wrt="x", mode="reverse", level=level)(X, A)


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize(
    "derivative", [gradients, tangent, hessian, hessian_in_reverse], ids=lambda d: d.__name__
)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives_are_those_without_a_checkpoint(
    function: Callable[..., Any], derivative: Callable[..., Any], level: Any
) -> None:
    expected = derivative(function, level)
    found = derivative(st.checkpoint(function), level)
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_compiled_level(function: Callable[..., Any]) -> None:
    pytest.importorskip("numba")
    found, expected = (gradients(f, "compiled") for f in (st.checkpoint(function), function))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_against_differences(function: Callable[..., Any]) -> None:
    d_x, d_a = gradients(st.checkpoint(function), "fast")
    step = 1e-6
    for i in range(len(X)):
        moved = np.eye(len(X))[i] * step
        slope = (function(X + moved, A) - function(X - moved, A)) / (2 * step)
        np.testing.assert_allclose(d_x[i], slope, rtol=1e-6, atol=1e-7)
    slope = (function(X, A + step) - function(X, A - step)) / (2 * step)
    np.testing.assert_allclose(d_a, slope, rtol=1e-6, atol=1e-7)


def test_a_selection_is_not_returned() -> None:
    def positive(x: Any) -> Any:
        return x[x > 0]

    def loss(x: Any) -> Any:
        return np.sum(st.checkpoint(positive)(x))

    with pytest.raises(st.LanguageError, match="known only inside of what is called here"):
        st.grad(loss)(X)
