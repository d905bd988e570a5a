"""Large arrays of a kernel's own are buffers of the workspace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

numba = pytest.importorskip("numba")
RNG = np.random.default_rng(3)
LARGE, SMALL = RNG.normal(size=(100, 90)), RNG.normal(size=(10, 9))


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)


def smoothed(x: Any) -> Any:
    """What is in between is read in several places, so that it is stored."""
    y = x[1:] * x[:-1] + x[1:] * 0.5 - x[:-1]
    z = y[:, 1:] * y[:, :-1] - y[:, 1:] * y[:, 1:] * 0.25
    return z[1:] * z[:-1] + z[1:]


@pytest.mark.parametrize(("x", "made"), [(LARGE, 0), (SMALL, 1)])
def test_large_arrays_are_lent(x: Any, made: int) -> None:
    compiled = st.compile(smoothed, level="compiled")
    kernels, _, _ = str(compiled.source(x)).partition("def workspace")
    assert kernels.count("np.empty(") == made + 1  # the result
    np.testing.assert_allclose(compiled(x), smoothed(x), rtol=1e-12)


def test_what_calls_return_is_their_own() -> None:
    gradient = st.value_and_grad(lambda x: np.sum(smoothed(x)), level="compiled")
    value, first = gradient(LARGE)
    kept = first.copy()
    other, second = gradient(2.0 - LARGE)
    np.testing.assert_array_equal(first, kept)
    again, third = gradient(LARGE)
    assert again == value != other
    np.testing.assert_array_equal(third, kept)
    assert not np.shares_memory(first, second)
    direction, step = RNG.normal(size=LARGE.shape), 1e-6
    over, under = (np.sum(smoothed(LARGE + sign * step * direction)) for sign in (1, -1))
    np.testing.assert_allclose(np.sum(first * direction), (over - under) / (2 * step), rtol=1e-6)


def repeated(x: Any) -> Any:
    """A kernel between calls in a loop: each step has the same buffers."""
    for _ in range(17):
        y = x[:, 1:] * x[:, :-1]
        z = y[1:] * y[:-1] - y[1:]
        x = x.copy()
        x[1:, 1:] += 0.01 * np.cumsum(z * z + y[1:] * z, axis=0)
    return np.sum(x * x)


def test_kernels_of_loops() -> None:
    x = 0.1 * LARGE
    value, gradient = st.value_and_grad(repeated, level="compiled")(x)
    expected, other = st.value_and_grad(repeated)(x)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient, other, rtol=1e-10, atol=1e-12)


def differences(x: Any) -> Any:
    """Its adjoint puts arrays between zeros, of which each is made for that alone."""
    steps = x[1:] - x[:-1]
    steps = np.where(steps * x[1:] > 0.1, 0.0, steps)
    bends = steps[1:, 1:] - steps[:-1, 1:] + steps[1:, :-1]
    return np.sum(bends * bends * x[1:-1, 1:])


@pytest.mark.parametrize("x", [LARGE, SMALL])
def test_what_stands_between_zeros_is_made_there(x: Any) -> None:
    compiled = st.value_and_grad(differences, level="compiled")
    source = str(compiled.source(x))
    kernels, _, calls = source.partition("def workspace" if x is LARGE else "def differences")
    assert "np.copy" not in kernels
    assert ("np.zeros(" in kernels) == (x is SMALL)
    assert "copyto" not in calls and "fill(" not in calls
    value, gradient = compiled(x)
    expected, other = st.value_and_grad(differences, level="readable")(x)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient, other, rtol=1e-10, atol=1e-12)


def escaping(c: Any) -> Any:
    """The data end the inner loop, whose adjoint is no kernel."""
    out = np.zeros(c.shape)
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            z = 0.0
            for _ in range(20):
                z = z * z + c[i, j]
                if z > 2:
                    break
            out[i, j] = z
    return np.sum(out**2)


def test_what_steps_write_to_is_read_before() -> None:
    """The cotangent of an element is taken before it is set to 0: no array is copied for that."""
    c = np.random.default_rng(0).random((20, 19))
    compiled = st.value_and_grad(escaping, level="compiled")
    _, _, adjoint = str(compiled.source(c)).rpartition("# --- adjoint")
    assert "copyto" not in adjoint
    value, gradient = compiled(c)
    expected, other = st.value_and_grad(escaping, level="readable")(c)
    assert value == pytest.approx(expected, rel=1e-12) == escaping(c)
    np.testing.assert_allclose(gradient, other, rtol=1e-12)
