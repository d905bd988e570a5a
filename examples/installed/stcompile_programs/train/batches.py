"""Batches: rows of arrays in a random order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from stcompile.base.errors import ArgumentsError

Array = np.ndarray[Any, np.dtype[Any]]


def count_batches(rows: int, size: int) -> int:
    """The number of whole batches of ``size`` rows; `ArgumentsError` if there is none."""
    if not 1 <= size <= rows:
        raise ArgumentsError(
            f"batches of {size} rows cannot be taken from {rows} rows",
            hint=f"choose --batch-size from 1 to {rows}",
        )
    return rows // size


def batches(
    arrays: Sequence[Array],
    size: int,
    rng: np.random.Generator,
    start: int = 0,
    share: Callable[[Array], Array] = lambda rows: rows,
) -> Iterator[tuple[Array, ...]]:
    """An epoch: the arrays' rows in a random order, the same for all arrays, ``size`` at a time,
    from batch ``start`` on. The order is drawn at once, the batches are taken in turn.

    Rows that do not fill a last batch are left out of this epoch, so that every batch has the
    same shape, and one compiled step serves them all. ``share`` takes a part of a batch's rows.
    """
    rows = len(arrays[0])
    if any(len(array) != rows for array in arrays):
        lengths = ", ".join(str(len(array)) for array in arrays)
        raise ArgumentsError(f"arrays of one data set have different lengths: {lengths}")
    count = count_batches(rows, size)
    order = rng.permutation(rows)
    chosen = (share(order[k * size : (k + 1) * size]) for k in range(start, count))
    return (tuple(array[rows] for array in arrays) for rows in chosen)
