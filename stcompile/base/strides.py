"""Strides: how the axes of an array lie in memory.

Strides are what NumPy keeps in ``x.strides``: how many bytes it is from one element of an axis to
the next. An array that is *dense* has its elements next to each other, in some order of its axes.

>>> natural((2, 3), 8)
(24, 8)
>>> in_order((2, 3), 8, (1, 0))
(8, 16)
>>> order_of((2, 3), (8, 16))
(1, 0)
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided

Strides: TypeAlias = tuple[int, ...] | None
"""The strides of an array, None where they are not known."""


def natural(dims: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides of an array in C order."""
    return in_order(dims, itemsize, range(len(dims)))


def in_order(dims: tuple[int, ...], itemsize: int, order: Iterable[int]) -> tuple[int, ...]:
    """The strides of a dense array with its axes in an order, the slowest first."""
    strides, stride = [0] * len(dims), itemsize
    for axis in reversed(tuple(order)):
        strides[axis] = stride
        stride *= max(dims[axis], 1)
    return tuple(strides)


def order_of(dims: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """The axes by their strides, the slowest first. If an axis of one element has the same stride
    as another axis, it counts as the faster one: were it the slower one, its stride would be
    larger."""
    return tuple(sorted(range(len(dims)), key=lambda i: (-abs(strides[i]), dims[i] == 1)))


def dense_order(dims: tuple[int, ...], strides: Strides, itemsize: int) -> tuple[int, ...] | None:
    """The axes of an array in the order of memory, the slowest first; None if there are gaps
    between its elements, or the strides are not known."""
    order = None if strides is None else order_of(dims, strides)
    dense = None if order is None else in_order(dims, itemsize, order)
    return order if dense is not None and alike(dims, strides, dense) else None


def kept_order(dims: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """The axes, the slowest first, of the array that NumPy makes with ``order="K"`` from an array
    of these dims and strides."""
    like = np.empty_like(placeholder(np.uint8, tuple(min(d, 2) for d in dims), strides))
    return order_of(like.shape, like.strides)


def reading_order(dims: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """The axes, the slowest first, in the order in which NumPy reads an array with ``order="K"``,
    as in ``x.ravel(order="K")``. NumPy's iterator is asked, since a stride of 0 says nothing of
    where an axis belongs. The order of axes of one element does not matter. An axis that runs
    backwards is read as if it ran forwards.

    >>> reading_order((2, 3), (8, 16)), reading_order((2, 3), (0, 8)), reading_order((2, 3), (8, 0))
    ((1, 0), (0, 1), (0, 1))
    """
    short = tuple(min(dim, 2) for dim in dims)
    order = [axis for axis, dim in enumerate(short) if dim < 2]
    if 0 in dims or len(order) == len(dims):
        return tuple(range(len(dims)))
    dummy = placeholder(np.uint8, short, tuple(map(abs, strides)))
    reader = np.nditer(dummy, ["multi_index"], order="K")
    places = [reader.multi_index for _ in reader]
    for place in reversed(range(len(dims) - len(order))):
        # The first step along an axis comes after all steps along the faster ones.
        order.append(places[2**place].index(1))
    return tuple(order)


def alike(dims: tuple[int, ...], one: Strides, other: Strides) -> bool:
    """True if two arrays of the same dims have the same strides, axes of one element left aside."""
    if one is None or other is None or 0 in dims:
        return one is other or 0 in dims
    return all(dim == 1 or a == b for dim, a, b in zip(dims, one, other, strict=True))


def is_natural(dims: tuple[int, ...], strides: Strides, itemsize: int) -> bool:
    """True for C order."""
    return alike(dims, strides, natural(dims, itemsize))


def dense_like(example: np.ndarray[Any, Any], dims: tuple[int, ...], itemsize: int) -> Strides:
    """The strides of a dense array of the given dims with its axes in the order of memory of
    ``example``; None if the example is not dense."""
    order = order_of(example.shape, example.strides)
    if example.ndim != len(dims) or not example.transpose(order).flags.c_contiguous:
        return None
    return in_order(dims, itemsize, order)


def layout_of(array: np.ndarray[Any, Any]) -> Any:
    """The part of an array's layout that a compiled function depends on: True for C order, else the
    strides; for a vector only their sign."""
    if array.flags.c_contiguous:
        return True
    if array.ndim == 1:
        return (2 * array.itemsize * int(np.sign(array.strides[0])),)
    return array.strides


def memory_order(array: np.ndarray[Any, Any]) -> tuple[int, ...] | None:
    """The order of the axes of an array in memory, slowest first; None if there are gaps between
    its elements or it runs backwards."""
    if array.flags.c_contiguous:
        return tuple(range(array.ndim))
    order = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    return tuple(order) if array.transpose(order).flags.c_contiguous else None


def strides_in(array: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """The strides of an array, reduced to the part that a compiled function depends on."""
    layout = layout_of(array)
    return natural(array.shape, array.itemsize) if layout is True else tuple(layout)


def placeholder(dtype: Any, dims: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """An array with these strides that must not be read: its memory is a single element."""
    return as_strided(np.zeros(1, dtype), dims, strides)


def shortened(
    dims: tuple[int, ...], strides: tuple[int, ...], itemsize: int, length: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Dims and strides of an array with no axis longer than ``length`` and the same layout: its
    strides are ordered in the same way, and it has gaps between its elements at the same axes."""
    short = tuple(min(dim, length) for dim in dims)
    found = [0] * len(dims)
    nonzero = sorted((i for i in range(len(dims)) if strides[i]), key=lambda i: abs(strides[i]))
    due, ours, last = itemsize, itemsize, 0  # next strides without a gap: given, new; the last one
    for size, group in groupby(nonzero, key=lambda i: abs(strides[i])):
        axes = list(group)
        longest = max(dims[axis] for axis in axes)
        if longest <= 1:
            last = ours if size == due else last + 1
        else:
            last = ours if size == due else ours + itemsize
            due, ours = size * longest, last * min(longest, length)
        for axis in axes:
            found[axis] = last if strides[axis] > 0 else -last
    return short, tuple(found)


def example(dtype: np.dtype[Any], dims: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """Make an array with these strides whose values every function accepts: identity matrices,
    zeros of integers (indices of an element that exists), or a mask that is True everywhere."""
    if 0 in dims:
        return placeholder(dtype, dims, strides)
    extent = sum(abs(stride) * max(dim - 1, 0) for dim, stride in zip(dims, strides, strict=True))
    memory = np.zeros(extent + dtype.itemsize, np.uint8)
    made = as_strided(memory[: dtype.itemsize].view(dtype), dims, tuple(map(abs, strides)))
    if dtype.kind == "b":
        made[...] = True
    elif dtype.kind in "fc" and len(dims) > 1:
        made[..., range(min(dims[-2:])), range(min(dims[-2:]))] = 1
    turned = tuple(slice(None, None, -1 if stride < 0 else 1) for stride in strides)
    return made[turned] if dims else made
