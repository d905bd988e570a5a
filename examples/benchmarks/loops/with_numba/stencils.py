"""Stencils with their adjoints, written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit
def gauss_seidel(u: Any, f: Any, sweeps: int) -> Any:
    u = u.copy()
    n, m = u.shape
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + f[i, j])
    d_u, d_f = np.empty_like(u), np.zeros_like(f)
    value = 0.0
    for i in range(n):
        for j in range(m):
            value += u[i, j] * u[i, j]
            d_u[i, j] = 2 * u[i, j]
    for _ in range(sweeps):
        for i in range(n - 2, 0, -1):
            for j in range(m - 2, 0, -1):
                share = 0.25 * d_u[i, j]
                d_u[i, j] = 0.0
                d_u[i - 1, j] += share
                d_u[i + 1, j] += share
                d_u[i, j - 1] += share
                d_u[i, j + 1] += share
                d_f[i, j] += share
    return value, (d_u, d_f)
