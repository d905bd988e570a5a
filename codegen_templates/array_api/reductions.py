"""Reductions: as in NumPy, by the standard's names."""

from __future__ import annotations

from typing import Any

from ..marks import fresh
from ..numpy.calls import with_function
from ..numpy.subscripts import reduced


@fresh
def _reduction(x: Any, *, axis: Any = None, keepdims: bool = False, function: Any) -> Any:
    return function(x, axis=reduced(axis, x.ndim), keepdims=keepdims)


@fresh
def _spread(
    x: Any, *, axis: Any = None, keepdims: bool = False, ddof: int = 0, function: Any
) -> Any:
    return function(x, axis=reduced(axis, x.ndim), correction=ddof, keepdims=keepdims)


@fresh
def _position(x: Any, *, axis: Any = None, keepdims: bool = False, function: Any) -> Any:
    return function(x, axis=axis, keepdims=keepdims)


@fresh
def _running(x: Any, *, axis: int, function: Any) -> Any:
    return function(x, axis=axis)


sum = with_function(_reduction, "np.sum")
prod = with_function(_reduction, "np.prod")
max = with_function(_reduction, "np.max")
min = with_function(_reduction, "np.min")
mean = with_function(_reduction, "np.mean")
any = with_function(_reduction, "np.any")
all = with_function(_reduction, "np.all")
var = with_function(_spread, "np.var")
std = with_function(_spread, "np.std")
argmax = with_function(_position, "np.argmax")
argmin = with_function(_position, "np.argmin")
cumsum = with_function(_running, "np.cumulative_sum")
cumprod = with_function(_running, "np.cumulative_prod")
