"""Merge a factor for each column into a product with a diagonal matrix: ``x @ W + x * d`` is ``x @
(W + diag(d))``, and the sums of ``x * y`` over the rows are the diagonal of ``x.T @ y``.

The second form occurs in the adjoint of the first. Both pass over the long array once instead of
three times. Either operand may be negated, as adjoints leave it: the sign goes into the matrix.
Rounds differently: it runs at the fast levels alone.

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
from typing import NamedTuple

import numpy as np

from stcompile.base.thresholds import LONGER_THAN_MATRIX
from stcompile.passes.general.rebuild import Rebuild, have_same_settings, with_inner
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, freeze
from stcompile.wengert.primitives.contraction import Contraction
from stcompile.wengert.sums import is_sum


def merge_diagonals(program: Program) -> Program:
    """The program with elementwise products merged with products of matrices beside them."""
    program = with_inner(program, merge_diagonals)
    return _diagonals_of_products(_factors_of_columns(program))


class _Signed(NamedTuple):
    """An atom without the equations that negate it."""

    atom: Atom
    is_negated: bool


def _signed(rebuild: Rebuild, atom: Atom) -> _Signed:
    negated = False
    while (equation := rebuild.maker(atom, "negative")) is not None and atom.type.inexact:
        (atom,), negated = equation.inputs, not negated
    return _Signed(atom, negated)


# --- x @ W + x * d --------------------------------------------------------------------------------


def _factors_of_columns(program: Program) -> Program:
    rebuild = Rebuild(program)
    for at, equation in enumerate(program.equations):
        if is_sum(equation):
            any(_Sum(rebuild, at, equation, side).merge() for side in (0, 1))
    return rebuild.done()


class _Sum:
    """A sum or a difference. The term of one ``side`` may be a product of matrices, and the other
    term an elementwise product that shares an operand with it."""

    def __init__(self, rebuild: Rebuild, at: int, total: Equation, side: int) -> None:
        self.rebuild = rebuild
        self.at = at
        self.total = total
        terms = [self._term(place) for place in (side, 1 - side)]
        self.terms = tuple(term.atom for term in terms)
        self.are_negated = tuple(term.is_negated for term in terms)

    def _term(self, place: int) -> _Signed:
        atom, is_negated = _signed(self.rebuild, self.total.inputs[place])
        is_subtracted = self.total.primitive == "subtract" and place == 1
        return _Signed(atom, is_negated != is_subtracted)

    def merge(self) -> bool:
        """Merge the sum into a single product of matrices; False if that is not possible."""
        product, scaled = self.terms
        contraction = self.rebuild.maker(product, "contract")
        multiplication = self.rebuild.maker(scaled, "multiply")
        if contraction is None or multiplication is None or not self._fit():
            return False
        if not have_same_settings(contraction, multiplication, self.total):
            return False
        for side, long in enumerate(contraction.inputs):
            for place, factor in enumerate(multiplication.inputs):
                other = _signed(self.rebuild, multiplication.inputs[1 - place])
                same, is_negated = _signed(self.rebuild, long)
                if other.atom == same and (shape := _columns(contraction, side, factor)):
                    sign = is_negated != other.is_negated
                    self._replace(contraction, side, factor, shape, sign)
                    return True
        return False

    def _fit(self) -> bool:
        """True for terms of the type of the sum that nothing else reads."""
        read_once = all(
            self.rebuild.is_used_once(atom)
            for term in self.total.inputs
            for atom in self._chain(term)
        )
        return read_once and all(t.type == self.total.output.type for t in self.total.inputs)

    def _chain(self, atom: Atom) -> list[Atom]:
        """An atom, and the atoms that it is the negative of."""
        chain = [atom]
        while atom not in self.terms:
            (atom,) = self.rebuild.equations[self.rebuild.defined_at(atom)].inputs
            chain.append(atom)
        return chain

    def _replace(
        self, contraction: Equation, side: int, factor: Atom, shape: tuple[int, ...], sign: bool
    ) -> None:
        """Replace the sum; ``sign`` is true if the long operands of both products differ by their
        signs."""
        matrix, product = self._untransposed(contraction, 1 - side)
        both = self._both(matrix, self._diagonal(factor, shape), sign)
        long = contraction.inputs[side]
        merged = replace(
            contraction,
            outputs=self.total.outputs,
            inputs=(long, both) if side == 0 else (both, long),
            params=replace(product, spelling="").params,
            location=self.total.location,
        )
        self.rebuild.substitute(self.at, merged)
        for term in self.total.inputs:
            for atom in self._chain(term):
                self.rebuild.drop(self.rebuild.defined_at(atom))

    def _untransposed(self, contraction: Equation, side: int) -> tuple[Atom, Contraction]:
        """The matrix of a product before it was transposed, which leaves a diagonal matrix
        unchanged: the adjoint reads the same matrix, and both add the diagonal to it."""
        matrix, product = contraction.inputs[side], Contraction.of(contraction)
        turn = self.rebuild.maker(matrix, "transpose")
        last = matrix.type.ndim - 1
        if turn is None or turn.params["axes"] != (*range(last - 1), last, last - 1):
            return matrix, product
        return turn.inputs[0], product.turned(side, turn.params["axes"])

    def _diagonal(self, factor: Atom, shape: tuple[int, ...]) -> Atom:
        n = shape[-1]
        eye = self._insert("eye", n=n, m=n, dtype=np.dtype(bool))
        is_row = factor.type.dims == shape
        row = factor if is_row else self._insert("reshape", factor, shape=shape)
        return self._insert("where", eye, row, Constant(0))

    def _both(self, matrix: Atom, diagonal: Atom, sign: bool) -> Atom:
        """The sum of a matrix and a diagonal matrix, with the signs of the terms."""
        is_matrix_negated, is_diagonal_negated = self.are_negated
        is_diagonal_negated = is_diagonal_negated != sign
        if is_matrix_negated == is_diagonal_negated:
            both = self._insert("add", matrix, diagonal)
            return self._insert("negative", both) if is_matrix_negated else both
        first, second = (diagonal, matrix) if is_matrix_negated else (matrix, diagonal)
        return self._insert("subtract", first, second)

    def _insert(self, primitive: str, *inputs: Atom, **params: object) -> Variable:
        return self.rebuild.insert(self.at, primitive, inputs, self.total.location, **params)


def _columns(contraction: Equation, side: int, factor: Atom) -> tuple[int, ...] | None:
    """The shape of a factor as rows that its diagonal matrices are made from; None if it does not
    have a number for each element along the contracted axis, in the layout of the operand of that
    side."""
    long, matrix = contraction.inputs[side].type, contraction.inputs[1 - side].type
    product = Contraction.of(contraction)
    dims = (1,) * (long.ndim - factor.type.ndim) + factor.type.dims
    if len(product.contracted) != 1 or product.order or len(dims) != long.ndim:
        return None
    if matrix.is_named or factor.type.is_named:  # a row of such a length is no shape
        return None
    (along,), (against,) = product.summed(side), product.summed(1 - side)
    count = len(product.batch)
    expected = count if side else long.ndim - 1  # the place of the matrix's free axis in the result
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

    def key(equation: Equation) -> frozenset[Atom]:
        return frozenset(_signed(rebuild, atom).atom for atom in equation.inputs)

    products: dict[frozenset[Atom], int] = {}
    for at, equation in enumerate(program.equations):
        if equation.primitive == "contract":
            products.setdefault(key(equation), at)
    for at, equation in enumerate(program.equations):
        if equation.primitive != "sum" or equation.params["keepdims"]:
            continue
        factors = rebuild.maker(equation.inputs[0], "multiply")
        if factors is None or not rebuild.is_used_once(equation.inputs[0]):
            continue
        place = products.get(key(factors))
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
        and all(rebuild.defined_at(atom) < at for atom in product.inputs)
    )
    if not fits:
        return
    result: Variable = product.output
    if place > at:
        result = rebuild.insert(at, "contract", product.inputs, product.location, **product.params)
        rebuild.mapping[product.output] = result
        rebuild.drop(place)
    params = freeze({"axis1": count, "axis2": count + 1, "offset": 0})
    signed = [_signed(rebuild, atom) for atom in (*product.inputs, *factors.inputs)]
    if sum(atom.is_negated for atom in signed) % 2 == 0:
        made = replace(total, primitive="diagonal", inputs=(result,), params=params)
        rebuild.substitute(at, made)
    elif (reader := _only_negated(rebuild, total.output)) is not None:
        made = replace(
            rebuild.equations[reader], primitive="diagonal", inputs=(result,), params=params
        )
        rebuild.substitute(reader, made)
        rebuild.drop(at)
    else:
        diagonal = rebuild.insert(at, "diagonal", (result,), total.location, **params)
        made = replace(total, primitive="negative", inputs=(diagonal,), params=freeze({}))
        rebuild.substitute(at, made)
    rebuild.drop(rebuild.defined_at(total.inputs[0]))


def _only_negated(rebuild: Rebuild, atom: Variable) -> int | None:
    """The position of the equation that negates an atom, if nothing else reads it."""
    readers = rebuild.readers.get(atom, ()) if rebuild.is_used_once(atom) else ()
    return next((at for at in readers if rebuild.equations[at].primitive == "negative"), None)
