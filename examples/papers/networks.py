"""The networks of the papers and how they are trained; the models are those of the examples."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from stcompile_programs import train
from stcompile_programs.networks import mnist_autoencoder, mnist_cnn, mnist_rnn
from stcompile_programs.train.metric import Metric

Array = np.ndarray[Any, np.dtype[Any]]
Params = dict[str, Array]
Model = Literal["rnn", "cnn", "autoencoder"]

STEPS = 1, 2, 4, 7, 14, 28
UNITS = 64
HIDDEN, CODE = 300, 100


@dataclass(frozen=True)
class Network:
    """A network on a data set, trained by gradient descent.

    ``paper`` is the key of the quoted figures; ``steps`` are the time steps of a recurrent network;
    ``clip_norm`` limits the joint norm of all gradients.
    """

    name: str
    title: str
    model: Model
    paper: str | None
    data: str
    epochs: int
    batch_size: int
    learning_rate: float
    clip_norm: float | None = None
    steps: int = 0

    @property
    def metric(self) -> Metric:
        return train.RECONSTRUCTION_ERROR if self.model == "autoencoder" else train.ACCURACY


@dataclass(frozen=True)
class Task:
    """A network with its images: what every tool starts from.

    ``params`` are the initial values; ``arrays`` what batches are taken from; ``statics`` what a
    model takes after a batch; ``loss`` and ``outputs`` are plain NumPy functions.
    """

    network: Network
    data: train.DataSet
    params: Params
    arrays: tuple[Array, ...]
    statics: tuple[Any, ...]
    loss: Callable[..., Any]
    outputs: Callable[[Params, Array], Array]

    def copied_params(self) -> Params:
        return {name: value.copy() for name, value in self.params.items()}


def recurrent(steps: int) -> Network:
    """The recurrent network of RNN I (4 steps) and RNN II (any number)."""
    return Network(
        name=f"rnn-{steps}",
        title=f"RNN of {steps} time step{'s' if steps > 1 else ''}, {UNITS} tanh units",
        model="rnn",
        paper="rnn" if steps == 4 else None,
        data="mnist",
        epochs=5,
        batch_size=100,
        learning_rate=0.015,
        clip_norm=1.0,
        steps=steps,
    )


CNN = Network(
    "cnn", "CNN on MNIST", "cnn", "cnn", "mnist", epochs=5, batch_size=100, learning_rate=0.01
)
FASHION = Network(
    name="cnn-fashion",
    title="CNN on Fashion-MNIST",
    model="cnn",
    paper="cnn-fashion",
    data="fashion-mnist",
    epochs=5,
    batch_size=100,
    learning_rate=0.05,
)
AUTOENCODER = Network(
    name="autoencoder",
    title=f"autoencoder 784-{HIDDEN}-{CODE}-784, single images",
    model="autoencoder",
    paper=None,
    data="mnist",
    epochs=4,
    batch_size=1,
    learning_rate=0.02,
)

WORKED_EXAMPLE = "worked-example"
FAMILIES = "rnn", "cnn", "cnn-fashion", "autoencoder", WORKED_EXAMPLE


def networks(families: Sequence[str], steps: Sequence[int]) -> list[Network]:
    """The networks of these families; ``rnn`` has one for each number of time steps.

    >>> [network.name for network in networks(["autoencoder", "rnn"], [4, 28])]
    ['rnn-4', 'rnn-28', 'autoencoder']
    """
    chosen = [recurrent(count) for count in steps] if "rnn" in families else []
    return chosen + [n for n in (CNN, FASHION, AUTOENCODER) if n.name in families]


def make_task(network: Network, data: train.DataSet, rng: np.random.Generator) -> Task:
    """The network with initial values from ``rng``; float32."""
    x, y, dtype = data.x_train, data.y_train, data.x_train.dtype
    if network.model == "rnn":
        data = data.standardised()
        pixels = train.pixels_per_step(data.pixels, network.steps)
        params = mnist_rnn.initial_params(rng, pixels, UNITS, data.classes, dtype)
        outputs = functools.partial(mnist_rnn.scores, steps=network.steps)
        arrays = data.x_train, y
        return Task(network, data, params, arrays, (network.steps,), mnist_rnn.loss, outputs)
    if network.model == "cnn":
        data = data.standardised()
        shape = data.image_shape
        padding = mnist_cnn.choose_padding("auto", shape)
        height, width = (mnist_cnn.size_after(side, padding) for side in shape)
        flat = mnist_cnn.CHANNELS[-1] * height * width
        he = mnist_cnn.INITIALISERS["he"]
        params = mnist_cnn.initial_params(rng, flat, data.classes, dtype, he)
        outputs = functools.partial(mnist_cnn.scores, image_shape=shape, padding=padding)
        arrays = data.x_train, y
        return Task(network, data, params, arrays, (shape, padding), mnist_cnn.loss, outputs)
    params = mnist_autoencoder.initial_params(rng, data.pixels, HIDDEN, CODE, dtype)
    reconstruct = mnist_autoencoder.reconstruct
    return Task(network, data, params, (x,), (), mnist_autoencoder.loss, reconstruct)
