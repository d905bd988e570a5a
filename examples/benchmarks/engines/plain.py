"""The functions as they are: NumPy, and no gradient."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..functions import gaussian_mixture, worked_example
from ..inputs import Inputs
from .base import Evaluator, Trainer, UnsupportedError, model_of

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "worked_example": worked_example,
    "gaussian_mixture": gaussian_mixture,
}


class Plain:
    """NumPy, run as it is written."""

    allocates_in_python = True

    def trainer(self, work: str, inputs: Inputs) -> Trainer:
        raise UnsupportedError("it has no gradient to train with")

    def evaluator(self, work: str, inputs: Inputs) -> Evaluator:
        function = model_of(FUNCTIONS, work)
        arguments = (*inputs.point(), *inputs.constants())
        return Evaluator(
            functools.partial(function, *arguments), read=lambda value: (float(value), [])
        )


def engine(variant: str, threads: int) -> Plain:
    return Plain()
