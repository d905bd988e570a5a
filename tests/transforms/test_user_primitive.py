"""Primitives and rules of users: checked when made, and differentiated to any order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.transforms.checks import assert_close, difference

X = np.array([0.4, -1.1, 2.0])
LEVELS = ("readable", "fast")
every_level = pytest.mark.parametrize("level", LEVELS)


def erf_adjoint(y, x, d_y):
    return d_y * 2 / np.sqrt(np.pi) * np.exp(-x * x)


@st.primitive(adjoint=erf_adjoint, example=(X,))
def erf(x):
    return np.vectorize(math.erf, otypes=[np.asarray(x).dtype])(x)


def f(x, w):
    return np.sum(np.tanh(erf(x * w)) * w)


@every_level
def test_first_and_second_derivatives(level: Any) -> None:
    w = np.array([1.0, 0.5, -0.7])
    value, gradients = st.value_and_grad(f, (0, 1), level=level)(X, w)
    assert value == pytest.approx(f(X, w), rel=1e-14)
    assert np.dot(gradients[0], w) == pytest.approx(difference(f, (X, w), (w, 0 * w)), rel=1e-8)
    tangent = st.jvp(f, (X, w), (w, X), level=level)[1]
    assert tangent == pytest.approx(np.dot(gradients[0], w) + np.dot(gradients[1], X))
    second = st.hvp(f, (X, w), (w, X), level=level)
    assert_close(second, difference(st.grad(f, (0, 1)), (X, w), (w, X)), 1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_types_stay(dtype: Any) -> None:
    x = X.astype(dtype)
    assert st.grad(lambda x: np.sum(erf(x)))(x).dtype == dtype
    assert st.compile(lambda x: erf(x))(x).dtype == dtype
    assert isinstance(st.compile(lambda x: erf(x))(0.5), np.float64)


def test_the_generated_code_calls_it_by_name() -> None:
    assert "np.tanh(erf(v1)" in st.grad(f, level="readable").source(X, X)


def solved(matrix, b):
    return np.linalg.solve(matrix, b)


def solved_adjoint(y, matrix, b, d_y):
    d_b = solve(matrix.T, d_y)
    return -np.outer(d_b, y), d_b


solve: Any = None
solve = st.primitive(
    solved,
    result=lambda matrix, b: (b.shape, b.dtype),
    example=(np.eye(3), X),
)


def test_one_that_calls_itself() -> None:
    """An adjoint can use the primitive that it is of, so that all orders follow."""
    solve.adjoint = solved_adjoint
    matrix = np.array([[3.0, 0.5, 0.1], [0.2, 2.0, -0.3], [0.0, 0.4, 1.5]])

    def g(matrix, b):
        return np.sum(np.sin(solve(matrix, b)))

    def known(matrix, b):
        return np.sum(np.sin(np.linalg.solve(matrix, b)))

    assert_close(st.grad(g, (0, 1))(matrix, X), st.grad(known, (0, 1))(matrix, X), 1e-12)
    args = ((matrix, X), (matrix.T.copy(), X))
    assert_close(st.hvp(g, *args), st.hvp(known, *args), 1e-10)


def test_in_loops_and_branches() -> None:
    def g(x):
        for _ in range(20):
            x = erf(x) * 1.5 if x > 0.2 else x + 0.5
        return x

    assert st.grad(g)(0.7) == pytest.approx(difference(g, (0.7,), (1.0,)), rel=1e-6)


def test_a_result_that_is_the_operand_is_copied() -> None:
    same = st.primitive(identity, adjoint=lambda y, x, d: d, example=(X,))

    def g(x):
        y = same(x)
        y[0] = 5.0
        return np.sum(y * y)

    before = X.copy()
    np.testing.assert_array_equal(st.grad(g)(X), [0.0, 2 * X[1], 2 * X[2]])
    np.testing.assert_array_equal(X, before)


def identity(x):
    return x


def cube(x):
    return x**3


def halved(x):
    return x / 2


def shifted(x):
    return x[1:]


CASES = [
    (lambda y, x, d: d * 2 * x * x, "adjoint of `cube` is wrong"),
    (lambda y, x, d: d * 3 * x * x * 1.001, "adjoint of `cube` is wrong"),
    (lambda y, x, d: d * d * 3 * x * x, "adjoint of `cube`"),
    (lambda y, x, d: (d, d), "2"),
]


@pytest.mark.parametrize(("adjoint", "reason"), CASES)
def test_a_wrong_adjoint_is_refused(adjoint: Any, reason: str) -> None:
    with pytest.raises((st.StcompileError, ValueError), match=reason):
        st.primitive(cube, adjoint=adjoint, example=(X,))


def test_an_adjoint_that_is_not_linear_is_refused() -> None:
    """Though it is right for the cotangents that finite differences are compared with."""
    with pytest.raises(st.GradientCheckError, match="not linear"):
        st.primitive(
            cube, adjoint=lambda y, x, d: np.where(d == 2.0, 1.5, d) * 3 * x * x, example=(X,)
        )


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: st.primitive(shifted, example=(X,)), "its type rule says"),
        (lambda: st.primitive(cube, result=lambda x: x.shape, example=(X,)), "type rule returns"),
        (lambda: st.primitive(lambda x: x, example=(X,)), "with a name"),
        (lambda: st.primitive(cube, adjoint=erf_adjoint, example=X), "give a tuple"),
        (lambda: st.primitive(halved, adjoint=erf_adjoint, example=(3,)), "no floating-point"),
        (lambda: st.grad(lambda x: np.sum(plain(x)))(X), "has no adjoint"),
        (lambda: st.grad(lambda x: np.sum(erf(x=x)))(X), "by position"),
        (lambda: st.value_and_grad(f).export("f.py", X, X), "`erf` cannot be written"),
    ],
)
def test_refusals(call: Any, reason: str) -> None:
    with pytest.raises(st.StcompileError) as caught:
        call()
    assert reason in str(caught.value)


plain = st.primitive(cube, example=(X,))


def test_complex_operands_are_refused() -> None:
    with pytest.raises(st.DerivativeError, match="`cube` is complex"):
        st.grad(lambda x: np.sum(np.abs(plain(x * 1j))))(X)


def test_without_an_adjoint_it_can_be_a_constant() -> None:
    np.testing.assert_array_equal(
        st.grad(lambda x: np.sum(st.stop_gradient(x) * 2 + x * 3))(X), np.full(3, 3.0)
    )
    found = st.grad(lambda x, c: np.sum(x * plain(c)))(X, X)
    np.testing.assert_allclose(found, X**3)


# --- custom rules --------------------------------------------------------------------------------


def log1pexp(x):
    return np.logaddexp(0, x), x


def test_a_custom_rule_is_checked() -> None:
    rule = st.custom_rule(log1pexp, backward=lambda x, d: d / (1 + np.exp(-x)), example=(X,))
    np.testing.assert_allclose(st.grad(lambda x: np.sum(rule(x)))(X), 1 / (1 + np.exp(-X)))
    assert rule.__name__ == "log1pexp"
    with pytest.raises(st.GradientCheckError, match="adjoint of `log1pexp` is wrong"):
        st.custom_rule(log1pexp, backward=lambda x, d: d / (1 + np.exp(x)), example=(X,))


def test_a_custom_rule_as_a_decorator() -> None:
    @st.custom_rule(backward=lambda kept, d: (d * np.sum(kept[1]), d * kept[0]), example=(2.0, X))
    def product(x, y):
        return x * np.sum(y), (x, y)

    assert st.grad(lambda x: product(x, X))(2.0) == pytest.approx(np.sum(X))


# --- the complex step ----------------------------------------------------------------------------


def test_the_complex_step_agrees() -> None:
    def g(params, x):
        return {"y": np.sin(params["w"] * x) / x, "n": 3}

    primals, tangents = ({"w": 1.5}, X), ({"w": 0.3}, X)
    found = st.complex_step(lambda p, x: g(p, x)["y"], primals, tangents)
    assert_close(found, st.jvp(lambda p, x: g(p, x)["y"], primals, tangents)[1], 1e-13)


@pytest.mark.parametrize(
    ("primals", "tangents", "reason"),
    [
        (({"w": X},), ({"v": X},), "another structure"),
        ((X,), (X[:2],), r"shape \(2,\)"),
        ((X + 1j,), (X,), "complex"),
    ],
)
def test_what_the_complex_step_refuses(primals: Any, tangents: Any, reason: str) -> None:
    with pytest.raises(st.ArgumentsError, match=reason):
        st.complex_step(lambda x: x, primals, tangents)
