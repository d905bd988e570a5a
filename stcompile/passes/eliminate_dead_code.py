"""Remove pure equations that no output needs: no gradient is computed that was not asked for.

>>> from stcompile.text import parse_program
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

from dataclasses import replace

from stcompile.ir import Equation, Program, Variable


def eliminate_dead_code(program: Program) -> Program:
    """The program without equations whose outputs are not used and that have no effect."""
    live = {atom for atom in program.outputs if isinstance(atom, Variable)}
    kept: list[Equation] = []
    for equation in reversed(program.equations):
        if equation.effects or not live.isdisjoint(equation.outputs):
            live.update(equation.variables)
            kept.append(equation)
    if len(kept) == len(program.equations):
        return program
    return replace(program, equations=tuple(reversed(kept)))
