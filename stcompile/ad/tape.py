"""Tapes: the equations of a program, recorded again for a sweep over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, freeze
from stcompile.wengert.naming import is_numbered
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.symbols import with_own_symbols


@dataclass(frozen=True)
class CustomCall:
    """A call with its own adjoint, after its body was recorded in its place."""

    equation: Equation
    adjoint: Program
    results: tuple[Atom, ...]
    residuals: tuple[Atom, ...]


class Tape:
    """The primal's equations, recorded again; calls are replaced by their bodies."""

    def __init__(self, recorder: Recorder, variables: dict[Variable, Atom]) -> None:
        self.recorder = recorder
        self.equations = recorder.equations
        self.variables = variables
        self.steps: list[Equation | CustomCall] = []

    def atom(self, atom: Atom) -> Atom:
        return self.variables[atom] if isinstance(atom, Variable) else atom

    def append(self, equation: Equation) -> None:
        moved = equation.substitute(self.variables)
        if equation.primitive == "call":
            outputs = self._call(moved)
        else:
            fresh = tuple(
                self.recorder.variable(o.type, "" if is_numbered(o.name) else o.name)
                for o in equation.outputs
            )
            recorded = Equation(
                fresh, moved.primitive, moved.inputs, moved.params, moved.effects, moved.location
            )
            self.recorder.equations.append(recorded)
            self.recorder.note(recorded)
            self.steps.append(recorded)
            outputs = fresh
        self.variables.update(zip(equation.outputs, outputs, strict=True))

    def _call(self, equation: Equation) -> tuple[Atom, ...]:
        body: Program = equation.params["program"]
        adjoint: Program | None = equation.params["adjoint"]
        if adjoint is not None and _keeps_only_known(equation):
            return self._kept_call(equation, adjoint)
        body = with_own_symbols(body, self.recorder.bound)
        inner = Tape(self.recorder, dict(zip(body.inputs, equation.inputs, strict=True)))
        for step in body.equations:
            inner.append(step)
        outputs = tuple(map(inner.atom, body.outputs))
        if adjoint is None:
            self.steps += inner.steps
            return outputs
        count: int = equation.params["value"]
        results = self._told_apart(equation, outputs[:count])
        self.steps.append(CustomCall(equation, adjoint, results, outputs[count:]))
        return (*results, *outputs[count:])

    def _told_apart(self, equation: Equation, results: Sequence[Atom]) -> tuple[Atom, ...]:
        """The results of a rule, each a variable of its own. A result that is an operand, or the
        same variable as another result, is copied, because the two have different cotangents."""
        apart: list[Atom] = []
        for result in results:
            if isinstance(result, Variable) and result in (*equation.inputs, *apart):
                same = Program("same", (result,), (), (result,))
                params = freeze({"program": same, "adjoint": None, "name": "same", "value": 1})
                fresh = self.recorder.variable(result.type)
                self.recorder.equations.append(
                    Equation((fresh,), "call", (result,), params, location=equation.location)
                )
                result = fresh
            apart.append(result)
        return tuple(apart)

    def _kept_call(self, equation: Equation, adjoint: Program) -> tuple[Atom, ...]:
        """A call that stays a call, so that derivatives of the adjoint can use its rule, too."""
        body: Program = equation.params["program"]
        count: int = equation.params["value"]
        fresh = tuple(
            self.recorder.variable(o.type, "" if is_numbered(o.name) else o.name)
            for o in equation.outputs
        )
        known: dict[Atom, Atom] = dict(zip(body.inputs, equation.inputs, strict=True))
        known |= dict(zip(body.outputs[:count], fresh[:count], strict=True))
        residuals = tuple(known.get(atom, atom) for atom in body.outputs[count:])
        recorded = replace(equation, outputs=fresh)
        self.recorder.equations.append(recorded)
        self.steps.append(CustomCall(recorded, adjoint, fresh[:count], residuals))
        return (*fresh[:count], *residuals)


def taped(program: Program) -> tuple[Recorder, tuple[Variable, ...], Tape]:
    """Record a program again; return the recorder, its new inputs, and the tape."""
    recorder = Recorder(program)
    inputs = recorder.inputs_of(program)
    tape = Tape(recorder, dict(zip(program.inputs, inputs, strict=True)))
    for equation in program.equations:
        tape.append(equation)
    return recorder, inputs, tape


def _keeps_only_known(equation: Equation) -> bool:
    """True if the residuals of a call are among its operands and results: then their cotangents
    need no derivative of the body."""
    body: Program = equation.params["program"]
    count: int = equation.params["value"]
    known = (*body.inputs, *body.outputs[:count])
    return all(isinstance(a, Constant) or a in known for a in body.outputs[count:])
