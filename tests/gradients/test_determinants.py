"""Logarithms of determinants that are no floating-point numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

N = 200
LEVELS = ("readable", "fast")


def by_slogdet(s: Any) -> Any:
    return np.linalg.slogdet(s)[1]


def by_det(s: Any) -> Any:
    return np.log(np.linalg.det(s))


def of_several(s: Any) -> Any:
    return np.sum(np.log(np.linalg.det(s[None] * np.ones((2, 1, 1)))))


def matrix(scale: float) -> np.ndarray[Any, Any]:
    a = np.random.default_rng(0).normal(size=(N, N))
    return scale * (a @ a.T / N + np.eye(N))


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:overflow")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("function", [by_slogdet, by_det, of_several])
def test_the_gradient_is_the_inverse(function: Any, scale: float, level: Any) -> None:
    s = matrix(scale)
    gradient = st.grad(function, level=level)(s)
    times = 2 if function is of_several else 1
    np.testing.assert_allclose(gradient, times * np.linalg.inv(s).T, rtol=1e-9, atol=1e-12 / scale)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_slogdet_by_differences(scale: float) -> None:
    s = matrix(scale)
    direction = scale * np.random.default_rng(1).normal(size=(N, N))
    step = 1e-6
    difference = (by_slogdet(s + step * direction) - by_slogdet(s - step * direction)) / (2 * step)
    assert np.sum(st.grad(by_slogdet)(s) * direction) == pytest.approx(difference, rel=1e-6)
