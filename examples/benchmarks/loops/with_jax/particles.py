"""Bodies and particles; what is added up at the same place is added by `at`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

SOFTENING = 0.01


def n_body(position: Any, velocity: Any, mass: Any, dt: Any, steps: int) -> Any:
    def step(_: Any, state: Any) -> Any:
        position, velocity = state
        d = position[None, :, :] - position[:, None, :]
        inverse = (jnp.sum(d * d, axis=2) + SOFTENING) ** -1.5
        velocity = velocity + dt * jnp.sum(d * (inverse * mass)[:, :, None], axis=1)
        return position + dt * velocity, velocity

    return jax.lax.fori_loop(0, steps, step, (position, velocity))[0]


def _pairs(position: Any) -> Any:
    d = position[:, None, :] - position[None, :, :]
    return d, jnp.sum(d * d, axis=2) + SOFTENING


def pair_energy(position: Any, charge: Any) -> Any:
    _, r2 = _pairs(position)
    return jnp.sum(jnp.triu(jnp.outer(charge, charge) / jnp.sqrt(r2), 1))


def pair_forces(position: Any, charge: Any) -> Any:
    d, r2 = _pairs(position)
    return jnp.sum((jnp.outer(charge, charge) * r2**-1.5)[:, :, None] * d, axis=1)


def deposit(x: Any, weight: Any, cells: Any, grid: int) -> Any:
    right = x - cells
    density = jnp.zeros(grid).at[cells].add(weight * (1.0 - right))
    return density.at[cells + 1].add(weight * right)


def push(x: Any, v: Any, field: Any, cells: Any, dt: Any) -> Any:
    right = x - cells
    new = v + dt * (field[cells] * (1.0 - right) + field[cells + 1] * right)
    new = jnp.where(new > 1.0, 2.0 - new, new)
    return 0.5 * new * new


def neighbours(position: Any, lists: Any) -> Any:
    d = position[lists] - position[:, None, :]
    s = 1.0 / jnp.sum(d * d, axis=2) ** 3
    return 2.0 * jnp.sum(s * s - s)
