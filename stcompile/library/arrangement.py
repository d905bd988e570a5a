"""Functions that join, split, repeat and rotate arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.library.axes import along, normal


def tile(A: Any, reps: Any) -> Any:
    """The array repeated along each axis."""
    x = np.asarray(A)
    given = (reps,) if isinstance(reps, int) else tuple(reps)
    ndim = max(x.ndim, len(given))
    counts = (1,) * (ndim - len(given)) + given
    dims = (1,) * (ndim - x.ndim) + x.shape
    apart = np.reshape(x, [n for dim in dims for n in (1, dim)])
    wide = np.broadcast_to(apart, tuple(n for pair in zip(counts, dims, strict=True) for n in pair))
    tiled = np.reshape(wide, [n * dim for n, dim in zip(counts, dims, strict=True)])
    return np.copy(tiled) if all(n == 1 for n in counts) else tiled.copy()


def resize(a: Any, new_shape: Any) -> Any:
    """The elements in C order, repeated as often as the new shape needs."""
    shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    size = 1
    for dim in shape:
        if dim < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
        size *= dim
    x = np.ravel(a)
    if x.shape[0] == 0 or size == 0:
        return np.zeros(shape, x.dtype)
    return np.reshape(np.concatenate([x] * -(-size // x.shape[0]))[:size], shape)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """The array turned by k quarters in the plane of two axes, from the first to the second."""
    x = np.asarray(m)
    one, two = normal(axes[0], x.ndim), normal(axes[1], x.ndim)
    if one == two:
        raise ValueError("Axes must be different.")
    if k % 4 == 0:
        return x[...]
    if k % 4 == 2:
        return np.flip(np.flip(x, one), two)
    if k % 4 == 1:
        return np.swapaxes(np.flip(x, two), one, two)
    return np.flip(np.swapaxes(x, one, two), two)


def rolled_by(a: Any, shifts: Any, axis: Any) -> Any:
    """np.roll by integers that the data decide."""
    x = np.asarray(a)
    if axis is None:
        return np.reshape(rolled_by(np.ravel(x), shifts, 0), x.shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shifts * len(axes) if len(shifts) == 1 else shifts
    if len(shifts) != len(axes):
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    for at, shift in zip(axes, shifts, strict=True):
        n = x.shape[at]
        x = np.take(x, (np.arange(n) - shift) % n, axis=at)
    return x


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """The axis moved before the axis ``start``."""
    x = np.asarray(a)
    at = normal(axis, x.ndim)
    to = start + x.ndim if start < 0 else start
    if not 0 <= to <= x.ndim:
        raise ValueError(f"start {start} is out of bounds for {x.ndim} dimensions")
    return np.moveaxis(x, at, to - 1 if at < to else to)


def step_between(start: Any, stop: Any, num: int, endpoint: bool) -> Any:
    """The step of `numpy.linspace`."""
    parts = num - 1 if endpoint else num
    ends = [np.asarray(end) if isinstance(end, list | tuple) else end for end in (start, stop)]
    return (ends[1] - ends[0]) * np.float64(1.0) / parts if parts > 0 else np.nan


def atleast_3d(*arys: Any) -> Any:
    """The array with three axes or more; a tuple of arrays, if there are several."""
    made = tuple([_with_three(a) for a in arys])
    return made[0] if len(made) == 1 else made


def _with_three(a: Any) -> Any:
    x = np.asarray(a)
    if x.ndim == 0:
        return np.reshape(x, (1, 1, 1))
    if x.ndim == 1:
        return x[None, :, None]
    return x[:, :, None] if x.ndim == 2 else x


def dstack(tup: Any) -> Any:
    """Arrays joined along the third axis."""
    return np.concatenate([atleast_3d(part) for part in tup], axis=2)


def column_stack(tup: Any) -> Any:
    """Vectors as the columns of a matrix; matrices beside each other."""
    columns = [np.asarray(part) for part in tup]
    matrices = [part if part.ndim > 1 else np.reshape(part, (1, -1)).T for part in columns]
    return np.concatenate(matrices, axis=1)


def block(arrays: Any) -> Any:
    """Nested lists of arrays: the innermost are joined along the last axis, and so on."""
    depth, ndim = _depth(arrays), _ndim(arrays)
    return _joined(arrays, depth, max(depth, ndim), 0)


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) else 0


def _ndim(arrays: Any) -> int:
    if isinstance(arrays, list):
        return max([_ndim(part) for part in arrays])
    return np.ndim(arrays)


def _joined(arrays: Any, depth: int, ndim: int, level: int) -> Any:
    if level < depth:
        if not isinstance(arrays, list) or len(arrays) == 0:
            raise ValueError("List depths are mismatched, or a list is empty")
        parts = [_joined(part, depth, ndim, level + 1) for part in arrays]
        return np.concatenate(parts, axis=level - depth)
    if isinstance(arrays, list):
        raise ValueError("List depths are mismatched")
    x = np.asarray(arrays)
    return (
        np.copy(np.reshape(x, (1,) * (ndim - x.ndim) + x.shape))
        if depth == 0
        else (np.reshape(x, (1,) * (ndim - x.ndim) + x.shape))
    )


def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Parts along the second axis, of a vector along the first."""
    x = np.asarray(ary)
    if x.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return np.split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Parts along the first axis."""
    if np.ndim(ary) < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return np.split(ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Parts along the third axis."""
    if np.ndim(ary) < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return np.split(ary, indices_or_sections, 2)


