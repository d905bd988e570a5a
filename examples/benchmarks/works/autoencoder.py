"""An autoencoder of sigmoid units that is trained on single images."""

from __future__ import annotations

import numpy as np

from ..images import Images
from ..inputs import Inputs
from ..pace import Pace
from .base import Sizes, Work


def make(sizes: Sizes, rng: np.random.Generator, images: Images) -> Inputs:
    """``x`` (batches, pixels), float32. The weights are (out, in); the decoder has no bias."""
    pixels, hidden, code = sizes["pixels"], sizes["hidden"], sizes["code"]
    x, _ = images.batches(rng, sizes["batches"], 1, pixels)

    def weights(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return rng.normal(0, 0.1, shape).astype(np.float32)

    params = {
        "W1": weights(hidden, pixels),
        "b1": np.zeros(hidden, np.float32),
        "W2": weights(code, hidden),
        "b2": np.zeros(code, np.float32),
        "W3": weights(pixels, code),
    }
    return Inputs(params, {"x": x[:, 0]}, learning_rate=0.02)


AUTOENCODER = Work(
    name="autoencoder",
    title="autoencoder 784-300-100-784, batch of one",
    kind="training",
    make=make,
    sizes={"batches": 3000, "pixels": 784, "hidden": 300, "code": 100},
    pace=Pace(steps=400, warmup=50),
    quick_sizes={"batches": 6, "pixels": 20, "hidden": 8, "code": 4},
)
