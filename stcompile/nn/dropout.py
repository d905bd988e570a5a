"""Dropout: elements that are left out at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.nn.arrays import Array


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
