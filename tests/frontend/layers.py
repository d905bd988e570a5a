"""Helpers in a module of their own, for programs that import them."""

from __future__ import annotations

import numpy as np

SCALE = 2.0


def dense(x, params, activation=np.tanh):
    """One layer."""
    return activation(x @ params["W"] + params["b"]) * SCALE


def fails(x):
    return x @ np.ones((7, 7))
