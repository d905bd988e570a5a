"""Layers: products with a matrix of weights, rows of one, attention, and dropout."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.nn.arrays import Array
from stcompile.nn.softmax import softmax


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


def scaled_dot_product_attention(q: Array, k: Array, v: Array, mask: Array | None = None) -> Any:
    """``softmax(q @ kᵀ / sqrt(width)) @ v``: for each query the mean of the values, weighted by how
    well their keys match.

    ``q`` is (…, queries, width), ``k`` (…, keys, width), ``v`` (…, keys, values); gives (…,
    queries, values). The leading dimensions are those of batches, heads, …, and broadcast. ``mask``
    broadcasts to (…, queries, keys). A boolean mask is True where a query may look at a key; a
    query that may look at no key gives 0. A mask of floats is added to the scores.

    Source: A. Vaswani et al., "Attention is all you need", NeurIPS 2017, equation 1.
    """
    if q.ndim < 2 or k.ndim < 2 or v.ndim < 2:
        raise ValueError("scaled_dot_product_attention takes q, k and v of two or more dimensions")
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(
            "scaled_dot_product_attention takes q (…, queries, width), k (…, keys, width) and "
            f"v (…, keys, values), not {q.shape}, {k.shape} and {v.shape}"
        )
    scores = (q * (1 / math.sqrt(q.shape[-1]))) @ np.swapaxes(k, -1, -2)
    if mask is None:
        return softmax(scores) @ v
    if np.broadcast_shapes(mask.shape, scores.shape) != scores.shape:
        raise ValueError(
            f"scaled_dot_product_attention: a mask {mask.shape} does not broadcast to the scores "
            f"{scores.shape}"
        )
    if mask.dtype != np.bool_:
        return softmax(scores + mask) @ v
    # A number that is far below any score, but finite: a row without True would give nan with -inf.
    lowest = 0.5 * float(np.finfo(scores.dtype).min)
    weights = softmax(np.where(mask, scores, lowest)) * mask
    return weights @ v


def dropout_mask(rng: np.random.Generator, shape: tuple[int, ...], rate: float) -> Any:
    """A boolean array that is False with probability ``rate``, for `dropout`.

    It may be called inside a compiled function, which then takes ``rng`` as an argument; or
    outside, if several calls are to use one mask.
    """
    return rng.random(shape, dtype=np.float32) >= rate


def dropout(x: Array, mask: Array, rate: float) -> Any:
    """``x / (1 - rate)`` where ``mask`` is True, else 0: the expected value is ``x``, and at
    inference nothing has to be done.

    ``mask`` is boolean, has or broadcasts to the shape of ``x``, and is True for elements that are
    kept, with probability ``1 - rate``; ``rate`` is from 0 up to, but not, 1.

    Source: N. Srivastava et al., "Dropout: a simple way to prevent neural networks from
    overfitting", JMLR 15 (2014), section 10 (inverted scaling).
    """
    if mask.dtype != np.bool_:
        raise TypeError(f"dropout takes a boolean mask, not {mask.dtype}")
    if not 0 <= rate < 1:
        raise ValueError("dropout takes a rate from 0 up to, but not, 1")
    if np.broadcast_shapes(mask.shape, x.shape) != x.shape:
        raise ValueError(f"dropout: a mask {mask.shape} does not broadcast to x {x.shape}")
    return x * mask * (1 / (1 - rate))
