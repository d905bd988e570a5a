"""Spellings of the making, conversion, indexing, writing and multiplication of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh, view
from ..numpy.subscripts import dtype_of, holds, index_subscript, nested

# --- conversions -----------------------------------------------------------------------------


@fresh
def cast(x: Any, *, dtype: Any) -> Any:
    if isinstance(x, np.ndarray | np.generic):
        return np.astype(x, dtype)  # type: ignore[arg-type]
    return np.asarray(x, dtype=dtype)


@fresh
def to_python(x: Any, *, dtype: Any) -> Any:
    if x.ndim > 0 and dtype.kind == "b":
        return bool(np.reshape(x, ()))
    if x.ndim > 0 and dtype.kind == "i":
        return int(np.reshape(x, ()))
    if x.ndim > 0 and dtype.kind == "f":
        return float(np.reshape(x, ()))
    if dtype.kind == "b":
        return bool(x)
    if dtype.kind == "i":
        return int(x)
    if dtype.kind == "f":
        return float(x)
    return complex(x)


@fresh
def to_scalar(x: Any) -> Any:
    if isinstance(x, np.ndarray | np.generic):
        return x
    return np.asarray(x, dtype=dtype_of(x))


@view
def asarray(x: Any) -> Any:
    if isinstance(x, np.ndarray | np.generic):
        return x
    return np.asarray(x, dtype=dtype_of(x))


@fresh
def copy(x: Any, *, order: str = "K") -> Any:
    if isinstance(x, np.ndarray | np.generic):
        return np.asarray(x, copy=True)
    return np.asarray(x, dtype=dtype_of(x))


# --- creation --------------------------------------------------------------------------------


@fresh
def full(v: Any, *, shape: Any, dtype: Any) -> Any:
    if isinstance(v, np.ndarray | np.generic):
        return np.zeros(shape, dtype=dtype) + np.astype(v, dtype)  # type: ignore[arg-type]
    if holds(v, 0):
        return np.zeros(shape, dtype=dtype)
    if holds(v, 1):
        return np.ones(shape, dtype=dtype)
    return np.full(shape, v, dtype=dtype)


@fresh
def arange(*, start: Any, stop: Any, step: Any, dtype: Any) -> Any:
    return np.arange(start, stop, step, dtype=dtype)


@fresh
def eye(*, n: int, m: int, k: int = 0, dtype: Any = np.float64) -> Any:
    return np.eye(n, m, k=k, dtype=dtype)


@fresh
def constant(*, values: Any, shape: Any, dtype: Any) -> Any:
    if len(values) == 0:
        return np.zeros(shape, dtype=dtype)
    return np.asarray(nested(values, shape), dtype=dtype)


# --- parts -----------------------------------------------------------------------------------


@view
def index(x: Any, indices: Any, *, at: Any) -> Any:
    if len(indices) == 1 and x.ndim > 1:
        return np.take(x, indices[0], axis=at.index("index"))
    return x[index_subscript(x.shape, indices, at)]


# --- products --------------------------------------------------------------------------------


@fresh
def contract(
    x: Any,
    y: Any,
    *,
    batch: Any = (),
    contracted: Any = (),
    order: Any = (),
    spelling: str = "",
) -> Any:
    if spelling == "matmul":
        return x @ y
    if order != ():
        return np.permute_dims(np.tensordot(x, y, axes=paired(contracted)), order)
    if contracted == ((1, 0),) and x.ndim == 2 and y.ndim == 2:
        return x @ y
    if contracted == ((0, 0),) and x.ndim == 2 and y.ndim == 2:
        return x.T @ y
    if contracted == ((1, 1),) and x.ndim == 2 and y.ndim == 2:
        return x @ y.T
    return np.tensordot(x, y, axes=paired(contracted))


def paired(contracted: Any) -> Any:
    """The ``axes`` of ``tensordot``."""
    return tuple(a for a, _ in contracted), tuple(b for _, b in contracted)
