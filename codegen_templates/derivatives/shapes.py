"""Adjoints of rearrangements: the cotangent is put back where the elements came from."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import Table, adjoint
from .axes import consecutive, interior, inverse

ADJOINTS: Table = {
    "reshape": lambda out, x, d_out, *, shape: np.reshape(d_out, np.shape(x)),
    "transpose": lambda out, x, d_out, *, axes: np.transpose(d_out, inverse(axes)),
    "expand_dims": lambda out, x, d_out, *, axis: np.reshape(d_out, np.shape(x)),
    "squeeze": lambda out, x, d_out, *, axis: np.reshape(d_out, np.shape(x)),
    "broadcast_to": lambda out, x, d_out, *, shape: d_out,
    "roll": lambda out, x, d_out, *, shift, axis: np.roll(d_out, [-n for n in shift], axis=axis),
    "pad": lambda out, x, d_out, *, pad_width, mode, value: d_out[interior(pad_width, x.shape)],
}


@adjoint
def concatenate(out: Any, xs: Any, d_out: Any, *, axis: int) -> Any:
    return tuple(d_out[part] for part in consecutive(axis, [x.shape[axis] for x in xs]))


@adjoint
def stack(out: Any, xs: Any, d_out: Any, *, axis: int) -> Any:
    return tuple(d_out[(slice(None),) * axis + (i,)] for i in range(len(xs)))


@adjoint
def diagonal(out: Any, x: Any, d_out: Any, *, offset: int, axis1: int, axis2: int) -> Any:
    """The cotangent on the diagonal, zeros beside it."""
    rows, columns = x.shape[axis1], x.shape[axis2]
    length = d_out.shape[d_out.ndim - 1]
    first = min(max(-offset, 0), rows)
    widths = ((0, 0),) * (d_out.ndim - 1) + ((first, rows - length - first),)
    by_row = np.expand_dims(np.pad(d_out, widths), d_out.ndim)
    whole = np.where(np.eye(rows, columns, offset, bool), by_row, 0.0)
    return np.moveaxis(whole, (-2, -1), (axis1, axis2))
