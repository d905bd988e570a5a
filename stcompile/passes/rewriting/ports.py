"""Drop ports of loops and branches that change nothing.

A value that a loop carries unchanged becomes a constant of the loop; a value that both arms of a
branch return unchanged needs no branch; equal outputs are merged; a number needs no port at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stcompile.passes.rewriting.rewrite import Result, UnderWay, rule
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, map_programs
from stcompile.wengert.loops import Fed, loop_of
from stcompile.wengert.primitives.control import Ports


@rule("cond", "loop")
def numbers_inside(under_way: UnderWay, equation: Equation) -> Result:
    """Move the constants among the operands of a branch or a loop into its programs."""
    changed = _with_numbers(equation)
    return None if changed is equation else changed


@rule("cond", "loop")
def known_outputs(under_way: UnderWay, equation: Equation) -> Result:
    """Replace outputs of a branch or a loop that are known otherwise."""
    if equation.primitive == "cond":
        branches = (equation.params["then"], equation.params["otherwise"])
        known = {
            **_twins(equation, 0, *branches),
            **_idle_outputs(equation),
            **_flags(equation),
        }
    else:
        known = _twins(equation, equation.params["carry"], equation.params["body"])
    known = {output: atom for output, atom in known.items() if under_way.is_read(output)}
    for output, atom in known.items():
        under_way.stand_for(output, atom)
    return equation if known else None


@rule("loop")
def carried_unchanged(under_way: UnderWay, equation: Equation) -> Result:
    """Turn a value that a loop carries unchanged into a constant: its body and its condition get
    the first value."""
    loop = loop_of(equation)
    idle = [c for c in loop.carry if c.variable == c.final]
    if not idle:
        return None
    for c in idle:
        under_way.stand_for(c.result, c.initial)
    constants = *loop.constants, *(Fed(c.initial, c.variable, c.tested) for c in idle)
    carry = tuple(c for c in loop.carry if c not in idle)
    return replace(loop, constants=constants, carry=carry).done()


def _with_numbers(equation: Equation) -> Equation:
    """The branch or loop with the constants among its operands moved into its programs."""
    if equation.primitive == "cond":
        fixed: Sequence[Atom] = equation.inputs[1:]
    elif equation.primitive == "loop":
        fixed = Ports.of(equation).constants
    else:
        return equation
    if not any(isinstance(atom, Constant) for atom in fixed):
        return equation

    def place(program: Program) -> Program:
        pairs = zip(program.inputs, fixed, strict=False)
        known: dict[Variable, Atom] = {v: a for v, a in pairs if isinstance(a, Constant)}
        return program.with_equations([e.substitute(known) for e in program.equations], known)

    return map_programs(equation, place)


def _twins(equation: Equation, first: int, *programs: Program) -> dict[Variable, Atom]:
    """Outputs, from position ``first`` on, that always equal an earlier output."""
    known: dict[tuple[Atom, ...], Variable] = {}
    found: dict[Variable, Atom] = {}
    for position in range(first, len(equation.outputs)):
        output = equation.outputs[position]
        key = tuple(program.outputs[position] for program in programs)
        if known.setdefault(key, output) != output:
            found[output] = known[key]
    return found


def _idle_outputs(cond: Equation) -> dict[Variable, Atom]:
    """Outputs for which both branches return the same operand or constant."""
    found: dict[Variable, Atom] = {}
    branches: tuple[Program, Program] = (cond.params["then"], cond.params["otherwise"])
    places = [{v: i for i, v in enumerate(branch.inputs)} for branch in branches]
    for output, *atoms in zip(cond.outputs, *(b.outputs for b in branches), strict=True):
        if all(isinstance(atom, Constant) for atom in atoms):
            if atoms[0] == atoms[1]:
                found[output] = atoms[0]
            continue
        at = {place.get(atom) for place, atom in zip(places, atoms, strict=True)}
        if len(at) == 1 and None not in at:
            found[output] = cond.inputs[1 + at.pop()]  # type: ignore[operator]
    return found


def _flags(cond: Equation) -> dict[Variable, Atom]:
    """Outputs that say which branch was taken: they equal the predicate."""
    predicate = cond.inputs[0]
    if predicate.type.dtype.kind != "b":
        return {}  # 0.5 is true as well
    branches = (cond.params["then"].outputs, cond.params["otherwise"].outputs)
    yes, no = (Constant(predicate.type.dtype.type(flag)) for flag in (True, False))
    if predicate.type.kind == "python":
        yes, no = Constant(True), Constant(False)
    return {
        output: predicate
        for output, then, otherwise in zip(cond.outputs, *branches, strict=True)
        if (then, otherwise) == (yes, no) and output.type == predicate.type
    }


RULES = (numbers_inside, carried_unchanged, known_outputs)
