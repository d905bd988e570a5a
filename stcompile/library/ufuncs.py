"""Methods of ufuncs, written with calls of the ufunc."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.library.axes import normal

Ufunc = Callable[[Any, Any], Any]


def at_chosen(function: Any, operands: list[Any], out: Any, where: Any) -> Any:
    """A ufunc with ``where``: computed for the elements of ``out`` at which that holds."""
    mask = _spread(where, out)
    out[mask] = function(*[x if np.ndim(x) == 0 else _spread(x, out)[mask] for x in operands])
    return out


def _spread(x: Any, like: Any) -> Any:
    return x if np.shape(x) == like.shape else np.broadcast_to(x, like.shape)


def outer(function: Ufunc, A: Any, B: Any) -> Any:
    """The function of every element of ``A`` with every one of ``B``."""
    x, y = np.asarray(A), np.asarray(B)
    return function(np.reshape(x, x.shape + (1,) * y.ndim), y)


def add_in_turn(array: Any, places: Any, values: Any) -> None:
    """``np.add.at`` of floats to integers: each sum is truncated before the next is made."""
    flat = np.ravel(np.broadcast_to(values, np.shape(places)))
    for k, place in enumerate(np.ravel(places)):
        array[place] = array[place] + flat[k]


def applied_at(function: Ufunc, array: Any, indices: Any, values: Any) -> None:
    """``ufunc.at``: the function of an element and a value, in turn for each index."""
    places = np.arange(array.size).reshape(array.shape)[indices]
    if np.ndim(places) == 0:
        array[indices] = function(array[indices], values)
        return
    flat = np.ravel(np.broadcast_to(values, places.shape))
    grid = np.unravel_index(np.ravel(places), array.shape)
    for k in range(places.size):
        place = tuple([axis[k] for axis in grid])
        array[place] = function(array[place], flat[k])


def applied_at_one(function: Any, array: Any, indices: Any) -> None:
    """``ufunc.at`` of a function of one operand."""
    applied_at(lambda element, _: function(element), array, indices, 0)


def reduced_at(function: Any, array: Any, indices: Any, axis: int) -> Any:
    """``ufunc.reduceat``: reductions from each index up to the next, or the element at an index
    that is not below the next."""
    at = normal(axis, array.ndim)
    rows = np.moveaxis(array, at, 0)
    starts = [int(i) for i in indices]
    parts = []
    for i, start in enumerate(starts):
        stop = starts[i + 1] if i + 1 < len(starts) else rows.shape[0]
        if not 0 <= start < rows.shape[0]:
            raise IndexError(f"index {start} out-of-bounds in {function.__name__}.reduceat")
        part = rows[start:stop] if start < stop else rows[start : start + 1]
        parts.append(function.reduce(part, axis=0))
    return np.moveaxis(np.stack(parts), 0, at).copy()


def folded_along(
    function: Ufunc, array: Any, axis: Any, keepdims: bool, initial: Any, where: Any
) -> Any:
    """`folded` along several axes, of a function for which their order does not matter."""
    x = np.asarray(array)
    axes = tuple(range(x.ndim)) if axis is None else tuple([normal(i, x.ndim) for i in axis])
    rest = tuple([size for i, size in enumerate(x.shape) if i not in axes])
    front = list(range(len(axes)))
    rows = np.reshape(np.moveaxis(x, list(axes), front), (-1, *rest))
    held = where
    if where is not True:
        whole = np.broadcast_to(where, x.shape)
        held = np.reshape(np.moveaxis(whole, list(axes), front), (-1, *rest))
    total = folded(function, rows, 0, False, initial, held)
    return np.expand_dims(total, axes) if keepdims else total


def folded(function: Ufunc, array: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    """``function(... function(x[0], x[1]) ..., x[n - 1])`` along an axis; of the elements where a
    condition holds, beginning with ``initial``."""
    x = np.asarray(array)
    at = _axis(x, axis)
    if initial is not None:
        rows = np.moveaxis(x, at, 0)
        total = np.zeros(rows.shape[1:], x.dtype) + initial
        held = None if where is True else np.moveaxis(np.broadcast_to(where, x.shape), at, 0)
        for i in range(x.shape[at]):
            step = function(total, rows[i])
            total = step if held is None else np.where(held[i], step, total)
        return np.expand_dims(total, at) if keepdims else total[()]
    if where is not True:
        raise ValueError(
            "reduction operation does not have an identity, so to use a where mask one has to "
            "specify 'initial'"
        )
    if x.shape[at] == 0:
        raise ValueError("zero-size array to a reduction operation which has no identity")
    rows = np.moveaxis(x, at, 0)
    total = rows[0] if x.shape[at] > 1 else rows[0] * 1
    for row in rows[1:]:
        total = function(total, row)
    return np.expand_dims(total, at) if keepdims else total


def running(function: Ufunc, array: Any, axis: Any) -> Any:
    """The results of all steps of this."""
    x = np.asarray(array)
    at = _axis(x, axis)
    rows = np.moveaxis(x, at, 0)
    found = rows.copy()
    for i in range(1, x.shape[at]):
        found[i] = function(found[i - 1], rows[i])
    return found if at == 0 else np.moveaxis(found, 0, at).copy()


def _axis(x: Any, axis: Any) -> int:
    if x.dtype.kind not in "fc":
        raise NotImplementedError(f"of {x.dtype} this is not supported: convert to float")
    if axis is None and x.ndim == 1:
        return 0
    if not isinstance(axis, int):
        raise ValueError("this operation takes one axis: its order matters")
    return normal(axis, x.ndim)
