"""Engines: how a tool does the works."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from ..inputs import Array, Inputs

Model = TypeVar("Model")


class UnsupportedError(Exception):
    """The engine cannot do this work; the text says why."""


@dataclass(frozen=True)
class Trainer:
    """A training work, ready to be run.

    ``step(*batch)`` trains on one batch and returns the loss at the old parameters, read back
    from wherever it was computed. ``convert`` turns the arrays of a batch into what ``step``
    takes, before the clock starts. ``parameters`` gives the present values, in order.
    """

    step: Callable[..., float]
    parameters: Callable[[], Sequence[Any]]
    convert: Callable[[Sequence[Array]], Sequence[Any]] = tuple


@dataclass(frozen=True)
class Evaluator:
    """A gradient work, ready to be run.

    ``call()`` computes value and gradient, and returns when they are there; ``read`` makes of its
    result a number and an array for each parameter (none: the value alone was asked for).
    """

    call: Callable[[], Any]
    read: Callable[[Any], tuple[float, Sequence[Array]]]


class Engine(Protocol):
    """A tool. ``allocates_in_python``: tracemalloc sees the arrays that it allocates."""

    allocates_in_python: bool

    def trainer(self, work: str, inputs: Inputs) -> Trainer: ...

    def evaluator(self, work: str, inputs: Inputs) -> Evaluator: ...


def model_of(models: Mapping[str, Model], work: str) -> Model:
    """The model of that work, or an `UnsupportedError`."""
    if work not in models:
        raise UnsupportedError("there is no model of this work for it")
    return models[work]


def read_value_and_gradient(result: tuple[Any, Sequence[Any]]) -> tuple[float, list[Array]]:
    """``(value, gradients)`` as a number and arrays: ``read`` of most evaluators."""
    value, gradients = result
    return float(value), [np.asarray(gradient) for gradient in gradients]
