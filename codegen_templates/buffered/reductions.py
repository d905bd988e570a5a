"""Reductions into a given array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import into
from ..numpy.subscripts import elements, reduced, single


@into()
def sum(out: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> None:
    np.add.reduce(x, axis=single(axis), keepdims=keepdims, out=out)


@into()
def prod(out: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> None:
    np.multiply.reduce(x, axis=single(axis), keepdims=keepdims, out=out)


@into()
def max(out: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> None:
    np.maximum.reduce(x, axis=single(axis), keepdims=keepdims, out=out)


@into()
def min(out: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> None:
    np.minimum.reduce(x, axis=single(axis), keepdims=keepdims, out=out)


@into()
def any(out: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> None:
    np.logical_or.reduce(x, axis=single(axis), keepdims=keepdims, out=out)


@into()
def all(out: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> None:
    np.logical_and.reduce(x, axis=single(axis), keepdims=keepdims, out=out)


@into()
def mean(out: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> None:
    if x.dtype.kind == "f" and x.dtype.itemsize > 2 and elements(x.shape, axis):
        np.add.reduce(x, axis=single(axis), keepdims=keepdims, out=out)
        np.divide(out, elements(x.shape, axis), out=out)
    else:
        np.mean(x, axis=reduced(axis, x.ndim), keepdims=keepdims, out=out)


@into()
def var(out: Any, x: Any, *, axis: Any = None, keepdims: bool = False, ddof: int = 0) -> None:
    np.var(x, axis=reduced(axis, x.ndim), ddof=ddof, keepdims=keepdims, out=out)


@into()
def std(out: Any, x: Any, *, axis: Any = None, keepdims: bool = False, ddof: int = 0) -> None:
    np.std(x, axis=reduced(axis, x.ndim), ddof=ddof, keepdims=keepdims, out=out)


@into()
def argmax(out: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> None:
    np.argmax(x, axis=axis, keepdims=keepdims, out=out)


@into()
def argmin(out: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> None:
    np.argmin(x, axis=axis, keepdims=keepdims, out=out)


@into()
def cumsum(out: Any, x: Any, *, axis: int) -> None:
    np.cumsum(x, axis=axis, out=out)
