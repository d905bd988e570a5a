"""Distinct values, and values repeated by counts: the data decide how many there are."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.library.axes import along, normal


def unique(ar: Any, index: bool, inverse: bool, counts: bool, equal_nan: bool) -> Any:
    """`numpy.unique` without an axis: the first of equal values in the order of the array stands
    for all of them."""
    flat = np.ravel(ar)
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    is_first = np.ones(ordered.shape, bool)
    is_first[1:] = np.logical_not(_are_same(ordered[1:], ordered[:-1], equal_nan))
    found: Any = (ordered[is_first],)
    if index:
        found = (*found, order[is_first])
    if inverse:
        places = np.zeros(ordered.shape, np.int64)
        places[order] = np.cumsum(is_first) - 1
        found = (*found, np.reshape(places, np.shape(ar)))
    if counts:
        starts = np.flatnonzero(is_first)
        ends = np.concatenate([starts, np.full(1, len(ordered))])
        found = (*found, ends[1:] - ends[:-1])
    return found if len(found) > 1 else found[0]


def _are_same(one: Any, other: Any, equal_nan: bool) -> Any:
    """True for equal values, and for NaN and NaN if they are to be equal."""
    if equal_nan and one.dtype.kind in "fc":
        return (one == other) | (np.isnan(one) & np.isnan(other))
    return one == other


def union1d(ar1: Any, ar2: Any) -> Any:
    return np.unique(np.concatenate([np.ravel(ar1), np.ravel(ar2)]))


def intersect1d(ar1: Any, ar2: Any) -> Any:
    ours = np.unique(ar1)
    return ours[isin(ours, ar2)]


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The values of one of two arrays that are not in the other, in order."""
    return np.setdiff1d(np.union1d(ar1, ar2), np.intersect1d(ar1, ar2))


def setdiff1d(ar1: Any, ar2: Any) -> Any:
    ours = np.unique(ar1)
    return ours[np.logical_not(isin(ours, ar2))]


def isin(element: Any, test_elements: Any, *, invert: bool = False) -> Any:
    """Compare each element with all elements of ``test_elements``."""
    given = np.asarray(element)
    found = np.any(given[..., None] == np.ravel(test_elements), axis=-1)
    return np.asarray(np.logical_not(found) if invert else found)


def repeat(a: Any, counts: Any, axis: Any) -> Any:
    """`numpy.repeat` by a count for each element."""
    x = np.ravel(a) if axis is None else a
    along_axis = x.shape[0 if axis is None else normal(axis, x.ndim)]
    if counts.ndim != 1:
        raise ValueError("object too deep for desired array")
    if counts.shape[0] != along_axis:
        raise ValueError(
            "operands could not be broadcast together with shape "
            f"({along_axis},) ({counts.shape[0]},)"
        )
    ends = np.cumsum(counts)
    places = np.searchsorted(ends, np.arange(counted(np.sum(counts))), side="right")
    return x[places] if axis is None else x[along(normal(axis, x.ndim), places)]


def counted(total: Any) -> Any:
    """The number of elements as an integer. The compiler makes a length of it."""
    return int(total)
