"""`root` and `fixed_point`: their solutions, and derivatives by the equation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile import DerivativeError, LanguageError
from stcompile.library.implicit import iteration, newton

B = np.array([1.0, 1.3])
W = np.random.default_rng(0).normal(size=(3, 3)) / 4
C = np.array([0.3, -0.2, 0.5])
H = 1e-6
close = np.testing.assert_allclose


def equation(x: Any, a: Any, b: Any) -> Any:
    return np.array([x[0] ** 2 + x[1] ** 2 - a, x[0] * b[0] - np.sin(x[1]) * b[1]])


def solution(a: Any, b: Any) -> Any:
    return st.root(equation, np.array([1.0, 1.0]), a, b)


def closed_over(a: Any, b: Any) -> Any:
    """The same; the equation reads its parameters from the function around it."""
    return st.root(lambda x: equation(x, a, b), np.array([1.0, 1.0]))


def settled(w: Any, c: Any) -> Any:
    return st.fixed_point(lambda x, c: np.tanh(w @ x + c), np.zeros(3), c)


def central(function: Any, x: Any) -> Any:
    units = np.eye(np.size(x)).reshape(-1, *np.shape(x))
    return np.array([(function(x + H * e) - function(x - H * e)) / (2 * H) for e in units])


def cubes(a: Any, b: Any) -> Any:
    return np.sum(solution(a, b) ** 3)


def test_roots() -> None:
    x = st.compile(solution)(2.5, B)
    close(equation(x, 2.5, B), 0, atol=1e-12)
    by_a, by_b = st.grad(cubes, (0, 1))(2.5, B)
    primal = st.compile(cubes)
    close(by_a, (primal(2.5 + H, B) - primal(2.5 - H, B)) / (2 * H), rtol=1e-7)
    close(by_b, central(lambda b: primal(2.5, b), B), rtol=1e-7)
    tangent = st.jvp(cubes, (2.5, B), (1.0, B))[1]
    close(tangent, by_a + by_b @ B, rtol=1e-12)
    closed = st.grad(lambda a, b: np.sum(closed_over(a, b) ** 3), (0, 1))(2.5, B)
    close(closed[0], by_a, rtol=1e-12)
    close(closed[1], by_b, rtol=1e-12)


def test_second_derivatives_of_roots() -> None:
    gradient = st.grad(cubes, 1, level="readable")
    found = st.hessian(cubes, 1, level="readable")(2.5, B)
    close(found, central(lambda b: gradient(2.5, b), B), rtol=1e-6)


def test_a_batch_of_roots() -> None:
    def square(a: Any) -> Any:
        return st.root(lambda x: x * x - a, 1.0)

    a = np.array([2.0, 9.0, 100.0])
    values, slopes = st.vmap(st.value_and_grad(square))(a)
    close(values, np.sqrt(a), rtol=1e-12)
    close(slopes, 0.5 / np.sqrt(a), rtol=1e-12)


def test_numbers() -> None:
    def root(a: Any) -> Any:
        return st.root(lambda x: x**3 - a, 1.0)

    value, slope = st.value_and_grad(root)(2.0)
    assert math.isclose(value, 2 ** (1 / 3), rel_tol=1e-14)
    assert math.isclose(slope, 2 ** (-2 / 3) / 3, rel_tol=1e-12)
    assert math.isclose(st.grad(st.grad(root))(2.0), -2 / 9 * 2 ** (-5 / 3), rel_tol=1e-11)
    assert math.isclose(st.root(lambda x, a: x * x - a, 1.0, 9.0), 3.0)


def test_steps_that_are_halved() -> None:
    """From here, whole steps of Newton's method for the arctangent lead away."""
    assert abs(st.root(lambda x: np.arctan(x), 3.0)) < 1e-10


def test_the_first_guess_has_no_derivative() -> None:
    assert st.grad(lambda x0: st.root(lambda x: x * x - 2.0, x0))(1.0) == 0


def test_fixed_points() -> None:
    x = st.compile(settled)(W, C)
    close(np.tanh(W @ x + C), x, atol=1e-11)

    def loss(w: Any, c: Any) -> Any:
        return np.sum(settled(w, c) ** 2)

    by_w, by_c = st.grad(loss, (0, 1))(W, C)
    primal = st.compile(loss)
    close(by_c, central(lambda c: primal(W, c), C), rtol=1e-6)
    close(by_w.ravel(), central(lambda w: primal(w, C), W), rtol=1e-5, atol=1e-9)
    tangent = st.jvp(loss, (W, C), (W, 2 * C))[1]
    close(tangent, np.sum(by_w * W) + 2 * by_c @ C, rtol=1e-11)
    gradient = st.grad(loss, 1)
    close(st.hessian(loss, 1)(W, C), central(lambda c: gradient(W, c), C), rtol=1e-5)


