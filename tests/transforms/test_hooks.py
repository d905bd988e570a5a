"""``stop_gradient`` and ``on_cotangent``; ``has_aux``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

X = np.array([0.5, -1.5, 2.0])
LEVELS = ("readable", "fast")
every_level = pytest.mark.parametrize("level", LEVELS)


# --- stop_gradient -------------------------------------------------------------------------------


def stopped(x):
    return np.sum(x * x * st.stop_gradient(np.sin(x)))


@every_level
def test_a_stopped_value_is_a_constant(level: Any) -> None:
    value, gradient = st.value_and_grad(stopped, level=level)(X)
    assert value == stopped(X)
    np.testing.assert_allclose(gradient, 2 * X * np.sin(X))
    _, tangent = st.jvp(stopped, (X,), (np.ones(3),), level=level)
    assert tangent == pytest.approx(np.sum(2 * X * np.sin(X)))
    np.testing.assert_allclose(
        st.hessian(stopped, level=level)(X), np.diag(2 * np.sin(X)), atol=1e-15
    )


def test_structures_are_stopped_whole() -> None:
    def f(params):
        fixed = st.stop_gradient(params)
        return np.sum(params["a"] * fixed["a"]) + fixed["more"][0] * params["n"]

    found = st.grad(lambda p: f({**p, "n": 3}))({"a": X, "more": [2.0]})
    np.testing.assert_allclose(found["a"], X)
    assert found["more"] == [0.0]


def test_the_operand_itself_keeps_its_gradient() -> None:
    """A straight-through estimator (Bengio et al., 2013)."""

    def rounded(x):
        return np.sum(x + st.stop_gradient(np.round(x) - x)) * 3

    value, gradient = st.value_and_grad(rounded)(X)
    assert value == 3 * np.sum(np.round(X))
    np.testing.assert_array_equal(gradient, np.full(3, 3.0))


# --- on_cotangent --------------------------------------------------------------------------------


@every_level
def test_a_cotangent_is_clipped(level: Any) -> None:
    def f(x):
        h = st.on_cotangent(x**2, lambda d: np.clip(d, -1, 1))
        return np.sum(h * np.array([0.5, 3.0, -7.0]))

    value, gradient = st.value_and_grad(f, level=level)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, 2 * X * np.array([0.5, 1, -1]))
    tangent = st.jvp(f, (X,), (np.ones(3),), level=level)[1]
    assert tangent == pytest.approx(np.sum(2 * X * np.array([0.5, 3.0, -7.0])))


def test_a_cotangent_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        h = st.on_cotangent(x**2, print)
        print("forward")
        return 3.0 * h

    assert st.grad(f)(2.0) == 12.0
    assert capsys.readouterr().out == "forward\n3.0\n"


def test_each_part_of_a_structure() -> None:
    def f(a, b):
        pair = st.on_cotangent({"a": a, "b": b, "n": 2}, lambda d: 10 * d)
        return pair["a"] * pair["b"] * pair["n"]

    assert st.grad(f, (0, 1))(2.0, 3.0) == (60.0, 40.0)


def test_by_a_norm_of_the_whole() -> None:
    """Clipping by the norm, in a recurrence (Pascanu et al., 2013)."""

    def limited(d):
        norm = np.sqrt(np.sum(d * d))
        return d * np.where(norm > 1.0, 1.0 / norm, 1.0)

    def f(x):
        for _ in range(10):
            x = st.on_cotangent(3 * x, limited)
        return np.sum(x)

    assert np.linalg.norm(st.grad(f)(X)) == pytest.approx(3.0)


def test_another_shape_is_refused() -> None:
    with pytest.raises(st.DerivativeError, match="of the same shape"):
        st.grad(lambda x: np.sum(st.on_cotangent(x, lambda d: d[0])))(X)


# --- has_aux -------------------------------------------------------------------------------------


def with_aux(x):
    h = np.tanh(x)
    return np.sum(h), {"h": h, "n": 3}


@every_level
def test_what_else_a_function_returns(level: Any) -> None:
    (value, aux), gradient = st.value_and_grad(with_aux, has_aux=True, level=level)(X)
    assert value == np.sum(np.tanh(X))
    np.testing.assert_array_equal(aux["h"], np.tanh(X))
    assert aux["n"] == 3
    np.testing.assert_allclose(gradient, 1 - np.tanh(X) ** 2)
    same, other = st.grad(with_aux, has_aux=True, level=level)(X)
    np.testing.assert_array_equal(same, gradient)
    np.testing.assert_array_equal(other["h"], aux["h"])
    value, tangent, aux = st.jvp(with_aux, (X,), (X,), has_aux=True, level=level)
    assert tangent == pytest.approx(np.dot(gradient, X))
    value, pullback, aux = st.vjp(with_aux, X, has_aux=True, level=level)
    np.testing.assert_allclose(pullback(2.0)[0], 2 * gradient)
    matrix, aux = st.hessian(with_aux, has_aux=True, level=level)(X)
    np.testing.assert_allclose(matrix, np.diag(-2 * np.tanh(X) * (1 - np.tanh(X) ** 2)))
    np.testing.assert_array_equal(aux["h"], np.tanh(X))


def test_it_is_a_pair() -> None:
    with pytest.raises(st.DerivativeError, match="returns a pair"):
        st.grad(lambda x: np.sum(x), has_aux=True)(X)


def test_it_is_not_exported(tmp_path: Any) -> None:
    with pytest.raises(st.ExportError, match="has_aux"):
        st.grad(with_aux, has_aux=True).export(tmp_path / "f.py", X)
