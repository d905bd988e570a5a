"""Fourier transforms into a given array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import into


@into()
def fft(out: Any, x: Any, *, n: int, axis: int, norm: Any) -> None:
    np.fft.fft(x, n, axis, norm, out=out)


@into()
def ifft(out: Any, x: Any, *, n: int, axis: int, norm: Any) -> None:
    np.fft.ifft(x, n, axis, norm, out=out)


@into()
def rfft(out: Any, x: Any, *, n: int, axis: int, norm: Any) -> None:
    np.fft.rfft(x, n, axis, norm, out=out)


@into()
def irfft(out: Any, x: Any, *, n: int, axis: int, norm: Any) -> None:
    np.fft.irfft(x, n, axis, norm, out=out)
