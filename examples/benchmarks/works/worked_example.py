"""The worked example of textbooks: a function of two numbers."""

from __future__ import annotations

import numpy as np

from ..images import Images
from ..inputs import Inputs
from ..pace import Pace
from .base import Sizes, Work


def make(sizes: Sizes, rng: np.random.Generator, images: Images) -> Inputs:
    """``x1`` and ``x2``, float64 numbers."""
    return Inputs({"x1": np.array(2.0), "x2": np.array(5.0)})


WORKED_EXAMPLE = Work(
    name="worked_example",
    title="y = ln x₁ + x₁ x₂ − sin x₂, value and gradient",
    kind="gradient",
    make=make,
    sizes={},
    pace=Pace(steps=50, warmup=5, repeats=200),
    quick_sizes={},
)
