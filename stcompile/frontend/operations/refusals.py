"""Refusals of operations, which are tried with NumPy or Python before they are told."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from stcompile.base.deferred import deferred
from stcompile.base.errors import TypingError
from stcompile.frontend.state.run import Run

P = ParamSpec("P")
R = TypeVar("R")
judge = deferred("stcompile.frontend.operations.trials", "judge")


def judged(
    tried: Callable[..., Any],
) -> Callable[[Callable[Concatenate[Run, P], R]], Callable[Concatenate[Run, P], R]]:
    """A decorator that makes the refusals of a function of the frontend true. ``tried`` does the
    same operation with NumPy's and Python's values for the same arguments."""

    def decorated(function: Callable[Concatenate[Run, P], R]) -> Callable[Concatenate[Run, P], R]:
        @functools.wraps(function)
        def judging(run: Run, /, *arguments: P.args, **keywords: P.kwargs) -> R:
            try:
                return function(run, *arguments, **keywords)
            except TypingError as error:
                judge(run, error, tried, arguments, keywords)
                raise

        return judging

    return decorated
