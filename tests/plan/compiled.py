"""Functions compiled at the fast level, and what can be seen of their buffers."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.base.options import Options
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.train_step import TrainStep

FAST = Options("fast", blas=False)
READABLE = Options("readable")


def gradient(function: Callable[..., Any], wrt: Any = 0, options: Options = FAST) -> Gradient:
    return Gradient(function, wrt, True, options)


def step(loss: Callable[..., Any], optimizer: Any, options: Options = FAST) -> TrainStep:
    return TrainStep(loss, optimizer, 0, options)


def workspace_lines(compiled: Any, *arguments: Any) -> list[str]:
    """The statements of the factory outside the function."""
    lines = compiled.source(*arguments).splitlines()
    start = lines.index("def workspace():") + 2
    stop = next(at for at, line in enumerate(lines) if line.startswith("    def "))
    return [line.strip() for line in lines[start:stop] if line.strip()]


def body_lines(compiled: Any, *arguments: Any) -> list[str]:
    """The statements of the function, without comments."""
    lines = compiled.source(*arguments).splitlines()
    inner = [line.strip() for line in lines if line.startswith("        ")]
    return [line for line in inner if line and not line.startswith(("#", '"""'))]


def peak(call: Callable[[], Any]) -> int:
    """Bytes that a call allocates at the most, over what was there before, after two others. (The
    first compiles, which takes five times as long where it is traced.)"""
    call()
    gc.collect()
    gc.disable()  # instead of a collection before each call: there may be many objects of others
    tracemalloc.start()
    try:
        call()
        found = []
        for _ in range(3):
            base = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            call()
            found.append(tracemalloc.get_traced_memory()[1] - base)
    finally:
        tracemalloc.stop()
        gc.enable()
    return min(found)


def random(*shape: int, seed: int = 0, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)
