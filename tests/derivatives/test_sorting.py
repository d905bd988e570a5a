"""Adjoints of sorting, and of interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.derivatives.numeric import check_rule, cotangents
from tests.derivatives.test_reductions import spaced


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_sort(axis: int) -> None:
    check_rule("sort", (spaced(2, 3, 4),), {"axis": axis})
    check_rule("sort", (spaced(0, 3, 4),), {"axis": axis})


@pytest.mark.parametrize("kth", [0, 4, (1, 6)])
def test_partition(kth: Any) -> None:
    check_rule("partition", (spaced(3, 9),), {"axis": 1, "kth": kth})
    check_rule("partition", (spaced(9, 2),), {"axis": 0, "kth": kth})


def test_ties_keep_their_order() -> None:
    x = np.array([2.0, 1.0, 2.0, 1.0])
    (d_x,) = cotangents("sort", (x,), np.array([1.0, 2.0, 3.0, 4.0]), {"axis": 0})
    np.testing.assert_array_equal(d_x, [3.0, 1.0, 4.0, 2.0])


def test_interp() -> None:
    knots, heights = np.array([-1.0, 0.25, 2.0]), np.array([3.0, -1.0, 0.5])
    check_rule("interp", (np.array([[-2.0, -0.5], [1.0, 3.0]]), knots, heights))
    check_rule("interp", (np.float64(0.5), knots, heights))
    check_rule("interp", (np.array([0.5, -0.5]), knots[:1], heights[:1]))


def test_interp_at_a_knot() -> None:
    """The piece on the right counts, and the last piece at the end."""
    knots, heights = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.0])
    for x, slope in ((0.0, 1.0), (1.0, 2.0), (2.0, 2.0), (2.5, 0.0), (-0.5, 0.0)):
        d_x, _, _ = cotangents("interp", (np.float64(x), knots, heights), np.float64(1), {})
        assert d_x == slope
