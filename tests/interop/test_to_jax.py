"""Functions of JAX's arrays: JAX's transforms of them are those of the same function in JAX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import LanguageError
from tests.interop import models

jax = pytest.importorskip("jax", reason="jax is not installed")
jnp = jax.numpy
to_jax = st.interop.to_jax

BATCH = np.random.default_rng(0).normal(size=(5, 4, 2))


@pytest.fixture
def wide(request: pytest.FixtureRequest) -> Iterator[bool]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", request.param)
    yield request.param
    jax.config.update("jax_enable_x64", before)


def own(params: Any, x: Any, steps: int, scale: float = 1.0) -> Any:
    """The layer in JAX."""
    h = jnp.tanh(x @ params["W"] + params["b"])
    for _ in range(steps):
        h = jnp.sin(h) * scale
    outputs = {"y": h * h, "k": jnp.sum(h, axis=0), "steps": steps, "best": jnp.argmax(h, axis=1)}
    return outputs, jnp.sum(h)


def loss_of(layer: Any) -> Any:
    """A number that depends on two of the outputs."""

    def loss(params: Any, x: Any) -> Any:
        outputs, total = layer(params, x, 1)
        return jnp.sum(outputs["y"]) + total**2

    return loss


LAYER = to_jax(models.layer)
PAIRS = (LAYER, loss_of(LAYER)), (own, loss_of(own))
ONLY = lambda tree: {"W": models.W, "b": tree}  # noqa: E731
FIRST = {
    "call": lambda f, loss, p, x, xs: f(p, x, 1),
    "jit": lambda f, loss, p, x, xs: jax.jit(loss)(p, x),
    "grad": lambda f, loss, p, x, xs: jax.grad(loss, (0, 1))(p, x),
    "jit of grad": lambda f, loss, p, x, xs: jax.jit(jax.grad(loss))(p, x),
    "jvp": lambda f, loss, p, x, xs: jax.jvp(lambda x: loss(p, x), (x,), (x,)),
    "jvp of integers": lambda f, loss, p, x, xs: jax.jvp(
        lambda x: f(p, x, 1)[0]["best"] * 2.0, (x,), (x,)
    ),
    "vjp": lambda f, loss, p, x, xs: jax.vjp(lambda x: f(p, x, 1)[0]["k"], x)[1](p["b"]),
    "linearize": lambda f, loss, p, x, xs: jax.linearize(lambda x: loss(p, x), x)[1](x),
    "vmap": lambda f, loss, p, x, xs: jax.vmap(loss, (None, 0))(p, xs),
    "vmap of outputs": lambda f, loss, p, x, xs: jax.vmap(lambda x: f(p, x, 1), 1)(
        jnp.swapaxes(xs, 0, 1)
    )[0]["best"],
    "vmap of grad": lambda f, loss, p, x, xs: jax.vmap(jax.grad(loss), (None, 0))(p, xs),
    "jit of vmap of grad": lambda f, loss, p, x, xs: jax.jit(jax.vmap(jax.grad(loss), (None, 0)))(
        p, xs
    ),
    "scan": lambda f, loss, p, x, xs: jax.grad(
        lambda b: jax.lax.scan(lambda c, x: (c + f(ONLY(c), x, 1)[0]["k"], 0), b, xs)[0].sum()
    )(p["b"]),
    "checkpoint": lambda f, loss, p, x, xs: jax.grad(jax.checkpoint(loss))(p, x),
}
SECOND = {
    "hessian": lambda f, loss, p, x, xs: jax.hessian(loss, 1)(p, x),
    "jit of hessian": lambda f, loss, p, x, xs: jax.jit(jax.hessian(loss))(p, x),
    "reverse over reverse": lambda f, loss, p, x, xs: jax.jacrev(jax.jacrev(loss, 1), 1)(p, x),
    "forward over forward": lambda f, loss, p, x, xs: jax.jacfwd(jax.jacfwd(loss, 1), 1)(p, x),
    "reverse over forward": lambda f, loss, p, x, xs: jax.jacrev(jax.jacfwd(loss, 1), 1)(p, x),
    "vmap of hessian": lambda f, loss, p, x, xs: jax.vmap(jax.hessian(loss, 1), (None, 0))(p, xs),
    "grad of vmap": lambda f, loss, p, x, xs: jax.grad(
        lambda p: jax.vmap(loss, (None, 0))(p, xs).sum()
    )(p),
    "grad of vmap of jvp": lambda f, loss, p, x, xs: jax.grad(
        lambda x: jax.vmap(lambda t: jax.jvp(lambda x: loss(p, x), (x,), (t,))[1])(xs).sum()
    )(x),
    "third order": lambda f, loss, p, x, xs: jax.grad(
        lambda b: jax.hessian(lambda b: loss(ONLY(b), x))(b).sum()
    )(p["b"]),
}


def compare(transform: Any, wide: bool) -> None:
    dtype = jnp.float64 if wide else jnp.float32
    given = jax.tree.map(lambda x: jnp.asarray(x, dtype), (models.PARAMS, models.X, BATCH))
    found, expected = (transform(*pair, *given) for pair in PAIRS)
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    rtol = 1e-9 if wide else 2e-4
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        assert np.allclose(one, other, rtol, 0.1 * rtol)


@pytest.mark.parametrize("name", ["call", "grad", "jit of vmap of grad"])
@pytest.mark.parametrize("wide", [False], indirect=True)
def test_single_precision(name: str, wide: bool) -> None:
    compare(FIRST[name], wide)


@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize("wide", [True], indirect=True)
def test_first_order(name: str, wide: bool) -> None:
    compare(FIRST[name], wide)


SLOW = ("vmap of hessian", "forward over forward", "grad of vmap of jvp", "third order")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in SECOND]
)
@pytest.mark.parametrize("wide", [True], indirect=True)
def test_second_order(name: str, wide: bool) -> None:
    compare(SECOND[name], wide)


@pytest.mark.parametrize("wide", [True], indirect=True)
def test_control_flow_and_writes(wide: bool) -> None:
    x = np.array([0.5, -0.3, 1.2])
    function = to_jax(models.branches)
    found = jax.jit(jax.value_and_grad(lambda x: function(x, 0.7)[0]))(x)
    expected = st.value_and_grad(lambda x: models.branches(x, 0.7)[0])(x.copy())
    assert all(map(np.allclose, found, expected)) and x[0] == 0.5


@pytest.mark.parametrize("wide", [True], indirect=True)
def test_complex_numbers(wide: bool) -> None:
    z = jnp.asarray([0.5 + 1j, -1.0 + 0.3j])
    found = jax.grad(lambda z: to_jax(lambda z: np.sum(np.abs(z) ** 2 * np.real(z)))(z))(z)
    expected = jax.grad(lambda z: jnp.sum(jnp.abs(z) ** 2 * jnp.real(z)))(z)
    assert np.allclose(found, expected)


def test_static_numbers_are_told_apart() -> None:
    power = to_jax(lambda x, n: x**n)
    assert [float(power(jnp.float32(2.0), n)) for n in (1, 2, 3)] == [2.0, 4.0, 8.0]
    scaled = to_jax(lambda x, s: x * s)
    assert [float(scaled(jnp.float32(2.0), s)) for s in (0.5, 1.5)] == [1.0, 3.0]


def test_lengths_that_data_decide_are_refused() -> None:
    with pytest.raises(LanguageError, match="depends on the data"):
        to_jax(lambda x: x[x > 0])(jnp.ones(3))
