"""The same products."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def atax(a: Any, x: Any) -> Any:
    return (a @ x) @ a


def bicg(a: Any, p: Any, r: Any) -> Any:
    return jnp.concatenate([r @ a, a @ p])


def mvt(x1: Any, x2: Any, y1: Any, y2: Any, a: Any) -> Any:
    return jnp.concatenate([x1 + a @ y1, x2 + y2 @ a])


def gesummv(alpha: Any, beta: Any, a: Any, b: Any, x: Any) -> Any:
    return alpha * a @ x + beta * b @ x


def gemver(
    alpha: Any, beta: Any, a: Any, u1: Any, v1: Any, u2: Any, v2: Any, y: Any, z: Any
) -> Any:
    a = a + jnp.outer(u1, v1) + jnp.outer(u2, v2)
    return alpha * a @ (beta * y @ a + z)


def mlp(x: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any) -> Any:
    h = jax.nn.relu(x @ w1 + b1)
    h = jax.nn.relu(h @ w2 + b2)
    return jax.nn.softmax(h @ w3 + b3, axis=1)
