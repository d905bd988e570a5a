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

from collections.abc import Mapping, Sequence
from dataclasses import replace

from stcompile.analysis.storage import storage_of
from stcompile.base.location import NOWHERE, Location
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, freeze
from stcompile.wengert.naming import name_variables, names_of
from stcompile.wengert.primitives import PRIMITIVES


def own_outputs(
    program: Program, first: int = 0, kept: int = 0, cells: Sequence[int] = ()
) -> Program:
    """The program with outputs from position ``first`` on in storage of their own.

    The last outputs, ``kept`` of them, are what objects of the caller keep: ``cells`` tell the
    outputs apart then. An output of cell 0 may be the caller's array, or a view of it; those of
    another cell are one array, and not that of any other cell.
    """
    storage = storage_of(program)
    taken: set[Variable] = set()  # roots that an output has for itself
    owners: dict[Variable, int] = {}  # the cells that the roots are of
    equations = list(program.equations)
    outputs: list[Atom] = list(program.outputs)
    makers = {output: equation for equation in equations for output in equation.outputs}
    copies: dict[tuple[int, Atom], Variable] = {}
    hints: dict[Variable, str] = {}
    for position, atom in enumerate(outputs):
        cell = cells[position] if cells else position + 1
        is_kept = position >= len(outputs) - kept
        if isinstance(atom, Constant) or atom.type.kind != "array" or (is_kept and not cell):
            continue
        roots = storage.roots_of(atom)
        is_free = taken.isdisjoint(roots)
        if is_kept:
            is_free = {owners.get(root, cell) for root in storage.reach(roots)} <= {cell}
        owners.update(dict.fromkeys(roots - owners.keys(), cell))
        if position < first and not is_kept:
            continue
        if is_free and storage.is_own(_whole(atom, makers)):
            taken |= storage.reach(roots)
            continue
        if is_kept and (cell, atom) in copies:
            outputs[position] = copies[cell, atom]
            continue
        copy = copies[cell, atom] = Variable(f"%{position}", atom.type)
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
