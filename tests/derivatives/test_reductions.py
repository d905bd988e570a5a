"""Adjoints of reductions over axes, with ties, zeros and no elements."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stcompile.codegen_templates.derivatives import DERIVATIVES
from tests.derivatives.numeric import check_rule, cotangents

AXES = [axes for n in range(4) for axes in itertools.combinations(range(3), n)]


def spaced(*shape: int) -> Any:
    """Distinct values, far enough apart for finite differences of a maximum."""
    n = int(np.prod(shape))
    return (np.random.default_rng(n).permutation(n) / 4 - n / 9).reshape(shape)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min"])
def test_reductions(name: str, axis: tuple[int, ...], keepdims: bool) -> None:
    for shape in ((2, 3, 2), (1, 2, 5)):
        check_rule(name, (spaced(*shape),), {"axis": axis, "keepdims": keepdims})


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [axes for axes in AXES if axes])
@pytest.mark.parametrize("name", ["var", "std"])
def test_spread(name: str, axis: tuple[int, ...], keepdims: bool, ddof: int) -> None:
    params = {"axis": axis, "keepdims": keepdims, "ddof": ddof}
    check_rule(name, (spaced(2, 3, 2),), params, rtol=1e-5)


def test_variance_of_equal_elements() -> None:
    x, params = np.ones(3), {"axis": (0,), "keepdims": False, "ddof": 0}
    assert np.all(cotangents("var", (x,), np.float64(1), params)[0] == 0)
    assert np.all(cotangents("std", (x,), np.float64(1), params)[0] == 0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_std_of_one_element() -> None:
    """It is 0 for every element; without a degree of freedom it is NaN, and so is its cotangent."""
    for ddof, expected in ((0, 0.0), (1, np.nan)):
        params = {"axis": (0,), "keepdims": False, "ddof": ddof}
        (d_x,) = cotangents("std", (np.array([[2.0, 3.0]]),), np.array([1.0, 2.0]), params)
        np.testing.assert_array_equal(d_x, [[expected, expected]])


@given(st.lists(st.sampled_from((0.0, 0.0, -1.5, 2.0, 0.5)), max_size=9))
def test_product_with_zeros(values: list[float]) -> None:
    x = np.array(values)
    (d_x,) = cotangents("prod", (x,), np.float64(1), {"axis": (0,), "keepdims": False})
    others = [np.prod(np.delete(x, i)) for i in range(x.size)]
    np.testing.assert_allclose(d_x, others)


def test_product_over_axes_with_zeros() -> None:
    x = np.array([[0.0, 2.0, 3.0], [1.0, 0.0, 5.0], [1.0, 2.0, 3.0]])
    for axis in ((0,), (1,), (0, 1)):
        check_rule("prod", (x,), {"axis": axis, "keepdims": False})


@pytest.mark.parametrize("name", ["max", "min"])
def test_ties_share_evenly(name: str) -> None:
    x = np.array([[1.0, 1.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.0]], np.float32)
    params: dict[str, Any] = {"axis": (1,), "keepdims": False}
    (d_x,) = cotangents(name, (x,), np.array([1.0, 4.0], np.float32), params)
    first = [0.5, 0.5, 0, 0] if name == "max" else [0, 0, 0.5, 0.5]
    np.testing.assert_array_equal(d_x, [first, [1, 1, 1, 1]])
    assert d_x.dtype == np.float32


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_cumsum(axis: int) -> None:
    check_rule("cumsum", (spaced(2, 3, 2),), {"axis": axis})


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_cumprod(axis: int) -> None:
    check_rule("cumprod", (spaced(2, 3, 2),), {"axis": axis})
    check_rule("cumprod", (spaced(0, 3, 5)[:, :2],), {"axis": axis})


@given(st.lists(st.sampled_from((0.0, 0.0, -1.5, 2.0, 0.5)), max_size=9))
def test_cumprod_with_zeros(values: list[float]) -> None:
    check_rule("cumprod", (np.array(values),), {"axis": 0})


@pytest.mark.parametrize("name", ["sum", "mean", "prod"])
def test_no_elements(name: str) -> None:
    x = np.zeros((0, 3))
    out = np.ones(3)
    params = {"axis": (0,), "keepdims": False}
    assert np.shape(DERIVATIVES[name](out, x, out, **params)) in ((0, 3), (1, 3))
