"""Spellings of contractions: ``@`` where it fits, then tensordot, then einsum."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh
from .subscripts import einsum_subscripts, factor, form, tensordot_axes


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
    if spelling == "dot":
        return np.dot(x, y)
    if spelling == "inner":
        return np.inner(x, y)
    if spelling == "outer":
        return np.outer(x, y)
    if spelling == "einsum":
        return np.einsum(einsum_subscripts(x.ndim, y.ndim, batch, contracted, order), x, y)
    if spelling == "tensordot" and x.ndim + y.ndim == 2 * len(contracted):
        return np.tensordot(x, y, axes=tensordot_axes(contracted))[()]
    if spelling == "tensordot":
        return np.tensordot(x, y, axes=tensordot_axes(contracted))
    if " @ " in form(x.ndim, y.ndim, batch, contracted, order):
        return factor(0, x, y, batch, contracted, order) @ factor(1, x, y, batch, contracted, order)
    if form(x.ndim, y.ndim, batch, contracted, order) == "outer(x, y)":
        return np.outer(x, y)
    if form(x.ndim, y.ndim, batch, contracted, order) == "outer(y, x)":
        return np.outer(y, x)
    if form(x.ndim, y.ndim, batch, contracted, order) == "vdot(x, y)" and x.dtype.kind != "c":
        return np.vdot(x, y)
    if form(x.ndim, y.ndim, batch, contracted, order) == "tensordot(x, y)":
        return np.tensordot(x, y, axes=tensordot_axes(contracted))
    if form(x.ndim, y.ndim, batch, contracted, order) == "tensordot(y, x)":
        return np.tensordot(y, x, axes=tensordot_axes(contracted, swapped=True))
    if form(x.ndim, y.ndim, batch, contracted, order) == "tensordot(x, y).transpose":
        return np.tensordot(x, y, axes=tensordot_axes(contracted)).transpose(*order)
    if form(x.ndim, y.ndim, batch, contracted, order) != "einsum(x, y)":
        return np.tensordot(x, y, axes=tensordot_axes(contracted))[()]
    return np.einsum(einsum_subscripts(x.ndim, y.ndim, batch, contracted, order), x, y)


@fresh
def convolve(x: Any, y: Any, *, mode: Any = "full") -> Any:
    return np.convolve(x, y, mode)


@fresh
def einsum(xs: Any, *, subscripts: str) -> Any:
    return np.einsum(subscripts, *xs)
