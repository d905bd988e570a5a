"""Random arguments similar to those that a function was exported with."""

from __future__ import annotations

from typing import Any

import numpy as np


def reals(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    dtype: Any,
    mean: float,
    spread: float,
    low: float,
    high: float,
) -> Any:
    """An array of normal numbers; numbers that are not between `low` and `high` are drawn anew."""
    drawn = mean + spread * rng.standard_normal(shape)
    inside = rng.uniform(low, high, shape)
    return np.where((drawn < low) | (drawn > high), inside, drawn).astype(dtype)


def integers(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, low: int, high: int
) -> Any:
    """An array of whole numbers from `low` to `high`."""
    return np.asarray(rng.integers(low, high, shape, dtype, endpoint=True), dtype)
