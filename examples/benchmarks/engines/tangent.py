"""tangent: source transformation of a subset of NumPy."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tangent

from ..inputs import Array, Inputs
from . import tangent_models as models
from .base import Evaluator, Trainer, model_of


def _rnn_arguments(inputs: Inputs) -> list[Any]:
    """The first hidden state, pixels a step, steps."""
    rows = inputs.data["x"].shape[1]
    first = np.zeros((rows, len(inputs.params["Wh"])), np.float32)
    return [first, len(inputs.params["Wx"]), *inputs.numbers.values()]


def _mixture_arguments(inputs: Inputs) -> list[Any]:
    """The samples (1, n, d), where entries belong, n, d and k, numbers."""
    x, positions = inputs.data["x"], inputs.data["positions"]
    sizes = (*x.shape, len(inputs.params["alphas"]))
    return [x[np.newaxis], positions, *sizes, *inputs.numbers.values()]


def _none(inputs: Inputs) -> list[Any]:
    return []


# A model, and what it takes after its parameters (and the batch).
Model = tuple[Callable[..., Any], Callable[[Inputs], list[Any]]]

LOSSES: dict[str, Model] = {
    "rnn": (models.rnn, _rnn_arguments),
    "pixel_rnn": (models.rnn, _rnn_arguments),
    "autoencoder": (models.autoencoder, _none),
}
FUNCTIONS: dict[str, Model] = {
    "worked_example": (models.worked_example, _none),
    "gaussian_mixture": (models.gaussian_mixture, _mixture_arguments),
}


class Tangent:
    """tangent, with parameters that are updated in place."""

    allocates_in_python = True

    def trainer(self, work: str, inputs: Inputs) -> Trainer:
        loss, further = model_of(LOSSES, work)
        gradient = _gradient(loss, inputs)
        arguments = further(inputs)
        params = list(inputs.copied_params().values())
        rate = inputs.learning_rate

        def step(*batch: Array) -> float:
            *gradients, value = gradient(*params, *batch, *arguments)
            for param, d_param in zip(params, gradients, strict=True):
                param -= rate * d_param
            return float(value)

        return Trainer(step, lambda: params, _with_onehot_labels)

    def evaluator(self, work: str, inputs: Inputs) -> Evaluator:
        function, further = model_of(FUNCTIONS, work)
        gradient = _gradient(function, inputs)
        return Evaluator(functools.partial(gradient, *inputs.point(), *further(inputs)), _read)


def _gradient(function: Callable[..., Any], inputs: Inputs) -> Callable[..., Any]:
    """A function that returns the gradients by all parameters, and the value last."""
    wrt = tuple(range(len(inputs.params)))
    gradient: Callable[..., Any] = tangent.grad(function, wrt=wrt, preserve_result=True)
    return gradient


def _with_onehot_labels(batch: Sequence[Array]) -> Sequence[Any]:
    x, *labels = batch
    return [x, *(np.eye(10, dtype=x.dtype)[y] for y in labels)]


def _read(result: tuple[Any, ...]) -> tuple[float, list[Array]]:
    *gradients, value = result
    return float(value), [np.asarray(gradient) for gradient in gradients]


def engine(variant: str, threads: int) -> Tangent:
    return Tangent()
