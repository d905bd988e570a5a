"""Compute values that a loop keeps for its adjoint again, if that costs no more than reading them.

A value of each step that follows by a few sums and products from constants of the loop and from the
counter is not kept: the loop that reads it gets the operands instead. In a loop over numbers that
costs less than writing and reading an array of all steps, which may have an axis more than any
other array.

>>> from stcompile.wengert.text import parse_program
>>> print(compute_again(parse_program('''
... program f(a: f64[9], x: f64) {
...   y: f64, v1: f64[9] = loop(a, x; carry=1, constants=1, length=9,
...     body=program body(a: f64[9], k: int, x: f64) {
...       v1: f64 = slice(a, k; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
...       v2: f64 = multiply(v1, v1)
...       v3: f64 = multiply(v2, x)
...       return v3, v2
...     })
...   d_x: f64 = loop(f64(1.0), v1; carry=1, constants=0, length=9, reverse=True,
...     body=program body(k: int, d_x: f64, v2: f64) {
...       v1: f64 = multiply(d_x, v2)
...       return v1
...     })
...   return y, d_x
... }''')))
program f(a: f64[9], x: f64) {
  y: f64, v1: f64[9] = loop(a, x; body=program body(a: f64[9], k: int, x: f64) {
    v1: f64 = slice(a, k; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
    v2: f64 = multiply(v1, v1)
    v3: f64 = multiply(v2, x)
    return v3, v2
  }, carry=1, constants=1, length=9)
  d_x: f64 = loop(a, f64(1.0); body=program body(a: f64[9], k: int, d_x: f64) {
    v3: f64 = slice(a, k; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
    v4: f64 = multiply(v3, v3)
    v1: f64 = multiply(d_x, v4)
    return v1
  }, carry=1, constants=1, length=9, reverse=True)
  return y, d_x
}

What nobody reads any more is taken away by `eliminate_dead_code`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from stcompile.base.thresholds import REPEATED_WORK
from stcompile.passes.general.rebuild import Builder
from stcompile.passes.loops.all_steps import LAYOUT
from stcompile.wengert.ir import Atom, Equation, Program, Variable, map_programs, mentioned
from stcompile.wengert.loops import Fed, Kept, Loop, loop_of
from stcompile.wengert.naming import base_name
from stcompile.wengert.primitives.elementwise import SUMS_AND_PRODUCTS
from stcompile.wengert.templates import inplace_operand, mark_of


class _Recipe(NamedTuple):
    """The equations that compute a kept value of a loop in each of its steps."""

    loop: Loop
    atom: Variable
    equations: Sequence[Equation]


def compute_again(program: Program) -> Program:
    """The program without kept values of steps that are as quickly computed where they are read."""
    recipes: dict[Variable, _Recipe] = {}
    written, read = _written(program), _read_whole(program)
    equations = []
    for original in program.equations:
        equation = map_programs(original, compute_again)
        if equation.primitive == "loop":
            loop = loop_of(equation)
            equation = _computing(loop, recipes)
            for kept in loop.ys:
                recipe = _recipe(loop, kept, written)
                if recipe is not None and kept.port not in read:
                    recipes[kept.port] = recipe
        equations.append(equation)
    return program.with_equations(equations)


def _written(program: Program) -> set[Atom]:
    """The atoms that equations of a program write to: a later read would need a copy of them."""
    found: set[Atom] = set()
    for equation in program.equations:
        if equation.primitive == "loop":
            found.update(c.initial for c in loop_of(equation).carry)
        elif mark_of(equation.primitive) == "write":
            found.add(equation.inputs[inplace_operand(equation.primitive)])
    return found


def _read_whole(program: Program) -> set[Atom]:
    """The atoms that are read other than item by item in the steps of loops."""
    found: set[Atom] = set(program.outputs)
    for equation in program.equations:
        items = len(loop_of(equation).xs) if equation.primitive == "loop" else 0
        found.update(equation.inputs[: len(equation.inputs) - items])
    return found


def _recipe(loop: Loop, kept: Kept, written: set[Atom]) -> _Recipe | None:
    """The equations of a value that a loop keeps; None if it does not follow by a few sums and
    products."""
    if loop.counter is None or not isinstance(kept.atom, Variable):
        return None
    known = {fed.variable for fed in loop.constants if fed.source not in written}
    known.add(loop.counter)
    wanted: set[Atom] = {kept.atom}
    found: list[Equation] = []
    for equation in reversed(loop.equations):
        if wanted.isdisjoint(equation.outputs):
            continue
        if equation.primitive not in SUMS_AND_PRODUCTS | LAYOUT or equation.location.errstate:
            return None
        found.append(equation)
        wanted.update(v for v in equation.variables if v not in known)
    made = {equation.output for equation in found}
    is_cheap = sum(equation.primitive in SUMS_AND_PRODUCTS for equation in found) <= REPEATED_WORK
    return _Recipe(loop, kept.atom, found[::-1]) if found and wanted == made and is_cheap else None


def _computing(loop: Loop, recipes: Mapping[Variable, _Recipe]) -> Equation:
    """A loop that computes again the values that it read from other loops."""
    body = Builder(loop.body)
    constants, xs, before = list(loop.constants), [], list[Equation]()
    mapping: dict[Variable, Atom] = {}
    for fed in loop.xs:
        recipe = recipes.get(fed.source) if isinstance(fed.source, Variable) else None
        if recipe is None or not _fits(recipe, loop):
            xs.append(fed)
            continue
        assert recipe.loop.counter is not None and loop.counter is not None
        inner: dict[Variable, Atom] = {recipe.loop.counter: loop.counter}
        read = {v for equation in recipe.equations for v in equation.variables}
        for given in recipe.loop.constants:
            if given.variable not in read:
                continue
            own = next((c for c in constants if c.source == given.source), None)
            if own is None:
                name = base_name(given.variable.name)
                own = Fed(given.source, body.variable(given.variable.type, name))
                constants.append(own)
            inner[given.variable] = own.variable
        for equation in recipe.equations:
            made = equation.substitute(inner)
            output = body.variable(equation.output.type, equation.output.name)
            location = equation.location.in_section(loop.equation.location.section)
            before.append(replace(made, outputs=(output,), location=location))
            inner[equation.output] = output
        mapping[fed.variable] = inner[recipe.atom]
    if not mapping:
        return loop.equation
    return replace(
        loop,
        constants=tuple(constants),
        xs=tuple(xs),
        equations=(*before, *(equation.substitute(mapping) for equation in loop.equations)),
        carry=tuple(c._replace(final=_mapped(c.final, mapping)) for c in loop.carry),
        ys=tuple(y._replace(atom=_mapped(y.atom, mapping)) for y in loop.ys),
    ).done()


def _mapped(atom: Atom, mapping: Mapping[Variable, Atom]) -> Atom:
    return mapping.get(atom, atom) if isinstance(atom, Variable) else atom


def _fits(recipe: _Recipe, loop: Loop) -> bool:
    """True for a loop over the same steps; if the equations mention the counter of the recipe's
    loop as a symbol, both loops bind the same symbol."""
    return (
        loop.length == recipe.loop.length
        and loop.length is not None
        and (
            recipe.loop.binds == loop.binds or recipe.loop.binds not in mentioned(recipe.equations)
        )
    )
