"""Adjoints of functions of symmetric and Hermitian matrices, at equal eigenvalues as well.

Let ``x = v @ diag(w) @ v.conj().T``, and let ``e = v.conj().T @ dx @ v`` be a change in the basis
of the eigenvectors. Eigenvalues change by the diagonal of ``e``, eigenvectors by ``v @ (e * g)``
with ``g[i, j] = 1 / (w[j] - w[i])`` (Magnus, "On differentiating eigenvalues and eigenvectors",
1985; Giles, "Collected matrix derivative results", 2008). This is infinite for equal eigenvalues,
whose eigenvectors are not determined. A function ``v @ diag(f(w)) @ v.conj().T`` of the matrix has
a derivative there: it changes by ``v @ (e * g) @ v.conj().T`` with the divided differences
``g[i, j] = (f(w[j]) - f(w[i])) / (w[j] - w[i])``, and ``f'(w[i])`` where the two are equal
(Daleckii and Krein 1965; Higham, "Functions of matrices", 2008, theorem 3.11).
`stcompile.ad.matrix_functions` finds such functions; their adjoint is `spectral`. For all else at
equal eigenvalues there is no derivative, or none that is known here, and the result is NaN, with a
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
_VALUES = "some of several equal eigenvalues or singular values have no derivative: it is NaN"
_SINGULAR = "where a singular value is 0, it and its vectors have no derivative: it is NaN"
_EITHER = "singular vectors of equal singular values, or of 0, have no derivative: it is NaN"
_FUNCTION = "not smooth at equal eigenvalues or singular values: the derivative is NaN"


def _t(x: Any) -> Any:
    """Each matrix transposed."""
    return np.swapaxes(x, -1, -2)


def _conj(x: Any) -> Any:
    return np.conjugate(x) if np.iscomplexobj(x) else x


def _between(x: Any, sign: int = 1) -> Any:
    """All ``x[j] - sign * x[i]``."""
    if sign == 1:
        return x[..., None, :] - x[..., :, None]
    return x[..., None, :] + x[..., :, None]


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
    ``stop`` are read: NaN if an eigenvector that is read has a tied eigenvalue."""
    gaps = _between(w)
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
    tied = _tied(w, _between(w))
    place = np.arange(w.shape[-1])
    limit = np.sqrt(np.finfo(w.dtype).eps) * _largest(d_w)
    same = np.logical_or(np.abs(_between(d_w)) < limit, place[:, None] == place)
    wrong = np.any(np.logical_and(tied, np.logical_not(same)), axis=-2)
    return template.undefined(d_w, wrong, message=_VALUES)


@adjoint
def levels(out: Any, w: Any, x: Any, d_out: Any, *, lower: bool, evenly: bool) -> Any:
    """The adjoint of eigenvalues that are read in a way that treats all of them alike, so that it
    does not depend on the basis of tied ones: ``evenly``, where one of tied values was chosen, of
    which each gets the same share."""
    if evenly:
        tied = _tied(w, _between(w)).astype(w.dtype)
        shares = tied / np.sum(tied, axis=-1, keepdims=True)
        d_out = (d_out[..., None, :] @ shares)[..., 0, :]
    return None, moved(factors.eigh(x, part="eigenvectors", lower=lower), d_out, lower)


@adjoint
def columns(
    out: Any, v: Any, x: Any, w: Any, d_out: Any, *, lower: bool, start: int, stop: int
) -> Any:
    """The adjoint of some of the eigenvectors: eigenvalues of the others may be tied among
    themselves."""
    return None, turned(w, v, d_out, lower, start, stop), None


@adjoint
def undefined(out: Any, x: Any, mask: Any, d_out: Any, *, message: str) -> Any:
    return template.undefined(d_out, mask, message=message), None


def _divided(w: Any, f: Any, slopes: Any, odd: int, even: int) -> tuple[Any, Any]:
    """The divided differences of values ``f`` at ``w`` whose derivatives are ``slopes``, between
    each of these (columns) and each of ``odd * w`` with the values ``even * f`` (rows); and where
    they are unknown.

    Near a tie the quotient is mostly rounding, and the mean of both slopes is taken. Its error is a
    twelfth of the square of the gap times the third derivative, so that it is taken where three
    conditions say that the values are smooth at this scale: the gap is less than the third root of
    the precision (of the largest eigenvalue), the slopes agree to its fourth root, and the quotient
    agrees to its fifth root, or as well as rounding lets it. A tie without is unknown.
    """
    eps = np.finfo(w.dtype).eps
    gaps, rises = _between(w, odd), _between(f, even)
    steepness, size = np.abs(slopes), np.abs(f)
    tied = _tied(w, gaps)
    mean = _between(slopes, -odd * even) / 2
    noise = np.where(tied, 2 * _largest(f), _between(size, -1))
    bend = eps**0.25 * _between(steepness, -1)
    bend = bend + np.where(tied, eps**0.5 * _largest(slopes), 0.0)
    is_close = np.abs(gaps) <= eps ** (1 / 3) * _largest(w)
    is_even = np.abs(_between(slopes, odd * even)) <= bend
    rest = np.abs(rises - mean * gaps)
    fits = rest <= eps**0.2 * np.abs(mean * gaps) + 64 * eps * noise
    smooth = np.logical_and(np.logical_and(is_close, is_even), fits)
    wrong = np.logical_and(tied, np.logical_not(smooth))
    either = np.logical_or(smooth, tied)
    return np.where(either, mean, rises / np.where(either, 1.0, gaps)), wrong


