"""Reductions whose parameters the standard calls otherwise than NumPy."""

from __future__ import annotations

from typing import Any

from ..marks import fresh
from ..numpy.calls import with_function
from ..numpy.subscripts import reduced


@fresh
def _spread(
    x: Any, *, axis: Any = None, keepdims: bool = False, ddof: int = 0, function: Any
) -> Any:
    return function(x, axis=reduced(axis, x.ndim), correction=ddof, keepdims=keepdims)


var = with_function(_spread, "np.var")
std = with_function(_spread, "np.std")
