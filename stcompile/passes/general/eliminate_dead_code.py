"""Remove pure equations that no output needs, such as gradients that are not returned.

>>> from stcompile.wengert.text import parse_program
>>> print(eliminate_dead_code(parse_program('''
... program f(x: float) {
...   v1: float = multiply(x, x)
...   v2: float = add(x, 1.0)
...   return v1
... }''')))
program f(x: float) {
  v1: float = multiply(x, x)
  return v1
}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stcompile.wengert.dims import Symbol
from stcompile.wengert.ir import (
    Equation,
    Program,
    Variable,
    freeze,
    inner_effects,
    map_programs,
    mentioned,
)
from stcompile.wengert.loops import loop_of


def eliminate_dead_code(program: Program) -> Program:
    """The program without equations whose outputs are not used and that have no effect, and without
    names for lengths that nothing mentions. Branches and loops lose the outputs that nobody reads,
    and the operands that only these outputs needed."""
    live = {atom for atom in program.outputs if isinstance(atom, Variable)}
    sizes: set[Symbol] = set()  # symbols in the lengths of kept values
    names = any(equation.binds is not None for equation in program.equations)
    kept: list[Equation] = []
    for equation in reversed(program.equations):
        symbol = equation.binds
        has_effect = bool({*equation.effects} - {"bind"}) or symbol in sizes
        if has_effect or not live.isdisjoint(equation.outputs):
            needed = _with_effects(_narrowed(equation, live))
            live.update(needed.variables)
            kept.append(needed)
            if names:
                sizes |= mentioned([needed])
    return program.with_equations(kept[::-1])


def _with_effects(equation: Equation) -> Equation:
    """An equation that runs programs, with the effects that are left in them."""
    if "bind" not in equation.effects or equation.binds is not None:
        return equation
    return replace(equation, effects=inner_effects(equation.params))


def _narrowed(equation: Equation, live: set[Variable]) -> Equation:
    """A branch or a loop reduced to the ports that are needed."""
    if equation.primitive == "cond":
        return _narrowed_cond(equation, live)
    if equation.primitive == "loop":
        return _narrowed_loop(equation, live)
    return map_programs(equation, eliminate_dead_code)


def _used(program: Program) -> set[Variable]:
    """The variables of a program that it reads."""
    used = {atom for atom in program.outputs if isinstance(atom, Variable)}
    for equation in program.equations:
        used.update(equation.variables)
    return used


def _narrowed_cond(cond: Equation, live: set[Variable]) -> Equation:
    outputs = [i for i, output in enumerate(cond.outputs) if output in live]
    branches: dict[str, Program] = {
        name: eliminate_dead_code(_with_outputs(cond.params[name], outputs))
        for name in ("then", "otherwise")
    }
    used = {name: _used(branch) for name, branch in branches.items()}
    inputs = [
        i
        for i in range(len(cond.inputs) - 1)
        if any(branch.inputs[i] in used[name] for name, branch in branches.items())
    ]
    if len(outputs) == len(cond.outputs) and len(inputs) == len(cond.inputs) - 1:
        return _with_params(cond, branches)
    programs = {
        name: replace(branch, inputs=tuple(branch.inputs[i] for i in inputs))
        for name, branch in branches.items()
    }
    return replace(
        cond,
        outputs=tuple(cond.outputs[i] for i in outputs),
        inputs=(cond.inputs[0], *(cond.inputs[1 + i] for i in inputs)),
        params=freeze(programs),
    )


def _with_outputs(program: Program, positions: list[int]) -> Program:
    if len(positions) == len(program.outputs):
        return program
    return replace(program, outputs=tuple(program.outputs[i] for i in positions))


def _with_params(equation: Equation, params: Mapping[str, Any]) -> Equation:
    if all(equation.params.get(name) is value for name, value in params.items()):
        return equation
    return replace(equation, params=freeze({**equation.params, **params}))


def _narrowed_loop(equation: Equation, live: set[Variable]) -> Equation:
    loop = loop_of(equation)
    condition = loop.condition and eliminate_dead_code(loop.condition)
    read = _used(condition) if condition is not None else set()  # by the condition
    needed = {c.variable for c in loop.carry if c.result in live or c.tested in read}
    ys = tuple(y for y in loop.ys if y.port in live)
    while True:  # until no further carried values are needed
        carry = tuple(c for c in loop.carry if c.variable in needed)
        body = eliminate_dead_code(replace(loop, carry=carry, ys=ys).body)
        used = _used(body)
        if used.isdisjoint(c.variable for c in loop.carry if c.variable not in needed):
            break
        needed |= used
    narrowed = replace(
        loop,
        constants=tuple(c for c in loop.constants if c.variable in used or c.tested in read),
        carry=carry,
        xs=tuple(x for x in loop.xs if x.variable in used),
        ys=ys,
        equations=body.equations,
        condition=condition,
    )
    return equation if narrowed == loop else narrowed.done()
