"""Derivatives of derivatives, in all orders of forward and reverse mode, against closed forms."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import stcompile as st


def in_forward(f: Any) -> Any:
    def slope(x):
        return st.jvp(f, (x,), (1.0,))[1]

    return slope


def by_pullback(f: Any) -> Any:
    def slope(x):
        _, pullback = st.vjp(f, x)
        return pullback(1.0)[0]

    return slope


WAYS = {"f": in_forward, "r": st.grad, "p": by_pullback}
ORDERS = ["".join(way) for n in (1, 2, 3) for way in itertools.product("fr", repeat=n)]
ORDERS += ["ffff", "rrrr", "frfr", "rrff", "pp", "pf", "rp", "fpr"]


def wave(x):
    return np.sin(x) * np.exp(x)


def wave_derivative(order: int, x: float) -> float:
    """Im((1 + i)^n exp((1 + i) x))."""
    return float(((1 + 1j) ** order * np.exp((1 + 1j) * x)).imag)


def power_by_loop(x):
    y = 1.0
    for _ in range(20):
        y = y * x
    return y


def power_by_writes(x):
    y = np.ones(3)
    for k in range(12):
        y[k % 3] *= x
    return y[0] * y[1] * y[2]


def power_by_branches(x):
    y = x * x * x
    if x > 0.5:
        y = y * x * x
    else:
        y = y * x
    n = 0.0
    while n < 2.5:
        y = y * x
        n = n + 1.0
    return y


def falling(power: int, order: int, x: float) -> float:
    """The derivative of ``x ** power``."""
    return float(np.prod(np.arange(power, power - order, -1.0)) * x ** (power - order))


@pytest.mark.parametrize("level", ("readable", "fast"))
@pytest.mark.parametrize("order", ORDERS)
def test_closed_forms(order: str, level: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stcompile.base.options.DEFAULT_LEVEL", level)
    f: Any = wave
    for way in order:
        f = WAYS[way](f)
    outer = f if order[-1] == "r" else st.compile(f)
    assert outer(0.7) == pytest.approx(wave_derivative(len(order), 0.7), rel=1e-12)


@pytest.mark.parametrize("order", ["ffff", "rrrr", "frfr", "rffr"])
@pytest.mark.parametrize(
    ("function", "power", "x"),
    [
        (power_by_loop, 20, 1.1),
        (power_by_writes, 12, 0.9),
        (power_by_branches, 8, 0.8),
        (power_by_branches, 7, 0.4),
    ],
)
def test_order_four_through_control_flow(function: Any, power: int, x: float, order: str) -> None:
    for way in order:
        function = WAYS[way](function)
    found = st.compile(function)(x)
    assert found == pytest.approx(falling(power, 4, x), rel=1e-10)


def test_order_five() -> None:
    f: Any = wave
    for way in "rfrfr":
        f = WAYS[way](f)
    assert f(0.7) == pytest.approx(wave_derivative(5, 0.7), rel=1e-12)


def test_a_derivative_of_arrays_of_order_three() -> None:
    """The third derivative of sum(x ** 4), from a Hessian's Jacobian."""
    x = np.array([0.5, -1.0, 2.0])
    found = st.jacobian(st.hessian(lambda x: np.sum(x**4)))(x)
    expected = np.zeros((3, 3, 3))
    expected[range(3), range(3), range(3)] = 24 * x
    np.testing.assert_allclose(found, expected, atol=1e-12)
