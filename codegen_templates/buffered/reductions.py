"""Reductions into a given array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import into
from ..numpy.calls import with_function
from ..numpy.subscripts import elements, reduced, single


@into()
def _reduction(
    out: Any, x: Any, *, axis: Any = None, keepdims: bool = False, function: Any
) -> None:
    function(x, axis=single(axis), keepdims=keepdims, out=out)


@into()
def _spread(
    out: Any, x: Any, *, axis: Any = None, keepdims: bool = False, ddof: int = 0, function: Any
) -> None:
    function(x, axis=reduced(axis, x.ndim), ddof=ddof, keepdims=keepdims, out=out)


@into()
def _position(out: Any, x: Any, *, axis: Any = None, keepdims: bool = False, function: Any) -> None:
    function(x, axis=axis, keepdims=keepdims, out=out)


@into()
def mean(out: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> None:
    if x.dtype.kind == "f" and x.dtype.itemsize > 2 and 0 not in [x.shape[i] for i in axis]:
        np.add.reduce(x, axis=single(axis), keepdims=keepdims, out=out)
        np.divide(out, elements(x.shape, axis), out=out)
    else:
        np.mean(x, axis=reduced(axis, x.ndim), keepdims=keepdims, out=out)


@into()
def cumsum(out: Any, x: Any, *, axis: int) -> None:
    np.cumsum(x, axis=axis, out=out)


sum = with_function(_reduction, "np.add.reduce")
prod = with_function(_reduction, "np.multiply.reduce")
max = with_function(_reduction, "np.maximum.reduce")
min = with_function(_reduction, "np.minimum.reduce")
any = with_function(_reduction, "np.logical_or.reduce")
all = with_function(_reduction, "np.logical_and.reduce")
var = with_function(_spread, "np.var")
std = with_function(_spread, "np.std")
argmax = with_function(_position, "np.argmax")
argmin = with_function(_position, "np.argmin")
