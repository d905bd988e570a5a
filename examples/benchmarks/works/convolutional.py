"""Convolutional networks that classify images: the small one of the papers, and another."""

from __future__ import annotations

import numpy as np

from stcompile.nn import he_uniform

from ..images import Images
from ..inputs import Inputs
from ..pace import Pace
from .base import Sizes, Work


def make_cnn(sizes: Sizes, rng: np.random.Generator, images: Images) -> Inputs:
    """Two convolutions of 3×3, each with a pool of 2×2; ``x`` (batches, rows, 1, side, side),
    ``y`` (batches, rows); float32."""
    side, classes = sizes["side"], 10
    x, y = images.batches(rng, sizes["batches"], sizes["rows"], side * side)
    left = ((side - 2) // 2 - 2) // 2
    params = {
        **_layer(rng, 1, (6, 1, 3, 3)),
        **_layer(rng, 2, (16, 6, 3, 3)),
        **_dense(rng, 3, (16 * left * left, sizes["hidden"])),
        **_dense(rng, 4, (sizes["hidden"], classes)),
    }
    x = x.reshape(*x.shape[:2], 1, side, side)
    return Inputs(params, {"x": x, "y": y}, {}, learning_rate=0.01)


def make_convnet(sizes: Sizes, rng: np.random.Generator, images: Images) -> Inputs:
    """Three convolutions: 5×5 with steps of 2, 3×3 with a margin and a pool, 3×3."""
    side, classes = sizes["side"], 10
    x, y = images.batches(rng, sizes["batches"], sizes["rows"], side * side)
    left = ((side - 5) // 2 + 1) // 2 - 2
    params = {
        **_layer(rng, 1, (8, 1, 5, 5)),
        **_layer(rng, 2, (16, 8, 3, 3)),
        **_layer(rng, 3, (32, 16, 3, 3)),
        **_dense(rng, 4, (32 * left * left, classes)),
    }
    x = x.reshape(*x.shape[:2], 1, side, side)
    return Inputs(params, {"x": x, "y": y}, {}, learning_rate=0.002)


def _layer(
    rng: np.random.Generator, number: int, shape: tuple[int, ...]
) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    kernel = he_uniform(rng, shape)
    return {f"k{number}": kernel, f"b{number}": np.zeros(shape[0], np.float32)}


def _dense(
    rng: np.random.Generator, number: int, shape: tuple[int, ...]
) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    return {f"W{number}": he_uniform(rng, shape), f"b{number}": np.zeros(shape[1], np.float32)}


CNN = Work(
    name="cnn",
    title="CNN of 6 and 16 filters of 3 × 3, two pools, 84 units, batch of 100",
    kind="training",
    make=make_cnn,
    sizes={"batches": 60, "rows": 100, "side": 28, "hidden": 84},
    pace=Pace(steps=60, warmup=5),
    quick_sizes={"batches": 6, "rows": 8, "side": 10, "hidden": 6},
)

CONVNET = Work(
    name="convnet",
    title="CNN of 8, 16 and 32 filters, strides, a margin and a pool, batch of 64",
    kind="training",
    make=make_convnet,
    sizes={"batches": 60, "rows": 64, "side": 28},
    pace=Pace(steps=60, warmup=5),
    quick_sizes={"batches": 6, "rows": 8, "side": 15},
)
