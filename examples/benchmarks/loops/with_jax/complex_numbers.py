"""Complex systems and products, all frequencies at once."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def frequency_response(m: Any, c: Any, k: Any, force: Any, omegas: Any) -> Any:
    def one(w: Any) -> Any:
        x = jnp.linalg.solve(k + 1j * w * c - w * w * m, force + 0j)
        return jnp.sum(jnp.abs(x) ** 2)

    return jax.vmap(one)(omegas)


def contour_integral(blocks: Any, right: Any, points: Any, weights: Any) -> Any:
    powers = points[:, None] ** jnp.arange(blocks.shape[0])
    t = jnp.tensordot(powers, blocks + 0j, 1)
    x = jax.vmap(lambda t: jnp.linalg.solve(t, right + 0j))(t)
    p0 = jnp.tensordot(weights, x, 1)
    p1 = jnp.tensordot(weights * points, x, 1)
    return jnp.abs(p0) + jnp.abs(p1)


def transmission(thickness: Any, index: Any, wavelengths: Any) -> Any:
    def one(wavelength: Any) -> Any:
        def layer(m: Any, values: Any) -> Any:
            d, n = values
            phase = 2.0 * jnp.pi * n * d / wavelength
            c, s = jnp.cos(phase) + 0j, 1j * jnp.sin(phase)
            return m @ jnp.stack([jnp.stack([c, s / n]), jnp.stack([n * s, c])]), None

        m, _ = jax.lax.scan(layer, jnp.eye(2) + 0j, (thickness, index))
        return jnp.abs(2.0 / jnp.sum(m)) ** 2

    return jax.vmap(one)(wavelengths)