def unstack(x: Any, /, *, axis: int = 0) -> Any:
    """The parts of an array along an axis, without that axis."""
    array = np.asarray(x)
    if array.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    at = normal(axis, array.ndim)
    return tuple(array[along(at, i)] for i in range(array.shape[at]))


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """Coordinate arrays from vectors."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    ndim = len(xi)
    places = list(range(ndim))
    if indexing == "xy" and ndim > 1:
        places = [1, 0, *places[2:]]
    grids = [
        np.reshape(x, (1,) * at + (-1,) + (1,) * (ndim - at - 1))
        for x, at in zip(xi, places, strict=True)
    ]
    if not sparse:
        grids = broadcast_arrays(*grids)
    return tuple(grid.copy() for grid in grids) if copy else tuple(grids)


def broadcast_arrays(*args: Any) -> Any:
    """The arrays broadcast against each other."""
    arrays = [np.asarray(arg) for arg in args]
    shape = np.broadcast_shapes(*[array.shape for array in arrays])
    return tuple(x if x.shape == shape else np.broadcast_to(x, shape) for x in arrays)


def ix_(*args: Any) -> Any:
    """Vectors of indices that broadcast against each other, for a subscript of all axes."""
    ndim = len(args)
    if any(np.ndim(arg) != 1 for arg in args):
        raise ValueError("Cross index must be 1 dimensional")
    return tuple(
        np.reshape(_places(np.asarray(arg)), (1,) * at + (-1,) + (1,) * (ndim - at - 1))
        for at, arg in enumerate(args)
    )


def _places(index: Any) -> Any:
    """The places that a vector of flags marks; other vectors are places."""
    if index.dtype == bool:
        return np.flatnonzero(index)
    return index if index.size else index.astype(np.intp)


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Any:
    """The function of every vector along an axis; its results take the place of the axis."""
    x = np.asarray(arr)
    at = normal(axis, x.ndim)
    last = np.moveaxis(x, at, -1)
    rest = last.shape[:-1]
    vectors = np.reshape(last, (-1, last.shape[-1]))
    if vectors.shape[0] == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = np.stack([np.asarray(func1d(v, *args, **kwargs)) for v in [*vectors]])
    shape = results.shape[1:]
    results = np.reshape(results, rest + shape)
    for _ in range(len(shape)):
        results = np.moveaxis(results, len(rest) + len(shape) - 1, at)
    return results


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    """A function of an array and an axis, for one axis after the other; axes are kept."""
    x = np.asarray(a)
    for axis in (axes,) if isinstance(axes, int) else axes:
        at = normal(axis, x.ndim)
        result = np.asarray(func(x, at))
        x = result if result.ndim == x.ndim else np.expand_dims(result, at)
    return x


def joined_along(key: Any, axis: int, ndmin: int, trans1d: int) -> Any:
    """``np.r_[key]`` (joined along ``axis``, of at least ``ndmin`` dimensions, with an item's own
    axes at the position ``trans1d``)."""
    items = list(key) if isinstance(key, tuple) else [key]
    if items and isinstance(items[0], str):
        if items[0] in ("r", "c") or not isinstance(key, tuple):
            raise NotImplementedError(
                "np.r_ and np.c_ make no matrices here: they are not supported"
            )
        numbers = [int(number) for number in items[0].split(",")]
        axis, ndmin, trans1d = numbers + [axis, ndmin, trans1d][len(numbers) :]
        items = items[1:]
    parts: list[Any] = []
    kinds: list[Any] = []
    for item in items:
        part, kind, own = item, item, 0
        if isinstance(item, slice):
            part = _spaced_by(item)
            kind, own = part.dtype, 1
        elif np.ndim(item) > 0 or not isinstance(item, bool | int | float | complex | np.generic):
            part = np.asarray(item)
            kind, own = part.dtype, part.ndim
        parts.append((part, own))
        kinds.append(kind)
    dtype = np.result_type(*kinds)
    return np.concatenate([_wide(part, dtype, own, ndmin, trans1d) for part, own in parts], axis)


def _spaced_by(item: slice) -> Any:
    start = 0 if item.start is None else item.start
    step = 1 if item.step is None else item.step
    if isinstance(step, complex):
        return np.linspace(start, item.stop, int(abs(step)))
    return np.arange(start, item.stop, step)


def _wide(part: Any, dtype: Any, own: int, ndmin: int, trans1d: int) -> Any:
    """An item with axes of length 1 before its own axes, or as ``trans1d`` says."""
    x = np.asarray(part, dtype)
    more = ndmin - own
    if own == 0 or more <= 0:
        return np.reshape(x, (1,) * max(ndmin - x.ndim, 0) + x.shape)
    before = more
    if trans1d != -1:
        before = trans1d + more + 1 if trans1d < 0 else trans1d
    return np.reshape(x, (1,) * before + x.shape + (1,) * (more - before))


def spaced(start: Any, stop: Any, num: int, endpoint: bool, axis: int) -> Any:
    """``num`` numbers from ``start`` to ``stop``, including ``stop`` if it is the ``endpoint``."""
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    dtype = np.result_type(start, stop, float(num))
    first, last = np.asarray(start).astype(dtype), np.asarray(stop).astype(dtype)
    delta = last - first
    steps = np.reshape(np.arange(0, num, dtype=dtype), (num,) + (1,) * np.ndim(delta))
    count = num - 1 if endpoint else num
    made = steps * (delta / count) + first if count > 0 else steps * delta + first
    if endpoint and num > 1:
        made[-1, ...] = last
    return np.moveaxis(made, 0, axis) if axis != 0 else made


def spaced_by_data(start: Any, stop: Any, num: Any, endpoint: bool, axis: int) -> Any:
    """The same for a number of numbers that the data decide."""
    if num < 0:
        raise ValueError("Number of samples must be non-negative.")
    dtype = np.result_type(start, stop, 1.0)
    first, last = np.asarray(start).astype(dtype), np.asarray(stop).astype(dtype)
    delta, at = last - first, np.arange(num)
    places = np.reshape(at, at.shape + (1,) * np.ndim(delta))
    count = num - 1 if endpoint else num
    made = places.astype(dtype) * (delta / np.maximum(count, 1)) + first
    if endpoint:
        made = np.where((places == count) & (count > 0), last, made)
    return np.moveaxis(made, 0, axis) if axis != 0 else made
