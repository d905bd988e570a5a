"""A factor for each column is a product with a diagonal matrix: ``x @ W + x * d`` is
``x @ (W + diag(d))``, and the sums of ``x * y`` over the rows are the diagonal of ``x.T @ y``.

The second stands in the adjoint of the first. Both go through the long array once instead of three
times. Rounds differently: it runs at the fast level alone.

>>> from stcompile.wengert.text import parse_program
>>> print(merge_diagonals(parse_program('''
... program f(x: f64[100,3], W: f64[3,3], d: f64[3]) {
...   v1: f64[100,3] = contract(x, W; batch=(), contracted=((1, 0),), order=(), spelling='matmul')
...   v2: f64[100,3] = multiply(x, d)
...   y: f64[100,3] = add(v1, v2)
...   v3: f64[100,3] = multiply(x, y)
...   v4: f64[3] = sum(v3; axis=(0,), keepdims=False)
...   v5: f64[3,3] = contract(x, y; batch=(), contracted=((0, 0),), order=(), spelling='')
...   return v4, v5
... }''')))
program f(x: f64[100,3], W: f64[3,3], d: f64[3]) {
  v6: b8[3,3] = eye(; dtype=b8, m=3, n=3)
  v7: f64[1,3] = reshape(d; shape=(1, 3))
  v8: f64[3,3] = where(v6, v7, 0)
  v9: f64[3,3] = add(W, v8)
  y: f64[100,3] = contract(x, v9; batch=(), contracted=((1, 0),), order=(), spelling='')
  v1: f64[3,3] = contract(x, y; batch=(), contracted=((0, 0),), order=(), spelling='')
  v4: f64[3] = diagonal(v1; axis1=0, axis2=1, offset=0)
  return v4, v1
}
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stcompile.base.thresholds import LONGER_THAN_MATRIX
from stcompile.passes.general.rebuild import Rebuild, have_same_settings, with_inner
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, freeze
from stcompile.wengert.primitives.contraction import Contraction
from stcompile.wengert.sums import is_addition


def merge_diagonals(program: Program) -> Program:
    """The program with elementwise products merged with products of matrices beside them."""
    program = with_inner(program, merge_diagonals)
    return _diagonals_of_products(_factors_of_columns(program))


# --- x @ W + x * d --------------------------------------------------------------------------------


def _factors_of_columns(program: Program) -> Program:
    rebuild = Rebuild(program)
    for at, equation in enumerate(program.equations):
        if is_addition(equation):
            for product, scaled in (equation.inputs, equation.inputs[::-1]):
                if _merge(rebuild, at, equation, product, scaled):
                    break
    return rebuild.done()


def _merge(rebuild: Rebuild, at: int, total: Equation, product: Atom, scaled: Atom) -> bool:
    contraction = rebuild.maker(product, "contract")
    multiplication = rebuild.maker(scaled, "multiply")
    if contraction is None or multiplication is None:
        return False
    if not (rebuild.is_used_once(product) and rebuild.is_used_once(scaled)):
        return False
    if not have_same_settings(contraction, multiplication, total):
        return False
    for side, long in enumerate(contraction.inputs):
        for place, factor in enumerate(multiplication.inputs):
            if multiplication.inputs[1 - place] != long:
                continue
            shape = _columns(contraction, side, factor)
            if shape is None:
                continue
            matrix, where = contraction.inputs[1 - side], total.location
            n = shape[-1]
            eye = rebuild.insert(at, "eye", (), where, n=n, m=n, dtype=np.dtype(bool))
            row = rebuild.insert(at, "reshape", (factor,), where, shape=shape)
            diagonal = rebuild.insert(at, "where", (eye, row, Constant(0)), where)
            both = rebuild.insert(at, "add", (matrix, diagonal), where)
            operands = (long, both) if side == 0 else (both, long)
            merged = replace(
                contraction,
                outputs=total.outputs,
                inputs=operands,
                params=freeze({**contraction.params, "spelling": ""}),
                location=where,
            )
            rebuild.substitute(at, merged)
            for atom in (product, scaled):
                rebuild.drop(rebuild.defined_at(atom))
            return True
    return False


def _columns(contraction: Equation, side: int, factor: Atom) -> tuple[int, ...] | None:
    """The shape of a factor as rows that its diagonal matrices are made from; None if it is not
    one for each element along the contracted axis, in the layout of the operand of that side."""
    long, matrix = contraction.inputs[side].type, contraction.inputs[1 - side].type
    product = Contraction.of(contraction)
    dims = (1,) * (long.ndim - factor.type.ndim) + factor.type.dims
    if len(product.contracted) != 1 or product.order or len(dims) != long.ndim:
        return None
    (along,), (against,) = product.summed(side), product.summed(1 - side)
    count = len(product.batch)
    expected = count if side else long.ndim - 1  # where the result has the matrix's free axis
    is_square = (
        matrix.ndim == count + 2
        and product.batch == tuple((axis, axis) for axis in range(count))
        and against >= count
        and matrix.dims[-1] == matrix.dims[-2]
    )
    same = factor.type.dtype == matrix.dtype == long.dtype and long.inexact
    spread = all(dims[axis] == 1 for axis in range(count, long.ndim) if axis != along)
    if not (
        is_square and same and spread and along == expected and dims[along] == long.dims[along]
    ):
        return None
    if long.size < LONGER_THAN_MATRIX * matrix.size:
        return None
    return (*dims[:count], 1, dims[along])


# --- sums of x * y --------------------------------------------------------------------------------


def _diagonals_of_products(program: Program) -> Program:
    rebuild = Rebuild(program)
    products: dict[frozenset[Atom], int] = {}
    for at, equation in enumerate(program.equations):
        if equation.primitive == "contract":
            products.setdefault(frozenset(equation.inputs), at)
    for at, equation in enumerate(program.equations):
        if equation.primitive != "sum" or equation.params["keepdims"]:
            continue
        factors = rebuild.maker(equation.inputs[0], "multiply")
        if factors is None or not rebuild.is_used_once(equation.inputs[0]):
            continue
        place = products.get(frozenset(factors.inputs))
        if place is not None and place not in rebuild.dropped:
            _read_diagonal(rebuild, at, factors, place)
    return rebuild.done()


def _read_diagonal(rebuild: Rebuild, at: int, factors: Equation, place: int) -> None:
    total, product = rebuild.equations[at], rebuild.equations[place]
    x, y = (atom.type for atom in product.inputs)
    view, axes = Contraction.of(product), total.params["axis"]
    count = len(view.batch)
    fits = (
        x == y == factors.output.type
        and x.dtype == total.output.type.dtype
        and not view.order
        and view.batch == tuple((axis, axis) for axis in range(count))
        and sorted(view.contracted) == [(axis, axis) for axis in sorted(axes)]
        and x.ndim - count - len(axes) == 1
        and x.size >= LONGER_THAN_MATRIX * total.output.type.size
        and have_same_settings(total, factors, product)
    )
    if not fits:
        return
    result: Variable = product.output
    if place > at:
        result = rebuild.insert(at, "contract", product.inputs, product.location, **product.params)
        rebuild.mapping[product.output] = result
        rebuild.drop(place)
    where = freeze({"axis1": count, "axis2": count + 1, "offset": 0})
    rebuild.substitute(at, replace(total, primitive="diagonal", inputs=(result,), params=where))
    rebuild.drop(rebuild.defined_at(total.inputs[0]))
