"""Numbers of other dtypes and kinds. In compiled code a NumPy scalar and a Python number of its
dtype are the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh
from .helpers import end_of_slice, index_within, whole
from .kinds import as_complex, as_float


@fresh
def cast(x: Any, *, dtype: Any) -> Any:
    if dtype.kind == "i" and isinstance(x, float) and not isinstance(x, np.generic):
        return whole(x)
    return dtype.type(x)


@fresh
def to_python(x: Any, *, dtype: Any) -> Any:
    if dtype.kind == "b":
        return bool(x)
    if dtype.kind == "i" and x.dtype.kind == "f":
        return whole(x)
    if dtype.kind == "i":
        return int(x)
    if dtype.kind == "c":
        return as_complex(x)
    return as_float(x)


@fresh
def slice_end(end: Any, *, of: Any, low: Any) -> Any:
    return end_of_slice(end, of, low)


@fresh
def within(i: Any, *, of: Any, axis: int) -> Any:
    return index_within(i, of, axis)


@fresh
def to_scalar(x: Any) -> Any:
    return x
