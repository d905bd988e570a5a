"""A product of matrices that sums over one element is an outer product: elementwise, no BLAS.

>>> from stcompile.text import parse_program
>>> print(outer_products(parse_program('''
... program f(x: f32[5,1], w: f32[1,4]) {
...   y: f32[5,4] = contract(x, w; batch=(), contracted=((1, 0),), order=(), spelling='matmul')
...   return y
... }''')))
program f(x: f32[5,1], w: f32[1,4]) {
  y: f32[5,4] = multiply(x, w)
  return y
}
"""

from __future__ import annotations

from dataclasses import replace

from stcompile.ir import Equation, Program, map_programs
from stcompile.passes.loop_ports import Scope

MOST_BYTES = 1 << 15
"""Larger ones are limited by memory, and NumPy would copy both operands piece by piece."""


def outer_products(program: Program) -> Program:
    """The program with products of a column and a row written as such."""
    scope = Scope(program)
    for equation in program.equations:
        equation = map_programs(equation, outer_products)
        if _is_outer(equation):
            ((a, b),) = equation.params["contracted"]
            x, y = equation.inputs
            where = equation.location
            if a == 0:
                x = scope.record("transpose", (x,), where, axes=(1, 0))
            if b == 1:
                y = scope.record("transpose", (y,), where, axes=(1, 0))
            scope.record("multiply", (x, y), where, equation.output)
        else:
            scope.add(equation)
    equations = tuple(scope.equations)
    if len(equations) == len(program.equations) and all(
        new is old for new, old in zip(equations, program.equations, strict=True)
    ):
        return program
    return replace(program, equations=equations)


def _is_outer(equation: Equation) -> bool:
    if equation.primitive != "contract":
        return False
    x, y = (atom.type for atom in equation.inputs)
    params = equation.params
    return (
        x.ndim == y.ndim == 2
        and len(params["contracted"]) == 1
        and not (params["batch"] or params["order"])
        and x.dims[params["contracted"][0][0]] == 1
        and equation.output.type.nbytes <= MOST_BYTES
    )
