"""Reassociate sums: known terms are added first, so that the sums of many steps can be made
together.

Rounds differently: it runs at the fast level alone.

>>> from stcompile.wengert.text import parse_program
>>> print(reassociate_sums(parse_program('''
... program f(x: f32[2,3], h: f32[2,3], b: f32[3]) {
...   v1: f32[2,3] = sin(x)
...   v2: f32[2,3] = cos(h)
...   v3: f32[2,3] = add(v1, v2)
...   v4: f32[2,3] = add(v3, b)
...   return v4
... }''')))
program f(x: f32[2,3], h: f32[2,3], b: f32[3]) {
  v1: f32[2,3] = sin(x)
  v2: f32[2,3] = cos(h)
  v5: f32[2,3] = add(v1, b)
  v6: f32[2,3] = add(v5, v2)
  return v6
}
"""

from __future__ import annotations

from stcompile.passes.general.rebuild import Rebuild, have_same_settings, with_inner
from stcompile.wengert.ir import Atom, Equation, Program


def reassociate_sums(program: Program) -> Program:
    """The program with the terms of its sums of three and more in the order of their making."""
    program = with_inner(program, reassociate_sums)
    rebuild = Rebuild(program)
    for at, equation in enumerate(program.equations):
        if _is_root(rebuild, equation):
            _reorder(rebuild, at, equation)
    return rebuild.done()


def _is_sum(equation: Equation) -> bool:
    if equation.primitive != "add":
        return False
    types = [atom.type for atom in (*equation.inputs, equation.output)]
    return all(
        type.kind == "array" and type.dtype == types[0].dtype and type.inexact for type in types
    )


def _is_root(rebuild: Rebuild, equation: Equation) -> bool:
    """True for a sum that is not a term of another sum."""
    if not _is_sum(equation):
        return False
    readers = rebuild.readers.get(equation.output, [])
    is_term = rebuild.is_used_once(equation.output) and any(
        _is_sum(rebuild.equations[at]) for at in readers
    )
    return not is_term


def _terms(rebuild: Rebuild, root: Equation) -> tuple[list[Atom], list[Equation]]:
    """The terms of a sum in order, through sums that nothing else reads, and these sums. There may
    be more of them than Python has frames."""
    terms: list[Atom] = []
    sums: list[Equation] = []
    waiting = list(reversed(root.inputs))
    while waiting:
        atom = waiting.pop()
        inner = rebuild.maker(atom, "add")
        if inner is not None and _is_sum(inner) and rebuild.is_used_once(atom):
            sums.append(inner)
            waiting += reversed(inner.inputs)
        else:
            terms.append(atom)
    return terms, sums


def _reorder(rebuild: Rebuild, at: int, root: Equation) -> None:
    terms, sums = _terms(rebuild, root)
    if len(terms) < 3:
        return
    ordered = sorted(terms, key=rebuild.defined_at)
    wide = next((term for term in ordered if term.type.dims == root.output.type.dims), None)
    if wide is None:  # the sum is wider than all that it is made of
        return
    if wide is not ordered[0] and wide is ordered[1]:  # commutes: the array first
        ordered[:2] = wide, ordered[0]
    if ordered == terms or not have_same_settings(*sums, root):
        return
    total = ordered[0]
    for term in ordered[1:]:
        total = rebuild.insert(at, "add", (total, term), root.location)
    for inner in sums:
        rebuild.drop(rebuild.defined_at(inner.output))
    rebuild.drop(at)
    rebuild.mapping[root.output] = total
