"""Elements chosen by positions and by conditions."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.codegen_templates.numpy import indexing as template
from stcompile.library.arrangement import broadcast_arrays
from stcompile.library.axes import in_c_order, normal, wide
from stcompile.library.distinct import counted
from stcompile.library.grids import within


def taken(a: Any, indices: Any, axis: Any, mode: str) -> Any:
    """`numpy.take` with a mode."""
    x = np.ravel(a) if axis is None else np.asarray(a)
    size = x.shape[0 if axis is None else axis]
    return np.take(x, within(np.asarray(indices), size, mode), 0 if axis is None else axis)


def interpolated(x: Any, xp: Any, fp: Any, left: Any, right: Any, period: Any) -> Any:
    """`numpy.interp` with values outside of the points, or of a periodic function."""
    at, places, values = np.asarray(x), np.asarray(xp), np.asarray(fp)
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        width = abs(period)
        at, places = at % width, places % width
        order = np.argsort(places)
        places, values = places[order], values[order]
        places = np.concatenate([places[-1:] - width, places, places[:1] + width])
        values = np.concatenate([values[-1:], values, values[:1]])
        return np.interp(at, places, values)
    found = np.interp(at, places, values)
    if left is not None:
        found = np.where(at < places[0], left, found)
    if right is not None:
        found = np.where(at > places[-1], right, found)
    return found if np.ndim(x) > 0 else found[()]


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """Take elements of every vector along ``axis``, at positions of its own."""
    x = np.ravel(arr) if axis is None else np.asarray(arr)
    at = normal(0 if axis is None else axis, x.ndim)
    return x[_places(x, np.asarray(indices), at)]


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int) -> None:
    """Write to every vector along an axis at positions of its own."""
    at = normal(axis, arr.ndim)
    arr[_places(arr, np.asarray(indices), at)] = values


def _places(x: Any, indices: Any, axis: int) -> Any:
    if indices.ndim != x.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if x.ndim == 1:
        return indices
    return tuple(
        indices if i == axis else np.reshape(np.arange(dim), wide(x.ndim, i))
        for i, dim in enumerate(x.shape)
    )


def choose(a: Any, choices: Any, mode: str = "raise") -> Any:
    """The elements of the arrays that the integers ``a`` name."""
    given = [np.asarray(c) if isinstance(c, list | tuple) else c for c in choices]
    dtype = np.result_type(*given)
    places = np.asarray(a)
    places = places.astype(np.intp) if places.dtype.kind == "b" else places
    places = within(places, len(given), mode)
    which, *arrays = broadcast_arrays(places, *[np.asarray(c).astype(dtype) for c in given])
    if np.any(np.logical_or(which < 0, which >= len(arrays))):
        raise ValueError("invalid entry in choice array")
    stacked = np.stack(arrays)
    grids = [np.reshape(np.arange(n), wide(which.ndim, i)) for i, n in enumerate(which.shape)]
    place = (which, *grids)
    return in_c_order(stacked[place])


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Choose each element from the choice of the first condition that holds; ``default`` where none
    does."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    parts = [*condlist, *choicelist, default]
    shape = np.broadcast_shapes(*[np.shape(part) for part in parts])
    dtype = np.result_type(*choicelist, default)
    result = np.broadcast_to(np.asarray(default).astype(dtype), shape)
    for condition, choice in zip(condlist[::-1], choicelist[::-1], strict=True):
        if np.asarray(condition).dtype != np.bool_:
            raise ValueError("invalid entry in condlist: should be boolean ndarray")
        result = np.where(condition, choice, result)
    return in_c_order(result)


def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    """The parts along an axis where a static condition holds."""
    kept = [i for i, is_kept in enumerate(condition) if is_kept]
    return np.take(a, np.array(kept, int), axis=axis)


def extract(condition: Any, arr: Any) -> Any:
    """The elements where a static condition holds."""
    return compress(_flat(condition), np.ravel(arr))


def _flat(condition: Any) -> Any:
    if isinstance(condition, list | tuple):
        return [one for part in condition for one in _flat(part)]
    return [condition]


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Apply a function to the elements where each condition holds, and a further function to the
    others."""
    at = np.asarray(x)
    conditions = list(condlist) if isinstance(condlist, list | tuple) else [condlist]
    if at.ndim == 0:  # a number: an array of one
        ones = [np.reshape(np.asarray(condition), (1,)) for condition in conditions]
        return np.reshape(piecewise(np.reshape(at, (1,)), ones, funclist, *args, **kw), ())
    y = np.zeros_like(at)
    if len(funclist) == len(conditions) + 1:
        others = conditions[0]
        for condition in conditions[1:]:
            others = np.logical_or(others, condition)
        conditions.append(np.logical_not(others))
    elif len(funclist) != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or "
            f"{len(conditions) + 1} functions are expected"
        )
    for condition, function in zip(conditions, funclist, strict=True):
        if np.isscalar(function):
            y[condition] = function
        else:
            y[condition] = function(at[condition], *args, **kw)
    return y


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Write to an array, everywhere or where a condition holds."""
    value = np.asarray(src)
    if not np.can_cast(value.dtype, dst.dtype, casting):
        raise TypeError(f"Cannot cast from {value.dtype} to {dst.dtype} by the rule {casting!r}")
    if isinstance(where, bool):
        if where:
            dst[...] = value
    else:
        dst[...] = np.where(where, value, dst)


def place(arr: Any, mask: Any, vals: Any) -> None:
    """Write values, one after the other, where a mask holds; they begin again if there are
    fewer."""
    chosen, values = np.ravel(np.asarray(mask)), np.ravel(np.asarray(vals))
    if chosen.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    if values.size == 0:
        raise ValueError("Cannot insert from an empty array!")
    taken = values[(np.cumsum(chosen) - 1) % values.size]
    flat = np.where(chosen, taken, np.ravel(arr)).astype(arr.dtype)
    arr[...] = np.reshape(flat, arr.shape)


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Write values at indices into the flattened array; they begin again if there are fewer."""
    if mode != "raise":
        raise NotImplementedError("np.put of another mode than 'raise' is not supported")
    places = np.ravel(np.asarray(ind))
    flat = np.copy(np.ravel(a))
    flat[places] = np.resize(np.asarray(v), places.shape)
    a[...] = np.reshape(flat, a.shape)


