"""Optimisers in plain NumPy: their update is compiled with the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class SGD:
    """Stochastic gradient descent: ``p -= lr * g``.

    ``clip_value`` bounds every entry of the gradients to ``[-clip_value, clip_value]``;
    ``clip_norm`` scales all gradients together so that their joint Euclidean norm is at most
    ``clip_norm`` (Pascanu, Mikolov & Bengio 2013, algorithm 1). None: no clipping. The numbers may
    be changed between steps; nothing is compiled anew.
    """

    lr: float
    clip_value: float | None = None
    clip_norm: float | None = None

    def __post_init__(self) -> None:
        for name in ("lr", "clip_value", "clip_norm"):
            value = getattr(self, name)
            if value is not None:
                if not value > 0:
                    raise ValueError(f"{name} must be positive, not {value!r}")
                setattr(self, name, float(value))

    def describe(self) -> str:
        """``SGD, lr = 0.015``: for the generated code."""
        clips = {"clip_value": self.clip_value, "clip_norm": self.clip_norm}
        shown = [f"{name} = {value:g}" for name, value in clips.items() if value is not None]
        return ", ".join([f"SGD, lr = {self.lr:g}", *shown])

    def update(self, params: Any, grads: Any) -> None:
        """Change the arrays ``params`` in place by their gradients ``grads`` (two lists)."""
        if self.clip_value is not None:
            grads = [np.clip(g, -self.clip_value, self.clip_value) for g in grads]
        if self.clip_norm is not None:
            first, *others = [np.sum(g * g) for g in grads]
            norm = np.sqrt(sum(others, first))
            scale = self.clip_norm / np.maximum(norm, self.clip_norm)
            grads = [g * scale for g in grads]
        for p, g in zip(params, grads, strict=True):
            p -= self.lr * g
