"""Steps through time, as scans."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def lorenz(z: Any, p: Any) -> Any:
    x, y, w = z
    return jnp.stack([p[0] * (y - x), x * (p[1] - w) - y, x * y - p[2] * w])


def _step(z: Any, p: Any, dt: Any) -> Any:
    k1 = lorenz(z, p)
    k2 = lorenz(z + 0.5 * dt * k1, p)
    k3 = lorenz(z + 0.5 * dt * k2, p)
    k4 = lorenz(z + dt * k3, p)
    return z + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def rk4_append(z0: Any, p: Any, dt: Any, steps: int) -> Any:
    def step(z: Any, _: None) -> Any:
        new = _step(z, p, dt)
        return new, new

    return jnp.concatenate([z0[None], jax.lax.scan(step, z0, None, steps)[1]])


def rk4_carried(z: Any, p: Any, dt: Any, steps: int) -> Any:
    return jax.lax.fori_loop(0, steps, lambda _, z: _step(z, p, dt), z)


def adams_bashforth(y0: Any, a: Any, dt: Any, steps: int) -> Any:
    def step(_: Any, last: Any) -> Any:
        y, before = last
        slope = jnp.tanh(a @ y)
        return y + dt * (1.5 * slope - 0.5 * before), slope

    first = jnp.tanh(a @ y0)
    return jax.lax.fori_loop(0, steps, step, (y0 + dt * first, first))[0]


def euler_table(y0: Any, rates: Any, dt: Any, steps: int) -> Any:
    def step(y: Any, _: None) -> Any:
        flow = rates * y[:, None] * y[None, :]
        new = y + dt * (jnp.sum(flow, axis=0) - jnp.sum(flow, axis=1))
        return new, new

    return jnp.concatenate([y0[None], jax.lax.scan(step, y0, None, steps)[1]])