def putmask(a: Any, mask: Any, values: Any) -> None:
    """Write values where a mask holds. The mask has as many elements as the array, and values are
    taken by their position in it, repeatedly if there are fewer."""
    chosen, value = np.asarray(mask), np.asarray(values)
    if value.ndim and value is values and not np.can_cast(value.dtype, a.dtype):
        raise TypeError(
            f"Cannot cast array data from {value.dtype!r} to {a.dtype!r} according to the rule "
            "'safe'"
        )
    if chosen.shape != a.shape:
        if chosen.size != a.size:
            raise ValueError("putmask: mask and data must be the same size")
        chosen = np.reshape(chosen, a.shape)
    if value.shape != a.shape:
        value = np.reshape(value, ()) if value.size == 1 else np.resize(value, a.shape)
    a[...] = np.where(chosen, value, a).astype(a.dtype)


def density_of(counts: Any, edges: Any) -> Any:
    """Counts as a probability density."""
    return counts / np.diff(edges) / np.sum(counts)


def edges_between(a: Any, bins: int) -> Any:
    """The edges of equal bins from the least element of an array to the greatest."""
    low, high = np.min(a), np.max(a)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError("the range of the elements is not finite")
    alone = low == high  # one number, which is in the middle then
    first, last = np.where(alone, low - 0.5, low), np.where(alone, high + 0.5, high)
    return np.linspace(first, last, bins + 1)


def weighed(a: Any, edges: Any, weights: Any) -> Any:
    """A histogram with weights: the sums of the weights between two edges, the last edge
    included."""
    x, w, bins = np.ravel(a), np.ravel(weights), len(edges) - 1
    places = np.searchsorted(edges, x, side="right") - 1
    places = np.where(x == edges[-1], bins - 1, places)
    inside = np.logical_and(x >= edges[0], x <= edges[-1])
    places = np.where(inside, places, bins)  # the others are added up behind
    totals = np.zeros(bins + 1, w.dtype)
    return template.accumulate(totals, (w, places), op="index", at=("index",))[:bins]


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """The number of occurrences of each integer, or the sums of the weights.

    A result of ``minlength`` elements has no more than that: larger integers are an error of the
    compiled function.
    """
    labels = np.asarray(x)
    if labels.dtype.kind == "b":
        labels = labels.astype(np.int64)
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise ValueError("bincount takes a vector of integers")
    if minlength < 1:
        minlength = counted(np.max(labels) + 1 if labels.shape[0] else np.sum(labels))
    if np.any(np.logical_or(labels < 0, labels >= minlength)):
        raise ValueError("bincount: an integer is negative, or not less than `minlength`")
    if weights is None:
        ones = np.ones(labels.shape, np.int64)
        return template.accumulate(
            np.zeros(minlength, np.int64), (ones, labels), op="index", at=("index",)
        )
    w = np.asarray(weights).astype(np.float64)
    if w.shape != labels.shape:
        if not labels.shape[0]:  # then NumPy does not look at them
            return np.zeros(minlength)
        raise ValueError("The weights and list don't have the same length.")
    return template.accumulate(np.zeros(minlength), (w, labels), op="index", at=("index",))
