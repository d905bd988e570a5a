"""Indices that differ between the items of a batch, into arrays that do or do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.batch.checks import assert_batch

RNG = np.random.default_rng(3)
STACK = RNG.normal(size=(5, 4, 3))
ONE, TWO = RNG.integers(0, 4, size=5), RNG.integers(0, 3, size=(5, 2))


def written(x: Any, i: Any) -> Any:
    y = x * 1
    y[i] = np.sin(x[0])
    y[i, 1] += x[0, 0] * 2
    y[:, i % 3] *= 2
    return y


def written_at_several(x: Any, j: Any) -> Any:
    y = x * 1
    y[:, j] = 3 * x[:, :2]
    y[j] += x[0]
    return y


def added(x: Any, j: Any) -> Any:
    y = x * 2
    np.add.at(y, (j, j), x[0, 1])
    return y


READS: dict[str, tuple[Callable[..., Any], Any]] = {
    "row": (lambda x, i: x[i], ONE),
    "rows of a row": (lambda x, j: x[1, j], TWO),
    "columns": (lambda x, i: x[1:3, i % 3], ONE),
    "new axis": (lambda x, j: x[::2, None, j], TWO),
    "apart": (lambda x, j: x[None][0, j, None, j], TWO),
    "written": (written, ONE),
    "written at several": (written_at_several, TWO),
    "added": (added, TWO),
}


@pytest.mark.parametrize("name", READS)
def test_of_each_item(name: str) -> None:
    function, indices = READS[name]
    assert_batch(function, STACK, indices)


@pytest.mark.parametrize("name", READS)
def test_of_one_array(name: str) -> None:
    function, indices = READS[name]
    assert_batch(function, STACK[0], indices, axes=(None, 0))


@pytest.mark.parametrize("name", READS)
def test_the_same_indices(name: str) -> None:
    function, indices = READS[name]
    assert_batch(function, STACK, indices[0], axes=(0, None))


@pytest.mark.parametrize("axis", (1, 2, -1))
def test_along_another_axis(axis: int) -> None:
    rows = np.arange(STACK.shape[axis])
    assert_batch(lambda x, i: x[i % 3] * i, STACK, rows, axes=(axis, 0))
