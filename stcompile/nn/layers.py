"""Layers that are products with, or rows of, a matrix of weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.nn.arrays import Array


def dense(x: Array, W: Array, b: Array | None = None) -> Any:
    """``x @ W + b``: ``x`` (…, inputs), ``W`` (inputs, outputs), ``b`` (outputs,) or None; gives
    (…, outputs)."""
    if x.ndim < 1 or W.ndim != 2 or x.shape[-1] != W.shape[0]:
        raise ValueError(
            f"dense takes x (…, inputs) and W (inputs, outputs), not {x.shape} and {W.shape}"
        )
    if b is None:
        return x @ W
    if b.shape != W.shape[1:]:
        raise ValueError(f"dense takes b {W.shape[1:]} with W {W.shape}, not {b.shape}")
    return x @ W + b


def embedding(table: Array, ids: Array) -> Any:
    """Rows of a table: ``table`` (rows, width), ``ids`` integers of any shape; gives
    ``ids.shape + (width,)``.

    An id that is not from 0 up to the number of rows is an `IndexError`. The gradient of the table
    has the cotangents of equal ids added up.
    """
    if table.ndim != 2:
        raise ValueError(f"embedding takes a table (rows, width), not {table.shape}")
    if ids.dtype.kind not in "iu":
        raise TypeError(f"embedding takes integers as ids, not {ids.dtype}")
    if ids.size > 0 and (np.min(ids) < 0 or np.max(ids) >= table.shape[0]):
        raise IndexError("embedding: an id is not a row of the table")
    return table[ids]
