"""advect: unmodified NumPy, traced at every call, or once and then run as a graph (``staged``)."""

from __future__ import annotations

import functools

import advect

from ..inputs import Inputs
from .base import Evaluator, Trainer, UnsupportedError, model_of, read_value_and_gradient
from .plain import FUNCTIONS


class Advect:
    """advect, on the functions in plain NumPy as they are."""

    allocates_in_python = True

    def __init__(self, staged: bool) -> None:
        self.staged = staged

    def trainer(self, work: str, inputs: Inputs) -> Trainer:
        raise UnsupportedError("there is no model of this work for it")

    def evaluator(self, work: str, inputs: Inputs) -> Evaluator:
        arguments = (*inputs.point(), *inputs.constants())
        function = model_of(FUNCTIONS, work)
        if self.staged:
            function = advect.stage(function, *arguments)
        gradient = advect.value_and_grad(function, tuple(range(len(inputs.params))))
        return Evaluator(functools.partial(gradient, *arguments), read_value_and_gradient)


def engine(variant: str, threads: int) -> Advect:
    return Advect(variant == "staged")
