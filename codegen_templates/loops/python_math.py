"""Functions of `math`, which raise outside of their domain and where a result is too large."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..marks import fresh
from ..numpy.calls import with_function
from .helpers import in_domain, in_range, math_power, whole
from .kinds import as_float


@fresh
def _in_domain(x: Any, *, function: Callable[..., Any]) -> Any:
    if isinstance(x, float):
        return in_domain(function(x), x)
    return in_domain(function(x), as_float(x))


@fresh
def _in_range(x: Any, *, function: Callable[..., Any]) -> Any:
    if isinstance(x, float):
        return in_range(function(x), x)
    return in_range(function(x), as_float(x))


@fresh
def pow(x: Any, y: Any) -> Any:
    return math_power(as_float(x), as_float(y))


@fresh
def _to_whole(x: Any, *, function: Callable[..., Any]) -> Any:
    if isinstance(x, float | np.floating):
        return whole(function(x))
    return int(x)


@fresh
def round_(x: Any, *, ndigits: Any = None) -> Any:
    if ndigits is not None:
        return round(x, ndigits)
    if isinstance(x, float | np.floating):
        return whole(np.rint(x))
    return int(x)


floor = with_function(_to_whole, "np.floor")
ceil = with_function(_to_whole, "np.ceil")
trunc = with_function(_to_whole, "np.trunc")
exp = with_function(_in_range, "math.exp")
expm1 = with_function(_in_range, "math.expm1")
sinh = with_function(_in_range, "math.sinh")
cosh = with_function(_in_range, "math.cosh")
log = with_function(_in_domain, "math.log")
log1p = with_function(_in_domain, "math.log1p")
log2 = with_function(_in_domain, "math.log2")
log10 = with_function(_in_domain, "math.log10")
sqrt = with_function(_in_domain, "math.sqrt")
sin = with_function(_in_domain, "math.sin")
cos = with_function(_in_domain, "math.cos")
tan = with_function(_in_domain, "math.tan")
asin = with_function(_in_domain, "math.asin")
acos = with_function(_in_domain, "math.acos")
acosh = with_function(_in_domain, "math.acosh")
atanh = with_function(_in_domain, "math.atanh")
