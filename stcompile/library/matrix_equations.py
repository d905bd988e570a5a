"""Equations, factors and functions of matrices of `scipy.linalg`, written with others: their value
is SciPy's up to rounding.

Solutions of Riccati's equations are SciPy's, and then two steps of Newton's method for each, which
move them by rounding errors only, but have the derivatives of the solution to third order: each
step is a linear equation that is differentiated as it is (Kleinman, IEEE Transactions on Automatic
Control 13, 1968; Hewer, ibid. 16, 1971).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import linalg
from stcompile.library.flat import flat

# --- equations -----------------------------------------------------------------------------------


def _adjoint(a: Any) -> Any:
    matrix = np.asarray(a)
    return np.conjugate(matrix.T) if np.iscomplexobj(matrix) else matrix.T


def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """``x`` of ``a @ x + x @ a^H = q``."""
    return linalg.solve_sylvester(a, _adjoint(a), q)


def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> Any:
    """``x`` of ``a @ x @ a^H - x + q = 0``, by the linear system of all its entries."""
    matrix, right = np.asarray(a), np.asarray(q)
    n = matrix.shape[0]
    other = np.conjugate(matrix) if np.iscomplexobj(matrix) else matrix
    return np.reshape(
        np.linalg.solve(np.eye(n * n) - np.kron(matrix, other), np.ravel(right)), (n, n)
    )


def solve_continuous_are(a: Any, b: Any, q: Any, r: Any) -> Any:
    """``x`` of ``a^T @ x + x @ a - x @ b @ r^-1 @ b^T @ x + q = 0``, of real matrices."""
    a, b, q, r = (np.asarray(each) + 0.0 for each in (a, b, q, r))
    x = flat(_riccati, ("solve_continuous_are",), a.shape, np.float64, a, b, q, r)
    for _ in range(2):
        gain = np.linalg.solve(r, b.T @ x)
        x = solve_continuous_lyapunov((a - b @ gain).T, -(q + gain.T @ r @ gain))
    return x


def solve_discrete_are(a: Any, b: Any, q: Any, r: Any) -> Any:
    """``x`` of ``a^T x a - x - a^T x b (r + b^T x b)^-1 b^T x a + q = 0``, of real matrices."""
    a, b, q, r = (np.asarray(each) + 0.0 for each in (a, b, q, r))
    x = flat(_riccati, ("solve_discrete_are",), a.shape, np.float64, a, b, q, r)
    for _ in range(2):
        gain = np.linalg.solve(r + b.T @ x @ b, b.T @ x @ a)
        x = solve_discrete_lyapunov((a - b @ gain).T, q + gain.T @ r @ gain)
    return x


def _riccati(name: str, *matrices: Any) -> Any:
    return getattr(linalg, name)(*matrices)


def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Any:
    """``x`` of ``toeplitz(c, r) @ x = b``."""
    column, row = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    return np.linalg.solve(linalg.toeplitz(column, row), np.asarray(b))


def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: bool = False, workers: Any = None) -> Any:
    """``toeplitz(c, r) @ x``."""
    column, row = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    return linalg.toeplitz(column, row) @ np.asarray(x)


def solve_circulant(c: Any, b: Any) -> Any:
    """``x`` of ``circulant(c) @ x = b``."""
    return np.linalg.solve(linalg.circulant(c), np.asarray(b))


def solveh_banded(
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
) -> Any:
    """``x`` of ``a @ x = b`` with the diagonals of one triangle of a symmetric matrix."""
    rows = np.asarray(ab)
    if np.iscomplexobj(rows):
        raise NotImplementedError("solveh_banded of complex matrices is not supported")
    count, n = rows.shape[0] - 1, rows.shape[1]
    others = []
    for k in range(1, count + 1):  # the diagonal that is k off the main one
        beside = np.zeros(k)
        if lower:
            others.append(np.concatenate([beside, rows[k, : n - k]]))
        else:
            others.append(np.concatenate([rows[count - k, k:], beside]))
    if lower:
        whole = np.stack([*others[::-1], *[rows[k] for k in range(count + 1)]])
    else:
        whole = np.stack([*[rows[k] for k in range(count + 1)], *others])
    return linalg.solve_banded((count, count), whole, b)


# --- factors -------------------------------------------------------------------------------------


def pinvh(a: Any, *, lower: bool = True, check_finite: bool = True) -> Any:
    """The pseudo-inverse of the Hermitian matrix of one triangle, where its rank does not
    change."""
    return np.linalg.pinv(_of_triangle(a, lower))


def _of_triangle(a: Any, lower: bool) -> Any:
    matrix = np.asarray(a)
    half = np.tril(matrix, -1) if lower else np.triu(matrix, 1)
    return half + _adjoint(half) + np.diag(np.diagonal(matrix))


def lu(
    a: Any,
    permute_l: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
    p_indices: bool = False,
) -> Any:
    """The factors of a square matrix, whose rows are permuted as SciPy does it. Without the
    permutation the factors follow row by row (Golub & Van Loan, "Matrix computations", 2013, ch.
    3.2)."""
    matrix = np.asarray(a) + 0.0
    n = matrix.shape[0]
    if matrix.ndim != 2 or matrix.shape != (n, n) or np.iscomplexobj(matrix):
        raise NotImplementedError("lu of one real square matrix is supported")
    order = flat(_pivots, (), (n,), np.int64, matrix)
    place = np.argsort(order)
    rest, lower, upper = matrix[place], [], []
    for k in range(n):
        column = rest[:, k] / rest[k, k]
        lower.append(np.where(np.arange(n) < k, 0.0, column))
        upper.append(np.where(np.arange(n) < k, 0.0, rest[k]))
        rest = rest - lower[k][:, None] * upper[k]
    left, right = np.stack(lower, axis=1), np.stack(upper)
    if permute_l:
        return left[order], right
    return (order if p_indices else np.eye(n)[order]), left, right


def _pivots(matrix: Any) -> Any:
    return linalg.lu(matrix, p_indices=True)[0]


def polar(a: Any, side: str = "right") -> Any:
    """The factors ``u`` and ``p`` of ``a = u @ p`` (or ``p @ u``), of a matrix of full rank: the
    positive one by the singular values, which may be equal: a step of Newton's method for
    the square root, ``p @ x + x @ p = a^T @ a - p @ p``, has its derivatives."""
    matrix = np.asarray(a) + 0.0
    if np.iscomplexobj(matrix):
        raise NotImplementedError("polar of complex matrices is not supported")
    if side == "left":
        turned, positive = polar(matrix.T)
        return turned.T, positive
    if side != "right":
        raise ValueError("`side` must be either 'right' or 'left'")
    if matrix.shape[0] < matrix.shape[1]:
        raise NotImplementedError("polar of a wide matrix is supported with side='left'")
    square = matrix.T @ matrix
    p = flat(_root, (), square.shape, np.float64, matrix)
    for _ in range(2):
        p = p + linalg.solve_sylvester(p, p, square - p @ p)
    return np.linalg.solve(p.T, matrix.T).T, p


def _root(matrix: Any) -> Any:
    return linalg.polar(matrix)[1]


def orthogonal_procrustes(A: Any, B: Any, check_finite: bool = True) -> Any:
    """The orthogonal matrix that brings ``A`` nearest to ``B``, and the sum of the singular values
    of ``A^T @ B``."""
    turn, positive = polar(np.asarray(A).T @ np.asarray(B))
    return turn, np.trace(positive)


def eigh_tridiagonal(d: Any, e: Any, eigvals_only: bool = False) -> Any:
    """All eigenvalues and eigenvectors of a symmetric matrix with two diagonals."""
    main, beside = np.asarray(d) + 0.0, np.asarray(e) + 0.0
    matrix = np.diag(main) + np.diag(beside, 1) + np.diag(beside, -1)
    if eigvals_only:
        return np.linalg.eigvalsh(matrix)
    eigenvalues, eigenvectors = np.linalg.eigh(matrix)
    return eigenvalues, eigenvectors


def eigvalsh_tridiagonal(d: Any, e: Any) -> Any:
    """All eigenvalues of a symmetric matrix with two diagonals."""
    return eigh_tridiagonal(d, e, True)


def eigvals(a: Any, b: Any = None, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The eigenvalues, as complex numbers, in LAPACK's order."""
    matrix = np.asarray(a) if b is None else np.linalg.solve(b, a)
    return np.linalg.eigvals(matrix.astype(np.complex128))


