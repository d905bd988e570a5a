"""The meaning of a program: run each equation's template, in order.

Every pass and the emitter are tested against it, so it is short and has no special cases.

>>> from stcompile.wengert.text import parse_program
>>> program = parse_program("program f(x: f64) { y: f64 = multiply(x, x)  return y, 2.0 }")
>>> evaluate(program, 3.0)
(9.0, 2.0)
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from stcompile.wengert.dims import Symbol, measured, number_of, numbers_in
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.primitives.attempts import of_called
from stcompile.wengert.primitives.control import Ports
from stcompile.wengert.templates import TEMPLATES, grouped, inplace_operand, mark_of
from stcompile.wengert.types import Type

Known: TypeAlias = Mapping[Symbol, int]

Watch = Callable[[Equation, tuple[Any, ...], tuple[Any, ...], tuple[int, ...]], None]
"""Called after each equation has run, equations of sub-programs before the equation that runs them,
with its inputs, its results, and the steps of the loops around it, the innermost last."""


def evaluate(program: Program, *args: Any, watch: Watch | None = None) -> tuple[Any, ...]:
    """The values of the program's outputs."""
    return _evaluate(program, args, watch, known_of(program, args))


def known_of(program: Program, args: tuple[Any, ...]) -> Known:
    """The lengths of the program's inputs that have names."""
    arrays = zip(program.inputs, args, strict=True) if program.symbols else ()
    return measured((variable.type.dims, np.shape(value)) for variable, value in arrays)


def _evaluate(
    program: Program, args: tuple[Any, ...], watch: Watch | None, known: Known
) -> tuple[Any, ...]:
    values = environment(program, *args, watch=watch, known=known)
    return tuple(_read(values, atom) for atom in program.outputs)


def environment(
    program: Program, *args: Any, watch: Watch | None = None, known: Known | None = None
) -> dict[Variable, Any]:
    """The value of every variable of the program, in order of definition (the primal trace).
    ``known`` are the symbols that are bound outside."""
    if len(args) != len(program.inputs):
        raise TypeError(f"{program.name} takes {len(program.inputs)} arguments, not {len(args)}")
    known = known_of(program, args) if known is None else known
    values: dict[Variable, Any] = dict(zip(program.inputs, args, strict=True))
    for equation in program.equations:
        inputs = tuple(_read(values, atom) for atom in equation.inputs)
        results = _results(equation, inputs, watch, known)
        if equation.binds is not None:
            known = {**known, equation.binds: results[0]}
        values.update(zip(equation.outputs, results, strict=True))
        if watch is not None:
            watch(equation, inputs, results, ())
    return values


def _read(values: Mapping[Variable, Any], atom: Atom) -> Any:
    return values[atom] if isinstance(atom, Variable) else atom.value


def _results(
    equation: Equation, inputs: tuple[Any, ...], watch: Watch | None, known: Known
) -> tuple[Any, ...]:
    params = equation.params
    if equation.primitive == "call":
        return _evaluate(params["program"], inputs, watch, known)
    if equation.primitive == "cond":
        predicate, *operands = inputs
        return _evaluate(params["then" if predicate else "otherwise"], (*operands,), watch, known)
    if equation.primitive == "loop":
        return _loop(equation, inputs, watch, known)
    if equation.primitive == "kernel":
        return _evaluate(params["body"], inputs, watch, known)
    if equation.primitive == "attempted":
        return (_attempted(equation, inputs, numbers_in(of_called(params), known)),)
    result = apply(equation.primitive, inputs, numbers_in(params, known))
    return (result,) if equation.outputs else ()


def _attempted(equation: Equation, inputs: tuple[Any, ...], params: Mapping[str, Any]) -> Any:
    """The result of a call; None if it raises."""
    names = equation.params["errors"]
    classes = tuple(getattr(builtins, n, None) or getattr(np.linalg, n) for n in names)
    try:
        return apply(equation.params["called"], inputs, params)
    except classes:
        return None


def _loop(
    equation: Equation, inputs: tuple[Any, ...], watch: Watch | None, known: Known
) -> tuple[Any, ...]:
    ports = Ports.of(equation)
    count = None if ports.length is None else number_of(ports.length, known)
    if ports.count is not None:
        count, inputs = inputs[0], inputs[1:]
    first, last = len(ports.constants), len(ports.constants) + len(ports.carry)
    constants, carry, xs = inputs[:first], inputs[first:last], inputs[last:]
    steps: list[tuple[Any, ...]] = []
    if ports.condition is not None:
        while _evaluate(ports.condition, (*constants, *carry), None, known)[0]:
            watched = _inside(watch, len(steps))
            results = _evaluate(ports.body, (*constants, *carry), watched, known)
            carry = results[: len(carry)]
            steps.append(results[len(carry) :])
    else:
        order = range(max(count or 0, 0))
        for t in reversed(order) if ports.reverse else order:
            inner = known if ports.binds is None else {**known, ports.binds: t}
            items = (_start_of(x[t], v.type, inner) for x, v in zip(xs, ports.body_xs, strict=True))
            arguments = (*constants, t, *carry, *items)
            results = _evaluate(ports.body, arguments, _inside(watch, t), inner)
            carry = results[: len(carry)]
            steps.append(results[len(carry) :])
    if ports.reverse:
        steps.reverse()
    ys: list[Any] = []
    for port, (atom, variable) in enumerate(zip(ports.stacked, ports.ys, strict=True)):
        if ports.length is None or atom.type.kind == "stack":
            ys.append([step[port] for step in steps])
            continue
        dims = tuple(number_of(dim, known) for dim in variable.type.dims)
        stacked = np.empty(dims, atom.type.dtype)
        for t, step in enumerate(steps):
            row = step[port]
            place: Any = (t, *map(slice, np.shape(row)))
            stacked[place] = row
        ys.append(stacked)
    return (*carry, *ys)


def _start_of(row: Any, t: Type, known: Known) -> Any:
    """A row of a port, without the end that a step does not use. Values that an inner loop
    collected are a list, each of its own length; values that a branch would have collected are not
    an array if the other arm was taken."""
    if not t.is_named or not isinstance(row, np.ndarray):
        return row
    return row[tuple(slice(number_of(dim, known)) for dim in t.dims)]


def _inside(watch: Watch | None, step: int) -> Watch | None:
    """The function that watches the equations in a step of a loop."""
    if watch is None:
        return None
    return lambda equation, inputs, results, steps: watch(equation, inputs, results, (step, *steps))


def apply(primitive: str, inputs: tuple[Any, ...], params: Mapping[str, Any]) -> Any:
    """The value of a primitive on concrete inputs: its template, called in the usual way.

    Inputs that the template writes to are copied first. ``call``, ``cond`` and ``loop`` have no
    template.
    """
    template = TEMPLATES[primitive]
    arguments = grouped(template, inputs)
    if mark_of(primitive) == "write":
        place = inplace_operand(primitive)
        if isinstance(arguments[place], np.ndarray):
            arguments[place] = arguments[place].copy(order="K")
    return template(*arguments, **params)
