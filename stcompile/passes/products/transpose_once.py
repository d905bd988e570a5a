"""Transpose a small matrix once for several products that read it transposed.

The adjoint of a recurrent network multiplies by the transpose of the weights in each step. OpenBLAS
takes longer for a small product if the right factor is transposed (100 x 64 by 64 x 64 in float32:
10 µs, and 8 if it is not), and less than that to copy it.

>>> from stcompile.wengert.text import parse_program
>>> print(transpose_once(parse_program('''
... program f(x: f32[100,64], W: f32[64,64]) {
...   a: f32[100,64] = contract(x, W; batch=(), contracted=((1, 1),), order=(), spelling='')
...   b: f32[100,64] = contract(a, W; batch=(), contracted=((1, 1),), order=(), spelling='')
...   c: f32[100,64] = contract(b, W; batch=(), contracted=((1, 1),), order=(), spelling='')
...   return c
... }''')))
program f(x: f32[100,64], W: f32[64,64]) {
  v1: f32[64,64] = transpose(W; axes=(1, 0))
  v2: f32[64,64] = copy(v1)
  a: f32[100,64] = contract(x, v2; batch=(), contracted=((1, 0),), order=(), spelling='')
  b: f32[100,64] = contract(a, v2; batch=(), contracted=((1, 0),), order=(), spelling='')
  c: f32[100,64] = contract(b, v2; batch=(), contracted=((1, 0),), order=(), spelling='')
  return c
}
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from functools import partial

import numpy as np

from stcompile.base.thresholds import SMALL_PRODUCT, TRANSPOSED_READS
from stcompile.passes.general.rebuild import Rebuild
from stcompile.wengert.ir import Equation, Program, Variable, freeze, map_programs
from stcompile.wengert.primitives.contraction import Contraction, contracting, summed_size

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))  # which BLAS computes with


def transpose_once(program: Program) -> Program:
    """The program with a transposed copy of each matrix that several small products read
    transposed, or a product in each step of a loop."""
    return _transposed(program, 0)


def _transposed(program: Program, constants: int) -> Program:
    """The program, of which the first inputs are ``constants`` of a loop."""
    equations = [
        map_programs(e, partial(_transposed, constants=_steps(e))) for e in program.equations
    ]
    build = Rebuild(program.with_equations(equations))
    repeated: Container[Variable] = program.inputs[:constants]
    readers: dict[Variable, list[int]] = {}
    for at, equation in enumerate(build.equations):
        if _is_small(equation) and isinstance(equation.inputs[1], Variable):
            readers.setdefault(equation.inputs[1], []).append(at)
    for matrix, places in readers.items():
        if len(places) >= TRANSPOSED_READS or matrix in repeated:
            _transpose(build, matrix, places)
    return build.done()


def _steps(equation: Equation) -> int:
    """The number of inputs that are the same in all steps of a loop."""
    return int(equation.params["constants"]) if equation.primitive == "loop" else 0


def _is_small(equation: Equation) -> bool:
    """True for a small product with a transposed matrix."""
    if equation.primitive != "contract" or equation.varies:
        return False
    product, type = Contraction.of(equation), equation.output.type
    is_turned = product.ndims == (2, 2) and product.is_plain and product.contracted == ((1, 1),)
    is_float = type.dtype in _FLOATS and all(a.type.dtype == type.dtype for a in equation.inputs)
    return is_turned and is_float and type.size * summed_size(equation) <= SMALL_PRODUCT


def _transpose(build: Rebuild, matrix: Variable, places: list[int]) -> None:
    location = build.equations[places[0]].location
    turned = build.insert(places[0], "transpose", (matrix,), location, axes=(1, 0))
    copy = build.insert(places[0], "copy", (turned,), location)
    for at in places:
        equation = build.equations[at]
        params = freeze(contracting((1, 0)))
        inputs = (equation.inputs[0], copy)
        build.substitute(at, replace(equation, inputs=inputs, params=params))
