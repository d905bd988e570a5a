"""Tables, as scans over rows and along them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def soft_dtw(costs: Any, gamma: Any) -> Any:
    far = jnp.full(costs.shape[1] + 1, 1e6)

    def row(last: Any, here: Any) -> Any:
        def cell(left: Any, three: Any) -> Any:
            cost, corner, above = three
            values = jnp.stack([corner, above, left])
            new = cost - gamma * jax.nn.logsumexp(-values / gamma)
            return new, new

        new = jax.lax.scan(cell, far[0], (here, last[:-1], last[1:]))[1]
        return jnp.concatenate([far[:1], new]), None

    return jax.lax.scan(row, far.at[0].set(0.0), costs)[0][-1]


def alignment(scores: Any, gap: Any) -> Any:
    m = scores.shape[1]

    def row(state: Any, here: Any) -> Any:
        last, first = state
        first = first - gap

        def cell(left: Any, three: Any) -> Any:
            score, corner, above = three
            new = jnp.maximum(jnp.maximum(corner + score, above - gap), left - gap)
            return new, new

        new = jax.lax.scan(cell, first, (here, last[:-1], last[1:]))[1]
        return (jnp.concatenate([first[None], new]), first), None

    start = -gap * jnp.arange(m + 1.0)
    return jax.lax.scan(row, (start, start[0]), scores)[0][0][-1]


def forward_algorithm(start: Any, transitions: Any, emissions: Any, seen: Any) -> Any:
    def step(alpha: Any, symbol: Any) -> Any:
        terms = alpha[:, None] + transitions
        return jax.nn.logsumexp(terms, axis=0) + emissions[:, symbol], None

    return jax.nn.logsumexp(jax.lax.scan(step, start + emissions[:, seen[0]], seen[1:])[0])


def viterbi(start: Any, transitions: Any, emissions: Any, seen: Any) -> Any:
    def step(delta: Any, symbol: Any) -> Any:
        return jnp.max(delta[:, None] + transitions, axis=0) + emissions[:, symbol], None

    return jnp.max(jax.lax.scan(step, start + emissions[:, seen[0]], seen[1:])[0])


def inside(scores: Any) -> Any:
    n = scores.shape[0]
    i, k = jnp.arange(n)[:, None], jnp.arange(n)[None, :]

    def span(length: Any, table: Any) -> Any:
        j = jnp.minimum(i + length, n - 1)
        real = (k >= i) & (k < j)
        below = table[jnp.minimum(k + 1, n - 1), j]
        terms = jnp.where(real, table + below, -1e30)
        rows = jnp.arange(n)
        new = scores[rows, j[:, 0]] + jax.nn.logsumexp(terms, axis=1)
        old = table[rows, j[:, 0]]
        return table.at[rows, j[:, 0]].set(jnp.where(rows + length < n, new, old))

    return jax.lax.fori_loop(1, n, span, jnp.diag(jnp.diag(scores)))[0, n - 1]
