"""What the tests of scientific programs share: the same program, differentiated by autograd."""

from __future__ import annotations

import copy
import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import autograd
import autograd.numpy
import numpy as np

from tests import programs
from tests.programs import Example, leaves

IN_PLACE: set[Callable[..., Any]] = set()


def in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function that writes into arrays: autograd does not differentiate those."""
    IN_PLACE.add(function)
    return function


def check_program(example: Example) -> None:
    """All of `check`, and the gradients are autograd's."""
    gradients = example.check()
    if example.function in IN_PLACE:
        return
    expected = autograds(example.function, example.args, example.wrt)
    for found, other in zip(leaves(gradients), leaves(expected), strict=True):
        scale = max(1.0, float(np.max(np.abs(other), initial=0.0)))
        np.testing.assert_allclose(
            found, other, rtol=1e-7, atol=1e-9 * scale, err_msg="the gradient, against autograd's"
        )


def autograds(function: Callable[..., Any], args: tuple[Any, ...], wrt: Any) -> Any:
    """The gradients by autograd, of the same number."""
    expected = function(*copy.deepcopy(args))
    rebound, weigh = with_autograd(function), with_autograd(programs.weigh)

    def total(*args: Any) -> Any:
        value = rebound(*args)
        return value if isinstance(expected, float | np.floating) else weigh(value, 1)

    return autograd.grad(total, wrt)(*copy.deepcopy(args))


def with_autograd(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with autograd's ``np``, and so are the functions of its module."""
    found = names_with_autograd(function.__module__)[function.__name__]
    assert isinstance(found, types.FunctionType)
    return found


@functools.lru_cache
def names_with_autograd(module: str) -> dict[str, Any]:
    names = dict(vars(sys.modules[module]))
    for name, value in list(names.items()):
        if isinstance(value, types.FunctionType) and value.__module__ == module:
            names[name] = types.FunctionType(
                value.__code__, names, name, value.__defaults__, value.__closure__
            )
            names[name].__kwdefaults__ = value.__kwdefaults__
    names.update(np=autograd.numpy, st=autograd)
    return names
