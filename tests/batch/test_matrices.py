"""Linear systems of batches: of matrices, of right-hand sides, of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.batch.checks import assert_batch

RNG = np.random.default_rng(4)
SQUARES = RNG.normal(size=(4, 3, 3)) + 3 * np.eye(3)
STACKS = RNG.normal(size=(4, 2, 3, 3)) + 3 * np.eye(3)
VECTORS, TALL = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3, 2))


def triangular(lower: bool, trans: int, unit: bool) -> Callable[..., Any]:
    import scipy.linalg

    def solve(a: Any, b: Any) -> Any:
        return scipy.linalg.solve_triangular(a, b, lower=lower, trans=trans, unit_diagonal=unit)

    return solve


@pytest.mark.parametrize("right", (VECTORS, TALL), ids=("vectors", "matrices"))
@pytest.mark.parametrize("left", (SQUARES, STACKS), ids=("matrix", "stack"))
@pytest.mark.parametrize("axes", ((0, 0), (0, None), (None, 0)), ids=("both", "left", "right"))
def test_solve(left: Any, right: Any, axes: tuple[int | None, int | None]) -> None:
    a = left if axes[0] == 0 else left[0]
    b = right if axes[1] == 0 else right[0]
    assert_batch(lambda a, b: np.linalg.solve(a, b), a, b, axes=axes)


@pytest.mark.parametrize("trans", (0, 1))
@pytest.mark.parametrize("unit", (False, True))
@pytest.mark.parametrize("lower", (False, True))
def test_triangular(lower: bool, unit: bool, trans: int) -> None:
    pytest.importorskip("scipy")
    solve = triangular(lower, trans, unit)
    assert_batch(solve, SQUARES, VECTORS)
    assert_batch(solve, SQUARES[0], TALL, axes=(None, 0), wrt=1)


def test_least_squares_of_one_matrix() -> None:
    tall = RNG.normal(size=(5, 3))
    many = RNG.normal(size=(4, 5))
    assert_batch(lambda a, b: np.linalg.lstsq(a, b)[0], tall, many, axes=(None, 0), wrt=1)


@pytest.mark.parametrize("mode", ("full", "same", "valid"))
@pytest.mark.parametrize("axes", ((0, 0), (0, None), (None, 0)))
def test_convolve(mode: str, axes: tuple[int | None, int | None]) -> None:
    x, y = RNG.normal(size=(4, 6)), RNG.normal(size=(4, 4))
    args = (x if axes[0] == 0 else x[0], y if axes[1] == 0 else y[0])
    assert_batch(lambda x, y: np.convolve(x, y, mode), *args, axes=axes)
    assert_batch(lambda y, x: np.convolve(y, x, mode), *args[::-1], axes=axes[::-1])


def test_masks() -> None:
    x = RNG.normal(size=(4, 3, 2))
    rows = np.array([True, False, True])
    for reduce in (np.sum, np.mean, np.prod):
        assert_batch(lambda x, m: reduce(x[m], axis=0), x, rows, axes=(0, None))
        assert_batch(lambda x, m: reduce(x.T[:, m] * 2), x, rows, axes=(0, None))
    assert_batch(lambda x: np.max(x[np.array([True, False, True])], axis=0), x)


def test_math_of_numbers() -> None:
    import math

    x = np.abs(VECTORS)
    assert_batch(lambda x: math.sqrt(x[0]) * math.atan2(x[1], x[2]) + math.hypot(*x), x)
    assert_batch(lambda x: math.fsum(x) * float(x[0]) + math.floor(5 * x[1]), x)
