"""HIPS autograd: NumPy traced at every call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import autograd
import autograd.numpy as np
from autograd.scipy.special import logsumexp

from ..inputs import Array, Inputs
from .base import Evaluator, Trainer, model_of, read_value_and_gradient

Params = dict[str, Any]


def rnn(params: Params, x: Array, y: Array, steps: int) -> Any:
    size = x.shape[1] // steps
    h = np.zeros((x.shape[0], params["Wh"].shape[0]), x.dtype)
    for t in range(steps):
        x_t = x[:, size * t : size * (t + 1)]
        h = np.tanh(np.dot(x_t, params["Wx"]) + np.dot(h, params["Wh"]) + params["bh"])
    scores = np.dot(h, params["Wo"]) + params["bo"]
    return cross_entropy(scores, y)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def autoencoder(params: Params, x: Array) -> Any:
    h = sigmoid(np.dot(params["W1"], x) + params["b1"])
    code = sigmoid(np.dot(params["W2"], h) + params["b2"])
    return np.sum((x - sigmoid(np.dot(params["W3"], code))) ** 2)


def convolved(x: Any, kernel: Any, stride: int = 1) -> Any:
    """The parts of the images under each element of the kernel, and one product."""
    height, width = kernel.shape[2:]
    sides = zip(x.shape[2:], kernel.shape[2:], strict=True)
    rows, columns = ((n - k) // stride * stride + 1 for n, k in sides)
    parts = [
        x[:, :, i : i + rows : stride, j : j + columns : stride]
        for i in range(height)
        for j in range(width)
    ]
    kernels = np.reshape(kernel, (*kernel.shape[:2], height * width))
    return np.transpose(np.tensordot(np.stack(parts), kernels, [[0, 2], [2, 1]]), (0, 3, 1, 2))


def pooled(x: Any) -> Any:
    rows, columns = (n - n % 2 for n in x.shape[2:])
    x = x[:, :, :rows, :columns]
    rows_done = np.maximum(x[:, :, ::2], x[:, :, 1::2])
    return np.maximum(rows_done[..., ::2], rows_done[..., 1::2])


def cross_entropy(scores: Any, y: Array) -> Any:
    chosen = scores[np.arange(len(y)), y]
    return np.mean(logsumexp(scores, axis=1) - chosen)


def cnn(params: Params, x: Array, y: Array) -> Any:
    a = pooled(np.maximum(convolved(x, params["k1"]) + params["b1"][:, None, None], 0))
    a = pooled(np.maximum(convolved(a, params["k2"]) + params["b2"][:, None, None], 0))
    h = np.maximum(np.dot(np.reshape(a, (len(y), -1)), params["W3"]) + params["b3"], 0)
    return cross_entropy(np.dot(h, params["W4"]) + params["b4"], y)


def convnet(params: Params, x: Array, y: Array) -> Any:
    a = np.maximum(convolved(x, params["k1"], 2) + params["b1"][:, None, None], 0)
    edge = np.zeros((*a.shape[:2], 1, a.shape[3]), a.dtype)
    a = np.concatenate([edge, a, edge], axis=2)
    edge = np.zeros((*a.shape[:3], 1), a.dtype)
    a = np.concatenate([edge, a, edge], axis=3)
    a = pooled(np.maximum(convolved(a, params["k2"]) + params["b2"][:, None, None], 0))
    a = np.maximum(convolved(a, params["k3"]) + params["b3"][:, None, None], 0)
    return cross_entropy(np.dot(np.reshape(a, (len(y), -1)), params["W4"]) + params["b4"], y)


def worked_example(x1: Any, x2: Any) -> Any:
    return np.log(x1) + x1 * x2 - np.sin(x2)


def gaussian_mixture(
    alphas: Any,
    means: Any,
    factors: Any,
    x: Array,
    positions: Array,
    gamma: float,
    m: int,
    constant: float,
) -> Any:
    n, d = x.shape
    logs, lower = factors[:, :d], factors[:, d:]
    diagonal = np.exp(logs)
    packed = np.concatenate((diagonal, lower), axis=1)
    roots = np.reshape(np.dot(packed, positions), (-1, d, d))
    scaled = np.matmul(x - means[:, None, :], np.transpose(roots, (0, 2, 1)))
    weights = alphas + np.sum(logs, axis=1)
    terms = weights[:, None] - 0.5 * np.sum(scaled**2, axis=2)
    prior = 0.5 * gamma**2 * (np.sum(diagonal**2) + np.sum(lower**2)) - m * np.sum(logs)
    return constant + np.sum(logsumexp(terms, axis=0)) - n * logsumexp(alphas) + prior


LOSSES: dict[str, Callable[..., Any]] = {
    "rnn": rnn,
    "pixel_rnn": rnn,
    "cnn": cnn,
    "convnet": convnet,
    "autoencoder": autoencoder,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "worked_example": worked_example,
    "gaussian_mixture": gaussian_mixture,
}


class Autograd:
    """autograd, with parameters that are updated in place."""

    allocates_in_python = True

    def trainer(self, work: str, inputs: Inputs) -> Trainer:
        params = inputs.copied_params()
        value_and_gradient = autograd.value_and_grad(model_of(LOSSES, work))
        rate = inputs.learning_rate
        statics = tuple(inputs.numbers.values())

        def step(*batch: Array) -> float:
            value, gradient = value_and_gradient(params, *batch, *statics)
            for name, param in params.items():
                param -= rate * gradient[name]
            return float(value)

        return Trainer(step, lambda: list(params.values()))

    def evaluator(self, work: str, inputs: Inputs) -> Evaluator:
        wrt = tuple(range(len(inputs.params)))
        gradient = autograd.value_and_grad(model_of(FUNCTIONS, work), wrt)
        arguments = (*inputs.point(), *inputs.constants())
        return Evaluator(functools.partial(gradient, *arguments), read_value_and_gradient)


def engine(variant: str, threads: int) -> Autograd:
    return Autograd()
