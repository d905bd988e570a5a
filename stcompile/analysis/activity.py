"""Activity: the values of a program that depend on some inputs, through differentiable
equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stcompile.codegen_templates.derivatives import NON_DIFFERENTIABLE
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.control import Ports


def flow(
    program: Program, active: set[Variable], look: Callable[[Equation, set[Variable]], None]
) -> list[bool]:
    """For each output, whether it depends on the ``active`` inputs through differentiable
    equations. ``look`` is called with every equation and the active variables of its program."""
    for equation in program.equations:
        look(equation, active)
        if equation.primitive in NON_DIFFERENTIABLE:
            continue
        given = [_is_active(atom, active) for atom in equation.inputs]
        if PRIMITIVES[equation.primitive].control:
            reached = _through(equation, given, look)
        else:
            reached = [any(given)] * len(equation.outputs)
        active |= {
            o for o, r in zip(equation.outputs, reached, strict=True) if r and o.type.inexact
        }
    return [_is_active(atom, active) for atom in program.outputs]


def _through(
    equation: Equation, given: Sequence[bool], look: Callable[[Equation, set[Variable]], None]
) -> list[bool]:
    """For each result of a control equation, whether it is active."""

    def into(program: Program, flags: Sequence[bool]) -> list[bool]:
        return flow(program, {v for v, f in zip(program.inputs, flags, strict=True) if f}, look)

    if equation.primitive == "call":
        return into(equation.params["program"], given)
    if equation.primitive == "cond":
        branches = [into(equation.params[name], given[1:]) for name in ("then", "otherwise")]
        return [any(pair) for pair in zip(*branches, strict=True)]
    ports = Ports.of(equation)
    first, last = len(ports.constants), len(ports.constants) + len(ports.carry)
    given = given[len(equation.inputs) - last - len(ports.xs) :]
    constants, carry, xs = given[:first], list(given[first:last]), given[last:]
    counter = [] if ports.is_while else [False]
    while True:  # ends: each round adds a carry
        results = into(ports.body, [*constants, *counter, *carry, *xs])
        after = [now or then for now, then in zip(carry, results, strict=False)]
        if after == carry:
            return [*carry, *results[len(carry) :]]
        carry = after


def _is_active(atom: Atom, active: set[Variable]) -> bool:
    return isinstance(atom, Variable) and atom in active
