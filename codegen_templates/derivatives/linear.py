"""The adjoint of a contraction is two contractions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import adjoint
from ..numpy import linear as template
from .axes import aligned, for_left, for_right, found, parsed, places, repeats


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


@adjoint
def convolve(out: Any, x: Any, y: Any, d_out: Any, *, mode: str) -> Any:
    """Convolutions with the other operand reversed; elements that a mode leaves out have no
    cotangent."""
    long, short = max(x.size, y.size), min(x.size, y.size)
    before = {"full": 0, "same": (short - 1) // 2, "valid": short - 1}[mode]
    d_full = np.pad(d_out, (before, long + short - 1 - before - d_out.size))
    return np.convolve(d_full, y[::-1], "valid"), np.convolve(d_full, x[::-1], "valid")


@adjoint
def einsum(out: Any, xs: Any, d_out: Any, *, subscripts: str) -> Any:
    """For each factor the product of the others with the cotangent, summed over names that are not
    an axis of it; constant along axes that only it has, and zero beside a diagonal that was
    taken."""
    terms, result = parsed(subscripts)
    cotangents = []
    for i, x in enumerate(xs):
        others = [np.asarray(y) for j, y in enumerate(xs) if j != i] + [np.asarray(d_out)]
        names = [*terms[:i], *terms[i + 1 :], result]
        known = found(terms[i], names)
        d_x = np.asarray(np.einsum(f"{','.join(names)}->{known}", *others, optimize=True))
        d_x = np.reshape(d_x, places(terms[i], known, x.shape))
        for one, two in repeats(terms[i]):
            shape = [x.shape[axis] if axis in (one, two) else 1 for axis in range(x.ndim)]
            d_x = d_x * np.reshape(np.eye(x.shape[one], dtype=x.dtype), shape)
        cotangents.append(np.broadcast_to(d_x, x.shape))
    return tuple(cotangents)
