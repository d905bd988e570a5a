"""Indices of arrays: grids of all indices, and flat indices made of the indices along each axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.library.axes import wide


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """Arrays of the index along each axis of an array with these dimensions."""
    shape = tuple(dimensions)
    grids = _grids(shape, dtype)
    if sparse:
        return tuple(grids)
    if not shape:
        return np.zeros((0,), dtype)
    return np.stack([np.broadcast_to(grid, shape) for grid in grids])


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any
) -> Any:
    """The function of the arrays that `indices` gives."""
    return function(*indices(shape, dtype), **kwargs)


def _grids(shape: tuple[int, ...], dtype: Any) -> list[Any]:
    return [
        np.reshape(np.arange(0, n, dtype=dtype), wide(len(shape), axis))
        for axis, n in enumerate(shape)
    ]


def unravel_index(indices: Any, shape: Any, order: str = "C") -> Any:
    """The index along each axis of flat indices."""
    dims = (shape,) if isinstance(shape, int) else tuple(shape)
    rest = np.asarray(indices) if np.ndim(indices) > 0 else indices
    size = 1
    for dim in dims:
        size *= dim
    if np.any(np.logical_or(rest < 0, rest >= size)):
        raise ValueError(f"an index is out of bounds for an array with size {size}")
    found: list[Any] = []
    for dim in dims[::-1] if order == "C" else dims:
        found.append(rest % dim)
        rest = rest // dim
    return tuple(found[::-1]) if order == "C" else tuple(found)


def within(indices: Any, size: Any, mode: str) -> Any:
    """Indices that ``mode`` brings into a range of a size, "raise" leaving them as they are."""
    if mode == "raise":
        return indices
    if mode not in ("wrap", "clip"):
        raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap'")
    return indices % size if mode == "wrap" else np.clip(indices, 0, size - 1)


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """The flat indices of given indices along each axis."""
    if len(multi_index) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    flat: Any = 0
    modes = [mode] * len(dims) if isinstance(mode, str) else mode
    given = [within(np.asarray(i), n, m) for i, n, m in zip(multi_index, dims, modes, strict=True)]
    pairs = list(zip(given, dims, strict=True))
    for index, dim in pairs if order == "C" else pairs[::-1]:
        at = index if np.ndim(index) > 0 else index[()]
        if np.any(np.logical_or(at < 0, at >= dim)):
            raise ValueError("invalid entry in coordinates array")
        flat = flat * dim + at
    return flat


def tril_indices(n: int, k: int = 0, m: Any = None) -> Any:
    """The indices on and below a diagonal."""
    return np.nonzero(np.tri(n, m, k, dtype=bool))


def triu_indices(n: int, k: int = 0, m: Any = None) -> Any:
    """The indices on and above a diagonal."""
    return np.nonzero(np.logical_not(np.tri(n, m, k - 1, dtype=bool)))
