"""Functions of `scipy.special` that `math` and NumPy have as well, or that are one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..marks import fresh
from ..numpy.calls import with_function
from .helpers import expit_of, log_gamma, normal_below, x_log_y
from .kinds import as_float


@fresh
def _in_double(x: Any, *, function: Callable[..., Any]) -> Any:
    if isinstance(x, np.float32):
        return np.float32(function(np.float64(x)))
    if isinstance(x, float):
        return function(x)
    return function(as_float(x))


@fresh
def _in_its_dtype(x: Any, *, function: Callable[..., Any]) -> Any:
    if isinstance(x, float | np.floating):
        return function(x)
    return function(as_float(x))


erf = with_function(_in_double, "math.erf")
erfc = with_function(_in_double, "math.erfc")
gamma = with_function(_in_double, "math.gamma")
expm1 = with_function(_in_its_dtype, "np.expm1")
log1p = with_function(_in_its_dtype, "np.log1p")
exp2 = with_function(_in_its_dtype, "np.exp2")
cbrt = with_function(_in_its_dtype, "np.cbrt")


@fresh
def gammaln(x: Any) -> Any:
    if isinstance(x, np.float32):
        return np.float32(log_gamma(np.float64(x)))
    return log_gamma(as_float(x))


@fresh
def expit(x: Any) -> Any:
    if isinstance(x, np.float32):
        return np.float32(expit_of(np.float64(x)))
    return expit_of(as_float(x))


@fresh
def ndtr(x: Any) -> Any:
    if isinstance(x, np.float32):
        return np.float32(normal_below(np.float64(x)))
    return normal_below(as_float(x))


@fresh
def xlogy(x: Any, y: Any) -> Any:
    if isinstance(x, np.float32) and isinstance(y, np.float32):
        return np.float32(x_log_y(np.float64(x), np.float64(y)))
    return x_log_y(as_float(x), as_float(y))