def subspace_angles(A: Any, B: Any) -> Any:
    """The angles between the spaces of the columns, the largest first; of angles that differ."""
    first, second = np.linalg.qr(np.asarray(A))[0], np.linalg.qr(np.asarray(B))[0]
    cosines = np.linalg.svd(first.T @ second, compute_uv=False)
    away = second - first @ (first.T @ second)
    sines = np.linalg.svd(away, compute_uv=False)[: cosines.shape[0]]
    is_wide = cosines[::-1] ** 2 < 0.5
    wide = np.arccos(np.where(is_wide, cosines[::-1], 0.5))
    return np.where(is_wide, wide, np.arcsin(np.where(is_wide, 0.5, sines)))


# --- functions -----------------------------------------------------------------------------------


def expm_frechet(
    A: Any, E: Any, method: Any = None, compute_expm: bool = True, check_finite: bool = True
) -> Any:
    """The exponential and its derivative in a direction, parts of the exponential of a block matrix
    (Higham, "Functions of matrices", 2008, theorem 3.6)."""
    matrix, direction = np.asarray(A), np.asarray(E)
    n = matrix.shape[0]
    top = np.concatenate([matrix, direction], axis=1)
    below = np.concatenate([np.zeros_like(matrix), matrix], axis=1)
    whole = linalg.expm(np.concatenate([top, below]))
    return (whole[:n, :n], whole[:n, n:]) if compute_expm else whole[:n, n:]


