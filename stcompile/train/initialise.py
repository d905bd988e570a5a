"""Initial values of parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def glorot_uniform(
    rng: np.random.Generator, shape: tuple[int, int], dtype: Any = np.float32
) -> np.ndarray[Any, np.dtype[Any]]:
    """A (fan_in, fan_out) matrix, uniform in ±sqrt(6 / (fan_in + fan_out)).

    Source: X. Glorot, Y. Bengio, "Understanding the difficulty of training deep feedforward
    neural networks", AISTATS 2010, equation 16.

    >>> w = glorot_uniform(np.random.default_rng(0), (4, 2))
    >>> w.shape, w.dtype.name, bool(abs(w).max() <= 1)
    ((4, 2), 'float32', True)
    """
    limit = math.sqrt(6 / sum(shape))
    return rng.uniform(-limit, limit, shape).astype(dtype)
