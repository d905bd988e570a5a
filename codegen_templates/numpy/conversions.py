"""Spellings of conversions of dtype or kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh, view


@fresh
def cast(x: Any, *, dtype: Any) -> Any:
    # A NumPy number may be written so that it is Python's: `x * y if x else x`.
    if isinstance(x, np.generic) and dtype.kind in "fc":
        return dtype.type(x)
    if isinstance(x, np.ndarray | np.generic):
        return x.astype(dtype)
    return dtype.type(x)


@fresh
def to_python(x: Any, *, dtype: Any) -> Any:
    # Only arrays without dimensions convert directly; NumPy deprecates the others.
    if isinstance(x, np.ndarray) and x.ndim > 0 and dtype.kind == "b":
        return bool(x.item())
    if isinstance(x, np.ndarray) and x.ndim > 0 and dtype.kind == "i":
        return int(x.item())
    if isinstance(x, np.ndarray) and x.ndim > 0 and dtype.kind == "f":
        return float(x.item())
    if isinstance(x, np.ndarray) and x.ndim > 0:
        return complex(x.item())
    if dtype.kind == "b":
        return bool(x)
    if dtype.kind == "i":
        return int(x)
    if dtype.kind == "f":
        return float(x)
    return complex(x)


@fresh
def to_scalar(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x[()]
    if isinstance(x, np.generic):
        return x
    if isinstance(x, bool):
        return np.bool_(x)
    if isinstance(x, int):
        return np.int64(x)
    if isinstance(x, float):
        return np.float64(x)
    return np.complex128(x)


@view
def asarray(x: Any) -> Any:
    return np.asarray(x)


@fresh
def copy(x: Any, *, order: str = "K") -> Any:
    if order == "C":
        return x.copy()
    if order == "+":  # laid out as the result of a function of one array
        return +x
    return np.copy(x)
