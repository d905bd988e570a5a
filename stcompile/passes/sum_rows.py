"""Sums over the rows of a matrix are a product with ones: BLAS adds rows four times as fast as
`numpy.add.reduce` (2.6 against 12 µs for 400 rows of 64 in float32, NumPy 2.4), and adds the result
to what an update changes.

>>> from stcompile.text import parse_program
>>> print(sum_rows(parse_program('''
... program f(x: f32[400,64]) {
...   v1: f32[64] = sum(x; axis=(0,), keepdims=False)
...   return v1
... }''')))
program f(x: f32[400,64]) {
  ones: f32[400] = full(1; dtype=f32, shape=(400,))
  v1: f32[64] = contract(ones, x; batch=(), contracted=((0, 0),), order=(), spelling='')
  return v1
}
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stcompile.ir import Atom, Constant, Equation, Program, freeze
from stcompile.passes.rebuild import Rebuild, with_inner
from stcompile.types import Type

LARGE = 512  # elements: of smaller ones, the calls take longer than the additions
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def sum_rows(program: Program) -> Program:
    """The program with BLAS adding the rows of large matrices."""
    program = with_inner(program, sum_rows)
    rebuild = Rebuild(program)
    known: dict[Type, Atom] = {}
    for at, equation in enumerate(program.equations):
        if _adds_rows(equation):
            (x,) = equation.inputs
            type = Type.array(x.type.dtype, x.type.dims[:1])
            if type not in known:
                params = {"shape": type.dims, "dtype": type.dtype}
                known[type] = rebuild.insert_named(
                    "ones", at, "full", (Constant(1),), equation.location, **params
                )
            params = {"batch": (), "contracted": ((0, 0),), "order": (), "spelling": ""}
            inputs = (known[type], x)
            product = replace(equation, primitive="contract", inputs=inputs, params=freeze(params))
            rebuild.substitute(at, product)
    return rebuild.done()


def _adds_rows(equation: Equation) -> bool:
    if equation.primitive != "sum" or equation.params["keepdims"]:
        return False
    x, total = equation.inputs[0].type, equation.output.type
    is_matrix = x.kind == "array" and x.ndim == 2 and x.dtype in _FLOATS and x.size >= LARGE
    return is_matrix and equation.params["axis"] == (0,) and total.dtype == x.dtype
