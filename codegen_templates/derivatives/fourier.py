"""Adjoints of Fourier transforms: the transposes of their matrices.

The matrix of `fft` and `ifft` is symmetric: exp(-2 pi i j k / n) in row j and column k. The
adjoints of `rfft` and `irfft` are transforms of the other kind, of conjugates: the entries of a
spectrum that are not stored are conjugates of stored entries, so that all stored entries count
twice except the first and, for an even length, the last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import adjoint
from .axes import part

OPPOSITE: dict[str, Any] = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _fitted(x: Any, length: int, axis: int) -> Any:
    """The array cut, or continued by zeros, to a length: the transpose of the same."""
    present = x.shape[axis]
    if length < present:
        return x[part(axis, 0, length)]
    if length > present:
        return np.pad(x, [(0, length - present) if i == axis else (0, 0) for i in range(x.ndim)])
    return x


def _scaled_inside(x: Any, factor: float, n: int, axis: int) -> Any:
    """Half of a spectrum with the entries multiplied that stand for two entries of the whole."""
    stop = (n + 1) // 2
    last = x[part(axis, stop, n // 2 + 1)]  # nothing, of an odd length
    parts = (x[part(axis, 0, 1)], factor * x[part(axis, 1, stop)], last)
    return np.concatenate(parts, axis=axis)


@adjoint
def fft(out: Any, x: Any, d_out: Any, *, n: int, axis: int, norm: Any) -> Any:
    return _fitted(np.fft.fft(d_out, axis=axis, norm=norm), x.shape[axis], axis)


@adjoint
def ifft(out: Any, x: Any, d_out: Any, *, n: int, axis: int, norm: Any) -> Any:
    return _fitted(np.fft.ifft(d_out, axis=axis, norm=norm), x.shape[axis], axis)


@adjoint
def rfft(out: Any, x: Any, d_out: Any, *, n: int, axis: int, norm: Any) -> Any:
    spectrum = _scaled_inside(np.conjugate(d_out), 0.5, n, axis)
    d_x = np.fft.irfft(spectrum, n, axis, OPPOSITE[norm])
    return _fitted(d_x, x.shape[axis], axis)


@adjoint
def irfft(out: Any, x: Any, d_out: Any, *, n: int, axis: int, norm: Any) -> Any:
    spectrum = np.fft.rfft(d_out, n, axis, OPPOSITE[norm])
    d_x = _scaled_inside(np.conjugate(spectrum), 2.0, n, axis)
    return _fitted(d_x, x.shape[axis], axis)
