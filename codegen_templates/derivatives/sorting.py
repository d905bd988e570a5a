"""Adjoints of sorting: the cotangent goes back to where the elements came from.

Where elements tie, they are taken in the order in which they stand (a stable sort); any order
would be a subgradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import adjoint
from ..numpy import indexing
from ..numpy import sorting as template


@adjoint
def sort(out: Any, x: Any, d_out: Any, *, axis: int, descending: bool = False) -> Any:
    order = template.argsort(x, axis=axis, kind="stable", descending=descending)
    ranks = np.argsort(order, axis=axis)
    return np.take_along_axis(d_out, ranks, axis=axis)


@adjoint
def partition(out: Any, x: Any, d_out: Any, *, kth: Any, axis: int) -> Any:
    """The cotangent of each element, found by sorting both arrays: the n-th of ``x`` is the n-th of
    ``out``."""
    ranks = np.argsort(template.argsort(x, axis=axis, kind="stable"), axis=axis)
    places = template.argsort(out, axis=axis, kind="stable")
    return np.take_along_axis(d_out, np.take_along_axis(places, ranks, axis=axis), axis=axis)


@adjoint
def interp(out: Any, x: Any, xp: Any, fp: Any, d_out: Any) -> Any:
    """Between points the function is linear; outside, that of the first or the last point.

    At a point it is the derivative of the piece to the right of it. A single point is both ends of
    a piece.
    """
    n = xp.shape[0]
    at = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, max(n - 2, 0))
    places = at, np.minimum(at + 1, n - 1)
    inside = np.logical_and(xp[0] <= x, x <= xp[n - 1])
    width = np.where(places[0] == places[1], 1.0, xp[places[1]] - xp[at])
    slope = np.where(inside, (fp[places[1]] - fp[at]) / width, 0.0)
    weight = np.clip((x - xp[at]) / width, 0.0, 1.0)
    d_point = d_out * (1.0 - weight), d_out * weight
    d_fp, d_xp = np.zeros(n), np.zeros(n)
    for end in (0, 1):
        place = np.asarray(places[end])
        d_fp = indexing.accumulate(d_fp, (d_point[end], place), op="index", at=("index",))
        part = -slope * d_point[end]
        d_xp = indexing.accumulate(d_xp, (part, place), op="index", at=("index",))
    return d_out * slope, d_xp, d_fp