def _inner(
    d_out: Any,
    left: Any,
    right: Any,
    w: Any,
    axes: tuple[int, ...],
    spread: tuple[int, ...] | None,
) -> Any:
    """The product ``left.T @ d_z @ right`` for the cotangent of ``z``, as in `spectral`."""
    stack, n = w.shape[:-1], w.shape[-1]
    if spread is None:
        d_z = np.reshape(np.transpose(d_out, axes), (*stack, left.shape[-2], right.shape[-2]))
        return _t(left) @ (d_z @ right)
    d_z = np.transpose(np.expand_dims(d_out, spread), axes)
    return _t(np.reshape(left, (*stack, -1, n))) @ np.reshape(d_z * right, (*stack, -1, n))


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
    inner = _inner(d_out, left, right, w, axes, spread)
    differences, wrong = _divided(w, weights, slopes, 1, 1)
    inner = template.undefined(inner * differences, wrong, message=_FUNCTION)
    return d_out, triangle(_conj(v) @ inner @ _t(v), lower), None, None, None, None, None, None


# --- matrices that are not symmetric ----------------------------------------------------------


def _confused(w: Any, v: Any) -> tuple[Any, Any]:
    """The pairs of eigenvalues that are equal up to rounding, which the condition number of the
    eigenvectors multiplies (Bauer and Fike, "Norms and exclusion theorems", 1960); and that
    number."""
    sizes = [
        np.sqrt(np.sum(np.abs(m) ** 2, axis=(-2, -1), keepdims=True)) for m in (v, np.linalg.inv(v))
    ]
    condition = sizes[0] * sizes[1]
    limit = 8 * w.shape[-1] * np.finfo(w.dtype).eps * condition * _largest(w)
    return np.abs(_between(w)) <= limit, condition


def apart(w: Any, v: Any, inner: Any) -> Any:
    """Elements of a matrix divided by the differences of eigenvalues, 0 on the diagonal: NaN for
    tied ones."""
    tied, _ = _confused(w, v)
    place = np.arange(w.shape[-1])
    same = place[:, None] == place
    wrong = np.logical_and(tied, np.logical_not(same))
    inner = template.undefined(inner, wrong, message=_VECTORS)
    return np.where(same, 0.0, inner) / np.where(tied, 1.0, _between(w))


def alike_in(w: Any, v: Any, d_w: Any) -> Any:
    """The cotangent of eigenvalues, if it is the same for tied eigenvalues as in `alike`, and the
    eigenvectors are independent: a defective matrix has a condition number without bound."""
    tied, condition = _confused(w, v)
    eps, place = np.finfo(w.dtype).eps, np.arange(w.shape[-1])
    equal = np.abs(_between(d_w)) < np.sqrt(eps) * _largest(d_w)
    same = np.logical_or(np.logical_and(equal, condition < eps**-0.25), place[:, None] == place)
    wrong = np.any(np.logical_and(tied, np.logical_not(same)), axis=-2)
    return template.undefined(d_w, wrong, message=_VALUES)


# --- singular values and vectors --------------------------------------------------------------


def _zero(s: Any, shape: tuple[int, ...]) -> Any:
    """The singular values that are 0 up to rounding."""
    size = shape[-2] + shape[-1]
    return s <= 8 * size * np.finfo(s.dtype).eps * np.max(s, axis=-1, keepdims=True)


