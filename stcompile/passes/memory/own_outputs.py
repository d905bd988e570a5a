"""Give returned arrays storage of their own.

A gradient may be an argument itself, a view, or the same array twice: such arrays are copied, so
that a caller may keep and change the returned arrays. A copy of a broadcast number is a filled
array.

>>> from stcompile.wengert.text import parse_program
>>> print(own_outputs(parse_program('''
... program f(x: f64[2,3]) {
...   v1: f64[3,2] = transpose(x; axes=(1, 0))
...   return v1
... }''')))
program f(x: f64[2,3]) {
  v1: f64[3,2] = transpose(x; axes=(1, 0))
  v2: f64[3,2] = copy(v1)
  return v2
}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stcompile.analysis.storage import storage_of
from stcompile.base.location import NOWHERE, Location
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, freeze
from stcompile.wengert.naming import name_variables, names_of
from stcompile.wengert.primitives import PRIMITIVES


def own_outputs(program: Program, first: int = 0) -> Program:
    """The program with outputs from position ``first`` on in storage of their own."""
    storage = storage_of(program)
    taken: set[Variable] = set()  # roots that an output has for itself
    equations = list(program.equations)
    outputs: list[Atom] = list(program.outputs)
    makers = {output: equation for equation in equations for output in equation.outputs}
    hints: dict[Variable, str] = {}
    for position, atom in enumerate(outputs):
        if position < first or isinstance(atom, Constant) or atom.type.kind != "array":
            continue
        roots = storage.roots_of(atom)
        if storage.is_own(_whole(atom, makers)) and taken.isdisjoint(roots):
            taken |= storage.reach(roots)
            continue
        copy = Variable(f"%{position}", atom.type)
        hints[copy] = atom.name
        maker = makers.get(atom)
        equations.append(_copied(atom, copy, maker, maker.location if maker else _end(program)))
        outputs[position] = copy
    if len(equations) == len(program.equations):
        return program
    live = eliminate_dead_code(replace(program, equations=tuple(equations), outputs=tuple(outputs)))
    return name_variables(live, {**names_of(live), **hints})


def _whole(atom: Variable, makers: Mapping[Variable, Equation]) -> Variable:
    """The array that a variable is a rearrangement of."""
    while (maker := makers.get(atom)) is not None and PRIMITIVES[maker.primitive].rearranges:
        (source,) = maker.inputs
        if not isinstance(source, Variable) or source.type.kind != "array":
            break
        atom = source
    return atom


def _end(program: Program) -> Location:
    """A location outside of the user's lines, in the adjoint if there is one."""
    has_adjoint = any(equation.location.section == "adjoint" for equation in program.equations)
    return NOWHERE.in_section("adjoint") if has_adjoint else NOWHERE


def _copied(atom: Variable, copy: Variable, maker: Equation | None, location: Location) -> Equation:
    """A copy of a variable; a copy of a broadcast number is a filled array."""
    if maker is not None and maker.primitive == "broadcast_to":
        source = maker.inputs[0]
        if source.type.kind != "array" or not source.type.dims:
            params = freeze({"shape": copy.type.dims, "dtype": copy.type.dtype})
            return Equation((copy,), "full", (source,), params, (), location)
    return Equation((copy,), "copy", (atom,), freeze({}), (), location)
