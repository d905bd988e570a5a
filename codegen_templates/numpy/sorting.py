"""Spellings of sorting and searching."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import Table, fresh

SPELLINGS: Table = {
    "partition": lambda x, *, kth, axis: np.partition(x, kth, axis=axis),
    "argpartition": lambda x, *, kth, axis: np.argpartition(x, kth, axis=axis),
    "lexsort": lambda xs, *, axis: np.lexsort(xs, axis=axis),
    "histogram": lambda x, y: np.histogram(x, y)[0],
    "digitize": lambda x, y, *, right=False: np.digitize(x, y, right=right),
}


@fresh
def sort(x: Any, *, axis: int, descending: bool = False) -> Any:
    if descending:
        return np.sort(x, axis=axis, descending=True)  # type: ignore[call-overload, unused-ignore]
    return np.sort(x, axis=axis)


@fresh
def argsort(x: Any, *, axis: int, kind: Any = None, descending: bool = False) -> Any:
    if descending and kind == "stable":
        return np.argsort(x, axis=axis, stable=True, descending=True)  # type: ignore[call-arg, unused-ignore]
    if descending:
        return np.argsort(x, axis=axis, descending=True)  # type: ignore[call-arg, unused-ignore]
    if kind is None:
        return np.argsort(x, axis=axis)
    return np.argsort(x, axis=axis, kind=kind)


@fresh
def searchsorted(x: Any, y: Any, *, side: Any = "left") -> Any:
    if side == "left":
        return np.searchsorted(x, y)
    return np.searchsorted(x, y, side=side)
