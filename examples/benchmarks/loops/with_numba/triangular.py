"""Factorisations with their adjoints, written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit
def cholesky(a: Any) -> Any:
    n = a.shape[0]
    factor, d_a = np.zeros_like(a), np.zeros_like(a)
    value = 0.0
    for i in range(n):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            factor[i, j] = np.sqrt(total) if i == j else total / factor[j, j]
            value += factor[i, j] * factor[i, j]
            d_a[i, j] = 2 * factor[i, j]
    for i in range(n - 1, -1, -1):
        d_a[i, i] /= 2 * factor[i, i]
        for k in range(i):
            d_a[i, k] -= 2 * d_a[i, i] * factor[i, k]
        for j in range(i - 1, -1, -1):
            d_a[i, j] /= factor[j, j]
            d_a[j, j] -= d_a[i, j] * factor[i, j]
            for k in range(j):
                d_a[i, k] -= d_a[i, j] * factor[j, k]
                d_a[j, k] -= d_a[i, j] * factor[i, k]
    return value, (d_a,)
