"""Quotients by Python numbers that are 0, as the length of a selection may be: NumPy gives an
infinity or NaN with a warning, where Python raises an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st

LEVELS = ("readable", "fast", "compiled")
X = np.array([0.5, -1.0, 2.0])
BEYOND = 10.0  # nothing is above


def an_element(x: Any) -> Any:
    return x[0] / len(x[x > BEYOND])


def mean_by_hand(x: Any) -> Any:
    selected = x[x > BEYOND]
    return np.sum(selected) / len(selected)


def scaled_before_and_after(x: Any) -> Any:
    count = int(np.sum(x > BEYOND))
    return 3.0 * (2.0 * np.sum(x) / count)


def of_arrays(x: Any) -> Any:
    return np.sum(x / len(x[x > BEYOND]))


def twice(x: Any) -> Any:
    count = len(x[x > BEYOND])
    return np.sum(x) / count / count


EXPECTED: dict[Callable[..., Any], list[float]] = {
    an_element: [np.inf, 0.0, 0.0],
    mean_by_hand: [0.0, 0.0, 0.0],  # no element is selected
    scaled_before_and_after: [np.inf] * 3,
    of_arrays: [np.inf] * 3,
    twice: [np.inf] * 3,
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("function", EXPECTED)
def test_the_length_of_an_empty_selection(
    function: Callable[..., Any], level: Any, dtype: Any
) -> None:
    x = X.astype(dtype)
    value, gradient = st.value_and_grad(function, level=level)(x)
    np.testing.assert_equal(value, function(x))
    assert gradient.dtype == dtype
    np.testing.assert_array_equal(gradient, EXPECTED[function])
    slope = st.jvp(function, (x,), (np.ones_like(x),), level=level)[1]
    assert slope == np.inf or function is mean_by_hand


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("divisor", [0.0, 0, np.array(0)])
def test_arguments(divisor: Any, level: Any) -> None:
    def share(x: Any, divisor: Any) -> Any:
        return np.sum(x) / divisor * 0.5

    value, gradient = st.value_and_grad(share, level=level)(X, divisor)
    assert value == np.inf
    np.testing.assert_array_equal(gradient, [np.inf] * 3)


@pytest.mark.parametrize("level", LEVELS)
def test_python_divides_python_numbers(level: Any) -> None:
    def share(x: float, divisor: float) -> float:
        return x / divisor

    with pytest.raises(ZeroDivisionError):
        st.value_and_grad(share, level=level)(2.0, 0.0)
    assert st.value_and_grad(share, level=level)(2.0, 4.0) == (0.5, 0.25)
