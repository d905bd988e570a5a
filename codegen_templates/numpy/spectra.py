"""Spellings of the primitives that say where eigenvectors have no derivative."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..marks import Table, write

VIEWS: Table = {
    "held": lambda x: x,
    "levels": lambda w, x, *, lower, evenly: w,
    "columns": lambda v, x, w, *, lower, start, stop: v,
    "spectral": lambda z, x, w, v, left, right, weights, slopes, *, lower, axes, spread: z,
    "singular": lambda z, x, s, u, vh, left, right, weights, slopes, *, axes, spread, sides: z,
    "singular_levels": lambda s, x: s,
    "outside": lambda u, x, s, other, *, part: u,
}


@write(inplace=("x",))
def undefined(x: Any, mask: Any, *, message: str) -> Any:
    """NaN, with a warning, where the mask is true."""
    if np.any(mask):
        warnings.warn(message, RuntimeWarning, stacklevel=1)
        x[mask] = np.nan
    return x
