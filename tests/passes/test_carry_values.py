"""What loops hand on in place of computing it again: the gradients are the same, and cheaper."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.options import Level
from stcompile.wengert.ir import every_equation

RNG = np.random.default_rng(7)
A, Y = RNG.normal(size=(3, 3)) / 2, RNG.normal(size=3)


def steps(y0: Any, a: Any) -> Any:
    """Slopes of the last three states, of which two are known from the steps before."""
    ys = [y0, y0 * 1.1, y0 * 1.2]
    for _ in range(20):
        older = 0.3 * np.tanh(a @ ys[-2]) - 0.2 * np.tanh(a @ ys[-3])
        ys.append(ys[-1] + 0.1 * (0.9 * np.tanh(a @ ys[-1]) - older))
    return np.sum(ys[-1] ** 2) + np.sum(ys[-2])


@pytest.mark.parametrize("level", ["fast", "readable"])
def test_gradients(level: Level) -> None:
    value, (d_y, d_a) = st.value_and_grad(steps, wrt=(0, 1), level=level)(Y, A)
    np.testing.assert_allclose(value, steps(Y, A), rtol=1e-12)
    for found, x, at in ((d_y, Y, 0), (d_a, A, 1)):
        wanted = np.empty_like(x)
        for place in np.ndindex(x.shape):
            h = np.zeros_like(x)
            h[place] = 1e-6
            sides = [steps(*((Y + d, A) if at == 0 else (Y, A + d))) for d in (h, -h)]
            wanted[place] = (sides[0] - sides[1]) / 2e-6
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-8)


def test_a_slope_is_computed_once() -> None:
    """One of three a step, and those of the first two states."""
    derivative = st.value_and_grad(steps, wrt=(0, 1), level="fast")
    derivative(Y, A)
    found = Counter(e.primitive for e in every_equation(derivative.program(Y, A).equations))
    assert found["tanh"] == 3
