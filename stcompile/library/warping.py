"""Arrays between their points: `scipy.ndimage.map_coordinates`, by splines of order 0, 1 or 3.

Beyond its ends the array is continued: the coordinate is turned back into it, and at its ends the
splines see the array mirrored (Unser, "Splines: a perfect fit for signal and image processing",
IEEE Signal Processing Magazine 16, 1999).
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import linalg

MODES = ("constant", "nearest", "mirror", "reflect")


def map_coordinates(
    input: Any,
    coordinates: Any,
    *,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """The values at points between those of an array: the coordinates are along the first axis."""
    x, at = np.asarray(input), np.asarray(coordinates).astype(np.float64)
    if x.dtype.kind != "f":
        raise NotImplementedError(f"map_coordinates of {x.dtype} is not supported")
    if order not in (0, 1, 3):
        raise NotImplementedError(f"order={order} is not supported: 0, 1 and 3 are")
    if mode not in MODES or (order == 3 and mode in ("nearest", "reflect")):
        raise NotImplementedError(f"mode={mode!r} with order={order} is not supported")
    if at.shape[0] != x.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    spline = x.astype(np.float64)
    if order == 3 and prefilter:
        for axis in range(x.ndim):
            spline = _coefficients(spline, axis)
    places, weights = [], []
    is_outside: Any = False
    for axis in range(x.ndim):
        n = x.shape[axis]
        c = at[axis]
        is_outside = is_outside | (c < 0) | (c > n - 1)
        found = _around(_inside(c, n, mode), n, order)
        places.append(found[0])
        weights.append(found[1])
    terms = []
    for corner in itertools.product(range(len(places[0])), repeat=x.ndim):
        where = tuple([places[axis][k] for axis, k in enumerate(corner)])
        parts = [weights[axis][k] for axis, k in enumerate(corner)]
        terms.append(math.prod(parts[1:], start=parts[0]) * spline[where])
    value = sum(terms[1:], terms[0])
    if mode == "constant":
        value = np.where(is_outside, cval, value)
    return value.astype(x.dtype)


def _coefficients(x: Any, axis: int) -> Any:
    """The coefficients of the cubic spline through values, which go on as in a mirror."""
    moved = np.moveaxis(x, axis, 0)
    n = moved.shape[0]
    if n == 1:
        return x
    side = np.full(n, 1 / 6)
    upper, lower = np.where(np.arange(n) == 1, 1 / 3, side), side
    lower = np.where(np.arange(n) == n - 2, 1 / 3, side)
    bands = np.stack([upper, np.full(n, 2 / 3), lower])
    flat = np.reshape(moved, (n, -1))
    return np.moveaxis(np.reshape(linalg.solve_banded((1, 1), bands, flat), moved.shape), 0, axis)


def _inside(c: Any, n: int, mode: str) -> Any:
    """A coordinate, turned back into the array."""
    if mode in ("constant", "nearest") or n == 1:
        return np.clip(c, 0, n - 1)
    if mode == "mirror":
        turned = c % (2 * n - 2)
        return np.where(turned > n - 1, 2 * n - 2 - turned, turned)
    turned = (c + 0.5) % (2 * n)
    return np.clip(np.where(turned > n, 2 * n - turned, turned) - 0.5, 0, n - 1)


def _around(c: Any, n: int, order: int) -> tuple[list[Any], list[Any]]:
    """The places of the splines that are not zero at a coordinate, and their values."""
    if order == 0:
        return [np.floor(c + 0.5).astype(int)], [np.ones_like(c)]
    low = np.floor(c).astype(int)
    t = c - low
    if order == 1:
        return [low, np.minimum(low + 1, n - 1)], [1 - t, t]
    places = [np.abs(low - 1), low, low + 1, low + 2]
    period = max(2 * n - 2, 1)
    turned = [p % period for p in places]
    places = [np.where(p > n - 1, period - p, p) for p in turned] if n > 1 else [0 * low] * 4
    s = 1 - t
    weights = [s**3 / 6, (4 - 6 * t * t + 3 * t**3) / 6, (4 - 6 * s * s + 3 * s**3) / 6, t**3 / 6]
    return places, weights


def shift(
    input: Any,
    shift: Any,
    *,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """An array that is moved along its axes."""
    x = np.asarray(input)
    steps = np.broadcast_to(np.asarray(shift).astype(np.float64), (x.ndim,))
    axes = [np.arange(float(n)) - steps[axis] for axis, n in enumerate(x.shape)]
    at = np.stack(np.meshgrid(*axes, indexing="ij"))
    return map_coordinates(x, at, order=order, mode=mode, cval=cval, prefilter=prefilter)
