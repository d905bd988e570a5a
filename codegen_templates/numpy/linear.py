"""How contractions are written: ``@`` where it fits, then tensordot, then einsum."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh
from .subscripts import einsum_subscripts, form, tensordot_axes


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
    if spelling == "matmul" or form(x.ndim, y.ndim, batch, contracted, order) == "x @ y":
        return x @ y
    if spelling == "dot":
        return np.dot(x, y)
    if spelling == "outer":
        return np.outer(x, y)
    if form(x.ndim, y.ndim, batch, contracted, order) == "x.T @ y":
        return x.T @ y
    if form(x.ndim, y.ndim, batch, contracted, order) == "x @ y.T":
        return x @ y.T
    if form(x.ndim, y.ndim, batch, contracted, order) == "x.T @ y.T":
        return x.T @ y.T
    if form(x.ndim, y.ndim, batch, contracted, order) == "x.mT @ y":
        return x.mT @ y
    if form(x.ndim, y.ndim, batch, contracted, order) == "x @ y.mT":
        return x @ y.mT
    if form(x.ndim, y.ndim, batch, contracted, order) == "x.mT @ y.mT":
        return x.mT @ y.mT
    if form(x.ndim, y.ndim, batch, contracted, order) == "y @ x":
        return y @ x
    if form(x.ndim, y.ndim, batch, contracted, order) == "y.T @ x":
        return y.T @ x
    if form(x.ndim, y.ndim, batch, contracted, order) == "y @ x.T":
        return y @ x.T
    if form(x.ndim, y.ndim, batch, contracted, order) == "y.T @ x.T":
        return y.T @ x.T
    if form(x.ndim, y.ndim, batch, contracted, order) == "y.mT @ x":
        return y.mT @ x
    if form(x.ndim, y.ndim, batch, contracted, order) == "y @ x.mT":
        return y @ x.mT
    if form(x.ndim, y.ndim, batch, contracted, order) == "y.mT @ x.mT":
        return y.mT @ x.mT
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
