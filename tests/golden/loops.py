"""Programs for the compiled level, as they are written for Numba: their kernels are kept."""

from __future__ import annotations

from typing import Any

import numpy as np


def arguments() -> dict[str, tuple]:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(6, 6))
    return {
        "gauss_seidel": (rng.normal(size=(30, 30)), rng.normal(size=(30, 30))),
        "factorised": (points @ points.T + 6.0 * np.eye(6),),
        "stencil": (rng.normal(size=(8, 8)),),
        "mixed": (rng.normal(size=(60, 60)), rng.normal(size=(60, 60))),
        "sparse_rows": (
            rng.normal(size=40),
            rng.normal(size=9),
            rng.integers(0, 9, 40),
            np.append(np.sort(rng.integers(0, 41, 20)), 40),
        ),
    }


def gauss_seidel(u: Any, f: Any) -> Any:
    """Sweeps over a grid, in place."""
    u = u.copy()
    for _ in range(20):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])
    return np.sum(u * u)


def factorised(a: Any) -> Any:
    """The logarithm of a determinant, by the factor of Cholesky."""
    n = len(a)
    factor = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            factor[i, j] = (a[i, j] - np.dot(factor[i, :j], factor[j, :j])) / factor[j, j]
        factor[i, i] = np.sqrt(a[i, i] - np.dot(factor[i, :i], factor[i, :i]))
    return 2.0 * np.sum(np.log(np.diag(factor)))


def stencil(u: Any) -> Any:
    """Steps of diffusion, of whole parts."""
    for _ in range(30):
        new = u.copy()
        new[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = new
    return np.sum(u**2)


def mixed(w: Any, x: Any) -> Any:
    """Products for BLAS, with loops over numbers between them."""
    h = np.tanh(x @ w)
    total = 0.0
    for t in range(1, 60):
        total = 0.5 * total + h[t, t] * h[t - 1, t] + abs(h[t, 0])
    return total + np.sum(h @ w)


def sparse_rows(values: Any, x: Any, columns: Any, rows: Any) -> Any:
    """A sparse matrix with a vector, row by row."""
    y = np.zeros(len(rows) - 1)
    for i in range(len(rows) - 1):
        for k in range(rows[i], rows[i + 1]):
            y[i] += values[k] * x[columns[k]]
    return np.sum(y * y)
