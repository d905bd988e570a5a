"""Batches hold every row once, in an order that the seed decides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from stcompile.base.errors import ArgumentsError
from stcompile_programs.train.batches import batches, count_batches


@given(rows=some.integers(1, 40), size=some.integers(1, 40), seed=some.integers(0, 5))
def test_rows_stay_together_and_come_once(rows: int, size: int, seed: int) -> None:
    x, y = np.arange(2 * rows).reshape(rows, 2), np.arange(rows)
    if size > rows:
        with pytest.raises(ArgumentsError, match=f"from {rows} rows"):
            list(batches((x, y), size, np.random.default_rng(seed)))
        return
    epoch = list(batches((x, y), size, np.random.default_rng(seed)))
    assert len(epoch) == count_batches(rows, size) == rows // size
    for bx, by in epoch:
        assert bx.shape == (size, 2)
        np.testing.assert_array_equal(bx[:, 0], 2 * by)
        assert bx.flags.c_contiguous
    seen = np.concatenate([by for _, by in epoch])
    assert len(set(seen)) == len(seen)


def test_seed_decides_the_order_and_epochs_differ() -> None:
    y = np.arange(100)
    first, second = np.random.default_rng(1), np.random.default_rng(1)
    a = [by.tolist() for (by,) in batches((y,), 10, first)]
    assert a == [by.tolist() for (by,) in batches((y,), 10, second)]
    assert a != [by.tolist() for (by,) in batches((y,), 10, first)]


def test_bad_arguments() -> None:
    with pytest.raises(ArgumentsError, match="batches of 0 rows") as caught:
        count_batches(5, 0)
    assert "--batch-size from 1 to 5" in caught.value.hint
    with pytest.raises(ArgumentsError, match="different lengths: 3, 4"):
        next(batches((np.zeros(3), np.zeros(4)), 2, np.random.default_rng(0)))
