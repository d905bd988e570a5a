"""Linear algebra in compiled loops gives what NumPy's gives, and raises what it raises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.codegen_templates.loops import HELPERS

numba = pytest.importorskip("numba")
RNG = np.random.default_rng(5)
SIZES = [1, 2, 3, 7, 20]


@pytest.fixture(scope="module")
def compiled() -> dict[str, Any]:
    """The helpers as Numba compiles them."""
    space: dict[str, Any] = {"np": np}
    for name in (
        *("added", "factored", "is_singular", "solved", "solved_transposed", "inverse"),
        *("determinant", "sign_and_logarithm", "lower_factor"),
    ):
        own = HELPERS[name]
        space[name] = numba.njit(error_model="numpy")(
            type(own)(own.__code__, space, name)  # calls the others as they are compiled
        )
    return space


def _matrix(n: int, dtype: Any) -> Any:
    a = RNG.normal(size=(n, n)) + (1j * RNG.normal(size=(n, n)) if dtype is complex else 0.0)
    a[0, 0] = 0.0 if n > 1 else a[0, 0]  # rows have to be exchanged
    return a


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("n", SIZES)
def test_systems(compiled: dict[str, Any], n: int, dtype: Any) -> None:
    a = _matrix(n, dtype)
    for b in (RNG.normal(size=n), RNG.normal(size=(n, 1)), RNG.normal(size=(3, n)).T):
        b = b.astype(dtype)
        for m in (a, a.T):
            factors = compiled["factored"](m)
            for name, of in (("solved", m), ("solved_transposed", m.T)):
                found, wanted = compiled[name](factors, b), np.linalg.solve(of, b)
                assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
                np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
    factors = compiled["factored"](a)
    found = compiled["inverse"](factors)
    np.testing.assert_allclose(found, np.linalg.inv(a), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(compiled["determinant"](factors), np.linalg.det(a), rtol=1e-10)


@pytest.mark.parametrize("n", SIZES)
def test_real_matrices(compiled: dict[str, Any], n: int) -> None:
    a = _matrix(n, float)
    for m in (a, a[:, ::-1]):
        found = compiled["sign_and_logarithm"](compiled["factored"](m))
        np.testing.assert_allclose(found, np.linalg.slogdet(m), 1e-10)
    positive = a @ a.T + np.eye(n)
    lower = positive + np.triu(RNG.normal(size=(n, n)), 1)  # the other triangle is not read
    np.testing.assert_allclose(
        compiled["lower_factor"](lower), np.linalg.cholesky(lower), rtol=1e-12, atol=1e-14
    )


def test_a_pivot_without_a_reciprocal(compiled: dict[str, Any]) -> None:
    a, b = np.array([[2e-310, 3e-310], [1e-310, -4e-310]]), np.array([1e-310, 1e-310])
    wanted = np.linalg.solve(a * 1e300, b * 1e300)  # of `a` itself LAPACK's are wrong
    np.testing.assert_allclose(compiled["solved"](compiled["factored"](a), b), wanted, rtol=1e-9)


SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])


@pytest.mark.parametrize("dtype", [float, complex])
def test_singular_matrices(compiled: dict[str, Any], dtype: Any) -> None:
    for a in (SINGULAR.astype(dtype), np.zeros((3, 3), dtype)):
        factors = compiled["factored"](a)
        assert compiled["determinant"](factors) == np.linalg.det(a) == 0.0
        for name in ("solved", "solved_transposed"):
            with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
                compiled[name](factors, a)
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            compiled["inverse"](factors)
    assert compiled["sign_and_logarithm"](compiled["factored"](SINGULAR)) == (0.0, -np.inf)
    for a in (SINGULAR, -np.eye(2)):
        with pytest.raises(np.linalg.LinAlgError, match="Matrix is not positive definite"):
            compiled["lower_factor"](a)


def test_nan(compiled: dict[str, Any]) -> None:
    for a in (np.array([[1.0, np.nan], [0.0, 1.0]]), np.array([[np.nan, 1.0], [1.0, 1.0]])):
        factors = compiled["factored"](a)
        np.testing.assert_equal(compiled["solved"](factors, np.ones(2))[0], np.nan)
        np.testing.assert_equal(compiled["determinant"](factors), np.nan)
        np.testing.assert_equal(compiled["lower_factor"](a.T)[1, 1], np.nan)


@pytest.mark.parametrize("is_compiled", [False, True])
def test_a_singular_step(is_compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop raises as the function does."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", not is_compiled)

    def solved(a: Any, s: Any) -> Any:
        total = 0.0
        for t in range(20):
            total += np.sum(np.linalg.solve(a * s[t] + s[t] * s[t], np.ones(2)))
        return total

    a, s = np.array([[2.0, 1.0], [0.0, 3.0]]), np.linspace(1.0, 2.0, 20)
    derivative = st.value_and_grad(solved, level="compiled")
    value, gradient = derivative(a, s)
    wanted, d_wanted = st.value_and_grad(solved, level="readable")(a, s)
    np.testing.assert_allclose(value, wanted, rtol=1e-13)
    np.testing.assert_allclose(gradient, d_wanted, rtol=1e-12)
    assert "= solved_transposed(" in str(derivative.source(a, s))
    s[13] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        solved(a, s)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        derivative(a, s)
