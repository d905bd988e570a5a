"""Copy an argument that an elementwise equation spreads over a much larger result.

The copy can be stored in the order that suits the result (`stcompile.analysis.orders`); the
argument is as its caller made it. Only where the result has a short last axis, so that another
order pays.

>>> from stcompile.wengert.text import parse_program
>>> print(copy_small_operands(parse_program('''
... program f(x: f64[1000,3], means: f64[5,1,3]) {
...   v1: f64[5,1000,3] = subtract(x, means)
...   return v1
... }''')))
program f(x: f64[1000,3], means: f64[5,1,3]) {
  v2: f64[1000,3] = copy(x)
  v1: f64[5,1000,3] = subtract(v2, means)
  return v1
}
"""

from __future__ import annotations

from dataclasses import replace

from stcompile.analysis.orders import has_short_rows
from stcompile.base.thresholds import SPREAD_OVER
from stcompile.passes.general.rebuild import Rebuild
from stcompile.wengert.ir import Atom, Program, Variable
from stcompile.wengert.primitives import PRIMITIVES


def copy_small_operands(program: Program) -> Program:
    """The program with copies of the arguments that are spread over larger results."""
    rebuild = Rebuild(program)
    copies: dict[Variable, Atom] = {}
    given = set(program.inputs)
    for at, equation in enumerate(program.equations):
        primitive = PRIMITIVES.get(equation.primitive)
        if primitive is None or not primitive.elementwise:
            continue
        result = equation.output.type
        inputs = list(equation.inputs)
        for place, atom in enumerate(equation.inputs):
            if not isinstance(atom, Variable) or atom not in given or atom.type.ndim < 2:
                continue
            is_small = atom.type.dims[-2:] == result.dims[-2:] and has_short_rows(result.dims)
            if is_small and atom.type.size * SPREAD_OVER <= result.size:
                if atom not in copies:
                    copies[atom] = rebuild.insert(at, "copy", (atom,), equation.location)
                inputs[place] = copies[atom]
        if tuple(inputs) != equation.inputs:
            rebuild.substitute(at, replace(equation, inputs=tuple(inputs)))
    return rebuild.done()
