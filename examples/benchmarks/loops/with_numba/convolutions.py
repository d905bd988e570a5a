"""Direct convolutions with their adjoints, written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit
def convolve_scalars(x: Any, kernel: Any) -> Any:
    side = kernel.shape[0]
    height, width = x.shape[0] - side + 1, x.shape[1] - side + 1
    d_x, d_kernel = np.zeros_like(x), np.zeros_like(kernel)
    value = 0.0
    for i in range(height):
        for j in range(width):
            total = 0.0
            for k in range(side):
                for l in range(side):
                    total += kernel[k, l] * x[i + k, j + l]
            value += total * total
            share = 2 * total
            for k in range(side):
                for l in range(side):
                    d_x[i + k, j + l] += share * kernel[k, l]
                    d_kernel[k, l] += share * x[i + k, j + l]
    return value, (d_x, d_kernel)


@njit
def convolve_pixels(x: Any, kernel: Any, bias: Any) -> Any:
    side, channels, filters = kernel.shape[0], kernel.shape[2], kernel.shape[3]
    rows, height, width = x.shape[0], x.shape[1] - side + 1, x.shape[2] - side + 1
    d_x, d_kernel, d_bias = np.zeros_like(x), np.zeros_like(kernel), np.zeros_like(bias)
    total = np.empty(filters)
    value = 0.0
    for row in range(rows):
        for i in range(height):
            for j in range(width):
                for f in range(filters):
                    total[f] = bias[f]
                for k in range(side):
                    for l in range(side):
                        for c in range(channels):
                            one = x[row, i + k, j + l, c]
                            for f in range(filters):
                                total[f] += one * kernel[k, l, c, f]
                for f in range(filters):
                    total[f] = max(total[f], 0.0)
                    value += total[f] * total[f]
                    total[f] *= 2
                    d_bias[f] += total[f]
                for k in range(side):
                    for l in range(side):
                        for c in range(channels):
                            one, share = x[row, i + k, j + l, c], 0.0
                            for f in range(filters):
                                share += total[f] * kernel[k, l, c, f]
                                d_kernel[k, l, c, f] += total[f] * one
                            d_x[row, i + k, j + l, c] += share
    return value, (d_x, d_kernel, d_bias)
