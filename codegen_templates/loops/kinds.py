"""Conversions to Python's numbers. Numba has no `float` of booleans, and its `float` and `complex`
keep single precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh


@fresh
def as_float(x: Any) -> Any:
    if isinstance(x, bool | np.bool_ | np.float32):
        return np.float64(x)
    return float(x)


@fresh
def as_complex(x: Any) -> Any:
    if isinstance(x, bool | np.bool_ | np.float32 | np.complex64):
        return np.complex128(x)
    return complex(x)


@fresh
def as_int(x: Any) -> Any:
    if isinstance(x, bool):
        return int(x)
    return x
