"""What is the same in all steps of a loop is not kept once for each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.wengert.ir import Program
from stcompile.wengert.primitives.control import Ports
from tests.programs import check_gradient
from tests.uninitialised import spoilt_memory

STEPS = 20
X = np.random.default_rng(0).uniform(0.3, 0.9, size=4)
LEVELS = ("readable", "fast")


def made_of_nothing(x: Any) -> Any:
    s, p = np.zeros(4), np.eye(4)
    for t in range(STEPS):
        h = np.ones((1, 4))
        k = p @ h.T / (h @ p @ h.T + 1.0)
        s = s + (k * (x[t % 4] - h @ s)).ravel()
        p = p - k @ h @ p
    return np.sum(s**2)


def computed(x: Any) -> Any:
    s = x
    for _ in range(STEPS):
        a = np.tanh(x)
        b = a * 0.7
        s = s * b + np.cos(a)
    return np.sum(s**2)


def number(x: Any) -> Any:
    s, half = x[0], x[1]
    for _ in range(STEPS):
        rate = np.exp(-half) * 0.5
        s = np.sin(s * rate) + rate * 0.5
    return s


def python_number(x: float) -> Any:
    s = x
    for _ in range(STEPS):
        rate = x * 0.5
        s = s * rate + rate * 0.5
    return s


def nested(x: Any) -> Any:
    s = x
    for _ in range(STEPS):
        outer = np.sqrt(x)
        for _ in range(STEPS):
            inner = np.exp(-outer) * outer
            s = np.sin(s * inner) + outer
    return np.sum(s)


def two_ways(x: Any) -> Any:
    """The constant is read before it is kept, too, and returned."""
    s, c = x, x
    for _ in range(STEPS):
        c = x * x
        s = np.tanh(s * c)
    return np.sum(s * c)


ALL_SAME = [made_of_nothing, computed, number, python_number, nested, two_ways]


def written(x: Any) -> Any:
    s = x
    for t in range(STEPS):
        c = np.full(4, 0.5)
        c[t % 4] = x[0]
        s = np.sin(s * c) + c
        c[1] = s[0]
        s = s * c
    return np.sum(s)


def carried(x: Any) -> Any:
    s, c = x, x
    for _ in range(STEPS):
        s = np.sin(s * c)
        c = np.cos(x)
    return np.sum(s)


def by_step(x: Any) -> Any:
    s = x
    for t in range(STEPS):
        c = x * (1.0 / (t + 1))
        s = np.sin(s * c) + c
    return np.sum(s)


def chosen(x: Any) -> Any:
    s = x
    for t in range(STEPS):
        c = np.exp(x) if t % 3 == 0 else np.cos(x)
        s = np.sin(s * c) + c
    return np.sum(s)


def collected(x: Any) -> Any:
    rows = []
    for _ in range(STEPS):
        rows.append(np.exp(x))
    return np.sum(np.array(rows)[::2] ** 2) + np.sum(rows[3] * x)


OTHERS = [written, carried, by_step, chosen, collected]


def stacks(program: Program) -> Iterator[str]:
    """The names in the body of what loops keep of each step."""
    for equation in program.equations:
        if equation.primitive == "loop":
            yield from (str(atom) for atom in Ports.of(equation).stacked)
        for value in equation.params.values():
            if isinstance(value, Program):
                yield from stacks(value)


def argument(function: Callable[..., Any]) -> Any:
    return 0.7 if function is python_number else X


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("function", [*ALL_SAME, *OTHERS], ids=lambda f: f.__name__)
def test_gradients(function: Callable[..., Any], level: Any) -> None:
    x = argument(function)
    with spoilt_memory():
        compiled = st.differentiable(level=level)(function).value_and_grad
        for _ in range(2):
            value, gradient = compiled(x)
            assert value == pytest.approx(function(x), rel=1e-12)
            check_gradient(function, (x,), 0, gradient)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("function", ALL_SAME, ids=lambda f: f.__name__)
def test_constants_are_not_kept(function: Callable[..., Any], level: Any) -> None:
    program = st.grad(function, level=level).program(argument(function))
    same = {"h", "a", "b", "rate", "outer", "inner", "c"}
    assert same.isdisjoint(name.split(".")[0].split(":")[0] for name in stacks(program))


@pytest.mark.parametrize("function", [computed, nested, written], ids=lambda f: f.__name__)
def test_second_derivatives(function: Callable[..., Any]) -> None:
    gradient = st.grad(function)

    def weighted(x: Any) -> Any:
        return np.sum(gradient(x) * np.cos(X))

    check_gradient(weighted, (X,), 0, st.grad(weighted)(X))


@pytest.mark.parametrize("function", [computed, made_of_nothing], ids=lambda f: f.__name__)
def test_pullbacks_and_tangents(function: Callable[..., Any]) -> None:
    expected = st.grad(function)(X)
    _, pullback = st.vjp(function, X)
    np.testing.assert_allclose(pullback(1.0)[0], expected, rtol=1e-10)
    _, tangent = st.jvp(function, (X,), (np.cos(X),))
    assert tangent == pytest.approx(np.sum(expected * np.cos(X)), rel=1e-10)
