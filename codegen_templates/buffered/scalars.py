"""Reductions to a number, without what `numpy.sum` and its like do before they call a ufunc."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh


@fresh
def sum(x: Any, *, axis: Any, keepdims: bool = False) -> Any:
    return np.add.reduce(x, axis=None)


@fresh
def prod(x: Any, *, axis: Any, keepdims: bool = False) -> Any:
    return np.multiply.reduce(x, axis=None)


@fresh
def max(x: Any, *, axis: Any, keepdims: bool = False) -> Any:
    return np.maximum.reduce(x, axis=None)


@fresh
def min(x: Any, *, axis: Any, keepdims: bool = False) -> Any:
    return np.minimum.reduce(x, axis=None)


@fresh
def any(x: Any, *, axis: Any, keepdims: bool = False) -> Any:
    return np.logical_or.reduce(x, axis=None)


@fresh
def all(x: Any, *, axis: Any, keepdims: bool = False) -> Any:
    return np.logical_and.reduce(x, axis=None)
