"""`assert_gradients`: what it accepts, and what it says."""

from __future__ import annotations

import re

import numpy as np
import pytest

import stcompile as st
from stcompile.testing import assert_gradients
from stcompile.transforms.gradient import Gradient


def weighted(params: dict[str, np.ndarray], x: np.ndarray) -> float:
    return np.sum(np.tanh(x @ params["W"]) * st.stop_gradient(params["scale"]))


PARAMS = {"W": np.linspace(-1, 1, 6).reshape(3, 2), "scale": np.array([2.0, 3.0])}
X = np.linspace(0, 1, 12).reshape(4, 3)


def test_right_gradients_pass() -> None:
    def f(x, y=2.0):
        return np.sum(np.sin(x) * y)

    assert_gradients(f, X)
    assert_gradients(f, X.astype(np.float32), y=3.0)
    assert_gradients(f, X, 2.0, wrt=("x", "y"))
    assert_gradients(st.differentiable(f, wrt="y"), X, 2.0)
    assert_gradients(st.grad(f, wrt=1), X, 2.0)
    assert_gradients(weighted, PARAMS, X, wrt="x")


def test_a_wrong_one_says_where_with_both_numbers() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_gradients(weighted, PARAMS, X)
    first, head, _, *rows = str(caught.value).splitlines()
    assert first == "the gradient of `weighted` differs from finite differences in 2 of 8 entries:"
    assert head.split() == ["by", "gradient", "differences", "relative", "error"]
    assert [row.split()[0] for row in rows] == ['params["scale"][0]', 'params["scale"][1]']
    expected = np.sum(np.tanh(X @ PARAMS["W"]), axis=0)
    for row, number in zip(rows, expected, strict=True):
        _, gradient, difference, error = row.split()
        assert float(gradient) == 0
        assert float(difference) == pytest.approx(number)
        assert float(error) == 1


def test_many_wrong_entries_are_counted() -> None:
    with pytest.raises(AssertionError, match=r"in 12 of 12 entries") as caught:
        assert_gradients(lambda x: np.sum(x * st.stop_gradient(x)), X + 1)
    assert str(caught.value).endswith("… 2 more")


def test_tolerance_is_relative() -> None:
    def nearly(x):
        return x * x + 1e-3 * x * st.stop_gradient(x)

    with pytest.raises(AssertionError):
        assert_gradients(nearly, 2.0)
    assert_gradients(nearly, 2.0, tolerance=1e-3)


def test_the_level_of_the_function_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = []
    build = Gradient.build

    def noted(gradient, arguments):
        levels.append(gradient.options.level)
        return build(gradient, arguments)

    monkeypatch.setattr(Gradient, "build", noted)

    @st.differentiable(level="readable")
    def f(x):
        return np.sum(x * x)

    assert_gradients(f, X)
    assert set(levels) == {"readable"}


def test_a_refusal_is_a_refusal() -> None:
    with pytest.raises(st.DerivativeError, match=re.escape("returns an array of shape (4, 3)")):
        assert_gradients(lambda x: x * x, X)
