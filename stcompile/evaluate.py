"""The meaning of a program: run each equation's template, one after the other.

The oracle of every pass and of the emitter, so it is short and knows no trick.

>>> from stcompile.text import parse_program
>>> program = parse_program("program f(x: f64) { y: f64 = multiply(x, x)  return y, 2.0 }")
>>> evaluate(program, 3.0)
(9.0, 2.0)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from stcompile.codegen_templates.numpy import TEMPLATES
from stcompile.ir import Atom, Equation, Program, Variable
from stcompile.templates import grouped, inplace_operand, mark_of


def evaluate(program: Program, *args: Any) -> tuple[Any, ...]:
    """The values of the program's outputs."""
    values = environment(program, *args)
    return tuple(_read(values, atom) for atom in program.outputs)


def environment(program: Program, *args: Any) -> dict[Variable, Any]:
    """The value of every variable of the program, in order of definition (the primal trace)."""
    if len(args) != len(program.inputs):
        raise TypeError(f"{program.name} takes {len(program.inputs)} arguments, not {len(args)}")
    values: dict[Variable, Any] = dict(zip(program.inputs, args, strict=True))
    for equation in program.equations:
        inputs = tuple(_read(values, atom) for atom in equation.inputs)
        values.update(zip(equation.outputs, _results(equation, inputs), strict=True))
    return values


def _read(values: Mapping[Variable, Any], atom: Atom) -> Any:
    return values[atom] if isinstance(atom, Variable) else atom.value


def _results(equation: Equation, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    params = equation.params
    if equation.primitive == "call":
        return evaluate(params["program"], *inputs)
    if equation.primitive == "loop":
        return _loop(inputs, params)
    result = apply(equation.primitive, inputs, params)
    return (result,) if equation.outputs else ()


def _loop(inputs: tuple[Any, ...], params: Mapping[str, Any]) -> tuple[Any, ...]:
    body: Program = params["body"]
    first, last = params["constants"], params["constants"] + params["carry"]
    constants, carry, xs = inputs[:first], inputs[first:last], inputs[last:]
    steps: list[tuple[Any, ...]] = []
    for t in range(params["length"]):
        results = evaluate(body, *constants, t, *carry, *(x[t] for x in xs))
        carry = results[: params["carry"]]
        steps.append(results[params["carry"] :])
    ys = []
    for port, atom in enumerate(body.outputs[params["carry"] :]):
        stacked = np.empty((params["length"], *atom.type.dims), atom.type.dtype)
        for t, step in enumerate(steps):
            stacked[t] = step[port]
        ys.append(stacked)
    return (*carry, *ys)


def apply(primitive: str, inputs: tuple[Any, ...], params: Mapping[str, Any]) -> Any:
    """The value of a primitive on concrete inputs: its template, called as templates are.

    Inputs that the template writes to are copied first. ``call`` and ``loop`` have no template.
    """
    template = TEMPLATES[primitive]
    arguments = grouped(template, inputs)
    if mark_of(primitive) == "write":
        place = inplace_operand(primitive)
        if isinstance(arguments[place], np.ndarray):
            arguments[place] = arguments[place].copy(order="K")
    return template(*arguments, **params)