def coshm(A: Any) -> Any:
    """The hyperbolic cosine of a matrix."""
    matrix = np.asarray(A)
    return 0.5 * (linalg.expm(matrix) + linalg.expm(-matrix))


def sinhm(A: Any) -> Any:
    """The hyperbolic sine of a matrix."""
    matrix = np.asarray(A)
    return 0.5 * (linalg.expm(matrix) - linalg.expm(-matrix))


def tanhm(A: Any) -> Any:
    """The hyperbolic tangent of a matrix."""
    return np.linalg.solve(coshm(A), sinhm(A))


def cosm(A: Any) -> Any:
    """The cosine of a real matrix."""
    return np.real(linalg.expm(1j * np.asarray(A)))


def sinm(A: Any) -> Any:
    """The sine of a real matrix."""
    return np.imag(linalg.expm(1j * np.asarray(A)))


def tanm(A: Any) -> Any:
    """The tangent of a real matrix."""
    return np.linalg.solve(cosm(A), sinm(A))


# --- special matrices ----------------------------------------------------------------------------


def companion(a: Any) -> Any:
    """The matrix whose characteristic polynomial has these coefficients."""
    values = np.asarray(a)
    first = -values[1:] / (1.0 * values[0])
    n = first.shape[0]
    return np.concatenate([first[None], np.eye(n - 1, n)])


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    """The matrix whose product with a vector of n numbers is the convolution with ``a``."""
    values = np.asarray(a)
    zeros = np.zeros(n - 1, values.dtype)
    whole = linalg.toeplitz(np.concatenate([values, zeros]), np.concatenate([values[:1], zeros]))
    if mode == "full":
        return whole
    m = values.shape[0]
    count = max(n, m) if mode == "same" else max(n, m) - min(n, m) + 1
    start = (min(n, m) - 1) // 2 if mode == "same" else min(n, m) - 1
    return whole[start : start + count]


def fiedler(a: Any) -> Any:
    """The distances of numbers."""
    values = np.asarray(a)
    return np.abs(values[:, None] - values)


def leslie(f: Any, s: Any) -> Any:
    """The matrix of a population with these fecundities and survivals."""
    rates, kept = np.asarray(f), np.asarray(s)
    column = np.zeros((kept.shape[0], 1), kept.dtype)
    return np.concatenate([rates[None], np.concatenate([np.diag(kept), column], axis=1)])


def null_space(A: Any, rcond: Any = None) -> Any:
    """Refused: a basis is not a function of the matrix that has a derivative."""
    raise NotImplementedError(
        "null_space has no derivative, as any basis will do: "
        "write the projection, np.eye(n) - np.linalg.pinv(A) @ A"
    )


def orth(A: Any, rcond: Any = None) -> Any:
    """Refused: a basis is not a function of the matrix that has a derivative."""
    raise NotImplementedError(
        "orth has no derivative, as any basis will do: write the projection, A @ np.linalg.pinv(A)"
    )


def schur(a: Any, output: str = "real") -> Any:
    """Refused: no derivative of the factors is known here."""
    raise NotImplementedError(
        "schur is not supported: write a function of the matrix itself, such as expm, solve or "
        "solve_sylvester, or eigh of a symmetric one"
    )


def issymmetric(a: Any, atol: Any = None, rtol: Any = None) -> Any:
    """True for a symmetric matrix."""
    matrix = np.asarray(a)
    if atol is None and rtol is None:
        return np.all(matrix == matrix.T)
    return np.allclose(matrix, matrix.T, atol=atol or 0.0, rtol=rtol or 0.0)
