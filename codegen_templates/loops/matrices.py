"""Functions of small matrices that compiled loops call. Their text is printed beside the loops.

They do what LAPACK does, and raise what NumPy raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import helper
from .helpers import added


@helper
def factored(a: Any) -> Any:
    """Gauss's elimination, the largest number of a column first: a triangle on and above the
    diagonal, what rows were multiplied by below it, and in one more row the row that each was
    exchanged with. (LAPACK may take NaN for 0; here it goes on as NaN.)"""
    n = a.shape[0]
    u = np.empty((n + 1, n), a.dtype)
    u[:n] = a
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
        pivot, scale = u[k, k + 1 :], 1.0 / u[k, k]
        for i in range(k + 1, n):
            factor = u[i, k] * scale if largest > 1e-290 else u[i, k] / u[k, k]
            row, u[i, k] = u[i, k + 1 :], factor
            for j in range(len(row)):
                row[j] -= factor * pivot[j]
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
    n = u.shape[1]
    x = b.copy().reshape(n, -1)
    for j in range(x.shape[1]):
        y = x[:, j].copy()
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
        x[:, j] = y
    return x.reshape(b.shape)


@helper
def solved_transposed(u: Any, b: Any) -> Any:
    """``np.linalg.solve(a.T, b)``, for the factors ``u`` of ``a``."""
    if is_singular(u):
        raise np.linalg.LinAlgError("Singular matrix")
    n = u.shape[1]
    x = b.copy().reshape(n, -1)
    for j in range(x.shape[1]):
        y = x[:, j].copy()
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
        x[:, j] = y
    return x.reshape(b.shape)


@helper
def inverse(u: Any) -> Any:
    """``np.linalg.inv(a)``, for the factors ``u`` of ``a``."""
    one = np.zeros((u.shape[1], u.shape[1]), u.dtype)
    for i in range(u.shape[1]):
        one[i, i] = 1.0
    return solved(u, one)


@helper
def determinant(u: Any) -> Any:
    """``np.linalg.det(a)``, for the factors ``u`` of ``a``."""
    n, product = u.shape[1], np.ones(1, u.dtype)
    if is_singular(u):
        product[0] = 0.0
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
    lower = np.zeros_like(a)
    for i in range(a.shape[0]):
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
