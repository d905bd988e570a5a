"""Functions of small matrices that compiled loops call. Their text is printed beside the loops.

They do what LAPACK does, in the same order, and raise what NumPy raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import helper


@helper
def eliminated(u: Any, x: Any) -> Any:
    """Gauss's elimination: changes ``u`` to a triangle and ``x`` likewise, the largest number of a
    column first. Returns the sign of the order of rows; 0 if a column is 0. (LAPACK may take NaN
    for 0; here it goes on as NaN.)"""
    n, sign = u.shape[0], 1.0
    for k in range(n):
        top, largest = k, abs(u[k, k].real) + abs(u[k, k].imag)
        for i in range(k + 1, n):
            size = abs(u[i, k].real) + abs(u[i, k].imag)
            if size > largest:
                top, largest = i, size
        if largest == 0.0:
            return 0.0
        if top != k:
            sign = -sign
            for j in range(k, n):
                u[k, j], u[top, j] = u[top, j], u[k, j]
            for j in range(x.shape[1]):
                x[k, j], x[top, j] = x[top, j], x[k, j]
        pivot, right, scale = u[k, k + 1 :], x[k], 1.0 / u[k, k]
        for i in range(k + 1, n):
            factor = u[i, k] * scale if largest > 1e-290 else u[i, k] / u[k, k]
            row, other = u[i, k + 1 :], x[i]
            for j in range(len(row)):
                row[j] -= factor * pivot[j]
            for j in range(len(other)):
                other[j] -= factor * right[j]
    return sign


@helper
def solved(a: Any, b: Any) -> Any:
    """``np.linalg.solve(a, b)``"""
    n = a.shape[0]
    u, x = a.copy(), b.copy().reshape(n, -1)
    if eliminated(u, x) == 0.0:
        raise np.linalg.LinAlgError("Singular matrix")
    for k in range(n - 1, -1, -1):
        below = x[k]
        for j in range(len(below)):
            below[j] /= u[k, k]
        for i in range(k):
            row, factor = x[i], u[i, k]
            for j in range(len(row)):
                row[j] -= factor * below[j]
    return x.reshape(b.shape)


@helper
def inverse(a: Any) -> Any:
    """``np.linalg.inv(a)``"""
    one = np.zeros_like(a)
    for i in range(a.shape[0]):
        one[i, i] = 1.0
    return solved(a, one)


@helper
def determinant(a: Any) -> Any:
    """``np.linalg.det(a)``"""
    u, product = a.copy(), np.empty(1, a.dtype)
    product[0] = eliminated(u, np.empty((a.shape[0], 0), a.dtype))
    if product[0] != 0.0:
        for i in range(a.shape[0]):
            product[0] *= u[i, i]
    return product[0]


@helper
def sign_and_logarithm(a: Any) -> Any:
    """``np.linalg.slogdet(a)`` of real matrices."""
    u = a.copy()
    sign, logarithm = eliminated(u, np.empty((a.shape[0], 0), a.dtype)), 0.0
    if sign == 0.0:
        return sign, -np.inf
    for i in range(a.shape[0]):
        sign = -sign if u[i, i] < 0.0 else sign
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
