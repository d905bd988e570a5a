"""Kernels refuse indices that NumPy refuses, with NumPy's words and the user's line."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st

numba = pytest.importorskip("numba")


def _written_by_a_counter(x: Any, k: Any) -> Any:
    y = np.zeros(150)
    for i in range(200):
        y[i] = x[0] * i  # here
    return np.sum(y)


def _read_by_a_counter(x: Any, k: Any) -> Any:
    y = 0.0
    for i in range(200):
        y += x[i]  # here
    return y


def _read_of_a_part(x: Any, k: Any) -> Any:
    part, y = x[2:6], 0.0
    for i in range(8):
        for j in range(100):
            y += part[i] * j  # here
    return y


def _written_by_data(x: Any, k: Any) -> Any:
    y = np.zeros((3, 4))
    for i in range(k.shape[0]):
        y[1, k[i]] = x[0] * i  # here
    return np.sum(y)


def _added_by_data(x: Any, k: Any) -> Any:
    y = np.zeros((4, 3))
    for i in range(k.shape[0]):
        y[k[i]] += x[:3] * i  # here
    return np.sum(y)


def _read_by_data(x: Any, k: Any) -> Any:
    part, y = x[2:6] * 2.0, 0.0
    for i in range(k.shape[0]):
        y += part[k[i]] * x[k[i]]  # here
    return y


def _counted_by_data(x: Any, k: Any) -> Any:
    y = np.zeros(4)
    for i in range(k[-1]):
        for j in range(i):
            y[j] += x[0] * i  # here
    return np.sum(y)


COUNTED = (_written_by_a_counter, _read_by_a_counter, _read_of_a_part)
BY_DATA = (_written_by_data, _added_by_data, _read_by_data, _counted_by_data)
X = np.arange(1.0, 9.0)
WITHIN, NEGATIVE = np.arange(100) // 25, np.arange(100) // 25 - 4
ABOVE, BELOW = np.arange(100) // 15, np.full(100, -5)


def _told(function: Callable[..., Any], *arguments: Any) -> tuple[str, str]:
    """The error of a call, and the line that it was raised for."""
    with pytest.raises(IndexError) as caught:
        function(*arguments)
    error = caught.value
    if notes := getattr(error, "__notes__", ()):
        return str(error).splitlines()[0], notes[0].splitlines()[-2].partition("| ")[2]
    return str(error), traceback.extract_tb(error.__traceback__)[-1].line or ""


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("function", [*COUNTED, *BY_DATA])
def test_refused(
    function: Callable[..., Any], is_compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_compiled and function not in (_written_by_a_counter, _written_by_data):
        pytest.skip("compiling takes long")
    monkeypatch.setattr(numba.config, "DISABLE_JIT", not is_compiled)
    gradient = st.value_and_grad(function, wrt="x", level="compiled")
    for k in (ABOVE, BELOW)[: 1 if function in COUNTED or function is _counted_by_data else 2]:
        message, line = _told(gradient, X, k)
        assert message == _told(function, X, k)[0]
        assert line.endswith("# here")


@pytest.mark.parametrize("k", [WITHIN, NEGATIVE])
@pytest.mark.parametrize("function", BY_DATA)
def test_taken(function: Callable[..., Any], k: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    value, gradient = st.value_and_grad(function, wrt="x", level="compiled")(X, k)
    expected, d_expected = st.value_and_grad(function, wrt="x", level="readable")(X, k)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    np.testing.assert_allclose(gradient, d_expected, rtol=1e-13)


def test_counters_that_fit_are_not_checked() -> None:
    def triangle(x: Any) -> Any:
        y = 0.0
        for i in range(200):
            for j in range(i):
                y += x[i] * x[i - j] * x[j]
        return y

    source = str(st.value_and_grad(triangle, level="compiled").source(np.ones(200)))
    assert "index_within" not in source and "boundscheck" not in source


def test_numpy_checks_what_is_no_kernel() -> None:
    def rows(x: Any, k: Any) -> Any:
        return np.sum(np.linalg.eigvalsh(x[k[0]]))

    source = str(st.compile(rows, level="compiled").source(np.ones((3, 2, 2)), np.array([1])))
    assert "x[k[0]]" in source and "index_within" not in source


@pytest.mark.parametrize("n", [1, 3, 4])
def test_the_place_of_an_extremum_in_what_may_be_nothing(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pivoted(a: Any) -> Any:
        d, order = np.diag(a).copy(), np.arange(len(a))
        for k in range(len(a)):
            p = k + np.argmax(d[order[k:]])
            order[k], order[p] = order[p], order[k]
            if d[order[k]] < 1e-2:
                break
            for i in range(k + 1, len(a)):
                d[order[i]] -= a[order[i], k] ** 2
        return np.sum(d * d)

    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    root = np.random.default_rng(0).normal(size=(n, n))
    a = root @ root.T
    value, slope = st.value_and_grad(pivoted, level="compiled")(a)
    assert value == pytest.approx(pivoted(a), rel=1e-12)
    along = np.random.default_rng(1).normal(size=a.shape)
    difference = (pivoted(a + 1e-6 * along) - pivoted(a - 1e-6 * along)) / 2e-6
    assert np.sum(slope * along) == pytest.approx(difference, rel=1e-6)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3)])
@pytest.mark.parametrize("k", [-1, -2, 1])
def test_one_integer_on_axes_of_several_lengths(shape: tuple[int, int], k: int) -> None:
    """A negative one is another place on each."""

    def f(x: Any, k: Any) -> Any:
        i, y = k[0], x * 2.0
        y[i, i] = y[i, i] * y[0, i]
        return y[i, i] * x[i, i] + y[i, 0]

    x, indices = np.linspace(0.5, 2.0, 15).reshape(shape), np.array([k])
    value, gradient = st.value_and_grad(f, level="compiled")(x, indices)
    expected, readable = st.value_and_grad(f, level="readable")(x, indices)
    np.testing.assert_allclose(value, f(x, indices), rtol=1e-14)
    assert value == pytest.approx(expected)
    np.testing.assert_allclose(gradient, readable, rtol=1e-14)
    step = 1e-6 * np.cos(np.arange(15.0)).reshape(shape)
    difference = (f(x + step, indices) - f(x - step, indices)) / 2
    np.testing.assert_allclose(np.sum(gradient * step), difference, rtol=1e-6)
