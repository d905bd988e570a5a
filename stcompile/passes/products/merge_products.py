"""Merge products that share a factor: ``x1 @ W``, ``x2 @ W`` are rows of ``[x1; x2] @ W``.

The rows of the left factors are stacked, and the results are slices of the merged product. An
operation that follows on all slices alike (a bias added, a sine taken) is applied to the whole.
Rounds differently where BLAS splits a larger product otherwise: it runs at the fast level alone.

>>> from stcompile.wengert.text import parse_program
>>> print(merge_products(parse_program('''
... program f(x: f32[4,3], y: f32[4,3], W: f32[3,5], b: f32[5]) {
...   v1: f32[4,5] = contract(x, W; batch=(), contracted=((1, 0),), order=(), spelling='matmul')
...   v2: f32[4,5] = add(v1, b)
...   v3: f32[4,5] = contract(y, W; batch=(), contracted=((1, 0),), order=(), spelling='matmul')
...   v4: f32[4,5] = add(v3, b)
...   v5: f32[4,5] = multiply(v2, v4)
...   return v5
... }''')))
program f(x: f32[4,3], y: f32[4,3], W: f32[3,5], b: f32[5]) {
  v6: f32[8,3] = concatenate(x, y; axis=0)
  v7: f32[8,5] = contract(v6, W; batch=(), contracted=((1, 0),), order=(), spelling='')
  v8: f32[8,5] = add(v7, b)
  v9: f32[4,5] = slice(v8; drop=(), length=(4, 5), start=((0,), (0,)), step=(1, 1))
  v10: f32[4,5] = slice(v8; drop=(), length=(4, 5), start=((4,), (0,)), step=(1, 1))
  v5: f32[4,5] = multiply(v9, v10)
  return v5
}
"""

from __future__ import annotations

from dataclasses import dataclass

from stcompile.passes.general.rebuild import Rebuild, with_inner
from stcompile.wengert.ir import Atom, Equation, Program, Variable, exact
from stcompile.wengert.parts import Part
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.contraction import Contraction
from stcompile.wengert.templates import mark_of

ROWS = Contraction((2, 2), contracted=((1, 0),))


def merge_products(program: Program) -> Program:
    """The program with matrix products that share their right factor computed at once."""
    program = with_inner(program, merge_products)
    rebuild = Rebuild(program)
    moved: set[int] = set()  # positions of views: groups come in order, so these stand before all
    for group in _groups(rebuild):
        _merge(rebuild, group, moved)
    return rebuild.done()


# --- the choice of products -----------------------------------------------------------------------


def _groups(rebuild: Rebuild) -> list[list[int]]:
    """The positions of products that can be computed at once, at the position of the first of
    them."""
    found: dict[tuple[object, ...], list[int]] = {}
    for at, equation in enumerate(rebuild.equations):
        if not _is_rows(equation):
            continue
        x, y = equation.inputs
        key = (y, x.type.dtype, equation.location.section, equation.location.errstate)
        group = found.setdefault(key, [])
        if not group or _is_known(rebuild, x, group[0]):
            group.append(at)
    return [group for group in found.values() if len(group) > 1]


def _is_rows(equation: Equation) -> bool:
    """True for a product of two matrices, row by row of the first."""
    if equation.primitive != "contract" or not Contraction.of(equation).is_like(ROWS):
        return False
    if equation.varies:
        return False
    x, y = equation.inputs
    return x.type.dtype == y.type.dtype


def _is_known(rebuild: Rebuild, atom: Atom, at: int) -> bool:
    """True if an atom, or the source of a view, is defined before a position."""
    where = rebuild.defined_at(atom)
    if where < at:
        return True
    equation = rebuild.equations[where]
    is_view = mark_of(equation.primitive) == "view" and not equation.effects
    return is_view and all(_is_known(rebuild, a, at) for a in equation.inputs)


# --- one product for many ---------------------------------------------------------------------


@dataclass
class _Whole:
    """An array whose slices, stacked, are ``parts``; each is defined by the equation at its
    position."""

    variable: Variable
    parts: list[Variable]
    positions: list[int]


def _merge(rebuild: Rebuild, group: list[int], moved: set[int]) -> None:
    equations = [rebuild.equations[at] for at in group]
    first = equations[0]
    at, location = group[0], first.location
    for equation in equations:
        _move_up(rebuild, equation.inputs[0], at, moved)
    rows = rebuild.insert(
        at, "concatenate", tuple(e.inputs[0] for e in equations), location, axis=0
    )
    product = rebuild.insert(at, "contract", (rows, first.inputs[1]), location, **ROWS.params)
    whole = _Whole(product, [e.output for e in equations], group)
    while (lifted := _lifted(rebuild, whole, at)) is not None:
        for position in whole.positions:
            rebuild.drop(position)
        whole = lifted
    start = 0
    for part, position in zip(whole.parts, whole.positions, strict=True):
        rebuild.drop(position)
        rebuild.mapping[part] = rebuild.insert(
            at, "slice", (whole.variable,), rebuild.equations[position].location,
            **Part.block((start, *(0 for _ in part.type.dims[1:])), part.type.dims).params,
        )  # fmt: skip
        start += part.type.dims[0]


def _move_up(rebuild: Rebuild, atom: Atom, at: int, moved: set[int]) -> None:
    """Define a view before a position."""
    where = rebuild.defined_at(atom)
    if where < at or where in moved:
        return
    moved.add(where)
    equation = rebuild.equations[where]
    for operand in equation.inputs:
        _move_up(rebuild, operand, at, moved)
    copied = rebuild.insert(
        at, equation.primitive, equation.inputs, equation.location, **equation.params
    )
    rebuild.drop(where)
    rebuild.mapping[equation.output] = copied


def _lifted(rebuild: Rebuild, whole: _Whole, at: int) -> _Whole | None:
    """The whole after the elementwise equation that is applied to each of its parts; None if they
    have no such equation in common."""
    readers = []
    for part in whole.parts:
        if not rebuild.is_used_once(part):
            return None
        readers += rebuild.readers.get(part, [])
    if len(readers) != len(whole.parts):
        return None
    equations = [rebuild.equations[position] for position in readers]
    first = equations[0]
    if not PRIMITIVES[first.primitive].elementwise or len(first.outputs) != 1:
        return None
    place = first.inputs.index(whole.parts[0])
    others = [*first.inputs[:place], *first.inputs[place + 1 :]]
    for part, equation in zip(whole.parts, equations, strict=True):
        rest = [*equation.inputs[:place], *equation.inputs[place + 1 :]]
        same = equation.primitive == first.primitive and exact(equation.params) == exact(
            first.params
        )
        fits = equation.inputs[place : place + 1] == (part,) and rest == others
        if not same or not fits or equation.output.type.dims != part.type.dims:
            return None
    if not all(_goes_with_rows(rebuild, other, whole, at) for other in others):
        return None
    inputs = (*first.inputs[:place], whole.variable, *first.inputs[place + 1 :])
    lifted = rebuild.insert(at, first.primitive, inputs, first.location, **first.params)
    if lifted.type.dtype != first.output.type.dtype:
        return None
    return _Whole(lifted, [e.output for e in equations], readers)


def _goes_with_rows(rebuild: Rebuild, other: Atom, whole: _Whole, at: int) -> bool:
    """True for an operand that is the same for each row."""
    return other.type.ndim < whole.variable.type.ndim and rebuild.defined_at(other) < at
