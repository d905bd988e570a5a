"""Functions of `scipy.linalg` written with NumPy's: their value is SciPy's up to rounding.

``check_finite`` and ``overwrite_a``, which change no value, are accepted and ignored: an argument
is never written to, and operands that are not finite give results that are not finite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import linalg


def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: Any = None,
    transposed: bool = False,
) -> Any:
    """``x`` of ``a @ x = b``. Of a matrix that is assumed symmetric or Hermitian one triangle is
    read."""
    matrix = np.asarray(a)
    if assume_a in ("sym", "symmetric"):
        matrix = _symmetric(matrix, lower)
    elif assume_a in ("her", "hermitian", "pos", "positive definite"):
        matrix = _hermitian(matrix, lower) if np.iscomplexobj(matrix) else _symmetric(matrix, lower)
    elif assume_a not in (None, "gen", "general"):
        raise NotImplementedError(f"assume_a={assume_a!r} is not supported")
    return np.linalg.solve(matrix.T if transposed else matrix, b)


def _symmetric(a: Any, lower: bool) -> Any:
    """The symmetric matrix that a triangle stands for."""
    half = np.tril(a, -1) if lower else np.triu(a, 1)
    return half + half.T + np.diag(np.diagonal(a))


def _hermitian(a: Any, lower: bool) -> Any:
    """The Hermitian matrix that a triangle stands for; its diagonal is real."""
    half = np.tril(a, -1) if lower else np.triu(a, 1)
    return half + np.conjugate(half.T) + np.diag(np.diagonal(a).real)


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The inverse."""
    return np.linalg.inv(a)


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The determinant, in double precision."""
    matrix = np.asarray(a)
    return np.linalg.det(matrix.astype(np.result_type(matrix, np.float64)))


def cholesky(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """The triangular factor, made of the triangle of ``a`` that it is in."""
    matrix = np.asarray(a)
    if lower:
        return np.linalg.cholesky(matrix)
    return np.swapaxes(np.linalg.cholesky(np.swapaxes(matrix, -1, -2)), -1, -2)


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """The factor for `cho_solve`; zeros in the other triangle, which SciPy leaves undefined."""
    return cholesky(a, lower), lower


def cho_solve(
    c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """``x`` of ``a @ x = b``, from the factor of ``a``."""
    c, lower = c_and_lower
    half = linalg.solve_triangular(c, b, trans=0 if lower else 1, lower=lower)
    return linalg.solve_triangular(c, half, trans=1 if lower else 0, lower=lower)


def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """Eigenvalues in ascending order, and eigenvectors ``v``; with ``b``, those of ``a @ v = b @ v
    @ diag(w)``, by the symmetric problem that the Cholesky factor of ``b`` gives (Golub & Van Loan,
    "Matrix computations", 2013, ch. 8.7.2), as LAPACK does it."""
    if b is None:
        uplo: Any = "L" if lower else "U"
        if eigvals_only:
            return np.linalg.eigvalsh(a, uplo)
        eigenvalues, eigenvectors = np.linalg.eigh(a, uplo)
        return eigenvalues, eigenvectors
    matrix, metric = _hermitian_of(a, lower), _hermitian_of(b, lower)
    factor = np.linalg.cholesky(metric)
    half = np.linalg.solve(factor, matrix)
    reduced = np.linalg.solve(factor, _adjoint(half))
    if eigvals_only:
        return np.linalg.eigvalsh(reduced)
    eigenvalues, eigenvectors = np.linalg.eigh(reduced)
    return eigenvalues, np.linalg.solve(_adjoint(factor), eigenvectors)


def _adjoint(a: Any) -> Any:
    return np.conjugate(a.T) if np.iscomplexobj(a) else a.T


def _hermitian_of(a: Any, lower: bool) -> Any:
    matrix = np.asarray(a)
    return _hermitian(matrix, lower) if np.iscomplexobj(matrix) else _symmetric(matrix, lower)


def eigvalsh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """Eigenvalues in ascending order; see `eigh`."""
    return eigh(a, b, lower=lower, eigvals_only=True)


def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> Any:
    """The singular value decomposition, or the values alone."""
    if not compute_uv:
        return np.linalg.svd(a, compute_uv=False)
    u, s, vh = np.linalg.svd(a, full_matrices)
    return u, s, vh


def svdvals(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The singular values, in descending order."""
    return np.linalg.svd(a, compute_uv=False)