def test_float32() -> None:
    b = B.astype(np.float32)
    value = st.compile(lambda b: st.root(equation, np.ones(2, np.float32), np.float32(2.5), b))(b)
    assert value.dtype == np.float32
    close(value, st.compile(solution)(2.5, B), rtol=1e-5)


def test_no_convergence_is_an_error() -> None:
    with pytest.raises(AssertionError, match="root: not converged"):
        st.root(lambda x: x * x + 1.0, 0.3)
    with (
        pytest.raises(AssertionError, match="fixed_point: not converged"),
        np.errstate(over="ignore", invalid="ignore"),
    ):
        st.fixed_point(lambda x: -2 * x + 1.0, 0.3)


def test_refusals() -> None:
    with pytest.raises(DerivativeError, match="as many equations|returns f64"):
        st.root(lambda x: np.sum(x), np.ones(2))
    with pytest.raises(DerivativeError, match="the first guess of `root`"):
        st.root(lambda x: x, np.ones(2, int))
    with pytest.raises(DerivativeError, match="has no elements"):
        st.root(lambda x: x, np.zeros(0))
    with pytest.raises(DerivativeError, match=r"returns f64\[2\] for an x of f32\[2\]"):
        st.root(lambda x: x - np.ones(2), np.zeros(2, np.float32))

    def printing(x: Any) -> Any:
        print(x)
        return x

    with pytest.raises(LanguageError, match="in each step"):
        st.root(printing, 1.0)


# --- one value in several roles -------------------------------------------------------------------

P = np.array([0.3, 0.7, 1.2])


def guess_and_read(p: Any) -> Any:
    return st.root(lambda z: z**3 + z - p, p)


def guess_of_its_name(x: Any) -> Any:
    return st.fixed_point(lambda z: 0.5 * np.cos(z) + 0.1 * x, x)


def passed_twice(q: Any) -> Any:
    return st.root(lambda z, u, v: z**3 + u * z - v, np.zeros(3), q, q)


def passed_and_read(p: Any) -> Any:
    return st.root(lambda z, q: z**3 + z * np.sum(p) - np.tanh(p) * q, np.zeros(3), p)


def warm_starts(p: Any) -> Any:
    t = 0.0 * p
    for k in range(3):
        t = t + st.root(lambda z, k=k, t=t: z**3 + z - p * (k + 1) - t, t)
    return t


@pytest.mark.parametrize(
    "function", [guess_and_read, guess_of_its_name, passed_twice, passed_and_read, warm_starts]
)
def test_a_value_may_have_several_roles(function: Any) -> None:
    primal = st.compile(function, level="readable")
    close(primal(P), function(P), rtol=1e-10)
    jacobian = st.jacobian(function, level="readable")
    close(jacobian(P), central(primal, P).T, rtol=1e-6, atol=1e-8)


# --- how exact solutions are ----------------------------------------------------------------------


def scaled(z: Any) -> Any:
    return np.array([z[0] - 1e3, z[1] ** 2 - 2e-16])


def apart(z: Any) -> Any:
    return np.array([0.5 * z[0] + 5e5, 0.9 * z[1] + 1e-8])


@pytest.mark.parametrize(
    ("solve", "function", "guess", "expected"),
    [
        (st.root, scaled, np.array([1.0, 1e-7]), [1e3, math.sqrt(2) * 1e-8]),
        (st.fixed_point, apart, np.zeros(2), [1e6, 1e-7]),
        (st.fixed_point, lambda z: 0.9 * z + 1e-14, 0.0, 1e-13),
        (st.fixed_point, lambda z: 0.997 * z + 3e-3, 0.0, 1.0),
    ],
)
def test_each_element_is_exact(solve: Any, function: Any, guess: Any, expected: Any) -> None:
    close(solve(function, guess, level="readable"), expected, rtol=1e-12)


def test_slow_convergence_in_float32() -> None:
    ratio, rest = np.float32(0.97), np.float32(0.03)
    found = st.fixed_point(lambda z: z * ratio + rest, np.zeros(2, np.float32), level="readable")
    close(found, np.float64(rest) / (1 - np.float64(ratio)), rtol=1e-6)


