"""The arithmetic on axes that rules do: the products and sums that the adjoints are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from stcompile.codegen_templates.derivatives import axes
from stcompile.codegen_templates.numpy.linear import contract


@pytest.mark.parametrize(
    ("shape_x", "shape_y", "batch", "contracted", "order"),
    [
        ((2, 3), (3, 4), (), ((1, 0),), ()),
        ((2, 3), (3, 4), (), ((1, 0),), (1, 0)),
        ((5, 2, 3), (5, 3, 4), ((0, 0),), ((2, 1),), ()),
        ((2, 5, 3), (3, 4, 5), ((1, 2),), ((2, 0),), (2, 0, 1)),
        ((5, 6, 2, 3), (6, 5, 3, 4), ((0, 1), (1, 0)), ((3, 2),), (1, 0, 2, 3)),
        ((2, 3, 4), (4, 3, 5), (), ((1, 1), (2, 0)), (1, 0)),
        ((2, 3), (4, 5, 3), (), ((1, 2),), (2, 0, 1)),
        ((2, 3), (4, 5), (), (), (3, 1, 0, 2)),
        ((5, 3), (5, 3), ((0, 0),), ((1, 1),), ()),
    ],
)
def test_products(shape_x: Any, shape_y: Any, batch: Any, contracted: Any, order: Any) -> None:
    """``sum(d_out * contract(x, y))`` is linear in x and in y: their cotangents give it back. Each
    pair of axes is either kept or summed: no axis is named twice."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=shape_x), rng.normal(size=shape_y)
    out = contract(x, y, batch=batch, contracted=contracted, order=order)
    d_out = rng.normal(size=out.shape)
    arguments = (x.ndim, y.ndim, batch, contracted, order)
    left, right = axes.for_left(*arguments), axes.for_right(*arguments)
    for operand, found in ((x, contract(d_out, y, **left)), (y, contract(x, d_out, **right))):
        assert found.shape == operand.shape
        np.testing.assert_allclose(np.sum(found * operand), np.sum(out * d_out))
    for params in (left, right):
        pairs = (*params["batch"], *params["contracted"])
        assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)


def test_small_ones() -> None:
    assert axes.inverse((2, 0, 1)) == (1, 2, 0)
    assert axes.count((2, 3, 4), (0, 2)) == 8
    assert axes.consecutive(1, (2, 3)) == [
        (slice(None), slice(0, 2, None)),
        (slice(None), slice(2, 5, None)),
    ]
    assert axes.interior(((1, 0), (0, 2)), (3, 4)) == (slice(1, 4), slice(0, 4))
    assert axes.per_degree((3, 4), (1,), 1) == 1 / 3
    assert math.isnan(axes.per_degree((3, 4), (1,), 4))
    assert axes.offsets((2, 2)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert axes.aligned(((0, 1), (2, 0), (1, 2)), 0) == (2, 0, 1)
    assert axes.aligned(((0, 1), (2, 0), (1, 2)), 1) == (1, 2, 0)
    assert axes.parsed("ij,jk->ik") == (["ij", "jk"], "ik")
    assert axes.found("ijii", ("jk", "i")) == "ij"
    assert axes.places("iji", "i", (3, 4, 3)) == (3, 1, 1)
    assert axes.repeats("iji") == [(0, 2)]


def test_windows() -> None:
    """Two windows of two elements, 2 apart, on the last axis; the second element of each."""
    found = axes.at_offset((3, 9), (1,), (1,), (1,), (2,), (3,), (2,))
    assert found == {"start": ((0,), (3,)), "length": (3, 2), "step": (1, 3), "drop": ()}
