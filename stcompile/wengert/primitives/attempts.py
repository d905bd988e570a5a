"""Calls that may raise an error which the program catches.

``attempted(x, ...; called, errors, ...)`` is the result of the primitive that it names, and takes
the params of that primitive besides its own; if that raises one of the ``errors`` there is no
value. ``failed(v)`` says whether there is none. ``given(v, x, ...; called, ...)`` is the value
``v`` of an attempt that has not failed: the call itself, as far as derivatives are concerned, which
is not made again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stcompile.wengert.ir import Equation, freeze
from stcompile.wengert.primitives.base import OperandError, Primitive, Types, require_count
from stcompile.wengert.types import Type

Params = Mapping[str, Any]
OWN = frozenset({"called", "errors"})


def of_called(params: Params) -> Params:
    """The params of the primitive that an attempt calls."""
    return freeze({name: value for name, value in params.items() if name not in OWN})


def as_called(equation: Equation) -> Equation:
    """The call whose value an equation ``given`` is; any other equation unchanged."""
    if equation.primitive != "given":
        return equation
    params, inputs = equation.params, equation.inputs[1:]
    effects, location = equation.effects, equation.location
    return Equation(
        equation.outputs, params["called"], inputs, of_called(params), effects, location
    )


def _failed(types: Types, params: Params) -> Types:
    require_count("failed", types, 1)
    return (Type.python(bool),)


def attempts(infer: Callable[[str, Types, Params], Types]) -> tuple[Primitive, ...]:
    """The primitives, of which two have the types that ``infer`` gives for the call."""

    def attempted(types: Types, params: Params) -> Types:
        return infer(params["called"], types, of_called(params))

    def given(types: Types, params: Params) -> Types:
        if types[:1] != attempted(types[1:], params):
            raise OperandError(f"given: {types[0]} is no result of {params['called']}")
        return types[:1]

    return (
        Primitive("attempted", attempted),
        Primitive("failed", _failed),
        Primitive("given", given),
    )
