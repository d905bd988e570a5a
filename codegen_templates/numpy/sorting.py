"""Spellings of sorting and searching."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh


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
def partition(x: Any, *, kth: Any, axis: int) -> Any:
    return np.partition(x, kth, axis=axis)


@fresh
def argpartition(x: Any, *, kth: Any, axis: int) -> Any:
    return np.argpartition(x, kth, axis=axis)


@fresh
def lexsort(xs: Any, *, axis: int) -> Any:
    return np.lexsort(xs, axis=axis)


@fresh
def searchsorted(x: Any, y: Any, *, side: Any = "left") -> Any:
    if side == "left":
        return np.searchsorted(x, y)
    return np.searchsorted(x, y, side=side)


@fresh
def histogram(x: Any, y: Any) -> Any:
    return np.histogram(x, y)[0]


@fresh
def digitize(x: Any, y: Any, *, right: bool = False) -> Any:
    return np.digitize(x, y, right=right)
