"""Parts of filters that are known at compile time, and the filter that is a primitive."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import signal


def filtered(b: Any, a: Any, x: Any) -> Any:
    """`scipy.signal.lfilter` along the last axis. Frontends know how."""
    return signal.lfilter(b, a, x)


def smoothing_matrix(window_length: int, polyorder: int, deriv: int) -> Any:
    """The matrix from a window to the values of the polynomial of least squares in it: what
    `scipy.signal.savgol_filter` makes of the columns of the identity matrix."""
    return signal.savgol_filter(
        np.eye(window_length), window_length, polyorder, deriv, axis=0, mode="interp"
    )
