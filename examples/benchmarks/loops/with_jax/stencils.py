"""Stencils, as `jax.lax` has loops."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def jacobi(u: Any, f: Any, sweeps: int) -> Any:
    def sweep(_: int, u: Any) -> Any:
        neighbours = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return u.at[1:-1, 1:-1].set(0.25 * (neighbours + f[1:-1, 1:-1]))

    return jax.lax.fori_loop(0, sweeps, sweep, u)


def gauss_seidel(u: Any, f: Any, sweeps: int) -> Any:
    n, m = u.shape

    def point(i: Any, j: Any, u: Any) -> Any:
        around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
        return u.at[i, j].set(0.25 * (around + f[i, j]))

    def row(i: Any, u: Any) -> Any:
        return jax.lax.fori_loop(1, m - 1, lambda j, u: point(i, j, u), u)

    def sweep(_: Any, u: Any) -> Any:
        return jax.lax.fori_loop(1, n - 1, row, u)

    return jax.lax.fori_loop(0, sweeps, sweep, u)


def gauss_seidel_rows(u: Any, sweeps: int) -> Any:
    n = u.shape[0]

    def row(i: Any, u: Any) -> Any:
        above, here, below = u[i - 1], u[i], u[i + 1]
        total = here[1:-1] + here[2:] + above[:-2] + above[1:-1] + above[2:]
        total = total + below[:-2] + below[1:-1] + below[2:]

        def along(last: Any, value: Any) -> Any:
            new = (value + last) / 9.0
            return new, new

        _, new = jax.lax.scan(along, here[0], total)
        return u.at[i, 1:-1].set(new)

    def sweep(_: Any, u: Any) -> Any:
        return jax.lax.fori_loop(1, n - 1, row, u)

    return jax.lax.fori_loop(0, sweeps, sweep, u)


def red_black(u: Any, f: Any, omega: Any, sweeps: int) -> Any:
    i, j = jnp.indices(u.shape)
    inside = (i > 0) & (i < u.shape[0] - 1) & (j > 0) & (j < u.shape[1] - 1)

    def sweep(_: Any, u: Any) -> Any:
        for colour in (0, 1):
            around = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1)
            new = (1 - omega) * u + omega * 0.25 * (around + f)
            u = jnp.where(inside & ((i + j) % 2 == colour), new, u)
        return u

    return jax.lax.fori_loop(0, sweeps, sweep, u)


def heat_3d(u: Any, steps: int) -> Any:
    def half(x: Any) -> Any:
        middle = x[1:-1, 1:-1, 1:-1]
        new = 0.125 * (x[2:, 1:-1, 1:-1] - 2.0 * middle + x[:-2, 1:-1, 1:-1])
        new = new + 0.125 * (x[1:-1, 2:, 1:-1] - 2.0 * middle + x[1:-1, :-2, 1:-1])
        new = new + 0.125 * (x[1:-1, 1:-1, 2:] - 2.0 * middle + x[1:-1, 1:-1, :-2])
        return x.at[1:-1, 1:-1, 1:-1].set(new + middle)

    return jax.lax.fori_loop(0, steps, lambda _, u: half(half(u)), u)


def fdtd(ex: Any, ey: Any, hz: Any, pulse: Any) -> Any:
    def step(fields: Any, value: Any) -> Any:
        ex, ey, hz = fields
        ey = ey.at[0, :].set(value)
        ey = ey.at[1:, :].add(-0.5 * (hz[1:, :] - hz[:-1, :]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        curl = ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]
        return (ex, ey, hz.at[:-1, :-1].add(-0.7 * curl)), None

    (_, _, hz), _ = jax.lax.scan(step, (ex, ey, hz), pulse)
    return hz


def horizontal_diffusion(field: Any, strength: Any) -> Any:
    around = field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2]
    lap = 4.0 * field[1:-1, 1:-1] - around
    flx = lap[1:, 1:-1] - lap[:-1, 1:-1]
    flx = jnp.where(flx * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0, 0.0, flx)
    fly = lap[1:-1, 1:] - lap[1:-1, :-1]
    fly = jnp.where(fly * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0, 0.0, fly)
    change = flx[1:] - flx[:-1] + fly[:, 1:] - fly[:, :-1]
    return field[2:-2, 2:-2] - strength * change
