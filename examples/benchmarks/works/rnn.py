"""A recurrent network of tanh units that reads an image in equal parts, and classifies it."""

from __future__ import annotations

import numpy as np

from stcompile.nn import glorot_uniform

from ..images import Images
from ..inputs import Inputs
from ..pace import Pace
from .base import Sizes, Work


def make(sizes: Sizes, rng: np.random.Generator, images: Images) -> Inputs:
    """``x`` (batches, rows, steps * pixels), ``y`` (batches, rows); float32."""
    pixels, hidden, classes = sizes["pixels"], sizes["hidden"], 10
    x, y = images.batches(rng, sizes["batches"], sizes["rows"], sizes["steps"] * pixels)
    params = {
        "Wx": glorot_uniform(rng, (pixels, hidden)),
        "Wh": glorot_uniform(rng, (hidden, hidden)),
        "bh": np.zeros(hidden, np.float32),
        "Wo": glorot_uniform(rng, (hidden, classes)),
        "bo": np.zeros(classes, np.float32),
    }
    return Inputs(params, {"x": x, "y": y}, {"steps": sizes["steps"]}, learning_rate=0.015)


RNN = Work(
    name="rnn",
    title="RNN of 4 steps × 196 pixels, 64 units, batch of 100",
    kind="training",
    make=make,
    sizes={"batches": 200, "rows": 100, "steps": 4, "pixels": 196, "hidden": 64},
    pace=Pace(steps=150, warmup=20),
    quick_sizes={"batches": 6, "rows": 8, "steps": 4, "pixels": 5, "hidden": 6},
)

PIXEL_RNN = Work(
    name="pixel_rnn",
    title="RNN of 784 steps × 1 pixel, 64 units, batch of 100",
    kind="training",
    make=make,
    sizes={"batches": 60, "rows": 100, "steps": 784, "pixels": 1, "hidden": 64},
    pace=Pace(steps=6, warmup=2),
    quick_sizes={"batches": 6, "rows": 8, "steps": 24, "pixels": 1, "hidden": 6},
)
