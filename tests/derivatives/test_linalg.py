"""Adjoints of linear algebra: of one matrix and of stacks, square, tall and wide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stcompile.wengert.templates import TEMPLATES
from tests.derivatives.numeric import check_rule, cotangents

RNG = np.random.default_rng(5)
GAPS = np.diag([3.0, 6.0, 10.0])
STACKS: tuple[tuple[int, ...], ...] = ((), (2,), (2, 1))


def matrices(stack: tuple[int, ...], rows: int = 3, columns: int = 3) -> Any:
    """Matrices whose eigenvalues and singular values are far apart, and far from 0."""
    middle = np.eye(rows, 3) @ GAPS @ np.eye(3, columns)
    return RNG.uniform(-1, 1, (*stack, rows, columns)) + middle


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "svdvals", "pinv"])
def test_square(name: str, stack: tuple[int, ...]) -> None:
    check_rule(name, (matrices(stack),), rtol=1e-5)


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3)])
def test_rectangular(stack: tuple[int, ...], shape: tuple[int, int]) -> None:
    x = matrices(stack, *shape)
    for part in ("U", "S", "Vh"):
        check_rule("svd", (x,), {"part": part}, rtol=1e-5)
    for name in ("svdvals", "pinv"):
        check_rule(name, (x,), rtol=1e-5)
    if shape[0] >= shape[1]:
        for part in ("Q", "R"):
            check_rule("qr", (x,), {"part": part}, rtol=1e-5)


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("lower", [True, False])
def test_symmetric(stack: tuple[int, ...], lower: bool) -> None:
    x = matrices(stack)
    for part in ("eigenvalues", "eigenvectors"):
        check_rule("eigh", (x,), {"part": part, "lower": lower}, rtol=1e-5)
    check_rule("eigvalsh", (x,), {"lower": lower}, rtol=1e-5)


def test_equal_eigenvalues_have_a_sum() -> None:
    """Eigenvalues alone have a cotangent where they are equal, if it is the same for all."""
    (d_x,) = cotangents("eigvalsh", (np.eye(3),), np.ones(3), {"lower": True})
    np.testing.assert_allclose(d_x, np.eye(3), atol=1e-15)


@pytest.mark.parametrize("part", ["sign", "logabsdet"])
def test_slogdet(part: str) -> None:
    for stack in STACKS:
        check_rule("slogdet", (matrices(stack),), {"part": part}, rtol=1e-5)
    check_rule("slogdet", (-matrices(()),), {"part": part}, rtol=1e-5)


def test_solve() -> None:
    for stack in STACKS:
        x = matrices(stack)
        check_rule("solve", (x, RNG.normal(size=(3, 2))), rtol=1e-5)
        check_rule("solve", (x, RNG.normal(size=3)), rtol=1e-5)
    check_rule("solve", (matrices(()), RNG.normal(size=(2, 3, 1))), rtol=1e-5)


@pytest.mark.parametrize("shape", [(5, 3), (3, 4), (3, 3)])
def test_least_squares(shape: tuple[int, int]) -> None:
    x = matrices((), *shape)
    check_rule("lstsq", (x, RNG.normal(size=shape[0])), rtol=1e-5)
    check_rule("lstsq", (x, RNG.normal(size=(shape[0], 2))), rtol=1e-5)


def test_what_is_small_is_cut() -> None:
    """``rcond`` cuts all but the first singular value, and what moves the others."""
    x, params = np.outer([1.0, 2.0, -1.0], [3.0, 1.0]), {"rcond": 0.5}
    check_rule("pinv", (x,), params)
    check_rule("lstsq", (x, RNG.normal(size=3)), params)


def test_pinv_of_a_matrix_of_lower_rank() -> None:
    """Along a direction in which the rank stays: one of the matrices u v.T."""
    u, v = RNG.normal(size=4), RNG.normal(size=3)
    du, dv = RNG.normal(size=4), RNG.normal(size=3)
    x, g = np.outer(u, v), RNG.normal(size=(3, 4))
    (d_x,) = cotangents("pinv", (x,), g, {})

    def along(h: float) -> Any:
        return np.sum(g * TEMPLATES["pinv"](np.outer(u + h * du, v + h * dv)))

    slope = (along(1e-5) - along(-1e-5)) / 2e-5
    np.testing.assert_allclose(np.sum(d_x * (np.outer(du, v) + np.outer(u, dv))), slope, rtol=1e-6)


def test_eigenvalues_of_nothing() -> None:
    nothing = np.zeros((2, 0, 0), complex)
    (d_x,) = cotangents("eigvals", (nothing,), np.zeros((2, 0), complex), {})
    assert d_x.shape == nothing.shape and d_x.dtype == nothing.dtype
