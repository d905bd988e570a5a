"""Convolutions as loops: over the pixels of the result, or over the taps of the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs import Array
from .program import Arguments, LoopProgram, squares


def convolve_pixels(x: Array, kernel: Array, bias: Array) -> Any:
    """Images (rows, height, width, channels), kernel (side, side, channels, filters), relu."""
    side = kernel.shape[0]
    height, width = x.shape[1] - side + 1, x.shape[2] - side + 1
    y = np.empty((x.shape[0], height, width, kernel.shape[3]))
    for i in range(height):
        for j in range(width):
            y[:, i, j, :] = np.sum(
                x[:, i : i + side, j : j + side, :, None] * kernel[None, :, :, :, :],
                axis=(1, 2, 3),
            )
    return np.maximum(y + bias, 0.0)


def convolve_taps(x: Array, kernel: Array) -> Any:
    """Convolve an image with a kernel of odd sides; the margin is zeros."""
    side = kernel.shape[0]
    half = side // 2
    padded = np.pad(x, half)
    y = np.zeros_like(x)
    for i in range(side):
        for j in range(side):
            y += kernel[i, j] * padded[i : i + x.shape[0], j : j + x.shape[1]]
    return y


def convolve_scalars(x: Array, kernel: Array) -> Any:
    """The same number by number, without a margin."""
    side = kernel.shape[0]
    y = np.zeros((x.shape[0] - side + 1, x.shape[1] - side + 1))
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            total = 0.0
            for k in range(side):
                for l in range(side):
                    total += kernel[k, l] * x[i + k, j + l]
            y[i, j] = total
    return y


def _images(rng: np.random.Generator, n: int, rows: int, filters: int) -> Arguments:
    x, kernel = rng.normal(size=(rows, n, n, 3)), rng.normal(size=(3, 3, 3, filters)) / 5
    return {"x": x, "kernel": kernel, "bias": rng.normal(size=filters)}


def _image(rng: np.random.Generator, n: int, side: int) -> Arguments:
    return {"x": rng.normal(size=(n, n)), "kernel": rng.normal(size=(side, side)) / side}


PROGRAMS = (
    LoopProgram(
        convolve_pixels, _images, wrt=("x", "kernel", "bias"), scalar=squares, whole=True,
        grows=("n",),
        small={"n": 20, "rows": 2, "filters": 4}, middle={"n": 32, "rows": 8, "filters": 16},
        large={"n": 64, "rows": 8, "filters": 32},
    ),
    LoopProgram(
        convolve_taps, _image, wrt=("x", "kernel"), scalar=squares, whole=True, grows=("n",),
        small={"n": 16, "side": 5}, middle={"n": 128, "side": 9}, large={"n": 512, "side": 21},
    ),
    LoopProgram(
        convolve_scalars, _image, wrt=("x", "kernel"), scalar=squares, grows=("n",),
        small={"n": 20, "side": 3}, middle={"n": 40, "side": 5}, large={"n": 200, "side": 5},
    ),
)  # fmt: skip
