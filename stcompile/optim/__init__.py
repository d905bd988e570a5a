"""Optimisers: formulas in plain NumPy, fused into training steps."""

from stcompile.optim.optimisers import SGD, Adam, AdamW, Momentum, Nesterov, Optimizer, RMSprop

__all__ = ["SGD", "Adam", "AdamW", "Momentum", "Nesterov", "Optimizer", "RMSprop"]


def __dir__() -> list[str]:
    return sorted(__all__)
