"""Reductions to values of their own, without what `numpy.sum` and its like do before they call a
ufunc: half of the time for small arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh
from ..numpy.subscripts import elements, reduced


@fresh
def sum(x: Any, *, axis: Any, keepdims: Any = False) -> Any:
    return np.add.reduce(x, axis=reduced(axis, x.ndim), keepdims=keepdims)


@fresh
def prod(x: Any, *, axis: Any, keepdims: Any = False) -> Any:
    return np.multiply.reduce(x, axis=reduced(axis, x.ndim), keepdims=keepdims)


@fresh
def max(x: Any, *, axis: Any, keepdims: Any = False) -> Any:
    return np.maximum.reduce(x, axis=reduced(axis, x.ndim), keepdims=keepdims)


@fresh
def min(x: Any, *, axis: Any, keepdims: Any = False) -> Any:
    return np.minimum.reduce(x, axis=reduced(axis, x.ndim), keepdims=keepdims)


@fresh
def any(x: Any, *, axis: Any, keepdims: Any = False) -> Any:
    return np.logical_or.reduce(x, axis=reduced(axis, x.ndim), keepdims=keepdims)


@fresh
def all(x: Any, *, axis: Any, keepdims: Any = False) -> Any:
    return np.logical_and.reduce(x, axis=reduced(axis, x.ndim), keepdims=keepdims)


@fresh
def mean(x: Any, *, axis: Any, keepdims: Any = False) -> Any:
    # as numpy.mean computes it for floats of 32 bits or more
    return np.add.reduce(x, axis=reduced(axis, x.ndim), keepdims=keepdims) / elements(x.shape, axis)
