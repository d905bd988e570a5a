"""The programs of the suite under Numba alone: the functions as they are for the value, and some
gradients that were written by hand, as loops. A module a family; it imports Numba, so it is
imported where Numba is used."""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable
from typing import Any

import numba

from ..program import LoopProgram

Compiled = Callable[..., Any]


def value_of(program: LoopProgram) -> Compiled:
    """The function of a program, and those of its module that it calls, as Numba compiles them."""
    function = _compiled(program.function, {})
    if program.scalar is None:
        return function
    scalar = numba.njit(program.scalar)

    def value(*arguments: Any) -> Any:
        return scalar(function(*arguments))

    compiled: Compiled = numba.njit(value)
    return compiled


def _compiled(function: Any, known: dict[str, Compiled]) -> Compiled:
    """A copy of a function that calls what is compiled. Its module stays as it is."""
    own = {
        name: known[name] if name in known else _compiled(value, known)
        for name, value in function.__globals__.items()
        if name in function.__code__.co_names
        and isinstance(value, types.FunctionType)
        and value.__module__ == function.__module__
    }
    names = {**function.__globals__, **own}
    copy = types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    known[function.__name__] = made = numba.njit(copy)
    return made


def gradient_of(program: LoopProgram) -> Compiled | None:
    """Value and gradient as they were written by hand; None if nobody has written them."""
    try:
        module = importlib.import_module(f"{__name__}.{program.family}")
    except ModuleNotFoundError as error:
        if error.name == f"{__name__}.{program.family}":
            return None
        raise
    form: Compiled | None = getattr(module, program.name, None)
    return form
