"""The adjoint of a contraction is two contractions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import adjoint
from ..numpy import linear as template
from .axes import aligned, for_left, for_right


@adjoint
def contract(
    out: Any, x: Any, y: Any, d_out: Any, *, batch: Any, contracted: Any, order: Any, spelling: str
) -> Any:
    """``d_out @ y.T`` and ``x.T @ d_out``, with the axes that they have in general."""
    if np.ndim(d_out) == 0:
        return (
            d_out * np.transpose(y, aligned(contracted, 1)),
            d_out * np.transpose(x, aligned(contracted, 0)),
        )
    left = for_left(x.ndim, y.ndim, batch, contracted, order)
    right = for_right(x.ndim, y.ndim, batch, contracted, order)
    return template.contract(d_out, y, **left), template.contract(x, d_out, **right)
