"""A product of matrices that sums over one element is an outer product: elementwise, no BLAS.

One that is added to something is an outer product of vectors, which BLAS adds at once (``ger``).

>>> from stcompile.wengert.text import parse_program
>>> print(outer_products(parse_program('''
... program f(x: f32[5,1], w: f32[1,4], b: f32[4]) {
...   y: f32[5,4] = contract(x, w; batch=(), contracted=((1, 0),), order=(), spelling='matmul')
...   v1: f32[5,4] = sin(y)
...   z: f32[5,4] = contract(x, w; batch=(), contracted=((1, 0),), order=(), spelling='matmul')
...   v2: f32[5,4] = add(z, b)
...   return v1, v2
... }''')))
program f(x: f32[5,1], w: f32[1,4], b: f32[4]) {
  y: f32[5,4] = multiply(x, w)
  v1: f32[5,4] = sin(y)
  v3: f32[5] = reshape(x; shape=(5,))
  v4: f32[4] = reshape(w; shape=(4,))
  z: f32[5,4] = contract(v3, v4; batch=(), contracted=(), order=(), spelling='')
  v2: f32[5,4] = add(z, b)
  return v1, v2
}
"""

from __future__ import annotations

import numpy as np

from stcompile.base.thresholds import OUTER_BYTES
from stcompile.passes.general.rebuild import Rebuild, Scope
from stcompile.wengert.ir import Atom, Equation, Program, Variable, map_programs
from stcompile.wengert.primitives.contraction import Contraction, contracting
from stcompile.wengert.sums import is_sum

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def outer_products(program: Program) -> Program:
    """The program with products of a column and a row written as such."""
    scope, known = Scope(program), Rebuild(program)
    for equation in program.equations:
        equation = map_programs(equation, outer_products)
        if not _is_outer(equation):
            scope.add(equation)
            continue
        ((a, b),) = equation.params["contracted"]
        x, y = equation.inputs
        where = equation.location
        if _is_added(known, equation):
            vectors = (_vector(scope, x, a, equation), _vector(scope, y, b, equation))
            scope.record("contract", vectors, where, equation.output, **contracting())
            continue
        if a == 0:
            x = scope.record("transpose", (x,), where, axes=(1, 0))
        if b == 1:
            y = scope.record("transpose", (y,), where, axes=(1, 0))
        scope.record("multiply", (x, y), where, equation.output)
    return program.with_equations(scope.equations)


def _is_added(known: Rebuild, equation: Equation) -> bool:
    """True for what is only read to be added to something."""
    output = equation.output
    if not known.is_used_once(output) or output.type.dtype not in _FLOATS:
        return False
    return any(is_sum(known.equations[at]) for at in known.readers.get(output, ()))


def _vector(scope: Scope, atom: Atom, axis: int, equation: Equation) -> Atom:
    """A matrix without an axis of length 1; without the axis already where a slice makes it."""
    length = atom.type.dims[1 - axis]
    maker = scope.makers.get(atom) if isinstance(atom, Variable) else None
    if maker is not None and maker.primitive == "slice" and not maker.params["drop"]:
        params = {**maker.params, "drop": (axis,)}
        return scope.record("slice", maker.inputs, maker.location, **params)
    return scope.record("reshape", (atom,), equation.location, shape=(length,))


def _is_outer(equation: Equation) -> bool:
    if equation.primitive != "contract":
        return False
    product = Contraction.of(equation)
    if not product.is_plain or product.ndims != (2, 2) or len(product.contracted) != 1:
        return False
    is_thin = equation.inputs[0].type.dims[product.summed(0)[0]] == 1
    return is_thin and equation.output.type.nbytes <= OUTER_BYTES
