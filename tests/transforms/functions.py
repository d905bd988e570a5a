"""Functions with control flow, writes and structures, that the transformations are tried on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Example(NamedTuple):
    """A function of arrays and floats, with arguments."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def layers(x, w):
    h = np.tanh(x @ w)
    return np.sum(h * h, axis=0)


def branches(x, s):
    if s > 0.5:
        y = np.sin(x) * s
    elif s > -0.5:
        y = x**2 + s
    else:
        y = x - s
    return y if y[0] > 0 else -y


def long_loop(x, w):
    h = np.zeros(3)
    total = 0.0
    for t in range(20):
        h = np.tanh(w * h + x[t])
        if h[0] > 0.3:
            total = total + h[1] * h[2]
    return total + np.sum(h)


def newton(a, x):
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def writes(x, v):
    y = np.zeros((4, 3))
    y[1] = x
    y[::2, 1] += v * x[0]
    rows = y.T
    rows[2] *= v
    y[[0, 0, 3], [1, 2, 2]] = v * v
    return y


def structured(params, x):
    h = x @ params["W"] + params["b"]
    return {"h": h, "norms": (np.sqrt(np.sum(h * h)), np.max(np.abs(h)))}


RNG = np.random.default_rng(7)
PARAMS = {"W": RNG.normal(size=(3, 2)), "b": RNG.normal(size=2)}
EXAMPLES = (
    Example("layers", layers, (RNG.normal(size=(2, 3)), RNG.normal(size=(3, 2)))),
    Example("first branch", branches, (np.array([0.4, -1.0]), 0.9)),
    Example("second branch", branches, (np.array([-0.4, 0.2]), 0.1)),
    Example("last branch", branches, (np.array([0.4, 0.2]), -0.9)),
    Example("long loop", long_loop, (RNG.normal(size=(20, 3)), RNG.normal(size=3))),
    Example("newton", newton, (3.0, 1.0)),
    Example("writes", writes, (RNG.normal(size=3), RNG.normal(size=3)[0])),
    Example("structured", structured, (PARAMS, RNG.normal(size=(2, 3)))),
)
