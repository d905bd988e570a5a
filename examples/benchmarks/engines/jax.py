"""JAX: one compiled function for loss, gradient and update, which gives up its old parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..inputs import Array, Inputs
from .base import Evaluator, Trainer, model_of, read_value_and_gradient

Params = dict[str, Any]


def cross_entropy(scores: Any, y: Any) -> Any:
    chosen = jnp.take_along_axis(scores, y[:, None], axis=1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(scores, axis=1) - chosen)


def rnn(params: Params, x: Any, y: Any, steps: int) -> Any:
    """A few steps, unrolled."""
    h = jnp.zeros((x.shape[0], params["Wh"].shape[0]), x.dtype)
    for x_t in jnp.split(x, steps, axis=1):
        h = jnp.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])
    return cross_entropy(h @ params["Wo"] + params["bo"], y)


def pixel_rnn(params: Params, x: Any, y: Any, steps: int) -> Any:
    """Many steps, as a scan."""

    def cell(h: Any, x_t: Any) -> tuple[Any, None]:
        return jnp.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"]), None

    first = jnp.zeros((x.shape[0], params["Wh"].shape[0]), x.dtype)
    parts = x.reshape(x.shape[0], steps, -1).swapaxes(0, 1)
    h, _ = jax.lax.scan(cell, first, parts)
    return cross_entropy(h @ params["Wo"] + params["bo"], y)


def autoencoder(params: Params, x: Any) -> Any:
    h = jax.nn.sigmoid(params["W1"] @ x + params["b1"])
    code = jax.nn.sigmoid(params["W2"] @ h + params["b2"])
    return jnp.sum((x - jax.nn.sigmoid(params["W3"] @ code)) ** 2)


def convolved(x: Any, kernel: Any, bias: Any, stride: int = 1, padding: int = 0) -> Any:
    margins = [(padding, padding)] * 2
    result = jax.lax.conv_general_dilated(x, kernel, (stride, stride), margins)
    return jax.nn.relu(result + bias[:, None, None])


def pooled(x: Any) -> Any:
    window = (1, 1, 2, 2)
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, window, "VALID")


def cnn(params: Params, x: Any, y: Any) -> Any:
    a = pooled(convolved(x, params["k1"], params["b1"]))
    a = pooled(convolved(a, params["k2"], params["b2"]))
    h = jax.nn.relu(a.reshape(a.shape[0], -1) @ params["W3"] + params["b3"])
    return cross_entropy(h @ params["W4"] + params["b4"], y)


def convnet(params: Params, x: Any, y: Any) -> Any:
    a = convolved(x, params["k1"], params["b1"], stride=2)
    a = pooled(convolved(a, params["k2"], params["b2"], padding=1))
    a = convolved(a, params["k3"], params["b3"])
    return cross_entropy(a.reshape(a.shape[0], -1) @ params["W4"] + params["b4"], y)


def worked_example(x1: Any, x2: Any) -> Any:
    return jnp.log(x1) + x1 * x2 - jnp.sin(x2)


def gaussian_mixture(
    alphas: Any,
    means: Any,
    factors: Any,
    x: Any,
    positions: Any,
    gamma: float,
    m: int,
    constant: float,
) -> Any:
    n, d = x.shape
    logs, lower = factors[:, :d], factors[:, d:]
    diagonal = jnp.exp(logs)
    roots = (jnp.concatenate((diagonal, lower), axis=1) @ positions).reshape(-1, d, d)
    scaled = (x - means[:, None, :]) @ roots.transpose(0, 2, 1)
    weights = alphas + jnp.sum(logs, axis=1)
    terms = weights[:, None] - 0.5 * jnp.sum(scaled**2, axis=2)
    prior = 0.5 * gamma**2 * (jnp.sum(diagonal**2) + jnp.sum(lower**2)) - m * jnp.sum(logs)
    likelihoods = jax.nn.logsumexp(terms, axis=0)
    return constant + jnp.sum(likelihoods) - n * jax.nn.logsumexp(alphas) + prior


LOSSES: dict[str, Callable[..., Any]] = {
    "rnn": rnn,
    "pixel_rnn": pixel_rnn,
    "cnn": cnn,
    "convnet": convnet,
    "autoencoder": autoencoder,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "worked_example": worked_example,
    "gaussian_mixture": gaussian_mixture,
}


class Jax:
    """JAX on the processor, its results awaited in every call."""

    allocates_in_python = False

    def trainer(self, work: str, inputs: Inputs) -> Trainer:
        loss = model_of(LOSSES, work)
        rate = inputs.learning_rate
        statics = tuple(inputs.numbers.values())
        params: Params = {name: jnp.asarray(p) for name, p in inputs.copied_params().items()}

        def descend(params: Params, *batch: Any) -> tuple[Any, Params]:
            value, gradient = jax.value_and_grad(loss)(params, *batch, *statics)
            return value, jax.tree.map(lambda p, d_p: p - rate * d_p, params, gradient)

        compiled = jax.jit(descend, donate_argnums=0)

        def step(*batch: Any) -> float:
            nonlocal params
            value, params = compiled(params, *batch)
            return float(value)

        def convert(batch: Sequence[Array]) -> Sequence[Any]:
            return [jnp.asarray(array) for array in batch]

        return Trainer(step, lambda: [params[name] for name in inputs.params], convert)

    def evaluator(self, work: str, inputs: Inputs) -> Evaluator:
        function = model_of(FUNCTIONS, work)
        wrt = tuple(range(len(inputs.params)))
        data = [jnp.asarray(array) for array in inputs.data.values()]
        constants = (*data, *inputs.numbers.values())
        point = [jnp.asarray(p) for p in inputs.point()]
        gradient = jax.jit(jax.value_and_grad(lambda *p: function(*p, *constants), wrt))
        return Evaluator(lambda: jax.block_until_ready(gradient(*point)), read_value_and_gradient)


def engine(variant: str, threads: int) -> Jax:
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    return Jax()
