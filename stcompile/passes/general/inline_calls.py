"""Replace every remaining call by its body.

y = call(x; program={program f(a: float) { b: float = exp(a)  return b }})   →   b = exp(x)
"""

from __future__ import annotations

from dataclasses import replace

from stcompile.base.location import Section
from stcompile.wengert.ir import Atom, Equation, Program, Variable, map_programs
from stcompile.wengert.naming import is_numbered, name_variables
from stcompile.wengert.recorder import Recorder


def inline_calls(program: Program) -> Program:
    """The program without ``call`` equations."""
    program = replace(
        program,
        equations=tuple(
            e if e.primitive == "call" else map_programs(e, inline_calls) for e in program.equations
        ),
    )
    if not any(equation.primitive == "call" for equation in program.equations):
        return program
    recorder = Recorder(program)
    inputs = tuple(recorder.variable(v.type, v.name) for v in program.inputs)
    mapping: dict[Variable, Atom] = dict(zip(program.inputs, inputs, strict=True))
    for equation in program.equations:
        moved = equation.substitute(mapping)
        if equation.primitive == "call":
            body = inline_calls(equation.params["program"])
            if moved.location.section != "forward":  # the adjoint of a rule that calls another
                body = _in_section(body, moved.location.section)
            outputs = recorder.inline(body, moved.inputs)
        else:
            outputs = recorder.record(moved.primitive, moved.inputs, moved.location, moved.params)
        for old, new in zip(equation.outputs, outputs, strict=True):
            if not is_numbered(old.name) and isinstance(new, Variable):
                recorder.hints[new] = old.name
        mapping.update(zip(equation.outputs, outputs, strict=True))
    results = tuple(mapping[a] if isinstance(a, Variable) else a for a in program.outputs)
    raw = Program(program.name, inputs, tuple(recorder.equations), results)
    return name_variables(raw, recorder.hints)


def _in_section(program: Program, section: Section) -> Program:
    """The program with all equations in the same section of the generated function."""

    def moved(equation: Equation) -> Equation:
        inner = map_programs(equation, lambda part: _in_section(part, section))
        return replace(inner, location=inner.location.in_section(section))

    return replace(program, equations=tuple(map(moved, program.equations)))
