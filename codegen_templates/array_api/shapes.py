"""Spellings of rearrangements of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import view
from ..numpy.subscripts import dtype_of, single


@view
def reshape(x: Any, *, shape: Any) -> Any:
    if isinstance(x, np.ndarray | np.generic):
        return np.reshape(x, shape)
    return np.reshape(np.asarray(x, dtype=dtype_of(x)), shape)


@view
def transpose(x: Any, *, axes: Any) -> Any:
    if axes == (*range(x.ndim),):
        return x
    if axes == (1, 0):
        return x.T
    return np.permute_dims(x, axes)


@view
def expand_dims(x: Any, *, axis: Any) -> Any:
    return np.reshape(x, expanded(x.shape, axis))


@view
def squeeze(x: Any, *, axis: Any) -> Any:
    return np.squeeze(x, axis=single(axis))


@view
def broadcast_to(x: Any, *, shape: Any) -> Any:
    if isinstance(x, np.ndarray | np.generic):
        return np.broadcast_to(x, shape)
    return np.full(shape, x, dtype=dtype_of(x))


def expanded(shape: Any, axis: Any) -> Any:
    """The shape with axes of length 1 at these positions of the result."""
    rest = iter(shape)
    return tuple(1 if i in axis else next(rest) for i in range(len(shape) + len(axis)))
