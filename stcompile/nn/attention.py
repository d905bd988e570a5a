"""Attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.nn.arrays import Array
from stcompile.nn.softmax import softmax


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
