"""Adjoints of linear algebra, for stacks of matrices as well.

Sources: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008), for inv, solve, det, eigh and svd; Seeger et al., "Auto-differentiating
linear algebra" (2017), for cholesky, and svd of rectangular matrices; Walter & Lehmann,
"Algorithmic differentiation of linear algebra functions with application in optimum experimental
design" (2010), for qr; Golub & Pereyra (1973) for pinv. The adjoint of a factorisation is linear in
the cotangents of its parts, so that each part has its own.

The cotangent of complex matrices (all rules but that of `qr` take them) is dL/da - i dL/db, which
pairs with a change as Re(sum(cotangent * change)): the formulas of real matrices, with conjugates.
Eigenvectors and singular vectors are determined up to a phase, and their cotangents are right for
functions that do not depend on it, such as ``abs(v)**2``, ``(v * w) @ v.conj().T``, or
``(u * s) @ vh``: a change of their phase is taken for 0 (in `svd`, where u and vh may turn
together, that of vh). Wan & Zhang, "Automatic differentiation for complex valued SVD" (2019), for
svd; Boeddeker et al., "On the computation of complex-valued gradients with application to
statistically optimum beamforming" (2017), eq. 4.77, for eig.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import adjoint
from ..numpy import linalg as template
from . import spectra


def _t(x: Any) -> Any:
    """Each matrix transposed."""
    return np.swapaxes(x, -1, -2)


def _conj(x: Any) -> Any:
    return np.conjugate(x) if np.iscomplexobj(x) else x


def _h(x: Any) -> Any:
    """Each matrix transposed, and conjugated if it is complex."""
    return _conj(_t(x))


def _eye(n: int, like: Any) -> Any:
    return np.eye(n, dtype=like.dtype)


def _spread(number: Any) -> Any:
    """A number for each matrix, that broadcasts against the matrices."""
    return number if np.ndim(number) == 0 else number[..., None, None]


@adjoint
def inv(out: Any, x: Any, d_out: Any) -> Any:
    return -(_t(out) @ d_out @ _t(out))


@adjoint
def solve(out: Any, x: Any, y: Any, d_out: Any) -> Any:
    if y.ndim == 1:
        d_column = np.linalg.solve(_t(x), d_out[..., None])
        return -(d_column * out[..., None, :]), d_column[..., 0]
    d_y = np.linalg.solve(_t(x), d_out)
    return -(d_y @ _t(out)), d_y


@adjoint
def det(out: Any, x: Any, d_out: Any) -> Any:
    """The cofactors, as ``det(x)`` times the inverse: NaN or infinite where x is singular."""
    return _spread(d_out * out) * _t(np.linalg.inv(x))


@adjoint
def slogdet(out: Any, x: Any, d_out: Any, *, part: str) -> Any:
    if part == "sign":  # of complex matrices it turns with the imaginary part of log(det(x))
        if np.iscomplexobj(x):
            return _spread(1j * np.imag(d_out * out)) * _t(np.linalg.inv(x))
        return np.zeros(x.shape, x.dtype)
    return _spread(d_out) * _t(np.linalg.inv(x))


@adjoint
def cholesky(out: Any, x: Any, d_out: Any) -> Any:
    """``inv(L).T @ phi(L.T @ d_L) @ conj(inv(L))``, where phi takes the lower triangle with half of
    the diagonal."""
    lower = np.tril(_t(out) @ d_out)
    phi = lower - lower * (0.5 * _eye(out.shape[-1], out))
    inner = np.linalg.solve(_t(out), phi)
    half = _t(np.linalg.solve(_h(out), _t(inner)))
    return spectra.triangle(half, True)


@adjoint
def eigh(out: Any, x: Any, d_out: Any, *, part: str, lower: bool) -> Any:
    """The adjoint for distinct eigenvalues; what is known of equal ones is in `spectra`."""
    if part == "eigenvalues":
        return eigvalsh(out, x, d_out, lower=lower)
    if x.shape[-1] == 0:
        return np.zeros(x.shape, x.dtype)
    w = template.eigh(x, part="eigenvalues", lower=lower)
    return spectra.turned(w, out, d_out, lower, 0, x.shape[-1])


@adjoint
def eigvalsh(out: Any, x: Any, d_out: Any, *, lower: bool) -> Any:
    if x.shape[-1] == 0:
        return np.zeros(x.shape, x.dtype)
    v = template.eigh(x, part="eigenvectors", lower=lower)
    return spectra.moved(v, spectra.alike(out, d_out), lower)


@adjoint
def eig(out: Any, x: Any, d_out: Any, *, part: str) -> Any:
    """The adjoint for distinct eigenvalues. Each eigenvector keeps its norm of 1."""
    if x.shape[-1] == 0:
        return np.zeros(x.shape, x.dtype)
    if part == "eigenvalues":
        v = template.eig(x, part="eigenvectors")
        return np.linalg.solve(_t(v), spectra.alike_in(out, v, d_out)[..., :, None] * _t(v))
    w, v = template.eig(x, part="eigenvalues"), out
    longer = np.real(np.sum(v * d_out, axis=-2, keepdims=True))
    inner = spectra.apart(w, v, _t(v) @ (d_out - _conj(v) * longer))
    return np.linalg.solve(_t(v), inner @ _t(v))


@adjoint
def eigvals(out: Any, x: Any, d_out: Any) -> Any:
    """`eig` may give the eigenvalues in another order: each takes the cotangent of the nearest
    one."""
    if x.shape[-1] == 0:
        return np.zeros(x.shape, x.dtype)
    w = template.eig(x, part="eigenvalues")
    nearest = np.argmin(np.abs(out[..., None, :] - w[..., :, None]), axis=-1)
    return eig(w, x, np.take_along_axis(d_out, nearest, axis=-1), part="eigenvalues")


@adjoint
def svd(out: Any, x: Any, d_out: Any, *, part: str) -> Any:
    """The adjoint for distinct singular values, none of them 0 (but for the part "S"); what is
    known of others is in `spectra`."""
    if part == "S":
        return svdvals(out, x, d_out)
    if 0 in x.shape[-2:]:
        return np.zeros(x.shape, x.dtype)
    s = template.svd(x, part="S")
    u = out if part == "U" else template.svd(x, part="U")
    vh = out if part == "Vh" else template.svd(x, part="Vh")
    return spectra.singular_turned(s, u, vh, d_out, part, x.shape)


@adjoint
def svdvals(out: Any, x: Any, d_out: Any) -> Any:
    if 0 in out.shape[-1:]:
        return np.zeros(x.shape, x.dtype)
    return spectra.singular_moved(x, spectra.singular_alike(out, d_out, x.shape))


@adjoint
def qr(out: Any, x: Any, d_out: Any, *, part: str) -> Any:
    """The adjoint for at least as many rows as columns, which are independent."""
    if part == "Q":
        q, r = out, template.qr(x, part="R")
        m = -(_t(d_out) @ q)
        d_q = d_out
    else:
        q, r = template.qr(x, part="Q"), out
        m = out @ _t(d_out)
        d_q = np.zeros(q.shape, q.dtype)
    below = np.tril(m, -1)
    symmetric = below + _t(below) + m * _eye(m.shape[-1], m)
    return _t(np.linalg.solve(r, _t(d_q + q @ symmetric)))


@adjoint
def pinv(out: Any, x: Any, d_out: Any, *, rcond: float | None = None) -> Any:
    """The derivative where the rank does not change nearby."""
    p, g = out, d_out
    rows, columns = _eye(x.shape[-2], x), _eye(x.shape[-1], x)
    d_x = -(_t(p) @ g @ _t(p))
    d_x = d_x + _conj((rows - x @ p) @ _t(g) @ (p @ _h(p)))
    return d_x + _conj((_h(p) @ p) @ _t(g) @ (columns - p @ x))


@adjoint
def lstsq(out: Any, x: Any, y: Any, d_out: Any, *, rcond: float | None = None) -> Any:
    """The solution is ``pinv(x) @ y``."""
    p = np.linalg.pinv(x) if rcond is None else np.linalg.pinv(x, rcond)
    g = np.outer(d_out, y) if y.ndim == 1 else d_out @ _t(y)
    return pinv(p, x, g), _t(p) @ d_out
