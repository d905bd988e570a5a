"""Replace every remaining call by its body.

y = call(x; program={program f(a: float) { b: float = exp(a)  return b }})   →   b = exp(x)
"""

from __future__ import annotations

from dataclasses import replace

from stcompile.ir import Atom, Program, Variable, map_programs
from stcompile.naming import is_numbered, name_variables
from stcompile.recorder import Recorder


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
    recorder = Recorder()
    inputs = tuple(recorder.variable(v.type, v.name) for v in program.inputs)
    mapping: dict[Variable, Atom] = dict(zip(program.inputs, inputs, strict=True))
    for equation in program.equations:
        moved = equation.substitute(mapping)
        if equation.primitive == "call":
            body = inline_calls(equation.params["program"])
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
