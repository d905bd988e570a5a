"""Pooling in plain NumPy: elementwise functions of strided parts."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from stcompile.codegen_templates.numpy.elementwise import first_maximum
from stcompile.nn.arrays import Array
from stcompile.nn.convolution import Padding, Pair, margins, padded, pair


def max_pool2d(
    x: Array,
    window: Pair = 2,
    stride: Pair | None = None,
    padding: Padding = 0,
    layout: str = "NCHW",
) -> Any:
    """The largest element of each window. ``x`` is (batch, channels, height, width), or with
    ``layout`` ``"NHWC"`` (batch, height, width, channels); so is the result, in its dtype.

    ``stride`` is the size of the window unless it is given. Rows and columns that do not fill a
    window are dropped. Where elements tie, the first of them (in C order) gets the cotangent.
    """
    least = -np.inf
    return functools.reduce(first_maximum, _parts(x, window, stride, padding, layout, least))


def avg_pool2d(
    x: Array,
    window: Pair = 2,
    stride: Pair | None = None,
    padding: Padding = 0,
    layout: str = "NCHW",
) -> Any:
    """The mean of each window, padding counted; otherwise as `max_pool2d`."""
    size = pair(window)
    return sum(_parts(x, window, stride, padding, layout, 0.0)) * (1 / (size[0] * size[1]))


def _parts(
    x: Array, window: Pair, stride: Pair | None, padding: Padding, layout: str, value: float
) -> list[Array]:
    """For each position in a window the elements at that position, of all windows."""
    if layout not in ("NCHW", "NHWC"):
        raise ValueError(f"pool2d: the layout is 'NCHW' or 'NHWC', not {layout!r}")
    if x.ndim != 4:
        raise ValueError(f"pool2d takes four axes, x has shape {x.shape}")
    size = pair(window)
    step = size if stride is None else pair(stride)
    if layout == "NHWC":
        x = x.transpose(0, 3, 1, 2)
    x = padded(x, margins(padding, size, step), value)
    if x.shape[2] < size[0] or x.shape[3] < size[1]:
        raise ValueError(f"pool2d: a window of {size} is larger than the input {x.shape[2:]}")
    rows, columns = ((n - k) // s * s + 1 for n, k, s in zip(x.shape[2:], size, step, strict=True))
    parts = [
        x[:, :, i : i + rows : step[0], j : j + columns : step[1]]
        for i in range(size[0])
        for j in range(size[1])
    ]
    return [part.transpose(0, 2, 3, 1) for part in parts] if layout == "NHWC" else parts
