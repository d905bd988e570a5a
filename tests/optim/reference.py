"""The optimisers as the papers and PyTorch's documentation write them: one step of each, for one
parameter, in plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

State = dict[str, Any]
Rule = Callable[[Any, Any, State], Any]


def sgd(lr: float) -> Rule:
    return lambda p, g, state: p - lr * g


def momentum(lr: float, mu: float) -> Rule:
    """Polyak (1964), with the learning rate in the velocity: u = mu u - lr g; p = p + u."""

    def step(p: Any, g: Any, state: State) -> Any:
        state["u"] = mu * state.get("u", 0) - lr * g
        return p + state["u"]

    return step


def nesterov(lr: float, mu: float) -> Rule:
    """Sutskever et al. (2013), equations 3 and 4, seen from the point y = p + mu u where the
    gradient is taken: y' = y + mu (mu u - lr g) - lr g."""

    def step(y: Any, g: Any, state: State) -> Any:
        u = state.get("u", 0)
        state["u"] = mu * u - lr * g
        return y - mu * u + state["u"] + mu * state["u"]

    return step


def rmsprop(lr: float, alpha: float, eps: float) -> Rule:
    def step(p: Any, g: Any, state: State) -> Any:
        state["s"] = alpha * state.get("s", 0) + (1 - alpha) * g**2
        return p - lr * g / (np.sqrt(state["s"]) + eps)

    return step


def adam(lr: float, beta1: float, beta2: float, eps: float) -> Rule:
    """Kingma & Ba (2015), algorithm 1."""

    def step(p: Any, g: Any, state: State) -> Any:
        state["t"] = t = state.get("t", 0) + 1
        state["m"] = beta1 * state.get("m", 0) + (1 - beta1) * g
        state["v"] = beta2 * state.get("v", 0) + (1 - beta2) * g**2
        m_hat = state["m"] / (1 - beta1**t)
        v_hat = state["v"] / (1 - beta2**t)
        return p - lr * m_hat / (np.sqrt(v_hat) + eps)

    return step


def adamw(lr: float, beta1: float, beta2: float, eps: float, decay: float) -> Rule:
    """Loshchilov & Hutter (2019), algorithm 2, with eta = lr and alpha = 1: the decay is taken of
    the old parameter."""
    inner = adam(lr, beta1, beta2, eps)
    return lambda p, g, state: inner(p, g, state) - lr * decay * p


def with_decay(rule: Rule, decay: float) -> Rule:
    return lambda p, g, state: rule(p, g + decay * p, state)


def clipped(grads: list[Any], clip_value: float | None, clip_norm: float | None) -> list[Any]:
    if clip_value is not None:
        grads = [np.clip(g, -clip_value, clip_value) for g in grads]
    if clip_norm is not None:
        norm = np.sqrt(sum(np.sum(g**2) for g in grads))
        grads = [g * min(1, clip_norm / norm) for g in grads]
    return grads
