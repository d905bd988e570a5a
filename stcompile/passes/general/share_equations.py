"""Compute equal pure equations once.

A copy of the rows that a loop stacked, which nothing else reads, is replaced by the rows.

>>> from stcompile.wengert.text import parse_program
>>> print(share_equations(parse_program('''
... program f(x: float) {
...   v1: float = multiply(x, x)
...   v2: float = multiply(x, x)
...   v3: float = add(v1, v2)
...   return v3
... }''')))
program f(x: float) {
  v1: float = multiply(x, x)
  v3: float = add(v1, v1)
  return v3
}
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from stcompile.wengert.ir import Atom, Equation, Program, Variable, exact, map_programs
from stcompile.wengert.parts import WRITES
from stcompile.wengert.primitives.control import Ports


def share_equations(program: Program) -> Program:
    """The program with repeated equations replaced by their first occurrence.

    An array that is written in place later (the accumulator of an ``accumulate`` or an ``update``,
    the first value of a carried variable) is left alone: two accumulators that start equal do not
    stay equal, and sharing them would cost a copy. Calls with a rule of their own stay apart before
    they are differentiated: each has its own cotangent, which a rule may treat in any way.
    """
    program = _without_copies(program)
    written: set[Atom] = set()
    for equation in program.equations:
        if equation.primitive in WRITES:
            written.add(equation.inputs[0])
        elif equation.primitive == "loop":
            written.update(Ports.of(equation).carry)
        elif equation.primitive == "kernel":
            written.update(equation.inputs)
    first: dict[tuple[object, ...], Equation] = {}
    mapping: dict[Variable, Atom] = {}
    kept: list[Equation] = []
    for original in program.equations:
        equation = map_programs(original, share_equations).substitute(mapping)
        has_rule = equation.params.get("adjoint") is not None
        if equation.effects or has_rule or not written.isdisjoint(original.outputs):
            kept.append(equation)
            continue
        where = (equation.location.errstate, equation.location.again)
        key = (equation.primitive, equation.inputs, exact(equation.params), where)
        known = first.setdefault(key, equation)
        if known is equation:
            kept.append(equation)
        else:
            mapping.update(zip(equation.outputs, known.outputs, strict=True))
    return program.with_equations(kept, mapping)


def _without_copies(program: Program) -> Program:
    """The program with loops that stack their rows directly in place of copies."""
    stacked: set[Atom] = set()
    for equation in program.equations:
        if equation.primitive == "loop":
            stacked.update(equation.outputs[len(Ports.of(equation).carry) :])
    if not stacked:
        return program
    uses = Counter(atom for equation in program.equations for atom in equation.inputs)
    uses.update(program.outputs)
    copies = {
        equation.inputs[0]: equation.output
        for equation in program.equations
        if equation.primitive == "copy"
        and equation.inputs[0] in stacked
        and uses[equation.inputs[0]] == 1
    }
    if not copies:
        return program
    taken = set(copies.values())
    equations = tuple(
        replace(equation, outputs=tuple(copies.get(v, v) for v in equation.outputs))
        for equation in program.equations
        if taken.isdisjoint(equation.outputs)
    )
    return replace(program, equations=equations)
