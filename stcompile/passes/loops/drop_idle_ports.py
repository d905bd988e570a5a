"""Drop ports of loops and branches that change nothing.

What a loop carries unchanged from step to step is a constant of it; what both branches give as
they got it needs no branch; what is given twice is given once; a number needs no port at all.

>>> from stcompile.wengert.text import parse_program
>>> print(drop_idle_ports(parse_program('''
... program f(p: bool, x: float) {
...   y: float, z: float = cond(p, x;
...     otherwise=program otherwise(x: float) { return x, x },
...     then=program then(x: float) { v1: float = multiply(x, x) return v1, x })
...   v2: float = add(y, z)
...   return v2
... }''')))
program f(p: bool, x: float) {
  y: float, z: float = cond(p, x; otherwise=program otherwise(x: float) {
    return x, x
  }, then=program then(x: float) {
    v1: float = multiply(x, x)
    return v1, x
  })
  v2: float = add(y, x)
  return v2
}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, map_programs
from stcompile.wengert.loops import Fed, loop_of
from stcompile.wengert.primitives.control import Ports


def drop_idle_ports(program: Program) -> Program:
    """The program without ports that change nothing; `eliminate_dead_code` takes away what is not
    read any more."""
    mapping: dict[Variable, Atom] = {}
    kept: list[Equation] = []
    for original in program.equations:
        equation = _with_numbers(original.substitute(mapping))
        equation = map_programs(equation, drop_idle_ports)
        kept.append(equation)
        if equation.primitive == "cond":
            branches = (equation.params["then"], equation.params["otherwise"])
            mapping.update(_twins(equation, 0, *branches))
            mapping.update(_idle_outputs(equation))
            mapping.update(_flags(equation))
        elif equation.primitive == "loop":
            kept[-1] = loop = _with_numbers(_with_constants(equation, mapping))
            mapping.update(_twins(loop, loop.params["carry"], loop.params["body"]))
    return program.with_equations(kept, mapping)


def _with_numbers(equation: Equation) -> Equation:
    """A branch or a loop that has the constants among its operands in its programs."""
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
    """Outputs, from position ``first`` on, that always equal an earlier one of these."""
    known: dict[tuple[Atom, ...], Variable] = {}
    found: dict[Variable, Atom] = {}
    for position in range(first, len(equation.outputs)):
        output = equation.outputs[position]
        key = tuple(program.outputs[position] for program in programs)
        if known.setdefault(key, output) != output:
            found[output] = known[key]
    return found


def _idle_outputs(cond: Equation) -> dict[Variable, Atom]:
    """Outputs for which both branches give the same operand or constant."""
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
    """Outputs that say which branch was taken: they are the predicate."""
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


def _with_constants(equation: Equation, mapping: dict[Variable, Atom]) -> Equation:
    """The loop with what it carries unchanged read as it was before: its body and its condition
    get the first value as another constant."""
    loop = loop_of(equation)
    idle = [c for c in loop.carry if c.variable == c.final]
    if not idle:
        return equation
    mapping.update((c.result, c.initial) for c in idle)
    constants = *loop.constants, *(Fed(c.initial, c.variable, c.tested) for c in idle)
    carry = tuple(c for c in loop.carry if c not in idle)
    return replace(loop, constants=constants, carry=carry).done()
