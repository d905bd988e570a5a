"""Adjoints of functions of `scipy.linalg` that NumPy does not have.

The adjoint of the exponential is the Fréchet derivative at the transpose, a block of the
exponential of a matrix of twice the size: Najfeld & Havel, "Derivatives of the matrix exponential
and their computation" (1995); Al-Mohy & Higham, "Computing the Fréchet derivative of the matrix
exponential" (2009). Triangular solves: Giles, "Collected matrix derivative results" (2008).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..marks import adjoint
from ..numpy import scipy_linalg as template


@adjoint
def expm(out: Any, x: Any, d_out: Any) -> Any:
    """``expm([[x.T, d_out], [0, x.T]])`` has the derivative of ``expm`` at ``x.T``, in direction
    ``d_out``, above its diagonal."""
    n = x.shape[-1]
    turned = np.swapaxes(x, -1, -2)
    above = np.concatenate((turned, d_out), axis=-1)
    below = np.concatenate((np.zeros(x.shape, x.dtype), turned), axis=-1)
    return template.expm(np.concatenate((above, below), axis=-2))[..., :n, n:]


@adjoint
def solve_triangular(
    out: Any, x: Any, y: Any, d_out: Any, *, trans: int, lower: bool, unit_diagonal: bool
) -> Any:
    """Only the triangle that is read has a cotangent."""
    d_y = template.solve_triangular(
        x, d_out, trans=1 - trans, lower=lower, unit_diagonal=unit_diagonal
    )
    left, right = (out, d_y) if trans else (d_y, out)
    d_x = -np.outer(left, right) if y.ndim == 1 else -(left @ right.T)
    inside = 1 if unit_diagonal else 0
    return np.tril(d_x, -inside) if lower else np.triu(d_x, inside), d_y


LINALG: dict[str, Callable[..., Any]] = {
    "linalg.expm": expm,
    "linalg.solve_triangular": solve_triangular,
}
