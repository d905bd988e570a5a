"""Selections in C whose numbers of items data decide: their items, and selections of them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.native.test_c import run_self_test
from tests.native.test_c_calls import loaded, pointers

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no GCC")


def first(x: Any) -> Any:
    return x[x > 0][0] ** 2


def third_and_last_but_one(x: Any) -> Any:
    y = x[x > 0]
    return y[2] * y[-2]


def of_a_selection(x: Any) -> Any:
    y = x[x > 0]
    z = y[y < 1]
    return np.sum(z**3)


def of_what_is_unique(x: Any) -> Any:
    y = np.unique(x)
    return np.sum(y[y > 0] ** 2)


def unique_of_a_selection(x: Any) -> Any:
    return np.sum(np.unique(x[x > 0]) ** 2)


def places_in_a_selection(x: Any) -> Any:
    y = x[x > 0]
    return np.sum(y[np.nonzero(y < 1)[0]] ** 2)


def third_place(x: Any) -> Any:
    return x[np.nonzero(x > 0)[0][2]] ** 2


def mask_that_changes(x: Any) -> Any:
    m = x > 0
    a = np.sum(x[m] ** 2)
    m[0] = False
    return a * np.sum(x[m] ** 3) + np.sum(m)


def number_and_items(x: Any) -> Any:
    m = x > 0
    return np.sum(x[m] ** 2) * np.sum(m)


def two_selections(x: Any) -> Any:
    return np.sum(x[x > 0] * x[::-1][x < 0])


PROGRAMS = (
    *(first, third_and_last_but_one, of_a_selection, of_what_is_unique, unique_of_a_selection),
    *(places_in_a_selection, third_place, mask_that_changes, number_and_items, two_selections),
)
GIVEN = (
    np.array([0.5, -0.2, 3.0, -1.5, 0.7, -0.3]),
    np.array([2.0, 1.5, 0.1, -2.0, -1.0, -0.5]),
    np.array([-1.0, 0.4, -1.0, -1.0, -1.0, -1.0]),
    np.array([-1.0, -2.0, -1.0, -1.0, -3.0, -1.0]),
)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_data_decide_how_many_there_are(function: Any, tmp_path: Path) -> None:
    """Other data have other numbers of items; what Python raises then is a code."""
    st.value_and_grad(function).export(tmp_path / "made.c", GIVEN[0])
    assert run_self_test(tmp_path / "made.c").endswith("ok\n")
    called = loaded(tmp_path / "made.c", f"{function.__name__}_value_and_grad")
    plain = st.value_and_grad(function, level="readable")
    for x in GIVEN:
        value, slope = np.full(1, np.nan), np.full(6, np.nan)
        code = called(*pointers(x, value, slope, np.full(500, np.nan)))
        try:
            expected = plain(x)
        except (IndexError, ValueError):
            assert code > 0
        else:
            assert code == 0
            np.testing.assert_allclose(value[0], expected[0], rtol=1e-12)
            np.testing.assert_allclose(slope, expected[1], rtol=1e-12, atol=1e-14)


def test_means_of_named_axes_are_c(tmp_path: Path) -> None:
    def loss(w: Any, x: Any) -> Any:
        return np.mean((x @ w) ** 2) + np.var(x)

    w, x = np.linspace(-1.0, 1.0, 6).reshape(3, 2), np.linspace(0.0, 2.0, 12).reshape(4, 3)
    st.value_and_grad(loss, wrt=("w", "x"), dynamic=True).export(tmp_path / "made.c", w, x)
    assert run_self_test(tmp_path / "made.c").endswith("ok\n")
