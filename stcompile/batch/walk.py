"""The walk over a program's equations: each is recorded for all items of a batch at once.

An equation that depends on no batched value is recorded unchanged. Of the others, most have their
form by the map of their axes (`stcompile.wengert.stacked`); the rest have a rule each
(`stcompile.batch.rules`, `indexing`, `matrices`, `control`), or are refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from stcompile.batch import indexing, matrices, rules
from stcompile.batch.control import STRUCTURED
from stcompile.batch.indexing import MASKED
from stcompile.batch.step import DRAW_BEFORE, Step, batched_type
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.base import OperandError
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.stacked import Value

Rule = Callable[[Step], Atom]
RULES: Mapping[str, Rule] = {**rules.RULES, **indexing.RULES, **matrices.RULES}


def batched(
    program: Program, flags: Sequence[bool], size: Size, wanted: Sequence[bool] | None = None
) -> tuple[Program, list[bool]]:
    """The program for a batch of ``size`` items: inputs with a flag have an axis for them, in
    front. The outputs for which a flag is returned, and the ``wanted`` outputs, have it too."""
    recorder = Recorder(program)
    inputs = tuple(
        recorder.variable(batched_type(v.type, size) if flag else v.type, v.name)
        for v, flag in zip(program.inputs, flags, strict=True)
    )
    outputs = inlined(program, list(map(Value, inputs, flags)), size, recorder)
    if wanted is not None:
        outputs = [
            spread_output(program, at, output, size, recorder) if want else output
            for at, (output, want) in enumerate(zip(outputs, wanted, strict=True))
        ]
    made = recorder.program(program.name, inputs, [output.atom for output in outputs])
    return made, [output.batched for output in outputs]


def spread_output(
    program: Program, at: int, output: Value, size: Size, recorder: Recorder
) -> Value:
    """An output with a row for each item."""
    atom = program.outputs[at]
    maker = next((e for e in program.equations if atom in e.outputs), Equation((), "", ()))
    return Value(Step(maker, (), size, recorder).spread(output, atom.type), True)


def inlined(
    program: Program, operands: Sequence[Value], size: Size, recorder: Recorder
) -> list[Value]:
    """Record a program's equations for a batch; its outputs."""
    known: dict[Variable, Value] = dict(zip(program.inputs, operands, strict=True))

    def value(atom: Atom) -> Value:
        return known[atom] if isinstance(atom, Variable) else Value(atom, False)

    for equation in program.equations:
        step = Step(equation, tuple(map(value, equation.inputs)), size, recorder)
        found = _recorded(step)
        recorder.name_as(equation.outputs, [new.atom for new in found])
        known.update(zip(equation.outputs, found, strict=True))
    return list(map(value, program.outputs))


_LENGTHS = frozenset({"named", "count_nonzero", "slice_end"})  # their results are lengths


def _recorded(step: Step) -> Sequence[Value]:
    """Record one equation for all items, and return its outputs."""
    equation = step.equation
    if "random" in equation.effects and equation.primitive not in STRUCTURED:
        step.refuse("random numbers are not drawn for each item of a batch", DRAW_BEFORE)
    if "print" in equation.effects and equation.primitive not in STRUCTURED:
        step.refuse(
            "items of a batch are not printed, logged or timed one by one",
            "do this outside of vmap",
        )
    if equation.primitive in _LENGTHS and step.operands[0].batched:
        step.refuse("each item of a batch has another number of elements here", MASKED)
    if equation.primitive in STRUCTURED and _has_work(step):
        return STRUCTURED[equation.primitive](step, inlined)
    if not any(operand.batched for operand in step.operands):
        inputs = tuple(operand.atom for operand in step.operands)
        recorder = step.recorder
        outputs = recorder.record(equation.primitive, inputs, equation.location, equation.params)
        return [Value(output, False) for output in outputs]
    if not equation.outputs:
        return rules.effect(step)
    return [Value(_checked(step, _by_rule(step)), True)]


def _has_work(step: Step) -> bool:
    """True if an operand is batched, or if operations that a batch refuses may be inside."""
    effects = {"random", "print"} & {*step.equation.effects}
    return bool(effects) or any(operand.batched for operand in step.operands)


def _by_rule(step: Step) -> Atom:
    equation = step.equation
    step = _strong(step)
    rule = RULES.get(equation.primitive)
    if rule is not None:
        return rule(step)
    try:
        found = step.by_axes()
        if found is None and not step.operands[0].batched:  # the written array may differ
            first = Value(step.rows(0), True)
            found = replace(step, operands=(first, *step.operands[1:])).by_axes()
    except OperandError:
        found = None
    if found is None:
        step.refuse_primitive()
    return found


def _strong(step: Step) -> Step:
    """Convert batched Python numbers before an operation: a Python number takes the dtype of the
    other operands, but an array of Python numbers has a dtype of its own."""
    inputs = step.equation.inputs
    if not PRIMITIVES[step.equation.primitive].elementwise or len(inputs) < 2:
        return step
    own = [atom.type.python_type(0) for atom in inputs if atom.type.kind == "python"]
    strong = [atom.type.dtype for atom in inputs if atom.type.kind != "python"]
    if not own or not strong or step.equation.primitive == "ldexp":
        return step
    operands = [
        Value(step.cast(value.atom, np.result_type(*strong, atom.type.python_type(0))), True)
        if value.batched and atom.type.kind == "python"
        else value
        for value, atom in zip(step.operands, inputs, strict=True)
    ]
    return replace(step, operands=tuple(operands))


def _checked(step: Step, atom: Atom) -> Atom:
    """The result in the dtype that it has for one item."""
    wanted = batched_type(step.equation.output.type, step.size)
    assert atom.type.dims == wanted.dims, (step.equation, atom.type)
    return step.cast(atom, wanted.dtype)
