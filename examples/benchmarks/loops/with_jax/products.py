"""Products of half matrices, as products of whole ones and masks."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp


def _lower(whole: Any, c: Any, beta: Any) -> Any:
    return jnp.where(jnp.tri(c.shape[0], dtype=bool), beta * c + whole, c)


def syrk(alpha: Any, beta: Any, c: Any, a: Any) -> Any:
    return _lower(alpha * a @ a.T, c, beta)


def syr2k(alpha: Any, beta: Any, c: Any, a: Any, b: Any) -> Any:
    return _lower(alpha * (a @ b.T + b @ a.T), c, beta)


def trmm(alpha: Any, a: Any, b: Any) -> Any:
    return alpha * (b + jnp.tril(a, -1).T @ b)


def symm(alpha: Any, beta: Any, c: Any, a: Any, b: Any) -> Any:
    return beta * c + alpha * (jnp.tril(a) + jnp.tril(a, -1).T) @ b


def covariance(data: Any) -> Any:
    data = data - jnp.mean(data, axis=0)
    return data.T @ data / (data.shape[0] - 1.0)
