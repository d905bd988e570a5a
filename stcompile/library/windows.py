"""The windows of NumPy, of a number of points that is known at compile time."""

from __future__ import annotations

from typing import Any

import numpy as np


def _places(M: int) -> Any:
    """The points of a window: odd or even integers that are symmetric about 0."""
    return np.arange(1 - M, M, 2)


def bartlett(M: int) -> Any:
    """The triangular window that is 0 at its ends."""
    if M <= 1:
        return np.ones(max(M, 0))
    n = _places(M)
    return np.where(n <= 0, 1 + n / (M - 1), 1 - n / (M - 1))


def blackman(M: int) -> Any:
    """The window of Blackman."""
    if M <= 1:
        return np.ones(max(M, 0))
    n = _places(M)
    return 0.42 + 0.5 * np.cos(np.pi * n / (M - 1)) + 0.08 * np.cos(2.0 * np.pi * n / (M - 1))


def hamming(M: int) -> Any:
    """The window of Hamming."""
    if M <= 1:
        return np.ones(max(M, 0))
    return 0.54 + 0.46 * np.cos(np.pi * _places(M) / (M - 1))


def hanning(M: int) -> Any:
    """The window of von Hann."""
    if M <= 1:
        return np.ones(max(M, 0))
    return 0.5 + 0.5 * np.cos(np.pi * _places(M) / (M - 1))


def kaiser(M: int, beta: Any) -> Any:
    """The window of Kaiser; also differentiated by ``beta``."""
    if M == 1:
        return np.ones(1)
    alpha = (M - 1) / 2.0
    n = np.arange(0, M)
    return np.i0(beta * np.sqrt(1 - ((n - alpha) / alpha) ** 2.0)) / np.i0(beta)
