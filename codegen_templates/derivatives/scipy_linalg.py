"""Adjoints of functions of `scipy.linalg` that NumPy does not have.

The adjoint of the exponential is the Fréchet derivative at the transpose, a block of the
exponential of a matrix of twice the size: Najfeld & Havel, "Derivatives of the matrix exponential
and their computation" (1995); Al-Mohy & Higham, "Computing the Fréchet derivative of the matrix
exponential" (2009). Solves: Giles, "Collected matrix derivative results" (2008). Sylvester's
equation: Kao & Hennequin, "Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati
equations" (2020); the derivative of a square root solves one, Higham, "Functions of matrices"
(2008), ch. 6.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lazy import linalg
from ..marks import adjoint
from ..numpy import scipy_linalg as template


@adjoint
def expm(out: Any, x: Any, d_out: Any) -> Any:
    """``expm([[x.T, d_out], [0, x.T]])`` has the derivative of ``expm`` at ``x.T``, in direction
    ``d_out``, above its diagonal: so has every function of matrices (Higham 2008, theorem 3.6)."""
    n = x.shape[-1]
    turned = np.swapaxes(x, -1, -2)
    above = np.concatenate((turned, d_out), axis=-1)
    below = np.concatenate((np.zeros(x.shape, x.dtype), turned), axis=-1)
    return linalg.expm(np.concatenate((above, below), axis=-2))[..., :n, n:]


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


@adjoint
def solve_banded(out: Any, x: Any, y: Any, d_out: Any, *, lower: int, upper: int) -> Any:
    """The row ``k`` of ``x`` has the diagonal ``upper - k``. Its elements outside of the matrix,
    ``upper - k`` at the left or as many at the right, have no influence."""
    n = x.shape[1]
    offsets = [upper - k for k in range(lower + upper + 1)]
    turned = np.stack([np.roll(x[upper - k], -k) for k in offsets[::-1]])
    d_y = template.solve_banded(turned, d_out, lower=upper, upper=lower)
    rows = []
    for k in offsets:
        left, right = min(max(k, 0), n), min(max(-k, 0), n)
        terms = d_y[right : n - left] * out[left : n - right]
        d_row = terms if y.ndim == 1 else np.sum(terms, axis=1)
        rows.append(np.pad(-d_row, (left, right)))
    return np.stack(rows), d_y


@adjoint
def solve_sylvester(out: Any, x: Any, y: Any, z: Any, d_out: Any) -> Any:
    """Solve the transposed of ``x @ out + out @ y = z`` for the cotangent of z."""
    d_z = linalg.solve_sylvester(x.T, y.T, d_out)
    return -(d_z @ out.T), -(out.T @ d_z), d_z


@adjoint
def sqrtm(out: Any, x: Any, d_out: Any) -> Any:
    """The adjoint for eigenvalues that are not on the negative real axis, nor 0."""
    return linalg.solve_sylvester(out.T, out.T, d_out)


@adjoint
def logm(out: Any, x: Any, d_out: Any) -> Any:
    """The adjoint as for ``expm``, for eigenvalues that are not on the negative real axis, nor
    0."""
    n = x.shape[-1]
    above = np.concatenate((x.T, d_out), axis=-1)
    below = np.concatenate((np.zeros(x.shape, x.dtype), x.T), axis=-1)
    return linalg.logm(np.concatenate((above, below), axis=-2))[:n, n:]
