"""Factorisations and systems: JAX has no slices that grow, so whole rows and masks."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def cholesky(a: Any) -> Any:
    n = a.shape[0]
    rows = jnp.arange(n)

    def column(j: Any, l: Any) -> Any:
        left = a[:, j] - l @ l[j]
        return l.at[:, j].set(jnp.where(rows >= j, left / jnp.sqrt(left[j]), 0.0))

    return jax.lax.fori_loop(0, n, column, jnp.zeros_like(a))


def lu(a: Any) -> Any:
    n = a.shape[0]
    rows = jnp.arange(n)

    def column(k: Any, a: Any) -> Any:
        below = jnp.where(rows > k, a[:, k] / a[k, k], 0.0)
        right = jnp.where(rows > k, a[k], 0.0)
        return a.at[:, k].set(jnp.where(rows > k, below, a[:, k])) - jnp.outer(below, right)

    return jax.lax.fori_loop(0, n - 1, column, a)


lu_rows = lu


def forward_substitution(lower: Any, b: Any) -> Any:
    def row(i: Any, x: Any) -> Any:
        return x.at[i].set((b[i] - lower[i] @ x) / lower[i, i])

    return jax.lax.fori_loop(0, b.shape[0], row, jnp.zeros_like(b))


def back_substitution(upper: Any, b: Any) -> Any:
    n = b.shape[0]

    def row(k: Any, x: Any) -> Any:
        i = n - 1 - k
        return x.at[i].set((b[i] - upper[i] @ x) / upper[i, i])

    return jax.lax.fori_loop(0, n, row, jnp.zeros_like(b))


def levinson_durbin(r: Any) -> Any:
    n = r.shape[0]
    places = jnp.arange(n)

    def step(k: Any, state: Any) -> Any:
        y, beta, alpha = state
        beta = beta * (1.0 - alpha * alpha)
        back = jnp.where(places < k, k - 1 - places, 0)
        known = places < k
        alpha = -(r[k] + jnp.sum(jnp.where(known, r[back] * y, 0.0))) / beta
        y = y + jnp.where(known, alpha * y[back], 0.0)
        return y.at[k].set(alpha), beta, alpha

    first = jnp.zeros_like(r).at[0].set(-r[0])
    return jax.lax.fori_loop(1, n, step, (first, jnp.ones_like(r[0]), -r[0]))[0]


def gram_schmidt(a: Any) -> Any:
    columns = jnp.arange(a.shape[1])

    def column(k: Any, state: Any) -> Any:
        a, q = state
        unit = a[:, k] / jnp.sqrt(a[:, k] @ a[:, k])
        shares = jnp.where(columns > k, unit @ a, 0.0)
        return a - jnp.outer(unit, shares), q.at[:, k].set(unit)

    return jax.lax.fori_loop(0, a.shape[1], column, (a, jnp.zeros_like(a)))[1]


def thomas(lower: Any, diagonal: Any, upper: Any, b: Any) -> Any:
    def eliminate(state: Any, row: Any) -> Any:
        c, d = state
        lower, diagonal, upper, b = row
        pivot = diagonal - lower * c
        new = upper / pivot, (b - lower * d) / pivot
        return new, new

    zeros = jnp.zeros_like(b[0])
    _, (c, d) = jax.lax.scan(eliminate, (zeros, zeros), (lower, diagonal, upper, b))

    def substitute(x: Any, row: Any) -> Any:
        c, d = row
        new = d - c * x
        return new, new

    return jax.lax.scan(substitute, zeros, (c, d), reverse=True)[1]
