"""Functions that generated programs may call."""

from __future__ import annotations

import contextlib
import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np


def mix(a, b, weight=0.25):
    """A new array."""
    return weight * np.sin(a) + (1 - weight) * b


def push(a, b):
    """A write into the caller's array."""
    a[0] = np.tanh(a[-1])
    a += b


@dataclass
class Pair:
    """Two numbers and an array."""

    p: float
    q: float
    v: np.ndarray

    def move(self, a):
        """A change of one number or of the other."""
        if a > self.q:
            self.p, self.q = self.p * 0.9, a * 0.5
        else:
            self.p = self.p + self.v[1] * 0.3

    def moved(self, a):
        """A new pair."""
        return Pair(self.p + a * 0.1, self.q, self.v * 0.9)

    def norm(self):
        return self.p * self.p + self.q * self.q


HELPERS: dict[str, Any] = {
    **{module.__name__: module for module in (contextlib, dataclasses)},
    "np": np,
    "mix": mix,
    "push": push,
    "Pair": Pair,
}
