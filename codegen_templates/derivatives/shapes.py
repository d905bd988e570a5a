"""Adjoints of rearrangements: the cotangent is put back where the elements came from."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import adjoint
from .axes import consecutive, interior, inverse


@adjoint
def reshape(out: Any, x: Any, d_out: Any, *, shape: Any) -> Any:
    return np.reshape(d_out, np.shape(x))


@adjoint
def transpose(out: Any, x: Any, d_out: Any, *, axes: Any) -> Any:
    return np.transpose(d_out, inverse(axes))


@adjoint
def expand_dims(out: Any, x: Any, d_out: Any, *, axis: Any) -> Any:
    return np.reshape(d_out, np.shape(x))


@adjoint
def squeeze(out: Any, x: Any, d_out: Any, *, axis: Any) -> Any:
    return np.reshape(d_out, np.shape(x))


@adjoint
def broadcast_to(out: Any, x: Any, d_out: Any, *, shape: Any) -> Any:
    return d_out


@adjoint
def concatenate(out: Any, xs: Any, d_out: Any, *, axis: int) -> Any:
    return tuple(d_out[part] for part in consecutive(axis, [x.shape[axis] for x in xs]))


@adjoint
def stack(out: Any, xs: Any, d_out: Any, *, axis: int) -> Any:
    return tuple(d_out[(slice(None),) * axis + (i,)] for i in range(len(xs)))


@adjoint
def roll(out: Any, x: Any, d_out: Any, *, shift: Any, axis: Any) -> Any:
    return np.roll(d_out, [-n for n in shift], axis=axis)


@adjoint
def pad(out: Any, x: Any, d_out: Any, *, pad_width: Any, mode: str, value: Any) -> Any:
    return d_out[interior(pad_width, x.shape)]


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
