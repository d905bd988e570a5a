"""Keras, its layers and ``train_on_batch``, with the backend that it is set to.

Where ``KERAS_BACKEND`` is not set, the first backend that is installed is taken.
"""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import numpy as np

from ..networks import CODE, HIDDEN, UNITS, Array, Task
from .base import Learner

BACKENDS = "tensorflow", "jax", "torch"

if "KERAS_BACKEND" not in os.environ:
    os.environ["KERAS_BACKEND"] = next(filter(importlib.util.find_spec, BACKENDS), BACKENDS[0])

import keras  # noqa: E402 - reads the variable when it is imported

OIHW_TO_HWIO = 2, 3, 1, 0
HWIO_TO_OIHW = 3, 2, 0, 1


def rnn(task: Task) -> list[Any]:
    (steps,) = task.statics
    layers = keras.layers
    return [layers.Reshape((steps, -1)), layers.SimpleRNN(UNITS), layers.Dense(task.data.classes)]


def cnn(task: Task) -> list[Any]:
    image_shape, padding = task.statics
    layers, params = keras.layers, task.params
    made = [layers.Reshape((*image_shape, 1))]
    for layer in "12":
        channels = len(params[f"k{layer}"])
        made.append(layers.Conv2D(channels, 3, padding=padding, activation="relu"))
        made.append(layers.MaxPooling2D(2))
    made += [layers.Permute((3, 1, 2)), layers.Flatten()]
    return [*made, layers.Dense(len(params["b3"]), "relu"), layers.Dense(task.data.classes)]


def autoencoder(task: Task) -> list[Any]:
    dense = keras.layers.Dense
    last = dense(task.data.pixels, "sigmoid", use_bias=False)
    return [dense(HIDDEN, "sigmoid"), dense(CODE, "sigmoid"), last]


LAYERS = {"rnn": rnn, "cnn": cnn, "autoencoder": autoencoder}


def as_keras(value: Array, is_autoencoder: bool) -> Array:
    """Keras has kernels as (height, width, in, out) and matrices as (in, out)."""
    if value.ndim == 4:
        return np.transpose(value, OIHW_TO_HWIO)
    return value.T if is_autoencoder and value.ndim == 2 else value


def from_keras(value: Array, is_autoencoder: bool) -> Array:
    if value.ndim == 4:
        return np.transpose(value, HWIO_TO_OIHW)
    return value.T if is_autoencoder and value.ndim == 2 else value


def squared_error(images: Any, outputs: Any) -> Any:
    return keras.ops.sum((images - outputs) ** 2, axis=-1)


def learner(task: Task, threads: int) -> Learner:
    network = task.network
    is_autoencoder = network.model == "autoencoder"
    model = keras.Sequential([keras.Input((task.data.pixels,)), *LAYERS[network.model](task)])
    model.set_weights([as_keras(p, is_autoencoder) for p in task.params.values()])
    entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(
        optimizer=keras.optimizers.SGD(network.learning_rate, global_clipnorm=network.clip_norm),
        loss=squared_error if is_autoencoder else entropy,
    )

    def step(x: Array, y: Array | None = None) -> float:
        model.reset_metrics()  # else it would give the mean of all losses so far
        return float(model.train_on_batch(x, x if y is None else y))

    def parameters() -> dict[str, Array]:
        values = (from_keras(np.asarray(p), is_autoencoder) for p in model.get_weights())
        return dict(zip(task.params, values, strict=True))

    return Learner(step, parameters)
