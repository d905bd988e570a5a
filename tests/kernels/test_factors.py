"""A matrix is factorised once in compiled loops, and its factors serve its transpose, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.wengert.ir import every_equation

numba = pytest.importorskip("numba")
RNG = np.random.default_rng(3)
STEPS, N = 20, 3
A = RNG.normal(size=(N, N)) + 3 * np.eye(N)
S = np.linspace(1.0, 2.0, STEPS)
B = RNG.normal(size=(N, 2))


def systems(a: Any, s: Any) -> Any:
    total = 0.0
    for t in range(s.shape[0]):
        m = a * s[t] + s[t] * s[t]
        total += np.sum(np.linalg.solve(m, B) ** 2)
    return total


def of_complex(a: Any, s: Any) -> Any:
    total = 0.0
    for t in range(s.shape[0]):
        x = np.linalg.solve(a + 1j * s[t] * a * a, s[0] * B[:, 0] + 0j)
        total += np.sum(np.abs(x) ** 2)
    return total


def likelihood(a: Any, s: Any) -> Any:
    """All that is computed with the factors of one matrix."""
    total = 0.0
    for t in range(s.shape[0]):
        m = a * s[t] + s[t] * s[t]
        e = B[:, 0] * s[t]
        total += np.linalg.slogdet(m)[1] + np.linalg.det(m.T) + e @ np.linalg.solve(m, e)
        total += np.sum(np.linalg.inv(m.T)[0] ** 2) + np.sum(np.linalg.solve(m.T, e))
    return total


def steps_of_one_matrix(a: Any, s: Any) -> Any:
    """Implicit steps: the matrix is the same in all of them."""
    u, m = s[:3] * 1.0, a + np.eye(N)
    for t in range(s.shape[0]):
        u = np.linalg.solve(m, u + s[t])
    return np.sum(u * u)


def transposed_before(a: Any, s: Any) -> Any:
    u, m = s[:3] * 1.0, a.T + np.eye(N)
    for t in range(s.shape[0]):
        u = np.linalg.solve(m.T * 1.0, u) + s[t] * np.linalg.solve(m, u)
    return np.sum(u * u)


def one_in_the_other(a: Any, s: Any) -> Any:
    total = 0.0
    for t in range(s.shape[0]):
        u, m = s[:3] * 1.0, a + s[t]
        for _ in range(17):
            u = np.linalg.solve(m, u + s[t])
        total += np.sum(u * u)
    return total


CASES: dict[Callable[..., Any], int] = {  # and how often a matrix is factorised
    systems: 1,
    of_complex: 1,
    likelihood: 1,
    steps_of_one_matrix: 1,
    transposed_before: 2,
    one_in_the_other: 1,
}


def named(function: Callable[..., Any]) -> str:
    return function.__name__


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)


@pytest.mark.parametrize("function", CASES, ids=named)
def test_gradients(function: Callable[..., Any]) -> None:
    derivative = st.value_and_grad(function, wrt=(0, 1), level="compiled")
    value, (d_a, d_s) = derivative(A, S)
    np.testing.assert_allclose(value, function(A, S), rtol=1e-12)
    for found, place, x in ((d_a, 0, A), (d_s, 1, S)):
        wanted = np.empty_like(x)
        for at in np.ndindex(x.shape):
            h = np.zeros_like(x)
            h[at] = 1e-6
            sides = [function(*((A + d, S) if place == 0 else (A, S + d))) for d in (h, -h)]
            wanted[at] = (sides[0] - sides[1]) / 2e-6
        np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-7 * np.abs(wanted).max())

    program = derivative.specialise(derivative.bind((A, S), {})).staged.program
    found = Counter(equation.primitive for equation in every_equation(program.equations))
    assert found["lu_factor"] == CASES[function]
    assert not found.keys() & {"solve", "inv", "det", "slogdet"}


@pytest.mark.parametrize("function", [systems, steps_of_one_matrix], ids=named)
def test_second_derivatives(function: Callable[..., Any]) -> None:
    v = RNG.normal(size=A.shape)

    def along(a: Any, s: Any) -> Any:
        return np.sum(st.grad(function)(a, s) * v)

    found = st.grad(along, level="compiled")(A, S)
    wanted = st.grad(along, level="readable")(A, S)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
