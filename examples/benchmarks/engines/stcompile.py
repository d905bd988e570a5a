"""stcompile: the models as its users write them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any, cast

import numpy as np

import stcompile as st
from stcompile.base.options import Level

from ..inputs import Array, Inputs
from .base import Evaluator, Trainer, model_of, read_value_and_gradient
from .plain import FUNCTIONS

Params = dict[str, Array]


def rnn(params: Params, x: Array, y: Array, steps: int) -> Any:
    size = x.shape[1] // steps
    h = np.zeros((x.shape[0], params["Wh"].shape[0]), x.dtype)
    for t in range(steps):
        x_t = x[:, size * t : size * (t + 1)]
        h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])
    return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)


def sigmoid(x: Array) -> Any:
    return 1 / (1 + np.exp(-x))


def autoencoder(params: Params, x: Array) -> Any:
    h = sigmoid(params["W1"] @ x + params["b1"])
    code = sigmoid(params["W2"] @ h + params["b2"])
    difference = x - sigmoid(params["W3"] @ code)
    return np.sum(difference * difference)


def cnn(params: Params, x: Array, y: Array) -> Any:
    a = st.nn.conv2d(x, params["k1"]) + params["b1"][:, None, None]
    a = st.nn.max_pool2d(np.maximum(a, 0))
    a = st.nn.conv2d(a, params["k2"]) + params["b2"][:, None, None]
    a = st.nn.max_pool2d(np.maximum(a, 0))
    h = np.maximum(a.reshape(a.shape[0], -1) @ params["W3"] + params["b3"], 0)
    return st.nn.softmax_cross_entropy(h @ params["W4"] + params["b4"], y)


def convnet(params: Params, x: Array, y: Array) -> Any:
    a = np.maximum(st.nn.conv2d(x, params["k1"], 2) + params["b1"][:, None, None], 0)
    a = st.nn.conv2d(a, params["k2"], padding=1) + params["b2"][:, None, None]
    a = st.nn.max_pool2d(np.maximum(a, 0))
    a = np.maximum(st.nn.conv2d(a, params["k3"]) + params["b3"][:, None, None], 0)
    scores = a.reshape(a.shape[0], -1) @ params["W4"] + params["b4"]
    return st.nn.softmax_cross_entropy(scores, y)


LOSSES: dict[str, Callable[..., Any]] = {
    "rnn": rnn,
    "pixel_rnn": rnn,
    "cnn": cnn,
    "convnet": convnet,
    "autoencoder": autoencoder,
}


class Stcompile:
    """stcompile at one of its levels; ``parallel``: with loops in several threads; ``auto``: with
    as many threads of BLAS as it finds to be fastest; ``c``: with loops compiled as C."""

    allocates_in_python = True

    def __init__(self, level: Level, further: Collection[str]) -> None:
        self.options: dict[str, Any] = {
            "level": level,
            "parallel": "parallel" in further,
            "threads": "auto" if "auto" in further else None,
        }
        if level == "compiled":
            self.options["compiler"] = "c" if "c" in further else "numba"

    def trainer(self, work: str, inputs: Inputs) -> Trainer:
        params = inputs.copied_params()
        descent = st.optim.SGD(inputs.learning_rate)
        trained = st.train_step(model_of(LOSSES, work), descent, "params", **self.options)
        statics = tuple(inputs.numbers.values())

        def step(*batch: Array) -> float:
            return float(trained(params, *batch, *statics))

        return Trainer(step, lambda: list(params.values()))

    def evaluator(self, work: str, inputs: Inputs) -> Evaluator:
        wrt = tuple(range(len(inputs.params)))
        gradient = st.value_and_grad(model_of(FUNCTIONS, work), wrt=wrt, **self.options)
        arguments = (*inputs.point(), *inputs.constants())
        return Evaluator(functools.partial(gradient, *arguments), read_value_and_gradient)


def engine(variant: str, threads: int) -> Stcompile:
    level, *further = variant.split()
    return Stcompile(cast(Level, level), further)
