"""Adjoints of filters of `scipy.signal`.

The result of a filter solves ``sum_k a[k] y[n-k] = sum_k b[k] x[n-k]``, a triangular system whose
transposed runs backwards through time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lazy import signal
from ..marks import adjoint


@adjoint
def lfilter(out: Any, x: Any, y: Any, z: Any, d_out: Any) -> Any:
    """The coefficients are x and y, and z is filtered."""
    backwards = d_out[..., ::-1]
    d_z = signal.lfilter(x, y, backwards)[..., ::-1]
    weights = signal.lfilter(np.ones(1, y.dtype), y, backwards)[..., ::-1]
    return lagged(weights, z, x.shape[0]), -lagged(weights, out, y.shape[0]), d_z


def lagged(weights: Any, x: Any, count: int) -> Any:
    """The sums of weights times x as it was up to ``count - 1`` steps earlier."""
    width = [(0, 0)] * (x.ndim - 1) + [(count - 1, 0)]
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, width), count, axis=-1)
    return np.tensordot(weights, windows, x.ndim)[::-1]
