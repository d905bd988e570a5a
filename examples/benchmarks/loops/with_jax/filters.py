"""Recursions, as scans."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def biquad(x: Any, b: Any, a: Any) -> Any:
    driven = b[0] * x[2:] + b[1] * x[1:-1] + b[2] * x[:-2]

    def step(last: Any, value: Any) -> Any:
        y = value - a[0] * last[0] - a[1] * last[1]
        return (y, last[0]), y

    zero = jnp.zeros_like(x[0])
    return jnp.concatenate([jnp.zeros(2), jax.lax.scan(step, (zero, zero), driven)[1]])


def all_pole(x: Any, a: Any) -> Any:
    def step(last: Any, value: Any) -> Any:
        y = value - a @ last
        return jnp.append(last[1:], y), y

    return jax.lax.scan(step, jnp.zeros_like(a), x)[1]


def garch(returns: Any, omega: Any, alpha: Any, beta: Any) -> Any:
    def step(variance: Any, r: Any) -> Any:
        term = jnp.log(variance) + r**2 / variance
        return omega + alpha * r**2 + beta * variance, term

    return 0.5 * jnp.sum(jax.lax.scan(step, jnp.mean(returns * returns), returns)[1])


def smoothed(x: Any, up: Any, down: Any) -> Any:
    def step(last: Any, value: Any) -> Any:
        new = last + jnp.where(value > last, up, down) * (value - last)
        return new, new

    return jax.lax.scan(step, jnp.zeros_like(x[0]), x)[1]


def windowed(x: Any, width: int) -> Any:
    sums = jnp.concatenate([jnp.zeros(1), jnp.cumsum(x)])
    t = jnp.arange(1, x.shape[0])
    first = jnp.maximum(0, t - width)
    means = (sums[t] - sums[first]) / (t - first)
    return jnp.concatenate([jnp.zeros(1), x[1:] - means * x[:-1]])


def kalman(z: Any, f: Any, h: Any, q: Any, r: Any) -> Any:
    n = f.shape[0]

    def step(state: Any, seen: Any) -> Any:
        x, p = state
        x = f @ x
        p = f @ p @ f.T + q
        s = h @ p @ h.T + r
        e = seen - h @ x
        term = jnp.log(jnp.linalg.det(s)) + e @ jnp.linalg.solve(s, e)
        k = p @ h.T @ jnp.linalg.inv(s)
        return (x + k @ e, p - k @ h @ p), term

    return 0.5 * jnp.sum(jax.lax.scan(step, (jnp.zeros(n), jnp.eye(n)), z)[1])
