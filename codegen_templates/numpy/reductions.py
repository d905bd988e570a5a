"""Spellings of reductions: ``axis`` is written only if it is not all axes."""

from __future__ import annotations

from typing import Any

from ..marks import fresh
from .calls import with_function
from .subscripts import reduced


@fresh
def _reduction(x: Any, *, axis: Any = None, keepdims: bool = False, function: Any) -> Any:
    return function(x, axis=reduced(axis, x.ndim), keepdims=keepdims)


@fresh
def _spread(
    x: Any, *, axis: Any = None, keepdims: bool = False, ddof: int = 0, function: Any
) -> Any:
    return function(x, axis=reduced(axis, x.ndim), ddof=ddof, keepdims=keepdims)


@fresh
def _position(x: Any, *, axis: Any = None, keepdims: bool = False, function: Any) -> Any:
    return function(x, axis=axis, keepdims=keepdims)


@fresh
def _running(x: Any, *, axis: int, function: Any) -> Any:
    return function(x, axis=axis)


@fresh
def add_up(total: Any, x: Any) -> Any:
    return total + x


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
cumsum = with_function(_running, "np.cumsum")
cumprod = with_function(_running, "np.cumprod")