def singular_alike(s: Any, d_s: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of singular values, if it is the same for tied ones, and 0 for those that are
    0: there the absolute value has no derivative that makes a singular value of a number."""
    limit = np.sqrt(np.finfo(s.dtype).eps) * np.max(np.abs(d_s), axis=-1, keepdims=True)
    nothing = np.abs(d_s) < limit
    return template.undefined(
        alike(s, d_s), np.logical_and(_zero(s, shape), np.logical_not(nothing)), message=_SINGULAR
    )


def singular_moved(x: Any, d_s: Any) -> Any:
    """The cotangent of a matrix by that of its singular values."""
    u, vh = factors.svd(x, part="U"), factors.svd(x, part="Vh")
    return (_conj(u) * d_s[..., None, :]) @ _conj(vh)


@adjoint
def singular_levels(out: Any, s: Any, x: Any, d_out: Any) -> Any:
    """The adjoint of singular values that are read in a way that treats all of them alike."""
    limit = np.sqrt(np.finfo(s.dtype).eps) * np.max(np.abs(d_out), axis=-1, keepdims=True)
    kink = np.logical_and(_zero(s, x.shape), np.logical_not(np.abs(d_out) < limit))
    return None, singular_moved(x, template.undefined(d_out, kink, message=_SINGULAR))


def singular_turned(s: Any, u: Any, vh: Any, d_out: Any, part: str, shape: tuple[int, ...]) -> Any:
    """The cotangent of the matrix by that of its left ("U") or right ("Vh") singular vectors: NaN
    if singular values are tied, or 0."""
    gaps, place = _between(s), np.arange(s.shape[-1])
    tied, zero = _tied(s, gaps), _zero(s, shape)
    wrong = np.logical_and(tied, place[:, None] != place)
    wrong = np.logical_or(wrong, np.logical_or(zero[..., None, :], zero[..., :, None]))
    between = np.where(tied, 1.0, gaps * (s[..., None, :] + s[..., :, None]))
    same = np.logical_and(tied, np.logical_not(wrong))
    divisors = np.where(zero, 1.0, s)
    turned = _t(u) @ d_out if part == "U" else vh @ _t(d_out)
    turned = template.undefined(turned, wrong, message=_EITHER)
    inner = np.where(same, 0.0, turned) / between
    if part == "U":
        inner = (inner + _conj(_t(inner))) * s[..., None, :]
        if np.iscomplexobj(turned):
            phases = 1j * np.imag(turned) / divisors[..., None, :]
            inner = inner + phases * np.eye(s.shape[-1], dtype=s.dtype)
        beside = d_out / divisors[..., None, :]
        beside = beside - _conj(u) @ (_t(u) @ beside)
        return (_conj(u) @ inner + beside) @ _conj(vh)
    inner = (_conj(inner) + _t(inner)) * s[..., :, None]
    beside = d_out / divisors[..., :, None]
    beside = beside - (beside @ _t(vh)) @ _conj(vh)
    return _conj(u) @ (inner @ _conj(vh) + beside)


@adjoint
def outside(out: Any, u: Any, x: Any, s: Any, other: Any, d_out: Any, *, part: str) -> Any:
    """The adjoint of the part of a change of singular vectors that is outside of the space that
    they span (Seeger et al., "Auto-differentiating linear algebra", 2017)."""
    zero = _zero(s, x.shape)
    divisors = np.where(zero, 1.0, s)
    if part == "U":
        beside = d_out / divisors[..., None, :]
        beside = beside - _conj(u) @ (_t(u) @ beside)
        wrong = np.logical_and(zero[..., None, :], np.abs(beside) >= 0)
        d_x = template.undefined(beside, wrong, message=_SINGULAR) @ _conj(other)
    else:
        beside = d_out / divisors[..., :, None]
        beside = beside - (beside @ _t(u)) @ _conj(u)
        wrong = np.logical_and(zero[..., :, None], np.abs(beside) >= 0)
        d_x = _conj(other) @ template.undefined(beside, wrong, message=_SINGULAR)
    return None, d_x, None, None


@adjoint
def singular(
    out: Any,
    z: Any,
    x: Any,
    s: Any,
    u: Any,
    vh: Any,
    left: Any,
    right: Any,
    weights: Any,
    slopes: Any,
    d_out: Any,
    *,
    axes: tuple[int, ...],
    spread: tuple[int, ...] | None,
    sides: tuple[str, str],
) -> Any:
    """The adjoint of ``left @ diag(weights) @ right.T`` by ``x = u @ diag(s) @ vh``, where ``left``
    and ``right`` are linear functions of the parts in ``sides``; `outside` has the rest.

    With ``e = u.conj().T @ dx @ vh.conj().T`` and changes ``u @ o`` of ``u`` and ``v @ p`` of
    ``v``, the Hermitian part of ``e`` is ``(o + p) * (s[j] - s[i]) / 2`` off the diagonal, and the
    other part is ``(o - p) * (s[j] + s[i]) / 2``. As eigenvalues of ``[[0, x], [x*, 0]]`` are ``s``
    and ``-s``, both lead to divided differences of the function and of its odd continuation, or its
    even one for functions of ``x @ x*`` and ``x* @ x`` (Golub & Van Loan, "Matrix computations",
    2013, ch. 8.6.1; Noferini, "A formula for the Fréchet derivative of a generalized matrix
    function", 2017).
    """
    inner = _inner(d_out, left, right, s, axes, spread)
    even = 1 if sides[0] == sides[1] else -1
    first, unknown = _divided(s, weights, slopes, 1, 1)
    second, unsure = _divided(s, weights, slopes, -1, even)
    first, second = inner * first, inner * second
    whole = first + _conj(_t(first))
    rest = second - _conj(_t(second))
    both = (whole + rest if sides[0] == "U" else whole - rest) / 2
    both = template.undefined(both, np.logical_or(unknown, unsure), message=_FUNCTION)
    return d_out, _conj(u) @ both @ _conj(vh), None, None, None, None, None, None, None
