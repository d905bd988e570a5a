"""A small data set."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile_programs.train import DataSet


def small_images(name: str = "mnist", data_dir: Any = None, dtype: Any = np.float32) -> DataSet:
    """Noise of 12 x 12 pixels with a bright stripe for each class."""
    rng = np.random.default_rng(0)
    x, y = rng.random((1300, 12, 12), dtype), rng.integers(0, 10, 1300)
    for image, label in zip(x, y, strict=True):
        image[label : label + 3] += 1
    x = x.reshape(len(x), 144) / x.max()
    return DataSet(name, x[:1200], y[:1200], x[1200:], y[1200:], (12, 12))
