"""Unfold a call to a straight line: the equations that run at given inputs, without branches and
loops.

Griewank & Walther 2008, ch. 2.2, call it the evaluation trace.

>>> from stcompile.wengert.text import parse_program
>>> program = parse_program('''
... program f(x: float, c: bool) {
...   y: float = cond(c, x;
...     otherwise=program b(x: float) { y: float = negative(x) return y },
...     then=program a(x: float) { y: float = multiply(x, x) return y })
...   return y
... }''')
>>> print(unfold(program, [3.0, True]).program)
program f(x: float, c: bool) {
  y: float = multiply(x, x)
  return y
}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from stcompile.base.location import Location
from stcompile.wengert.dims import Size, Symbol, number_of, numbers_in
from stcompile.wengert.evaluate import apply, evaluate
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, freeze
from stcompile.wengert.parts import Part
from stcompile.wengert.primitives.control import Ports
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.types import Type


@dataclass(frozen=True)
class Aside:
    """A use of a variable that leaves no equation on the tape: it ``decides`` a branch or a number
    of steps, or it is read ``elsewhere``, by code that is not run."""

    variable: Variable
    kind: Literal["decides", "elsewhere"]
    location: Location


@dataclass(frozen=True)
class Tape:
    """A program without control flow, and the value of each of its inputs."""

    program: Program
    inputs: tuple[Any, ...]
    asides: tuple[Aside, ...]


def unfold(program: Program, inputs: Sequence[Any]) -> Tape:
    """The straight line of a program at some inputs. Equations with effects and no results are left
    out; a call with a derivative of its own stays one equation."""
    unfolder = _Unfolder()
    variables = unfolder.recorder.inputs_of(program)
    unfolder.values.update(zip(variables, inputs, strict=True))
    outputs = tuple(unfolder.run(program, variables))
    raw = unfolder.recorder.equations
    named = unfolder.recorder.program(program.name, variables, outputs)
    names = dict(zip(variables, named.inputs, strict=True))
    for before, after in zip(raw, named.equations, strict=True):
        names.update(zip(before.outputs, after.outputs, strict=True))
    asides = tuple(replace(aside, variable=names[aside.variable]) for aside in unfolder.asides)
    return Tape(named, tuple(inputs), asides)


# A stack is a list of atoms.
_Operand = Any


class _Unfolder:
    def __init__(self) -> None:
        self.recorder = Recorder()
        self.values: dict[Variable, Any] = {}
        self.asides: list[Aside] = []
        self.known: dict[Symbol, int] = {}  # the symbols that are bound so far

    def run(self, program: Program, operands: Sequence[_Operand], note: str = "") -> list[_Operand]:
        """Record a program's equations with ``operands`` for its inputs; its outputs."""
        mapping: dict[Atom, _Operand] = dict(zip(program.inputs, operands, strict=True))
        for equation in program.equations:
            if not equation.outputs and "random" not in equation.effects:
                continue
            if note:
                notes = ", ".join(filter(None, (equation.location.note, note)))
                location = replace(equation.location, note=notes)
                equation = replace(equation, location=location)
            given = [mapping.get(atom, atom) for atom in equation.inputs]
            results = self._step(equation, given, note)
            mapping.update(zip(equation.outputs, results, strict=True))
        return [mapping.get(atom, atom) for atom in program.outputs]

    def value(self, operand: _Operand) -> Any:
        if isinstance(operand, list):
            return list(map(self.value, operand))
        return self.values[operand] if isinstance(operand, Variable) else operand.value

    def _step(self, equation: Equation, operands: list[_Operand], note: str) -> Sequence[_Operand]:
        params = equation.params
        if equation.primitive == "cond":
            return self._cond(equation, operands, note)
        if equation.primitive == "loop":
            return self._loop(equation, operands, note)
        if equation.primitive == "call" and params["adjoint"] is None:
            return self.run(params["program"], operands, note)
        if equation.binds is not None:
            self.known[equation.binds] = self.value(operands[0])
            return operands
        numbers = freeze(numbers_in(params, self.known))
        return self._record(replace(equation, params=numbers), operands)

    def _record(self, equation: Equation, operands: list[_Operand]) -> Sequence[_Operand]:
        primitive, params = equation.primitive, equation.params
        outputs = self.recorder.record(primitive, tuple(operands), equation.location, params)
        given = tuple(map(self.value, operands))
        results = (
            evaluate(params["program"], *given)
            if primitive == "call"
            else (apply(primitive, given, params),)[: len(outputs)]
        )
        self.values.update(zip(outputs, results, strict=True))
        self.recorder.name_as(equation.outputs, outputs)
        return outputs

    def _aside(
        self, operand: _Operand, kind: Literal["decides", "elsewhere"], equation: Equation
    ) -> None:
        for atom in operand if isinstance(operand, list) else [operand]:
            if isinstance(atom, Variable):
                self.asides.append(Aside(atom, kind, equation.location))

    # --- control flow --------------------------------------------------------------------------

    def _cond(self, equation: Equation, operands: list[_Operand], note: str) -> Sequence[_Operand]:
        predicate, *rest = operands
        self._aside(predicate, "decides", equation)
        names = ("then", "otherwise") if self.value(predicate) else ("otherwise", "then")
        taken, left = (equation.params[name] for name in names)
        reads = _reads(taken), _reads(left)
        for operand, here, there in zip(rest, taken.inputs, left.inputs, strict=True):
            if here not in reads[0] and there in reads[1]:
                self._aside(operand, "elsewhere", equation)
        return self.run(taken, rest, note)

    def _loop(self, equation: Equation, operands: list[_Operand], note: str) -> Sequence[_Operand]:
        ports = Ports.of(equation)
        count = None if ports.length is None else number_of(ports.length, self.known)
        if ports.count is not None:
            self._aside(operands[0], "decides", equation)
            count, operands = self.value(operands[0]), operands[1:]
        first, last = len(ports.constants), len(ports.constants) + len(ports.carry)
        constants, carry, xs = operands[:first], operands[first:last], operands[last:]
        steps: list[Sequence[_Operand]] = []
        order = range(max(count or 0, 0))
        if ports.condition is not None:
            while self._goes_on(equation, ports.condition, [*constants, *carry]):
                inside = _noted(note, len(steps))
                carry, ys = self._body(ports, [*constants, *carry], inside)
                steps.append(ys)
        for t in reversed(order) if ports.reverse else order:
            if ports.binds is not None:
                self.known[ports.binds] = t
            items = [
                self._item(x, v.type, t, equation.location)
                for x, v in zip(xs, ports.body_xs, strict=True)
            ]
            given = [*constants, Constant(t), *carry, *items]
            carry, ys = self._body(ports, given, _noted(note, t))
            steps.append(ys)
        if not steps:
            read = _reads(ports.body)
            inner = (*ports.body_constants, *ports.body_xs)
            for operand, variable in zip((*constants, *xs), inner, strict=True):
                if variable in read:
                    self._aside(operand, "elsewhere", equation)
        if ports.reverse:
            steps.reverse()
        stacks = [
            self._stacked([step[port] for step in steps], atom.type, ports.length, equation)
            for port, atom in enumerate(ports.stacked)
        ]
        return [*carry, *stacks]

    def _body(
        self, ports: Ports, operands: list[_Operand], note: str
    ) -> tuple[list[_Operand], list[_Operand]]:
        results = self.run(ports.body, operands, note)
        return results[: len(ports.carry)], results[len(ports.carry) :]

    def _goes_on(self, equation: Equation, condition: Program, operands: list[_Operand]) -> bool:
        (found,) = self.run(condition, operands)
        self._aside(found, "decides", equation)
        return bool(self.value(found))

    def _item(self, port: _Operand, taken: Type, t: int, location: Location) -> _Operand:
        if isinstance(port, list):
            return port[t]
        row = tuple(number_of(dim, self.known) for dim in taken.dims)
        part = Part.block((t, *(0 for _ in row)), (1, *row), drop=(0,))
        (item,) = self.recorder.record("slice", (port,), location, part.params)
        place: Any = (t, *map(slice, row))
        self.values[item] = self.value(port)[place]
        return item

    def _stacked(
        self, items: list[_Operand], type: Type, length: Size | None, equation: Equation
    ) -> _Operand:
        """The values of all steps as one operand: a list of them, or an array."""
        if length is None or type.is_named:
            return items
        dims = (number_of(length, self.known), *type.dims)
        params: dict[str, Any] = {"shape": dims, "dtype": type.dtype}
        if not items:
            primitive, items = "full", [Constant(0)]
        elif type.dims:
            primitive, params = "stack", {"axis": 0}
        else:
            primitive = "array"
        if primitive == "array" and type.kind == "array":
            items = [self._number(item, equation.location) for item in items]
        (output,) = self.recorder.record(primitive, tuple(items), equation.location, params)
        self.values[output] = apply(primitive, tuple(map(self.value, items)), params)
        return output

    def _number(self, item: _Operand, location: Location) -> _Operand:
        """A 0-d array as a number."""
        (number,) = self.recorder.record("to_scalar", (item,), location)
        self.values[number] = np.asarray(self.value(item))[()]
        return number


def _noted(note: str, step: int) -> str:
    return f"{note}, step {step}" if note else f"step {step}"


def _reads(program: Program) -> set[Variable]:
    """The variables that the outputs of a program are computed from, control flow included."""
    read = {atom for atom in program.outputs if isinstance(atom, Variable)}
    for equation in reversed(program.equations):
        if not read.isdisjoint(equation.outputs):
            read.update(equation.variables)
    return read
