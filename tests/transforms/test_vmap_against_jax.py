"""Derivatives of second and third order in batches, and sparse Hessians, against JAX's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

jax = pytest.importorskip("jax")
jnp = jax.numpy
RNG = np.random.default_rng(2)
X, W, V = RNG.normal(size=(5, 4)), RNG.normal(size=(6, 4)) / 2, RNG.normal(size=6)


def network(x: Any, w: Any) -> Any:
    return np.sum(V * np.tanh(w @ np.sin(x)))


def in_jax(x: Any, w: Any) -> Any:
    return jnp.sum(V * jnp.tanh(w @ jnp.sin(x)))


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, np.asarray(expected), rtol=1e-11, atol=1e-13)


def test_second_and_third_derivatives_of_items() -> None:
    def third(x: Any) -> Any:
        return np.sum(st.hessian(network)(x, W))

    def jax_third(x: Any) -> Any:
        return jnp.sum(jax.hessian(in_jax)(x, W))

    with jax.enable_x64(True):
        hessians = jax.jit(jax.vmap(jax.hessian(in_jax), (0, None)))(X, W)
        mixed = jax.jit(jax.vmap(jax.jacobian(jax.grad(in_jax), 1), (0, None)))(X, W)
        thirds = jax.jit(jax.vmap(jax.grad(jax_third)))(X)
    close(st.vmap(st.hessian(network), (0, None))(X, W), hessians)
    close(st.vmap(st.jacobian(st.grad(network), 1), (0, None))(X, W), mixed)
    close(st.vmap(st.grad(third))(X), thirds)


def test_hessians_of_batches() -> None:
    def total(w: Any) -> Any:
        return np.sum(st.vmap(network, (0, None))(X, w) ** 2)

    def jax_total(w: Any) -> Any:
        return jnp.sum(jax.vmap(in_jax, (0, None))(X, w) ** 2)

    with jax.enable_x64(True):
        expected = jax.jit(jax.hessian(jax_total))(W)
    close(st.hessian(total)(W), expected)


def test_sparse_hessians() -> None:
    def energy(x: Any) -> Any:
        return np.sum(np.exp(x[1:] * x[:-1]) + x[1:] ** 3)

    def jax_energy(x: Any) -> Any:
        return jnp.sum(jnp.exp(x[1:] * x[:-1]) + x[1:] ** 3)

    pytest.importorskip("scipy")
    with jax.enable_x64(True):
        expected = jax.jit(jax.hessian(jax_energy))(X.ravel())
    close(st.sparse_hessian(energy)(X.ravel()).toarray(), expected)
