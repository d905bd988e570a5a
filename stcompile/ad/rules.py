"""Derivative rules as programs.

A rule is a function in `codegen_templates.derivatives`, written in the user's language. It is
lowered by the same frontend as user code, for the operand types at hand, so that adjoint programs
can be differentiated again. Constants are handed to rules as static values: a rule may choose a
simpler formula for ``x ** 2``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stcompile.base.errors import DerivativeError
from stcompile.codegen_templates.derivatives import (
    DERIVATIVES,
    HOLDS_FOR_COMPLEX,
    NON_DIFFERENTIABLE,
)
from stcompile.frontend.stage import LANGUAGE
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Cell, Scalar
from stcompile.wengert.dims import replaced
from stcompile.wengert.ir import Constant, Equation, Program, Variable
from stcompile.wengert.naming import name_variables
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.spectra import HANDED_ON
from stcompile.wengert.templates import grouped
from stcompile.wengert.types import Type, is_number

Operand = Type | Constant


@dataclass(frozen=True)
class Rule:
    """A rule for given operand types.

    ``program`` takes the variables among ``(out, *inputs, d_out)`` (``partials``: no ``d_out``;
    ``accumulates``: the cotangent so far comes first, no ``out`` and no first input). Its outputs
    are for the inputs listed in ``targets``.
    """

    kind: str
    program: Program
    targets: tuple[int, ...]


def is_differentiable(primitive: str) -> bool:
    """False for primitives declared without derivative (comparisons, integers, shapes)."""
    return primitive not in NON_DIFFERENTIABLE


def holds_for_complex(equation: Equation) -> bool:
    """True if the rule of an equation's primitive is right for complex operands, too."""
    if equation.primitive == "external":
        return bool(equation.params["function"].linear)
    name = PRIMITIVES[equation.primitive].rule
    return name in HOLDS_FOR_COMPLEX or name in HANDED_ON


def rule_function(primitive: str) -> Callable[..., Any] | None:
    """The derivative rule of a primitive, or None."""
    found: Callable[..., Any] | None = DERIVATIVES.get(PRIMITIVES[primitive].rule)
    return found


def kind_of(function: Callable[..., Any]) -> str:
    """The kind of a rule: ``partials``, ``adjoint`` or ``accumulates``."""
    return str(function.__dict__["mark"])


def rule_for(equation: Equation, active: tuple[bool, ...]) -> Rule:
    """The rule of an equation's primitive for its operands; ``active`` are the inputs whose
    derivative is wanted."""
    operands = tuple(a if isinstance(a, Constant) else a.type for a in equation.inputs)
    # A user's function is not cached: its closure, such as a matrix, would be kept alive.
    lowered = _rule.__wrapped__ if equation.primitive == "external" else _rule
    return lowered(
        PRIMITIVES[equation.primitive].rule,
        equation.output.type,
        operands,
        tuple(equation.params.items()),
        active,
    )


@functools.lru_cache(maxsize=4096)
def _rule(
    name: str,
    out: Type,
    operands: tuple[Operand, ...],
    params: tuple[tuple[str, Any], ...],
    active: tuple[bool, ...],
) -> Rule:
    function = DERIVATIVES[name]
    kind = kind_of(function)
    run = Run(LANGUAGE)
    run.prefix = f"{name}."  # so that its loops bind other symbols than loops around it
    run.keeps_comprehensions = False  # one item for each operand
    arguments, inputs = _arguments(run, kind, out, operands)
    static = tuple(isinstance(operand, Constant) for operand in operands)
    keywords = _keywords(function, {**dict(params), "active": active, "static": static})
    numbers = ("n", "shift")  # params that rules compute with: lengths, where they are known
    keywords |= {k: replaced(v, run.integer) for k, v in keywords.items() if k in numbers}
    with np.errstate(all="ignore"):  # errors at constants are not errors of the rule
        result = run.call(function, grouped(function, arguments), keywords)
    if run.captures.hidden:
        names = ", ".join(hidden.place.description for hidden in run.captures.hidden)
        raise DerivativeError(
            f"the adjoint of `{name}` reads {names} from outside",
            hint="pass it as an argument of the primitive, or make it in the adjoint",
        )
    given = result if isinstance(result, tuple) else (result,)
    wanted = [True] if kind == "accumulates" else active
    targets, outputs = [], []
    for index, (item, want) in enumerate(zip(given, wanted, strict=True)):
        if want and item is not None:
            targets.append(index)
            outputs.append(Constant(item) if is_number(item) else run.atom(item))
    raw = Program(name, tuple(inputs), tuple(run.recorder.equations), tuple(outputs))
    return Rule(kind, name_variables(raw, {}), tuple(targets))


def _arguments(
    run: Run, kind: str, out: Type, operands: Sequence[Operand]
) -> tuple[list[Any], list[Variable]]:
    """The values that a rule of a kind is called with, and the variables among them."""
    inputs: list[Variable] = []

    def value(operand: Operand) -> Any:
        if isinstance(operand, Constant):
            return operand.value
        variable = run.recorder.variable(operand)
        inputs.append(variable)
        if operand.kind != "array":
            return Scalar(variable)
        return Array(Cell(variable, "an operand of a derivative rule"), operand)

    if kind == "accumulates":
        first, *rest = operands
        so_far = first if isinstance(first, Type) else first.type
        return [value(operand) for operand in (so_far, out, *rest)], inputs
    cotangent = [out] if kind == "adjoint" else []
    return [value(operand) for operand in (out, *operands, *cotangent)], inputs


def _keywords(function: Callable[..., Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """The params and facts (``active``, ``static``) that the rule names."""
    known = inspect.signature(function).parameters.values()
    names = {p.name for p in known if p.kind is p.KEYWORD_ONLY}
    return {name: item for name, item in facts.items() if name in names}
