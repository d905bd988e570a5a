"""Rules of what boolean masks select: reductions and writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.derivatives.numeric import check_rule, cotangents

X = np.random.default_rng(0).permutation(np.linspace(-1, 1, 24)).reshape(3, 4, 2)
MASKS = [X > 0, X[..., 0] > 0, X[:, 0, 0] > 0]
REDUCTIONS = ("sum", "prod", "mean", "max", "min")


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_reductions(reduce: str, mask: Any) -> None:
    ndim = X.ndim - mask.ndim + 1
    for axis in ((0,), tuple(range(ndim)), (0, ndim - 1)[: min(ndim, 2)]):
        check_rule("masked", (X, mask), {"reduce": reduce, "axis": axis})


@pytest.mark.parametrize("mask", MASKS)
def test_writes(mask: Any) -> None:
    trailing = X.shape[mask.ndim :]
    for v in (np.float64(2), np.array(3.0), np.ones(trailing), np.ones((1, *trailing))):
        check_rule("masked_update", (X, v, mask), {"items": False})
    check_rule("masked_update", (X, X * 2, mask), {"items": True})
    narrow = X[(slice(None),) * mask.ndim + (slice(1),) * len(trailing)]
    check_rule("masked_update", (X, narrow, mask), {"items": True})


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_nothing_comes_from_outside(reduce: str) -> None:
    x = np.array([np.nan, 2.0, np.inf, 3.0, -np.inf])
    params = {"reduce": reduce, "axis": (0,)}
    d_x, _ = cotangents("masked", (x, np.isfinite(x)), np.float64(1), params)
    assert np.all(d_x[[0, 2, 4]] == 0) and np.all(np.isfinite(d_x))


def test_extrema_that_tie_share() -> None:
    x, mask = np.array([2.0, 2.0, 2.0, 1.0]), np.array([True, True, False, True])
    d_x, _ = cotangents("masked", (x, mask), np.float64(1), {"reduce": "max", "axis": (0,)})
    np.testing.assert_array_equal(d_x, [0.5, 0.5, 0, 0])


def test_a_mean_of_nothing_has_no_gradient() -> None:
    x, mask = np.ones(3), np.zeros(3, bool)
    params = {"reduce": "mean", "axis": (0,)}
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        d_x, _ = cotangents("masked", (x, mask), np.float64(1), params)
    np.testing.assert_array_equal(d_x, np.zeros(3))
