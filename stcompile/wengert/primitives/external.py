"""``external``: a Python function of the user's, called unchanged when the generated code runs.

The param ``function`` knows its type rule and its adjoint (`stcompile.transforms.user_primitive`);
the compiler knows nothing else of it. It has no effects, and one result, an array or a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from stcompile.wengert.ir import Program, every_equation
from stcompile.wengert.primitives.base import OperandError, Primitive, Types
from stcompile.wengert.types import Type


class External(Protocol):
    """Facts that an external function gives to the compiler. A ``linear`` function multiplies by a
    matrix that the user may change between calls, and its adjoint by the transpose, for complex
    numbers as well; ``shown`` is its name in messages."""

    __name__: str
    linear: bool
    shown: str

    def __call__(self, *operands: Any) -> Any: ...

    def result_type(self, types: Types) -> Type: ...


def _external(types: Types, params: Mapping[str, Any]) -> Types:
    function: External = params["function"]
    for t in types:
        if t.kind in ("object", "stack"):
            raise OperandError(f"{function.__name__}: does not take {t}")
    return (function.result_type(types),)


def externals_of(program: Program) -> dict[str, External]:
    """The external functions that a program calls, by name; `OperandError` for two with the same
    name."""
    found: dict[str, External] = {}
    for equation in every_equation(program.equations):
        if equation.primitive == "external":
            function: External = equation.params["function"]
            name = function.__name__
            if found.setdefault(name, function) is not function:
                raise OperandError(f"two primitives are called {name}: name them apart")
    return found


EXTERNAL: tuple[Primitive, ...] = (Primitive("external", _external),)
