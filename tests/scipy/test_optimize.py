"""`scipy.optimize`: the value is SciPy's, and derivatives follow from the equation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.gradients.checks import assert_close, central

optimize = pytest.importorskip("scipy.optimize")

TARGET = np.array([1.0, 2.0])
TIMES = np.linspace(0.0, 3.0, 12)
SEEN = 2.0 * np.exp(-0.7 * TIMES) + 0.01 * np.cos(9 * TIMES)


def check(function: Any, args: tuple[Any, ...], exact: float = 1e-9, slope: float = 1e-5) -> None:
    """The value, the gradient and the gradient of a sum of its entries, by all arguments."""
    every = tuple(range(len(args)))
    expected = function(*args)
    value, gradients = st.value_and_grad(function, every)(*args)
    assert_close(value, expected, exact)
    for index, found in enumerate(gradients):
        assert_close(found, central(function, args, index), slope)
    summed = lambda *xs: sum(np.sum(np.sin(g)) for g in st.grad(function, every)(*xs))  # noqa: E731
    for index, found in enumerate(st.grad(summed, every)(*args)):
        assert_close(found, central(summed, args, index), slope)


BRACKETING = ("brentq", "brenth", "ridder", "bisect", "toms748")


@pytest.mark.parametrize("name", BRACKETING)
def test_roots_between_two_points(name: str) -> None:
    solver = getattr(optimize, name)
    check(lambda a: solver(lambda x: x**3 - a, 0.0, 5.0) ** 2, (2.0,))
    check(lambda a, b: solver(lambda x, c: np.cos(x) - c * x * b, 0.1, 3, args=(a,)), (0.8, 1.2))


def test_several_solvers_and_loops() -> None:
    def of_several(a: Any) -> Any:
        total = 0.0
        for k in range(3):
            total = total + optimize.brentq(lambda x: x**3 - a - k, 0, 5)
        return total + optimize.brentq(lambda x: x * np.exp(x) - a, 0, 5)

    def of_a_long_loop(a: Any) -> Any:
        for _ in range(40):
            a = optimize.brentq(lambda x, c: x**3 + x - c, -5, 5, args=(a,))
        return a

    check(of_several, (2.0,))
    check(of_a_long_loop, (2.0,))


def test_newton_and_root_scalar() -> None:
    check(lambda a: optimize.newton(lambda x: x**3 - a, 1.0, tol=1e-13), (2.0,))
    check(lambda a: optimize.newton(lambda x: x * x - a, 1.2, lambda x: 2 * x, tol=1e-13), (2.0,))
    check(lambda a: optimize.root_scalar(lambda x: x**3 - a, bracket=[0, 5]).root, (2.0,))
    check(
        lambda a: (
            optimize.root_scalar(
                lambda x: x**3 - a, method="bisect", bracket=(0, 5), xtol=1e-14
            ).root
        ),
        (2.0,),
    )
    check(lambda a: optimize.root_scalar(lambda x: x**3 - a, x0=1.5, xtol=1e-13).root, (2.0,))


def of_two(x: Any, a: Any, b: Any) -> Any:
    return np.array([x[0] ** 2 + a * x[1] - 2.0, x[1] ** 3 - b])


def test_systems() -> None:
    def by_fsolve(a: Any, b: Any) -> Any:
        x = optimize.fsolve(of_two, np.ones(2), args=(a, b), xtol=1e-13)
        return x[0] * x[1]

    def by_root(a: Any, b: Any) -> Any:
        found = optimize.root(lambda x: of_two(x, a, b), [1.0, 1.0], method="lm", tol=1e-13)
        return np.sum(found.x**2) + np.sum(found.fun)

    check(by_fsolve, (0.5, 3.0))
    check(by_root, (0.5, 3.0))
    check(lambda a: optimize.fsolve(lambda x: x**3 - a, 1.0, xtol=1e-13)[0], (2.0,))


@pytest.mark.parametrize("method", [None, "BFGS", "L-BFGS-B", "Nelder-Mead"])
def test_minima(method: Any) -> None:
    def found(c: Any) -> Any:
        best = optimize.minimize(
            lambda x, c: np.sum((x - c) ** 2) + np.sum(x**4),
            np.zeros(2),
            args=(c,),
            method=method,
            tol=1e-9,
        )
        return best.fun + best.x[0] ** 2

    value, gradient = st.value_and_grad(found)(TARGET)
    assert_close(value, found(TARGET), 1e-6)
    assert_close(gradient, central(st.compile(found), (TARGET,), 0), 1e-4)


def test_the_derivative_of_a_minimum_in_closed_form() -> None:
    """The minimum of (x - a)**2 + b * x**2 is at a / (1 + b)."""

    def least(a: Any, b: Any) -> Any:
        return optimize.minimize(lambda x: np.sum((x - a) ** 2 + b * x**2), 0.3).x[0]

    found = st.grad(least, (0, 1))(1.5, 0.5)
    assert_close(np.array(found), np.array([1 / 1.5, -1.5 / 1.5**2]), 1e-7)
    second = st.grad(lambda b: st.grad(least, 1)(1.5, b))(0.5)
    assert_close(second, 2 * 1.5 / 1.5**3, 1e-6)


def test_minima_of_one_number() -> None:
    def least(a: Any) -> Any:
        return optimize.minimize_scalar(lambda x: (x - a) ** 2 + 0.1 * x**4).x

    check(least, (1.3,), 1e-6, 1e-4)


def test_a_kink_is_no_minimum_of_an_equation() -> None:
    def least(a: Any) -> Any:
        return optimize.minimize_scalar(lambda x: np.abs(x - a) + 0.01 * x * x).x

    with pytest.raises(RuntimeError, match="gradient is not zero"):
        st.value_and_grad(least)(0.4)


@pytest.mark.slow
def test_least_squares() -> None:
    def fitted(y: Any) -> Any:
        found = optimize.least_squares(
            lambda p: p[0] * np.exp(-p[1] * TIMES) - y, [1.0, 1.0], method="lm", xtol=1e-14
        )
        return found.x[0] * found.x[1] + found.cost

    check(fitted, (SEEN,), 1e-8, 1e-5)


def test_fitted_curves() -> None:
    def fitted(y: Any, t: Any) -> Any:
        p, covariance = optimize.curve_fit(lambda t, a, b: a * np.exp(-b * t), t, y, [1.0, 1.0])
        return p[0] * p[1] + 10 * np.sum(covariance)

    value, gradients = st.value_and_grad(fitted, (0, 1))(SEEN, TIMES)
    assert_close(value, fitted(SEEN, TIMES), 1e-6)
    for index, found in enumerate(gradients):
        assert_close(found, central(st.compile(fitted), (SEEN, TIMES), index), 1e-4)

    def weighted(y: Any, s: Any) -> Any:
        p, covariance = optimize.curve_fit(
            lambda t, a, b: a + b * t, TIMES, y, (1.0, 1.0), sigma=s, absolute_sigma=True
        )
        return p[0] * p[1] + covariance[0, 1]

    sigma = 0.1 + 0.02 * TIMES
    assert_close(st.compile(weighted)(SEEN, sigma), weighted(SEEN, sigma), 1e-6)
    found = st.grad(weighted, 1)(SEEN, sigma)
    assert_close(found, central(weighted, (SEEN, sigma), 1), 1e-4)


def test_rosenbrock() -> None:
    check(lambda x: optimize.rosen(x) / 100, (np.array([0.3, 1.2, -0.4]),), 1e-14)


@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
def test_levels(level: Any) -> None:
    def loss(a: Any, w: Any) -> Any:
        return np.sum(w * optimize.brentq(lambda x: x * np.exp(x) - a, 0.0, 2.0))

    w = np.array([0.5, 1.5])
    expected = [central(loss, (1.3, w), index) for index in (0, 1)]
    for found, known in zip(st.grad(loss, (0, 1), level=level)(1.3, w), expected, strict=True):
        assert_close(found, known, 1e-6)


def test_errors_of_the_solver() -> None:
    with pytest.raises(ValueError, match="different signs"):
        st.grad(lambda a: optimize.brentq(lambda x: x * x + a, 0.0, 2.0))(1.0)
    with pytest.raises(RuntimeError, match="fsolve has not converged"):
        st.grad(lambda a: optimize.fsolve(lambda x: x * x + a, 1.0)[0])(1.0)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda a: optimize.brentq(lambda x: x - a, 0.0, 2.0, full_output=True), "`full_output`"),
        (lambda a: optimize.brentq(lambda x: x - a, 0.0, 2.0, xtol=a), "known only at run time"),
        (lambda a: optimize.minimize(lambda x: x[0] * a, [1.0], constraints=()).fun, "`constr"),
        (lambda a: optimize.minimize(lambda x: x * a, np.ones(2)).fun, "minimises a number"),
        (lambda a: optimize.minimize(lambda x: x[0] * a, [1.0], method="dogleg").fun, "dogleg"),
        (lambda a: optimize.fsolve(lambda x: x[:1] - a, np.ones(2))[0], "as many equations"),
        (lambda a: optimize.root(lambda x: x - a, [1.0], method="krylov").x[0], "krylov"),
        (lambda a: optimize.root_scalar(lambda x: x - a, method="halley", x0=1.0).root, "halley"),
        (lambda a: optimize.linprog([a], [[1.0]], [2.0]).fun, "linprog"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(f)(1.5)
