"""Spellings of new arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh
from .subscripts import bounds, holds, nested, single


@fresh
def full(v: Any, *, shape: Any, dtype: Any) -> Any:
    if holds(v, 0):
        return np.zeros(single(shape), dtype)
    if holds(v, 1):
        return np.ones(single(shape), dtype)
    return np.full(single(shape), v, dtype)


@fresh
def empty(*, shape: Any, dtype: Any) -> Any:
    return np.empty(single(shape), dtype)


@fresh
def arange(*, start: Any, stop: Any, step: Any, dtype: Any) -> Any:
    if dtype == np.int64 and isinstance(start + stop + step, int):
        return np.arange(*bounds(start, stop, step))
    return np.arange(*bounds(start, stop, step), dtype=dtype)


@fresh
def eye(*, n: int, m: int, k: int = 0, dtype: Any = np.float64) -> Any:
    if n == m:
        return np.eye(n, k=k, dtype=dtype)
    return np.eye(n, m, k=k, dtype=dtype)


@fresh
def constant(*, values: Any, shape: Any, dtype: Any) -> Any:
    if len(values) == 0:
        return np.zeros(shape, dtype)
    return np.array(nested(values, shape), dtype)


@fresh
def array(xs: Any, *, shape: Any, dtype: Any) -> Any:
    if len(xs) == 0:
        return np.zeros(shape, dtype)
    return np.array(nested(xs, shape), dtype)


# A value that is never read: the residual of a branch that was not taken.
@fresh
def undef(*, kind: Any, dtype: Any, dims: Any, depth: int) -> Any:
    return 0
