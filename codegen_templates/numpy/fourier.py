"""How Fourier transforms are written, with no more arguments than they need."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh
from .subscripts import transform


@fresh
def fft(x: Any, *, n: int, axis: int, norm: Any) -> Any:
    if transform(x.shape, n, axis, norm) == "plain":
        return np.fft.fft(x)
    if transform(x.shape, n, axis, norm) == "axis":
        return np.fft.fft(x, axis=axis)
    if transform(x.shape, n, axis, norm) == "length":
        return np.fft.fft(x, n, axis)
    return np.fft.fft(x, n, axis, norm)


@fresh
def ifft(x: Any, *, n: int, axis: int, norm: Any) -> Any:
    if transform(x.shape, n, axis, norm) == "plain":
        return np.fft.ifft(x)
    if transform(x.shape, n, axis, norm) == "axis":
        return np.fft.ifft(x, axis=axis)
    if transform(x.shape, n, axis, norm) == "length":
        return np.fft.ifft(x, n, axis)
    return np.fft.ifft(x, n, axis, norm)


@fresh
def rfft(x: Any, *, n: int, axis: int, norm: Any) -> Any:
    if transform(x.shape, n, axis, norm) == "plain":
        return np.fft.rfft(x)
    if transform(x.shape, n, axis, norm) == "axis":
        return np.fft.rfft(x, axis=axis)
    if transform(x.shape, n, axis, norm) == "length":
        return np.fft.rfft(x, n, axis)
    return np.fft.rfft(x, n, axis, norm)


@fresh
def irfft(x: Any, *, n: int, axis: int, norm: Any) -> Any:
    if transform(x.shape, n, axis, norm, True) == "plain":
        return np.fft.irfft(x)
    if transform(x.shape, n, axis, norm, True) == "axis":
        return np.fft.irfft(x, axis=axis)
    if transform(x.shape, n, axis, norm, True) == "length":
        return np.fft.irfft(x, n, axis)
    return np.fft.irfft(x, n, axis, norm)
