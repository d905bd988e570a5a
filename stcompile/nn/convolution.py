"""Convolutions in plain NumPy: windows over the input, contracted with the kernel; and
pooling, elementwise functions of strided parts."""

from __future__ import annotations

import functools
from typing import Any, TypeAlias

import numpy as np

from stcompile.codegen_templates.numpy.elementwise import first_maximum
from stcompile.nn.arrays import Array

Pair: TypeAlias = int | tuple[int, int]
Padding: TypeAlias = int | str | tuple[Any, ...]


def conv2d(
    x: Array,
    kernel: Array,
    stride: Pair = 1,
    padding: Padding = 0,
    dilation: Pair = 1,
    groups: int = 1,
    layout: str = "NCHW",
) -> Any:
    """The cross-correlation of images with a kernel (Goodfellow et al. 2016, eq. 9.6).

    ``x`` is (batch, channels, height, width), or (batch, height, width, channels) with ``layout``
    ``"NHWC"``; ``kernel`` (filters, channels // groups, kernel height, kernel width) in both. The
    result has the layout of ``x``, ``filters`` channels and the dtype of both. ``stride``,
    ``dilation`` and ``padding`` are a number or one for each of height and width; ``padding`` may
    also be ``"valid"`` (0), ``"same"`` (the size stays, with stride 1) or a pair (before, after)
    for each. ``ValueError`` for shapes that do not fit.
    """
    if layout not in ("NCHW", "NHWC"):
        raise ValueError(f"conv2d: the layout is 'NCHW' or 'NHWC', not {layout!r}")
    if x.ndim != 4 or kernel.ndim != 4:
        raise ValueError(
            f"conv2d takes four axes each: x has shape {x.shape}, the kernel {kernel.shape}"
        )
    if layout == "NHWC":
        x = x.transpose(0, 3, 1, 2)
    result = _correlated(x, kernel, pair(stride), padding, pair(dilation), groups)
    return result.transpose(0, 2, 3, 1) if layout == "NHWC" else result


def conv1d(
    x: Array,
    kernel: Array,
    stride: int = 1,
    padding: Padding = 0,
    dilation: int = 1,
    groups: int = 1,
    layout: str = "NCW",
) -> Any:
    """As `conv2d`, over one axis: ``x`` is (batch, channels, width), or with ``layout`` ``"NWC"``
    (batch, width, channels); ``kernel`` (filters, channels // groups, kernel width)."""
    if layout not in ("NCW", "NWC"):
        raise ValueError(f"conv1d: the layout is 'NCW' or 'NWC', not {layout!r}")
    if x.ndim != 3 or kernel.ndim != 3:
        raise ValueError(
            f"conv1d takes three axes each: x has shape {x.shape}, the kernel {kernel.shape}"
        )
    if layout == "NWC":
        x = x.transpose(0, 2, 1)
    both = padding if isinstance(padding, str) else ((0, 0), padding)
    tall, flat = x[:, :, None], kernel[:, :, None]
    result = _correlated(tall, flat, (1, stride), both, (1, dilation), groups)[:, :, 0]
    return result.transpose(0, 2, 1) if layout == "NWC" else result


def _correlated(
    x: Array,
    kernel: Array,
    stride: tuple[int, int],
    padding: Padding,
    dilation: tuple[int, int],
    groups: int,
) -> Any:
    filters, depth = kernel.shape[:2]
    if groups < 1 or x.shape[1] != depth * groups or filters % groups:
        raise ValueError(
            f"conv: {x.shape[1]} channels and a kernel of shape {kernel.shape} do not fit {groups} "
            "groups: it takes (filters, channels // groups, ...) with filters a multiple of groups"
        )
    span = tuple((n - 1) * d + 1 for n, d in zip(kernel.shape[2:], dilation, strict=True))
    x = padded(x, margins(padding, span, stride), 0)
    if x.shape[2] < span[0] or x.shape[3] < span[1]:
        raise ValueError(f"conv: a kernel that spans {span} is larger than the input {x.shape[2:]}")
    if groups == 1:
        windows = _windows(x, span, stride, dilation)
        return np.tensordot(windows, kernel, axes=((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)
    windows = _windows(x, span, stride, dilation)
    n, _, height, width = windows.shape[:4]
    parts = windows.reshape(n, groups, depth, height, width, *kernel.shape[2:])
    kernels = kernel.reshape(groups, filters // groups, *kernel.shape[1:])
    result = np.einsum("ngchwij,gocij->ngohw", parts, kernels)
    return result.reshape(n, filters, height, width)


def _windows(
    x: Array, span: tuple[int, ...], stride: tuple[int, int], dilation: tuple[int, int]
) -> Any:
    """The windows (batch, channels, height, width, kernel height, kernel width) of ``x``."""
    windows = np.lib.stride_tricks.sliding_window_view(x, span, axis=(2, 3))
    return windows[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]


def pair(value: Pair) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (value[0], value[1])


def margins(
    padding: Padding, span: tuple[int, ...], stride: tuple[int, int]
) -> tuple[tuple[int, int], ...]:
    """The numbers of elements added before and after each of the last two axes."""
    if padding == "valid":
        return ((0, 0), (0, 0))
    if padding == "same":
        if stride != (1, 1):
            raise ValueError("conv: padding 'same' takes stride 1")
        return tuple(((n - 1) // 2, n // 2) for n in span)
    if isinstance(padding, str):
        raise ValueError(f"conv: padding is a number, 'valid' or 'same', not {padding!r}")
    both = (padding, padding) if isinstance(padding, int) else padding
    return tuple((n, n) if isinstance(n, int) else (n[0], n[1]) for n in both)


def padded(x: Array, margin: tuple[tuple[int, int], ...], value: float) -> Any:
    """``x`` with margins around its last two axes."""
    if margin == ((0, 0), (0, 0)):
        return x
    return np.pad(x, ((0, 0), (0, 0), *margin), constant_values=value)


# --- pooling -------------------------------------------------------------------------------------


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
