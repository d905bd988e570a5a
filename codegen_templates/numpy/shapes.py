"""Spellings of rearrangements of elements: methods for arrays, functions for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh, view
from .calls import with_function
from .subscripts import holds, new_axes, single


@view
def reshape(x: Any, *, shape: Any) -> Any:
    if isinstance(x, np.ndarray) and len(shape) > 0:
        return x.reshape(*shape)
    # A NumPy scalar would stay one.
    if not isinstance(x, np.ndarray) and len(shape) == 0:
        return np.asarray(x)
    return np.reshape(x, shape)


@view
def transpose(x: Any, *, axes: Any) -> Any:
    if axes == (*range(x.ndim),):
        return x
    if axes == (1, 0):
        return x.T
    if axes == (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2):
        return x.mT
    return x.transpose(*axes)


@view
def expand_dims(x: Any, *, axis: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x[new_axes(x.ndim, axis)]
    return np.expand_dims(x, single(axis))


@view
def squeeze(x: Any, *, axis: Any) -> Any:
    return x.squeeze(single(axis))


@view
def broadcast_to(x: Any, *, shape: Any) -> Any:
    return np.broadcast_to(x, shape)


@fresh
def _joined(xs: Any, *, axis: int = 0, function: Any) -> Any:
    return function(xs, axis=axis)


concatenate = with_function(_joined, "np.concatenate")
stack = with_function(_joined, "np.stack")


@fresh
def roll(x: Any, *, shift: Any, axis: Any) -> Any:
    return np.roll(x, single(shift), axis=single(axis))


@fresh
def pad(x: Any, *, pad_width: Any, mode: str = "constant", value: Any = 0) -> Any:
    if holds(value, 0):
        return np.pad(x, pad_width)
    return np.pad(x, pad_width, constant_values=value)


@view
def diagonal(x: Any, *, offset: int, axis1: int, axis2: int) -> Any:
    if axis1 == 0 and axis2 == 1 and offset == 0:
        return np.diagonal(x)
    if axis1 == 0 and axis2 == 1:
        return np.diagonal(x, offset)
    return np.diagonal(x, offset, axis1, axis2)