def complex_jacobian(function: Any) -> Any:
    """The Jacobian of what is written in NumPy: the solvers are plain functions of it."""

    def jacobian(x: Any) -> Any:
        return np.stack([function(x + 1e-40j * e).imag / 1e-40 for e in np.eye(x.size)], 1)

    return jacobian


def test_scales_of_unknowns_and_equations_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(1, 7))
        unknowns, equations = 10.0 ** rng.integers(-12, 12, (2, n))
        matrix = rng.normal(size=(n, n)) / 3 + 3 * np.eye(n)
        x = rng.normal(size=n) * (rng.random(n) > 0.2)  # some are zero

        def function(
            y: Any, m: Any = matrix, x: Any = x, u: Any = unknowns, e: Any = equations
        ) -> Any:
            return e * (m @ (y / u - x) + 0.1 * ((y / u) ** 2 - x**2))

        solved, _ = newton(function, complex_jacobian(function), None, 100)  # type: ignore[arg-type]
        found, _ = solved(unknowns * (x + 0.1 * rng.normal(size=n)), 1e-12)
        close(found / unknowns, x, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize(
    "function",
    [
        lambda z: z**2 + 1e-20,  # no root, though the smallest value is tiny
        lambda z: np.exp(-z),  # only far away
        lambda z: (z - 1) ** 4 + 1e-15,
    ],
)
def test_what_has_no_root_is_an_error(function: Any) -> None:
    solved, _ = newton(function, complex_jacobian(function), None, 100)  # type: ignore[arg-type]
    with (
        pytest.raises(AssertionError, match="root: not converged"),
        np.errstate(all="ignore"),
    ):
        solved(np.array([0.5]), 1e-12)


def test_an_iteration_that_hardly_moves_is_no_fixed_point() -> None:
    """Steps are small at once: what lies far away is not what the iteration finds."""
    function = lambda z: z + 1e-14 * (5.0 - z)  # noqa: E731
    jacobian = complex_jacobian(function)
    solved, _ = iteration(function, jacobian, None, 1000, 100)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="fixed_point: not converged"):
        solved(np.array([1.0]), 1e-12)


# --- a solution inside an equation ----------------------------------------------------------------


def nested(p: Any) -> Any:
    def inner(z: Any) -> Any:
        return st.root(lambda w: w**3 + w - z * p, z)

    return st.fixed_point(lambda z: 0.5 * np.sin(inner(z)) + p[::-1] / 2, np.zeros(3))


@pytest.mark.slow
def test_a_root_inside_an_equation() -> None:
    def loss(p: Any) -> Any:
        return np.sum(nested(p) ** 2)

    primal = st.compile(nested, level="readable")
    expected = central(primal, P).T
    for mode in ("forward", "reverse"):
        jacobian = st.jacobian(nested, mode=mode, level="readable")
        close(jacobian(P), expected, rtol=1e-7, atol=1e-9)
    gradient = st.grad(loss)
    close(st.hessian(loss)(P), central(gradient, P), rtol=1e-7, atol=1e-8)


@pytest.mark.slow
def test_a_differential_equation_inside_an_equation() -> None:
    """Shooting: y'' = -a y from 0 to 1 has the first slope sqrt(a) / sin(sqrt(a))."""

    def shot(a: Any) -> Any:
        def end(slope: Any) -> Any:
            start = np.stack([0 * slope, slope])
            made = st.solve_ivp(
                lambda t, y: np.array([y[1], -a * y[0]]), (0.0, 1.0), start, rtol=1e-9, atol=1e-9
            )
            return made.y[0, -1] - 1

        return st.root(end, 1.0)

    root = math.sqrt(0.7)
    value, slope = st.value_and_grad(shot, level="readable")(0.7)
    close(value, root / math.sin(root), rtol=1e-7)
    close(slope, (1 - root / math.tan(root)) / (2 * root * math.sin(root)), rtol=1e-6)


def test_what_is_asserted_in_an_equation_is_asserted_in_each_step() -> None:
    def solve(a: Any, guess: Any) -> Any:
        def square(x: Any) -> Any:
            assert x > 0
            return x * x - a

        return st.root(square, guess)

    computed = st.grad(solve, level="readable")
    close(computed(2.0, 1.0), math.sqrt(2) / 4)
    with pytest.raises(AssertionError):
        computed(2.0, -1.0)
