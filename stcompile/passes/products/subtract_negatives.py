"""What is negated to be added is subtracted: ``d += -v`` in one pass through memory for two.

Exact: ``x + (-y)`` and ``x - y`` round alike. It runs after the passes that look for sums.

>>> from stcompile.wengert.text import parse_program
>>> print(subtract_negatives(parse_program('''
... program f(d: f64[3], v: f64[3]) {
...   v1: f64[3] = negative(v)
...   v2: f64[3] = accumulate(d, v1; op='add')
...   return v2
... }''')))
program f(d: f64[3], v: f64[3]) {
  v2: f64[3] = subtract(d, v)
  return v2
}
"""

from __future__ import annotations

from stcompile.passes.general.rebuild import Rebuild, with_inner
from stcompile.wengert.ir import Atom, Equation, Program, freeze
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.sums import is_addition


def subtract_negatives(program: Program) -> Program:
    """The program with differences in place of sums with what is negated for them alone."""
    program = with_inner(program, subtract_negatives)
    rebuild = Rebuild(program)
    for at, equation in enumerate(program.equations):
        for total, added in _sums(equation):
            made = rebuild.maker(added, "negative")
            if made is None or not rebuild.is_used_once(added) or not added.type.inexact:
                continue
            (value,) = made.inputs
            types = PRIMITIVES["subtract"].infer((total.type, value.type), freeze({}))
            if types != (equation.output.type,):
                continue
            rebuild.drop(rebuild.defined_at(added))
            difference = (equation.outputs, "subtract", (total, value), freeze({}))
            rebuild.substitute(at, Equation(*difference, location=equation.location))
            break
    return rebuild.done()


def _sums(equation: Equation) -> tuple[tuple[Atom, Atom], ...]:
    """How an equation adds one array to another: both, in turn."""
    if not is_addition(equation) or equation.output.type.kind != "array":
        return ()
    x, y = equation.inputs
    return ((x, y), (y, x)) if equation.primitive == "add" else ((x, y),)
