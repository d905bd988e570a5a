"""Contractions into a given array: BLAS through `numpy.matmul` where it fits.

`numpy.einsum` runs over the elements by itself: a product of matrices for each item of a batch
takes it several times as long, and more where the axes are not in the order of memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import into
from ..numpy.shapes import transpose
from ..numpy.subscripts import (
    batched,
    einsum_subscripts,
    factor,
    form,
    free_axes,
    new_axes,
    summed_axes,
)


@into()
def contract(
    out: Any,
    x: Any,
    y: Any,
    *,
    batch: Any = (),
    contracted: Any = (),
    order: Any = (),
    spelling: str = "",
) -> None:
    if spelling == "matmul":
        np.matmul(x, y, out=out)
    elif spelling == "parts":
        np.matmul(
            transpose(x, axes=(*free_axes(2, contracted), *summed_axes(contracted))),
            transpose(y, axes=(1, 0, 2)),
            out=transpose(out, axes=(1, 0, 2)),
        )
    elif " @ " in form(x.ndim, y.ndim, batch, contracted, order):
        np.matmul(
            factor(0, x, y, batch, contracted, order),
            factor(1, x, y, batch, contracted, order),
            out=out,
        )
    elif form(x.ndim, y.ndim, batch, contracted, order) == "outer(x, y)":
        np.multiply(x[new_axes(1, (1,))], y, out=out)
    elif form(x.ndim, y.ndim, batch, contracted, order) == "outer(y, x)":
        np.multiply(y[new_axes(1, (1,))], x, out=out)
    elif batched(x.ndim, y.ndim, batch, contracted, order):
        np.matmul(
            transpose(x, axes=batched(x.ndim, y.ndim, batch, contracted, order)[0]),
            transpose(y, axes=batched(x.ndim, y.ndim, batch, contracted, order)[1]),
            out=transpose(out, axes=batched(x.ndim, y.ndim, batch, contracted, order)[2]),
        )
    elif form(x.ndim, y.ndim, batch, contracted, order) == "einsum(x, y)":
        np.einsum(einsum_subscripts(x.ndim, y.ndim, batch, contracted, order), x, y, out=out)
