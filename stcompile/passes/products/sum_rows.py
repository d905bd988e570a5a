"""Sums over the rows of a matrix are a product with ones: BLAS adds rows four times as fast as
`numpy.add.reduce` (2.6 against 12 µs for 400 rows of 64 in float32, NumPy 2.4), and adds the result
to what an update changes.

>>> from stcompile.wengert.text import parse_program
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

from stcompile.base.thresholds import SUMMED_ELEMENTS
from stcompile.passes.general.rebuild import Rebuild, with_inner
from stcompile.wengert.ir import Atom, Constant, Equation, Program, freeze
from stcompile.wengert.primitives.contraction import contracting
from stcompile.wengert.types import Type

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def sum_rows(program: Program) -> Program:
    """The program with BLAS adding the rows of large matrices, and those of all steps of a loop."""
    program = with_inner(program, sum_rows)
    rebuild = Rebuild(program)
    known: dict[Type, Atom] = {}
    for at, equation in enumerate(program.equations):
        if equation.primitive != "sum" or equation.params["keepdims"]:
            continue
        x = _matrix(rebuild, at, equation)
        if x is None:
            continue
        type = Type.array(x.type.dtype, x.type.dims[:1])
        if type not in known:
            filled = {"shape": type.dims, "dtype": type.dtype}
            known[type] = rebuild.insert_named(
                "ones", at, "full", (Constant(1),), equation.location, **filled
            )
        params = freeze(contracting((0, 0)))
        product = replace(equation, primitive="contract", inputs=(known[type], x), params=params)
        rebuild.substitute(at, product)
    return rebuild.done()


def _matrix(rebuild: Rebuild, at: int, equation: Equation) -> Atom | None:
    """The matrix whose rows an equation sums; None for another sum."""
    x, axes = equation.inputs[0], equation.params["axis"]
    if axes != (0,):
        return None
    inner = rebuild.maker(x, "sum")
    if inner is not None and rebuild.is_used_once(x) and inner.params["axis"] == (1,):
        steps = inner.inputs[0]  # what a loop collects is in C order
        if rebuild.maker(steps, "loop") and steps.type.ndim == 3 and _is_large(steps):
            first, second, columns = steps.type.dims
            shape = (first * second, columns)
            return rebuild.insert(at, "reshape", (steps,), equation.location, shape=shape)
    return x if x.type.ndim == 2 and _is_large(x) else None


def _is_large(atom: Atom) -> bool:
    type = atom.type
    return type.dtype in _FLOATS and type.size >= SUMMED_ELEMENTS
