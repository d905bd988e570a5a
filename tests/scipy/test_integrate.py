"""`scipy.integrate`: values, and derivatives to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

integrate = pytest.importorskip("scipy.integrate")

from tests.scipy.checks import Case, check, check_float32  # noqa: E402
from tests.scipy.functions import sampled  # noqa: E402

X = np.array([0.0, 0.4, 1.1, 1.5, 2.6, 3.0, 3.1, 4.2, 5.0])
Y = np.stack([np.cos(X), X * np.sin(X)])
RTOL = 1e-12
RULES = ("trapezoid", "simpson", "cumulative_trapezoid", "cumulative_simpson")


@pytest.mark.parametrize("count", [2, 3, 4, 9])
@pytest.mark.parametrize("name", RULES)
def test_rules(name: str, count: int) -> None:
    rule = getattr(integrate, name)
    check(Case(name, sampled(rule), (Y[:, :count], X[:count]), RTOL), second=count > 3)
    check(Case(name, sampled(rule, axis=0), (Y.T[:count], X[:count]), RTOL), second=False)
    check(Case(name, lambda y, dx: rule(y, dx=dx) ** 2, (Y[:, :count], 0.3), RTOL), second=False)


def test_from_the_beginning() -> None:
    def function(y: Any, x: Any) -> Any:
        first = integrate.cumulative_trapezoid(y, x, initial=0)
        return first * integrate.cumulative_simpson(y, x=x, initial=0.5)

    check(Case("initial", function, (Y, X), RTOL))


def test_romberg() -> None:
    function = lambda y, dx: integrate.romb(y, dx) ** 2  # noqa: E731
    check(Case("romb", function, (Y, 0.3), RTOL))


def test_gauss_and_legendre() -> None:
    def function(a: Any, b: Any, k: Any) -> Any:
        closed, _ = integrate.fixed_quad(lambda x: np.sin(k * x) / x, a, b, n=7)
        given, _ = integrate.fixed_quad(lambda x, c: np.exp(-c * x * x), a, b, args=(k,))
        return closed * given

    check(Case("fixed_quad", function, (0.4, 2.3, 1.7), RTOL))


def test_float32() -> None:
    check_float32(Case("simpson", sampled(integrate.simpson), (Y, X), 1e-5))


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda y: integrate.romb(y[:, :4]), "one plus a non-negative power of 2"),
        (lambda y: integrate.romb(y, show=True), "`show`"),
        (lambda y: integrate.cumulative_simpson(y, dx=np.ones((2, 1))), "one number as dx"),
        (lambda y: integrate.fixed_quad(np.sin, 0.0, np.inf)[0] * y, "finite limits"),
        (lambda y: integrate.fixed_quad(np.sin, 0.0, 1.0, n=y[0, 0])[0] * y, "compile time"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises((st.StcompileError, ValueError), match=message):
        st.grad(lambda y: np.sum(f(y)))(Y)


def test_equal_points_are_an_error() -> None:
    with pytest.raises(st.LanguageError, match=r"this call raises ValueError\('.*equal"):
        st.grad(lambda y: np.sum(integrate.simpson(y, np.zeros(9))))(Y)
    with pytest.raises(ValueError, match="equal"):
        st.grad(lambda y, x: np.sum(integrate.simpson(y, x)))(Y, np.zeros(9))
