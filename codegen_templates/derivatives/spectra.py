"""Adjoints of functions of symmetric and Hermitian matrices, at equal eigenvalues as well.

Let ``x = v @ diag(w) @ v.conj().T``, and let ``e = v.conj().T @ dx @ v`` be a change in the basis
of the eigenvectors. Eigenvalues change by the diagonal of ``e``, eigenvectors by ``v @ (e * g)``
with ``g[i, j] = 1 / (w[j] - w[i])`` (Magnus, "On differentiating eigenvalues and eigenvectors",
1985; Giles, "Collected matrix derivative results", 2008). This is infinite for equal eigenvalues,
whose eigenvectors are not determined. A function ``v @ diag(f(w)) @ v.conj().T`` of the matrix has
a derivative there: it changes by ``v @ (e * g) @ v.conj().T`` with the divided differences
``g[i, j] = (f(w[j]) - f(w[i])) / (w[j] - w[i])``, and ``f'(w[i])`` where the two are equal
(Daleckii and Krein 1965; Higham, "Functions of matrices", 2008, theorem 3.11).
`stcompile.ad.spectra` finds such functions; their adjoint is `spectral`. For all else at equal
eigenvalues there is no derivative, or none that is known here, and the result is NaN, with a
warning. (Kasim, "Derivatives of partial eigendecomposition of a real symmetric matrix for
degenerate cases", 2020, takes 0 for the pairs of equal eigenvalues where the cotangent is symmetric
in them. That is right for projectors, and wrong for ``f`` that is not constant.)

Eigenvalues are *tied* if they differ by no more than the rounding of LAPACK, which is a small
multiple of ``n * eps`` times the largest one (Anderson et al., "LAPACK users' guide", 4.7).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import adjoint
from ..numpy import linalg as factors
from ..numpy import spectra as template

_VECTORS = "eigenvectors of equal eigenvalues have no derivative by themselves: it is NaN"
_VALUES = "some of several equal eigenvalues have no derivative by themselves: it is NaN"
_FUNCTION = "a function of a matrix is not smooth at its equal eigenvalues: its derivative is NaN"


def _t(x: Any) -> Any:
    """Each matrix transposed."""
    return np.swapaxes(x, -1, -2)


def _conj(x: Any) -> Any:
    return np.conjugate(x) if np.iscomplexobj(x) else x


def _differences(x: Any) -> Any:
    """All differences ``x[j] - x[i]``."""
    return x[..., None, :] - x[..., :, None]


def _largest(x: Any) -> Any:
    """The largest absolute value of each vector, that broadcasts against matrices."""
    return np.max(np.abs(x), axis=-1, keepdims=True)[..., None]


def _tied(w: Any, gaps: Any) -> Any:
    """The pairs of eigenvalues that are equal up to rounding, each with itself too."""
    return np.abs(gaps) <= 8 * w.shape[-1] * np.finfo(w.dtype).eps * _largest(w)


def triangle(d_x: Any, lower: bool) -> Any:
    """The cotangent of the triangle that is read, and of the real part of the diagonal. The other
    triangle is not read: it gets zeros."""
    real = np.real(d_x) if np.iscomplexobj(d_x) else d_x
    both = d_x + _conj(_t(d_x)) - real * np.eye(d_x.shape[-1], dtype=real.dtype)
    return np.tril(both) if lower else np.triu(both)


def turned(w: Any, v: Any, d_v: Any, lower: bool, start: int, stop: int) -> Any:
    """The cotangent of the matrix by that of its eigenvectors, of which those from ``start`` to
    ``stop`` are read: NaN if one of these is tied with any other."""
    gaps = _differences(w)
    tied = _tied(w, gaps)
    place = np.arange(w.shape[-1])
    wrong = np.logical_and(tied, place[:, None] != place)
    if (start, stop) != (0, w.shape[-1]):
        is_read = np.logical_and(place >= start, place < stop)
        wrong = np.logical_and(wrong, np.logical_or(is_read[:, None], is_read))
    unread = np.logical_and(tied, np.logical_not(wrong))  # and the diagonal
    inner = np.where(unread, 0.0, _t(v) @ d_v) / np.where(tied, 1.0, gaps)
    inner = template.undefined(inner, wrong, message=_VECTORS)
    return triangle(_conj(v) @ inner @ _t(v), lower)


def moved(v: Any, d_w: Any, lower: bool) -> Any:
    """The cotangent of the matrix by that of its eigenvalues."""
    return triangle((_conj(v) * d_w[..., None, :]) @ _t(v), lower)


def alike(w: Any, d_w: Any) -> Any:
    """The cotangent of eigenvalues, if it is the same for tied ones up to the square root of the
    precision; else NaN. A tangent, of which this is not known, is NaN where any are tied."""
    tied = _tied(w, _differences(w))
    place = np.arange(w.shape[-1])
    limit = np.sqrt(np.finfo(w.dtype).eps) * _largest(d_w)
    same = np.logical_or(np.abs(_differences(d_w)) < limit, place[:, None] == place)
    wrong = np.any(np.logical_and(tied, np.logical_not(same)), axis=-2)
    return template.undefined(d_w, wrong, message=_VALUES)


@adjoint
def levels(out: Any, w: Any, x: Any, d_out: Any, *, lower: bool) -> Any:
    """The adjoint of eigenvalues that are read in a way that treats all of them alike, so that it
    does not depend on the basis of tied ones."""
    return None, moved(factors.eigh(x, part="eigenvectors", lower=lower), d_out, lower)


@adjoint
def columns(
    out: Any, v: Any, x: Any, w: Any, d_out: Any, *, lower: bool, start: int, stop: int
) -> Any:
    """The adjoint of some of the eigenvectors, where the other ones are not read: these may be
    tied among themselves."""
    return None, turned(w, v, d_out, lower, start, stop), None


@adjoint
def undefined(out: Any, x: Any, mask: Any, d_out: Any, *, message: str) -> Any:
    return template.undefined(d_out, mask, message=message), None


def divided(w: Any, f: Any, slopes: Any) -> tuple[Any, Any]:
    """The divided differences of values ``f`` at ``w`` whose derivatives are ``slopes``, and where
    they are unknown.

    Near a tie the quotient is mostly rounding, and the mean of both slopes is taken. Its error is a
    twelfth of the square of the gap times the third derivative, so that it is taken where three
    conditions say that the values are smooth at this scale: the gap is less than the third root of
    the precision (of the largest eigenvalue), the slopes agree to its fourth root, and the quotient
    agrees to its fifth root, or as well as rounding lets it. A tie without is unknown.
    """
    eps = np.finfo(w.dtype).eps
    gaps, rises = _differences(w), _differences(f)
    steepness, size = np.abs(slopes), np.abs(f)
    tied = _tied(w, gaps)
    mean = (slopes[..., None, :] + slopes[..., :, None]) / 2
    steep = steepness[..., None, :] + steepness[..., :, None]
    noise = np.where(tied, 2 * _largest(f), size[..., None, :] + size[..., :, None])
    bend = eps**0.25 * steep + np.where(tied, eps**0.5 * _largest(slopes), 0.0)
    is_close = np.abs(gaps) <= eps ** (1 / 3) * _largest(w)
    is_even = np.abs(_differences(slopes)) <= bend
    rest = np.abs(rises - mean * gaps)
    fits = rest <= eps**0.2 * np.abs(mean * gaps) + 64 * eps * noise
    smooth = np.logical_and(np.logical_and(is_close, is_even), fits)
    wrong = np.logical_and(tied, np.logical_not(smooth))
    either = np.logical_or(smooth, tied)
    return np.where(either, mean, rises / np.where(either, 1.0, gaps)), wrong


@adjoint
def spectral(
    out: Any,
    z: Any,
    x: Any,
    w: Any,
    v: Any,
    left: Any,
    right: Any,
    weights: Any,
    slopes: Any,
    d_out: Any,
    *,
    lower: bool,
    axes: tuple[int, ...],
    spread: tuple[int, ...] | None,
) -> Any:
    """The adjoint of ``left @ diag(weights) @ right.T``, where ``left = a @ v`` and ``right = b @
    v.conj()``, by the matrix that ``v`` belongs to. ``axes`` puts the axes of ``d_out`` into the
    order stack, rows of left, rows of right. With ``spread`` both have the same rows, and the
    result is ``left * weights * right``, summed over the axes ``spread``.
    """
    stack, n = w.shape[:-1], w.shape[-1]
    if spread is None:
        d_z = np.reshape(np.transpose(d_out, axes), (*stack, left.shape[-2], right.shape[-2]))
        inner = _t(left) @ (d_z @ right)
    else:
        d_z = np.transpose(np.expand_dims(d_out, spread), axes)
        inner = _t(np.reshape(left, (*stack, -1, n))) @ np.reshape(d_z * right, (*stack, -1, n))
    differences, wrong = divided(w, weights, slopes)
    inner = template.undefined(inner * differences, wrong, message=_FUNCTION)
    return d_out, triangle(_conj(v) @ inner @ _t(v), lower), None, None, None, None, None, None
