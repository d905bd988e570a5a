"""How the elements that a boolean mask selects are reduced and written."""

from __future__ import annotations

from typing import Any

from ..marks import fresh, write
from .calls import Function
from .subscripts import reduced


@fresh
def masked(x: Any, mask: Any, *, reduce: str, axis: Any = None) -> Any:
    return Function("np", reduce)(x[mask], axis=reduced(axis, x.ndim - mask.ndim + 1))


@write(inplace=("x",))
def masked_update(x: Any, v: Any, mask: Any, *, items: bool) -> Any:
    if items:
        x[mask] = v[mask]
    else:
        x[mask] = v
    return x
