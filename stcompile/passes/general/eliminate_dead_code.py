"""Remove pure equations that no output needs: no gradient is computed that was not asked for.

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

from stcompile.passes.general.rebuild import with_equations
from stcompile.wengert.ir import Equation, Program, Variable, freeze, map_programs
from stcompile.wengert.primitives.control import Ports


def eliminate_dead_code(program: Program) -> Program:
    """The program without equations whose outputs are not used and that have no effect. Branches
    and loops lose the outputs that nobody reads, and the operands that only these needed."""
    live = {atom for atom in program.outputs if isinstance(atom, Variable)}
    kept: list[Equation] = []
    for equation in reversed(program.equations):
        if equation.effects or not live.isdisjoint(equation.outputs):
            needed = _narrowed(equation, live)
            live.update(needed.variables)
            kept.append(needed)
    kept.reverse()
    return with_equations(program, kept)


def _narrowed(equation: Equation, live: set[Variable]) -> Equation:
    """A branch or a loop with the ports alone that something needs."""
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


def _narrowed_loop(loop: Equation, live: set[Variable]) -> Equation:
    ports = Ports.of(loop)
    condition = ports.condition and eliminate_dead_code(ports.condition)
    first, m = len(ports.constants), len(ports.carry)
    tested = _used(condition) if condition is not None else set()
    carry = {i for i, result in enumerate(ports.results) if result in live}
    if condition is not None:
        carry |= {i for i in range(m) if condition.inputs[first + i] in tested}
    ys = [i for i, y in enumerate(ports.ys) if y in live]
    while True:  # what is needed to carry what is needed
        order = sorted(carry)
        body = eliminate_dead_code(_with_outputs(ports.body, [*order, *(m + i for i in ys)]))
        used = _used(body)
        more = {i for i, head in enumerate(ports.body_carry) if head in used}
        if more <= carry:
            break
        carry |= more
    constants = [
        i
        for i, variable in enumerate(ports.body_constants)
        if variable in used or (condition is not None and condition.inputs[i] in tested)
    ]
    xs = [i for i, variable in enumerate(ports.body_xs) if variable in used]
    sizes = (len(constants), len(order), len(xs), len(ys))
    if sizes == (first, m, len(ports.xs), len(ports.ys)):
        programs = {"body": body} if condition is None else {"body": body, "condition": condition}
        return _with_params(loop, programs)
    counter = [] if ports.counter is None else [ports.counter]
    inputs = [ports.body_constants[i] for i in constants] + counter
    inputs += [ports.body_carry[i] for i in order] + [ports.body_xs[i] for i in xs]
    params = dict(loop.params)
    params |= {"constants": len(constants), "carry": len(order)}
    params["body"] = replace(body, inputs=tuple(inputs))
    if condition is not None:
        wanted = [*constants, *(first + i for i in order)]
        params["condition"] = replace(condition, inputs=tuple(condition.inputs[i] for i in wanted))
    operands = [] if ports.count is None else [ports.count]
    operands += [ports.constants[i] for i in constants] + [ports.carry[i] for i in order]
    operands += [ports.xs[i] for i in xs]
    outputs = [ports.results[i] for i in order] + [ports.ys[i] for i in ys]
    return replace(loop, outputs=tuple(outputs), inputs=tuple(operands), params=freeze(params))
