"""Functions of small matrices that compiled loops call. Their text is printed beside the loops.

They compute the same as LAPACK, and raise the errors of NumPy. They are loops over elements alone:
each function of NumPy, and each part of an array, takes Numba a tenth of a second or more to
compile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import helper
from .helpers import added


@helper
def factored(a: Any) -> Any:
    """Gauss's elimination, the largest number of a column first: a triangle on and above the
    diagonal, the multipliers of the rows below it, and in one more row the row that each was
    exchanged with. LAPACK may take NaN for 0; here it stays NaN."""
    n = a.shape[0]
    u = np.empty((n + 1, n), a.dtype)
    for i in range(n):
        for j in range(n):
            u[i, j] = a[i, j]
    for k in range(n):
        top, largest = k, abs(u[k, k].real) + abs(u[k, k].imag)
        for i in range(k + 1, n):
            size = abs(u[i, k].real) + abs(u[i, k].imag)
            if size > largest:
                top, largest = i, size
        u[n, k] = top
        if largest == 0.0:
            continue
        if top != k:
            for j in range(n):
                u[k, j], u[top, j] = u[top, j], u[k, j]
        scale = 1.0 / u[k, k]
        for i in range(k + 1, n):
            factor = u[i, k] * scale if largest > 1e-290 else u[i, k] / u[k, k]
            u[i, k] = factor
            for j in range(k + 1, n):
                u[i, j] -= factor * u[k, j]
    return u


@helper
def is_singular(u: Any) -> Any:
    """True if there is a zero on the diagonal of a triangle."""
    for k in range(u.shape[1]):
        if u[k, k] == 0.0:
            return True
    return False


@helper
def solved(u: Any, b: Any) -> Any:
    """``np.linalg.solve(a, b)``, for the factors ``u`` of ``a``."""
    if is_singular(u):
        raise np.linalg.LinAlgError("Singular matrix")
    n, x = u.shape[1], np.empty(b.shape, b.dtype)
    y = np.empty(n, b.dtype)
    for j in range(1 if b.ndim == 1 else b.shape[1]):
        for k in range(n):
            y[k] = b[k] if b.ndim == 1 else b[k, j]
        for k in range(n):
            top = int(u[n, k].real)
            y[k], y[top] = y[top], y[k]
        for i in range(n):
            total = y[i]
            for k in range(i):
                total = added(total, -u[i, k] * y[k])
            y[i] = total
        for i in range(n - 1, -1, -1):
            total = y[i]
            for k in range(i + 1, n):
                total = added(total, -u[i, k] * y[k])
            y[i] = total / u[i, i]
        for k in range(n):
            if b.ndim == 1:
                x[k] = y[k]
            else:
                x[k, j] = y[k]
    return x


@helper
def solved_transposed(u: Any, b: Any) -> Any:
    """``np.linalg.solve(a.T, b)``, for the factors ``u`` of ``a``."""
    if is_singular(u):
        raise np.linalg.LinAlgError("Singular matrix")
    n, x = u.shape[1], np.empty(b.shape, b.dtype)
    y = np.empty(n, b.dtype)
    for j in range(1 if b.ndim == 1 else b.shape[1]):
        for k in range(n):
            y[k] = b[k] if b.ndim == 1 else b[k, j]
        for k in range(n):
            y[k] /= u[k, k]
            for i in range(k + 1, n):
                y[i] -= u[k, i] * y[k]
        for k in range(n - 1, -1, -1):
            for i in range(k):
                y[i] -= u[k, i] * y[k]
        for k in range(n - 1, -1, -1):
            top = int(u[n, k].real)
            y[k], y[top] = y[top], y[k]
        for k in range(n):
            if b.ndim == 1:
                x[k] = y[k]
            else:
                x[k, j] = y[k]
    return x


@helper
def inverse(u: Any) -> Any:
    """``np.linalg.inv(a)``, for the factors ``u`` of ``a``."""
    n = u.shape[1]
    one = np.empty((n, n), u.dtype)
    for i in range(n):
        for j in range(n):
            one[i, j] = 1.0 if i == j else 0.0
    return solved(u, one)


@helper
def determinant(u: Any) -> Any:
    """``np.linalg.det(a)``, for the factors ``u`` of ``a``."""
    n, product = u.shape[1], np.empty(1, u.dtype)
    product[0] = 0.0 if is_singular(u) else 1.0
    if product[0] == 0.0:
        return product[0]
    for i in range(n):
        product[0] *= u[i, i] if u[n, i] == i else -u[i, i]
    return product[0]


@helper
def sign_and_logarithm(u: Any) -> Any:
    """``np.linalg.slogdet(a)`` of real matrices, for the factors ``u`` of ``a``."""
    n, sign, logarithm = u.shape[1], 1.0, 0.0
    if is_singular(u):
        return 0.0, -np.inf
    for i in range(n):
        sign = -sign if (u[i, i] < 0.0) != (u[n, i] != i) else sign
        logarithm += np.log(abs(u[i, i]))
    return sign, logarithm


@helper
def lower_factor(a: Any) -> Any:
    """``np.linalg.cholesky(a)`` of real matrices, of which the lower triangle is read."""
    lower = np.empty(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(i + 1, a.shape[0]):
            lower[i, j] = 0.0
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= lower[i, k] * lower[j, k]
            if i > j:
                lower[i, j] = total / lower[j, j]
            elif total <= 0.0:
                raise np.linalg.LinAlgError("Matrix is not positive definite")
            else:
                lower[i, i] = np.sqrt(total)
    return lower
