"""Rules of writing and reducing the elements that a boolean mask selects.

Elements that are not selected get zero whatever they are: a product with them could be NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import adjoint
from . import reductions


def _wide(mask: Any, ndim: int) -> Any:
    """A mask of the first dims that broadcasts against the whole array."""
    if mask.ndim == ndim:
        return mask
    return np.reshape(mask, mask.shape + (1,) * (ndim - mask.ndim))


@adjoint
def masked(out: Any, x: Any, mask: Any, d_out: Any, *, reduce: str, axis: Any) -> Any:
    """As the reductions of the whole array; extrema that tie share the cotangent evenly."""
    lead = tuple(range(mask.ndim))
    axes = lead + tuple(mask.ndim - 1 + i for i in axis if i > 0)
    wide = _wide(mask, x.ndim)
    if np.ndim(d_out) > 0:
        out, d_out = np.expand_dims(out, axes), np.expand_dims(d_out, axes)
    if reduce == "prod":
        factors = np.where(wide, x, 1.0)
        d_x = reductions.prod(None, factors, d_out, axis=axes, keepdims=True)
        return np.where(wide, d_x, 0.0), None
    if reduce == "mean":
        others = [x.shape[i] for i in axes if i >= mask.ndim]
        size = np.maximum(np.sum(mask), 1).astype(x.dtype)
        for dim in others:
            size = size * max(dim, 1)
        d_out = d_out / size
    if reduce == "max" or reduce == "min":
        winners = np.logical_and(wide, np.equal(x, out))
        ties = np.sum(winners, axis=axes, keepdims=True).astype(x.dtype)
        d_out = winners * (d_out / ties)
    return np.where(wide, d_out, 0.0), None


@adjoint
def masked_update(out: Any, x: Any, v: Any, mask: Any, d_out: Any, *, items: bool) -> Any:
    """Values that were overwritten have no influence; those that were written get the cotangent of
    their places."""
    wide = _wide(mask, x.ndim)
    return np.where(wide, 0.0, d_out), np.where(wide, d_out, 0.0), None
