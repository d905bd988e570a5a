"""Functions that other tools call: of structures, with several outputs, static and complex."""

from __future__ import annotations

from typing import Any

import numpy as np

import stcompile as st

RNG = np.random.default_rng(7)
W, B, X = RNG.normal(size=(2, 3)), RNG.normal(size=3), RNG.normal(size=(4, 2))
PARAMS = {"W": W, "b": B}


def layer(params: Any, x: Any, steps: int, scale: float = 1.0) -> Any:
    """Floating-point, integer and static outputs, in a dict in a tuple."""
    h = np.tanh(x @ params["W"] + params["b"])
    for _ in range(steps):
        h = np.sin(h) * scale
    outputs = {"y": h * h, "k": np.sum(h, axis=0), "steps": steps, "best": np.argmax(h, axis=1)}
    return outputs, np.sum(h)


@st.differentiable(wrt="x", level="readable")
def branches(x: Any, y: Any) -> Any:
    """Control flow, a write into an argument, and a number that does not depend on any."""
    x[0] = x[0] * y
    total = 0.0
    for k in range(3):
        if x[k] > 0:
            total = total + x[k] ** 2
        else:
            total = total + np.exp(x[k]) * y
    return total, 2.0
