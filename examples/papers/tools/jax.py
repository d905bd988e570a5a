"""JAX: loss, gradient, clipping and update as one compiled function."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from examples.benchmarks.engines.jax import autoencoder, cross_entropy, rnn

from ..networks import Array, Task
from .base import Learner

Values = dict[str, Any]


def cnn(params: Values, x: Any, y: Any, image_shape: tuple[int, int], padding: str) -> Any:
    a = x.reshape(len(x), 1, *image_shape)
    for layer in "12":
        kernel, bias = params[f"k{layer}"], params[f"b{layer}"]
        a = jax.lax.conv_general_dilated(a, kernel, (1, 1), padding.upper())
        a = jax.nn.relu(a + bias[:, None, None])
        two = (1, 1, 2, 2)
        a = jax.lax.reduce_window(a, -jnp.inf, jax.lax.max, two, two, "VALID")
    a = jax.nn.relu(a.reshape(len(x), -1) @ params["W3"] + params["b3"])
    return cross_entropy(a @ params["W4"] + params["b4"], y)


def autoencoder_of_batch(params: Values, x: Any) -> Any:
    return autoencoder({**params, "W3": params["Wd"]}, x[0])


LOSSES: dict[str, Any] = {"rnn": rnn, "cnn": cnn, "autoencoder": autoencoder_of_batch}


def learner(task: Task, threads: int) -> Learner:
    """The number of threads is that of the processors which the process may use."""
    jax.config.update("jax_platforms", "cpu")
    network, loss = task.network, LOSSES[task.network.model]
    params: Values = {name: jnp.asarray(p) for name, p in task.params.items()}

    def descend(params: Values, *batch: Any) -> tuple[Any, Values]:
        value, gradient = jax.value_and_grad(loss)(params, *batch, *task.statics)
        rate: Any = network.learning_rate
        if network.clip_norm is not None:
            norm = jnp.sqrt(sum(jnp.sum(d_p * d_p) for d_p in gradient.values()))
            rate = rate * network.clip_norm / jnp.maximum(norm, network.clip_norm)
        return value, jax.tree.map(lambda p, d_p: p - rate * d_p, params, gradient)

    compiled = jax.jit(descend, donate_argnums=0)

    def step(*batch: Array) -> float:
        nonlocal params
        value, params = compiled(params, *map(jnp.asarray, batch))
        return float(value)

    return Learner(step, lambda: {name: np.asarray(p) for name, p in params.items()})
