"""How the elements that a boolean mask selects are reduced and written."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh, write
from .subscripts import reduced


@fresh
def masked(x: Any, mask: Any, *, reduce: str, axis: Any = None) -> Any:
    if reduce == "sum":
        return np.sum(x[mask], axis=reduced(axis, x.ndim - mask.ndim + 1))
    if reduce == "prod":
        return np.prod(x[mask], axis=reduced(axis, x.ndim - mask.ndim + 1))
    if reduce == "mean":
        return np.mean(x[mask], axis=reduced(axis, x.ndim - mask.ndim + 1))
    if reduce == "max":
        return np.max(x[mask], axis=reduced(axis, x.ndim - mask.ndim + 1))
    if reduce == "min":
        return np.min(x[mask], axis=reduced(axis, x.ndim - mask.ndim + 1))
    if reduce == "any":
        return np.any(x[mask], axis=reduced(axis, x.ndim - mask.ndim + 1))
    return np.all(x[mask], axis=reduced(axis, x.ndim - mask.ndim + 1))


@write(inplace=("x",))
def masked_update(x: Any, v: Any, mask: Any, *, items: bool) -> Any:
    if items:
        x[mask] = v[mask]
    else:
        x[mask] = v
    return x
