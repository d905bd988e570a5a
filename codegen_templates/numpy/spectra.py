"""Spellings of the primitives that say where eigenvectors have no derivative."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..marks import view, write


@write(inplace=("x",))
def undefined(x: Any, mask: Any, *, message: str) -> Any:
    """NaN, with a warning, where the mask is true."""
    if np.any(mask):
        warnings.warn(message, RuntimeWarning, stacklevel=1)
        x[mask] = np.nan
    return x


@view
def held(x: Any) -> Any:
    return x


@view
def levels(w: Any, x: Any, *, lower: bool, evenly: bool) -> Any:
    return w


@view
def columns(v: Any, x: Any, w: Any, *, lower: bool, start: int, stop: int) -> Any:
    return v


@view
def spectral(
    z: Any,
    x: Any,
    w: Any,
    v: Any,
    left: Any,
    right: Any,
    weights: Any,
    slopes: Any,
    *,
    lower: bool,
    axes: Any,
    spread: Any,
) -> Any:
    return z


@view
def singular(
    z: Any,
    x: Any,
    s: Any,
    u: Any,
    vh: Any,
    left: Any,
    right: Any,
    weights: Any,
    slopes: Any,
    *,
    axes: Any,
    spread: Any,
    sides: Any,
) -> Any:
    return z


@view
def singular_levels(s: Any, x: Any) -> Any:
    return s


@view
def outside(u: Any, x: Any, s: Any, other: Any, *, part: str) -> Any:
    return u