def qr(
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Any:
    """The factorisation of a square matrix, or in the mode "economic"."""
    x = np.asarray(a)
    if pivoting:
        raise NotImplementedError("qr(pivoting=True) is not supported")
    if mode not in ("full", "economic", "r"):
        raise NotImplementedError(f"qr in mode {mode!r} is not supported")
    if mode != "economic" and x.shape[-1] != x.shape[-2]:
        raise ValueError("qr of matrices that are not square is supported in mode 'economic'")
    q, r = np.linalg.qr(x)
    return (r,) if mode == "r" else (q, r)


def pinv(a: Any, *, check_finite: bool = True) -> Any:
    """The pseudo-inverse, where the rank does not change nearby."""
    return np.linalg.pinv(a)


def lstsq(
    a: Any, b: Any, overwrite_a: bool = False, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """The least-squares solution; no other result may be read."""
    return np.linalg.lstsq(a, b)


def norm(
    a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True
) -> Any:
    """A norm of a vector or a matrix; that of a vector is Python's number, made by BLAS."""
    values = np.asarray(a)
    result = np.linalg.norm(values, ord, axis, keepdims)
    is_of_blas = values.dtype in (np.float32, np.float64, np.complex64, np.complex128)
    if is_of_blas and values.ndim == 1 and ord in (None, 2) and axis is None and not keepdims:
        return float(result)
    return result


def block_diag(*arrs: Any) -> Any:
    """The matrices along a diagonal; vectors are rows."""
    blocks = [np.atleast_2d(a) for a in arrs]
    if not blocks:
        return np.zeros((1, 0))
    width, start, rows = sum([b.shape[1] for b in blocks]), 0, []
    for b in blocks:
        left = np.zeros((b.shape[0], start), b.dtype)
        start += b.shape[1]
        right = np.zeros((b.shape[0], width - start), b.dtype)
        rows.append(np.concatenate([left, b, right], axis=1))
    return np.concatenate(rows)


def toeplitz(c: Any, r: Any = None) -> Any:
    """Constant along each diagonal: ``c`` is the first column, ``r`` the first row, which is the
    conjugate of ``c`` if it is not given."""
    column = np.ravel(c)
    if r is not None:
        row = np.ravel(r)
    else:
        row = np.conjugate(column) if np.iscomplexobj(column) else column
    n, m = column.shape[0], row.shape[0]
    values = np.concatenate([column[::-1], row[1:]])
    return values[[[n - 1 - i + j for j in range(m)] for i in range(n)]]


def hankel(c: Any, r: Any = None) -> Any:
    """Constant along each antidiagonal: ``c`` is the first column, ``r`` the last row."""
    column = np.ravel(c)
    row = np.zeros_like(column) if r is None else np.ravel(r)
    n, m = column.shape[0], row.shape[0]
    values = np.concatenate([column, row[1:]])
    return values[[[i + j for j in range(m)] for i in range(n)]]


def circulant(c: Any) -> Any:
    """A matrix whose columns are each the previous column, rolled by one."""
    column = np.asarray(c)
    n = column.shape[0]
    return column[[[(i - j) % n for j in range(n)] for i in range(n)]]


def hilbert(n: int) -> Any:
    """``1 / (i + j + 1)``; ``n`` is static."""
    return 1.0 / (np.arange(1.0, n + 1.0)[:, None] + np.arange(float(n)))


def khatri_rao(a: Any, b: Any) -> Any:
    """The Kronecker products of the columns."""
    x, y = np.asarray(a), np.asarray(b)
    return np.reshape(x[:, None, :] * y[None, :, :], (-1, x.shape[1]))
