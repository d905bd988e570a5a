"""Replace every remaining call by its body.

y = call(x; program={program f(a: float) { b: float = exp(a)  return b }})   →   b = exp(x)
"""

from __future__ import annotations

from dataclasses import replace

from stcompile.base.location import Section
from stcompile.wengert.ir import Atom, Equation, Program, Variable, map_programs, substituted
from stcompile.wengert.naming import is_numbered
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
    inputs = recorder.inputs_of(program)
    mapping: dict[Variable, Atom] = dict(zip(program.inputs, inputs, strict=True))
    for equation in program.equations:
        if equation.primitive != "call":
            recorder.again(equation, mapping)
            continue
        body = inline_calls(equation.params["program"])
        if equation.location.section != "forward":  # the adjoint of a rule that calls another
            body = _in_section(body, equation.location.section)
        outputs = recorder.inline(body, substituted(equation.inputs, mapping))
        for old, new in zip(equation.outputs, outputs, strict=True):
            if not is_numbered(old.name) and isinstance(new, Variable):
                recorder.hints[new] = old.name
        mapping.update(zip(equation.outputs, outputs, strict=True))
    return recorder.program(program.name, inputs, substituted(program.outputs, mapping))


def _in_section(program: Program, section: Section) -> Program:
    """The program with all equations in the same section of the generated function."""

    def moved(equation: Equation) -> Equation:
        inner = map_programs(equation, lambda part: _in_section(part, section))
        return replace(inner, location=inner.location.in_section(section))

    return replace(program, equations=tuple(map(moved, program.equations)))
