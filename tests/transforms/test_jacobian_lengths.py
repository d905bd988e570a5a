"""Jacobians of results that are as long as the data decide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.transforms.checks import assert_close
from tests.transforms.test_jacobian import MODES, columns

WAYS = [
    *(("auto", level) for level in ("readable", "fast", "compiled")),
    ("forward", "readable"),
    ("reverse", "fast"),
]
OBS = np.sin(np.arange(1.0, 121.0))
GROUP = np.repeat(np.arange(20), 6)
SOME = np.cos(np.arange(1.0, 21.0))
POINTS = [SOME, -SOME, -np.arange(1.0, 21.0), np.arange(1.0, 21.0) / 9]  # some, others, none, all


def of_a_constant_mask(x: Any) -> Any:
    return x[0] - OBS[GROUP == 0]


def selected(x: Any) -> Any:
    return x[x > 0] ** 2


def rows(x: Any) -> Any:
    return np.tanh(np.outer(x[x > 0], x))


def square(x: Any) -> Any:
    y = x[x > 0]
    return np.outer(y, y)


def a_part(x: Any) -> Any:
    return np.sin(x[: int(np.sum(x > 0))])


def joined(x: Any) -> Any:
    return np.concatenate([x[x > 0.5], np.sort(x[x < 0]) * x[0]])


def by_counts(x: Any) -> Any:
    return np.repeat(x, (x > 0).astype(int)) ** 2


def by_a_loop(x: Any) -> Any:
    y = x[x > 0]
    h = y * 1.0
    for i in range(len(y)):
        h[i] = np.sin(y[i]) * y[0]
    return h


def from_a_list(x: Any) -> Any:
    found = []
    for v in x:
        if v > 0:
            found.append(v * v)
    return np.array(found)


FUNCTIONS = (
    of_a_constant_mask, selected, rows, square, a_part, joined, by_counts, by_a_loop, from_a_list,
)  # fmt: skip


@pytest.mark.parametrize(("mode", "level"), WAYS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_it_is_that_of_differences(function: Callable[..., Any], mode: Any, level: Any) -> None:
    """One compilation for all numbers of items, none among them."""
    if function is by_counts and mode == "reverse":
        pytest.skip("what np.repeat makes has no bound")
    jacobian = st.jacobian(function, mode=mode, level=level)
    for x in POINTS:
        assert_close(jacobian(x), columns(function, (x,)))


@pytest.mark.parametrize("mode", MODES)
def test_beside_other_results(mode: Any) -> None:
    def several(x: Any, w: Any) -> Any:
        return {"some": x[x > 0] * w[1], "all": x * w[0]}, x[x > 0]

    w = np.array([2.0, 3.0])
    found, beside = st.jacobian(several, wrt=(0, 1), mode=mode, has_aux=True)(SOME, w)
    chosen = SOME > 0
    np.testing.assert_array_equal(beside, SOME[chosen])
    np.testing.assert_allclose(found["some"][0], 3 * np.eye(20)[chosen])
    np.testing.assert_allclose(found["some"][1], np.outer(SOME[chosen], [0.0, 1.0]))
    np.testing.assert_allclose(found["all"][0], 2 * np.eye(20))


@pytest.mark.parametrize("mode", MODES)
def test_long_ones(mode: Any) -> None:
    x = np.sin(np.arange(1.0, 1201.0))
    found = st.jacobian(selected, mode=mode)(x)
    np.testing.assert_allclose(found, np.diag(2 * x)[x > 0])


def test_derivatives_of_it() -> None:
    found = st.jacobian(st.jacobian(selected))(SOME)
    places = np.flatnonzero(SOME > 0)
    expected = np.zeros((len(places), 20, 20))
    expected[np.arange(len(places)), places, places] = 2
    np.testing.assert_allclose(found, expected)
    total = st.grad(lambda x: np.sum(st.jacobian(selected)(x) ** 2))(SOME)
    np.testing.assert_allclose(total, 8 * np.maximum(SOME, 0))


def of_a_selection(x):
    y = x[x > 0]
    return y[y > 0.5] ** 2


def of_sorted_ones(x):
    y = np.unique(x * 2)
    return y[y > 0] ** 2


def of_joined_ones(x):
    y = x[x > 0]
    z = np.concatenate([y, y * 2])
    return z[z > 1] ** 2


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("f", [of_a_selection, of_sorted_ones, of_joined_ones])
def test_selections_of_selections(f, mode):
    x = np.array([0.3, -0.1, 1.2, 0.8, -1.2])
    steps = 1e-6 * np.eye(5)
    expected = np.stack([(f(x + e) - f(x - e)) / 2e-6 for e in steps], axis=1)
    np.testing.assert_allclose(st.jacobian(f, mode=mode)(x), expected, rtol=1e-6, atol=1e-9)
