"""Rules of reading, writing and adding to a part of an array.

The indices and counters have no cotangent. A part of an array is read and written as the
primitives do: `template.slice` is a basic slice, `template.index` an advanced index.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..marks import accumulates, adjoint
from ..numpy import indexing as template
from ..numpy.subscripts import has_masks
from . import linear
from .axes import at_offset, inverse, offsets


@accumulates
def slice(
    d_x: Any, d_out: Any, counters: Any, *, start: Any, length: Any, step: Any, drop: Any
) -> Any:
    return template.accumulate(
        d_x, (d_out, *counters), op="slice", start=start, length=length, step=step, drop=drop
    )


@accumulates
def windows(
    d_x: Any,
    d_out: Any,
    *,
    axis: Any,
    start: Any,
    count: Any,
    step: Any,
    size: Any,
    dilation: Any,
    order: Any,
) -> Any:
    """The sum of the windows where they overlap: each of their elements for all of them at once."""
    if order:
        d_out = np.transpose(d_out, inverse(order))
    for offset in offsets(size):
        params = at_offset(np.shape(d_x), offset, axis, start, count, step, dilation)
        d_x = template.accumulate(d_x, (d_out[(...,) + offset],), op="slice", **params)
    return d_x


@accumulates
def index(d_x: Any, d_out: Any, indices: Any, *, at: Any) -> Any:
    op = "distinct" if has_masks(at) else "index"
    return template.accumulate(d_x, (d_out, *indices), op=op, at=at)


@adjoint
def update(
    out: Any,
    x: Any,
    v: Any,
    counters: Any,
    d_out: Any,
    *,
    start: Any,
    length: Any,
    step: Any,
    drop: Any,
) -> Any:
    """Values that were overwritten have no influence; written values get the cotangent of their
    part."""
    d_v = template.slice(d_out, counters, start=start, length=length, step=step, drop=drop)
    if d_v.ndim > 0:  # so that the rest may be changed in place
        d_v = np.copy(d_v)
    d_x = template.update(
        np.copy(d_out), 0.0, counters, start=start, length=length, step=step, drop=drop
    )
    return d_x, d_v, *((None,) * len(counters))


@adjoint
def index_update(out: Any, x: Any, v: Any, indices: Any, d_out: Any, *, at: Any) -> Any:
    """Values that were overwritten have no influence, as for `update`. If a place is written more
    than once, the last write wins.

    To find the winners, each write stores its number in its place; a number that is still there at
    the end has won.
    """
    d_v = template.index(d_out, indices, at=at)
    d_x = template.index_update(np.copy(d_out), 0.0, indices, at=at)
    if not has_masks(at) and any(math.prod(np.shape(i)) > 1 for i in indices):
        writes = np.reshape(np.arange(math.prod(d_v.shape)), d_v.shape)
        last = template.index_update(np.zeros(x.shape, int), writes, indices, at=at)
        d_v = np.where(template.index(last, indices, at=at) == writes, d_v, 0.0)
    return d_x, d_v, *((None,) * len(indices))


@adjoint
def accumulate(
    out: Any,
    acc: Any,
    operands: Any,
    d_out: Any,
    *,
    op: str,
    start: Any = (),
    length: Any = (),
    step: Any = (),
    drop: Any = (),
    at: Any = (),
    batch: Any = (),
    contracted: Any = (),
    order: Any = (),
    spelling: str = "",
) -> Any:
    """The old contents keep the cotangent; added values get the cotangent of their part."""
    if op == "add":
        return d_out, d_out
    if op == "contract":
        x, y = operands
        return d_out, *linear.contract(
            None, x, y, d_out, batch=batch, contracted=contracted, order=order, spelling=spelling
        )
    if op in ("index", "distinct"):
        d_v = template.index(d_out, operands[1:], at=at)
    else:
        d_v = template.slice(d_out, operands[1:], start=start, length=length, step=step, drop=drop)
    return d_out, d_v, *((None,) * len(operands[1:]))
