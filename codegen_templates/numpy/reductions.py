"""How reductions are written: ``axis`` only where it is not all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh
from .subscripts import reduced


@fresh
def sum(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    return np.sum(x, axis=reduced(axis, x.ndim), keepdims=keepdims)


@fresh
def prod(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    return np.prod(x, axis=reduced(axis, x.ndim), keepdims=keepdims)


@fresh
def max(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    return np.max(x, axis=reduced(axis, x.ndim), keepdims=keepdims)


@fresh
def min(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    return np.min(x, axis=reduced(axis, x.ndim), keepdims=keepdims)


@fresh
def mean(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    return np.mean(x, axis=reduced(axis, x.ndim), keepdims=keepdims)


@fresh
def any(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    return np.any(x, axis=reduced(axis, x.ndim), keepdims=keepdims)


@fresh
def all(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    return np.all(x, axis=reduced(axis, x.ndim), keepdims=keepdims)


@fresh
def var(x: Any, *, axis: Any = None, keepdims: bool = False, ddof: int = 0) -> Any:
    return np.var(x, axis=reduced(axis, x.ndim), ddof=ddof, keepdims=keepdims)


@fresh
def std(x: Any, *, axis: Any = None, keepdims: bool = False, ddof: int = 0) -> Any:
    return np.std(x, axis=reduced(axis, x.ndim), ddof=ddof, keepdims=keepdims)


@fresh
def argmax(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    return np.argmax(x, axis=axis, keepdims=keepdims)


@fresh
def argmin(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    return np.argmin(x, axis=axis, keepdims=keepdims)


@fresh
def cumsum(x: Any, *, axis: int) -> Any:
    return np.cumsum(x, axis=axis)


@fresh
def cumprod(x: Any, *, axis: int) -> Any:
    return np.cumprod(x, axis=axis)
