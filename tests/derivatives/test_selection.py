"""Ties, NaNs and bounds of the primitives that select."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stcompile.codegen_templates.derivatives import DERIVATIVES
from tests.derivatives.numeric import check_rule, cotangents

X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])
Y = np.array([0.7, 1.0, 2.0])
SELECTING = ["maximum", "minimum", "fmax", "fmin"]


@pytest.mark.parametrize("name", SELECTING)
@pytest.mark.parametrize("active", [(True, True), (True, False), (False, True)])
def test_without_ties(name: str, active: tuple[bool, bool]) -> None:
    check_rule(name, (X, Y), active=active)
    check_rule(name, (Y, X), active=active)
    check_rule(name, (np.float64(0.1), X), active=active)


@pytest.mark.parametrize("name", SELECTING)
def test_ties(name: str) -> None:
    x = np.array([1.0, 1.0], np.float32)
    both = DERIVATIVES[name](x, x, x, active=(True, True))
    for partial in both:
        assert partial.dtype == np.float32
        np.testing.assert_array_equal(partial, [0.5, 0.5])
    for active in ((True, False), (False, True)):
        for partial in DERIVATIVES[name](x, x, x, active=active):
            np.testing.assert_array_equal(partial, [0, 0])


def test_the_first_maximum_wins_a_tie() -> None:
    check_rule("first_maximum", (X, Y))
    check_rule("first_maximum", (Y, X))
    x, y = np.array([1.0, 2.0, 0.0]), np.array([1.0, 1.0, 3.0])
    d_x, d_y = DERIVATIVES["first_maximum"](np.maximum(x, y), x, y, np.full(3, 5.0))
    np.testing.assert_array_equal(d_x, [5, 5, 0])
    np.testing.assert_array_equal(d_y, [0, 0, 5])


def test_zeros_of_a_strong_product_win() -> None:
    check_rule("strong_product", (X, Y))
    x, y = np.array([0.0, 2.0, 0.0]), np.array([np.inf, 3.0, np.nan])
    with np.errstate(invalid="ignore"):
        d_x, d_y = DERIVATIVES["strong_product"](x, x, y, np.array([0.0, 1.0, 0.0]))
    np.testing.assert_array_equal(d_x, [0, 3, 0])
    np.testing.assert_array_equal(d_y, [0, 2, 0])


@pytest.mark.parametrize("name", ["fmax", "fmin"])
def test_numbers_win_against_nan(name: str) -> None:
    x, y = np.array([np.nan, 1.0]), np.array([2.0, np.nan])
    for active in ((True, True), (True, False)):
        d_x, d_y = DERIVATIVES[name](np.array([2.0, 1.0]), x, y, active=active)
        np.testing.assert_array_equal(d_x, [0, 1])
        np.testing.assert_array_equal(d_y, [1, 0])


@pytest.mark.parametrize("low", [-1.5, np.float64(-1.5), Y - 1.5])
@pytest.mark.parametrize("high", [2.5, np.float64(2.5), Y + 0.8, Y - 3.1])
def test_clip(low: Any, high: Any) -> None:
    check_rule("clip", (X, low, high))


def test_clip_at_a_bound_is_flat() -> None:
    x = np.array([0.0, 0.5, 1.0])
    np.testing.assert_array_equal(cotangents("clip", (x, 0.0, 1.0), np.ones(3), {})[0], [0, 1, 0])


def test_where() -> None:
    check_rule("where", (X > 0, X, Y))
    check_rule("where", (X[0] > 0, np.float64(2.0), X))
    check_rule("where", (True, X, Y))


def test_where_keeps_infinities_apart() -> None:
    cond, x = np.array([True, False]), np.array([1.0, 2.0])
    _, d_x, d_y = cotangents("where", (cond, x, x), np.array([np.inf, np.nan]), {})
    np.testing.assert_array_equal(d_x, [np.inf, 0])
    np.testing.assert_array_equal(d_y, [0, np.nan])
