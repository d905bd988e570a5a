"""`scipy.integrate.quad`: the value is SciPy's, and derivatives are those of its rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.gradients.checks import assert_close, central

integrate = pytest.importorskip("scipy.integrate")

FINITE = (0.3, 2.0, 1.5)


def bell(a: Any, b: Any, k: Any) -> Any:
    return integrate.quad(lambda x: np.exp(-k * x * x) * np.cos(x), a, b)[0]


def fast(a: Any, b: Any, k: Any) -> Any:
    """An integrand with many intervals, and bounds the other way round."""
    value, error = integrate.quad(lambda x, c: np.sin(20 * c * x) / (0.05 + x * x), b, -a, (k,))
    return value + 0 * error


def branching(a: Any, b: Any, k: Any) -> Any:
    """An integrand with a jump, at a fixed place."""
    return integrate.quad(lambda x: np.sqrt(k + x * x) if x < 1 else k * x, a, b, limit=80)[0]


@pytest.mark.parametrize("function", [bell, fast, branching], ids=lambda f: f.__name__)
def test_bounds_and_parameters(function: Any) -> None:
    value, gradients = st.value_and_grad(function, (0, 1, 2))(*FINITE)
    assert_close(value, function(*FINITE), 1e-7)
    for index, found in enumerate(gradients):
        assert_close(found, central(function, FINITE, index), 1e-4)


def test_leibniz_rule() -> None:
    by_a, by_b = st.grad(bell, (0, 1))(*FINITE)
    a, b, k = FINITE
    assert_close(by_a, -np.exp(-k * a * a) * np.cos(a), 1e-10)
    assert_close(by_b, np.exp(-k * b * b) * np.cos(b), 1e-10)


def test_infinite_ranges() -> None:
    half = lambda k: integrate.quad(lambda x: np.exp(-k * x * x), 0, np.inf)[0]  # noqa: E731
    size = np.sqrt(np.pi) / 2
    assert_close(st.grad(half)(1.5), -size / 2 * 1.5**-1.5, 1e-9)
    assert_close(st.grad(st.grad(half))(1.5), size * 0.75 * 1.5**-2.5, 1e-8)
    whole = lambda k: integrate.quad(lambda x: np.exp(-k * (x - 0.3) ** 2), -np.inf, np.inf)[0]  # noqa: E731
    assert_close(st.grad(whole)(1.5), -size * 1.5**-1.5, 1e-8)
    below = lambda k, b: integrate.quad(lambda x: np.exp(k * x), -np.inf, b)[0]  # noqa: E731
    assert_close(st.grad(below, 1)(1.5, 0.4), np.exp(0.6), 1e-9)


@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
def test_levels(level: Any) -> None:
    found = st.grad(bell, (0, 1, 2), level=level)(*FINITE)
    for index, slope in enumerate(found):
        assert_close(slope, central(bell, FINITE, index), 1e-6)


def test_second_order_of_a_parameter() -> None:
    slope = st.grad(bell, 2)
    curvature = st.grad(lambda a, b, k: slope(a, b, k), (0, 1, 2))(*FINITE)
    for index, found in enumerate(curvature):
        assert_close(found, central(slope, FINITE, index), 1e-6)


def test_extrapolated_integrals_are_an_error() -> None:
    singular = lambda k: integrate.quad(lambda x: k * x**-0.5, 0, 1)[0]  # noqa: E731
    with pytest.raises(ValueError, match="extrapolates"):
        st.grad(singular)(2.0)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda k: integrate.quad(lambda x: k * x, 0, 1, points=[0.5])[0], "`points`"),
        (lambda k: integrate.quad(lambda x: k * x, 0, 1, epsabs=k)[0], "tolerance"),
        (lambda k: integrate.quad(lambda x: np.array([k, x]), 0, 1)[0], "a real number"),
        (lambda k: integrate.quad(lambda x: k * x, np.zeros(2), 1)[0], "numbers"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(lambda k: np.sum(f(k)))(1.5)
