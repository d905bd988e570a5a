"""Reverse mode: a program and its adjoint, as one program.

The adjoint is built by walking the Wengert list backwards (Griewank & Walther 2008, ch. 3.2).
The rules say only what a primitive does; this module does once what all of them need: activity
(what depends on the inputs asked for, and what the output depends on), the sum over uses, and the
return of every cotangent to its variable's shape and dtype.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stcompile.errors import DerivativeError
from stcompile.ir import Atom, Constant, Equation, Program, Variable
from stcompile.location import NOWHERE, Location
from stcompile.naming import is_numbered, name_variables
from stcompile.recorder import Recorder
from stcompile.rules import is_differentiable, rule_for, rule_function
from stcompile.types import Type


@dataclass(frozen=True)
class Contribution:
    """One step of the reverse sweep: ``equation`` added ``part`` to the cotangent of
    ``variable``, which is ``total`` from then on (``part`` is None where a rule adds by itself)."""

    equation: Equation
    variable: Variable
    part: Atom | None
    total: Atom

    def renamed(self, names: Mapping[Variable, Variable]) -> Contribution:
        def atom(a: Atom) -> Atom:
            return names[a] if isinstance(a, Variable) else a

        equation = replace(
            self.equation,
            outputs=tuple(names.get(o, o) for o in self.equation.outputs),
            inputs=tuple(map(atom, self.equation.inputs)),
        )
        part = None if self.part is None else atom(self.part)
        return Contribution(equation, names[self.variable], part, atom(self.total))


@dataclass(frozen=True)
class Joint:
    """A program with its adjoint: the outputs are the primal's, then the cotangents of ``wrt``.
    ``contributions`` are the steps of the sweep, ``seed`` what it started from."""

    program: Program
    contributions: tuple[Contribution, ...]
    seed: Constant


def reverse(program: Program, wrt: Sequence[Variable], output: int = 0) -> Joint:
    """The joint program of the value and the gradient of one scalar output.

    ``wrt`` are inputs of the program. Only what these cotangents need is recorded.
    """
    recorder = Recorder()
    inputs = tuple(recorder.variable(v.type, v.name) for v in program.inputs)
    tape = _Primal(recorder, dict(zip(program.inputs, inputs, strict=True)))
    for equation in program.equations:
        tape.append(equation)
    outputs = tuple(map(tape.atom, program.outputs))
    sources = tuple(tape.atom(variable) for variable in wrt)
    sweep = _Sweep(recorder, tape, {v for v in sources if isinstance(v, Variable)})
    sweep.seed(outputs[output])
    sweep.run()
    gradients = tuple(sweep.cotangent(v) for v in sources if isinstance(v, Variable))
    name = f"{program.name}_value_and_grad"
    raw = Program(name, inputs, tuple(recorder.equations), (*outputs, *gradients))
    joint = name_variables(raw, recorder.hints)
    names = dict(zip(inputs, joint.inputs, strict=True))
    for before, after in zip(raw.equations, joint.equations, strict=True):
        names.update(zip(before.outputs, after.outputs, strict=True))
    steps = tuple(step.renamed(names) for step in sweep.contributions)
    return Joint(joint, steps, one(outputs[output].type))


@dataclass(frozen=True)
class _CustomCall:
    """A call with its own adjoint, after its body was recorded in its place."""

    equation: Equation
    adjoint: Program
    results: tuple[Atom, ...]
    residuals: tuple[Atom, ...]


class _Primal:
    """The primal's equations, recorded again; calls are replaced by their bodies."""

    def __init__(self, recorder: Recorder, variables: dict[Variable, Atom]) -> None:
        self.recorder = recorder
        self.variables = variables
        self.steps: list[Equation | _CustomCall] = []

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
            self.steps.append(recorded)
            outputs = fresh
        self.variables.update(zip(equation.outputs, outputs, strict=True))

    def _call(self, equation: Equation) -> tuple[Atom, ...]:
        body: Program = equation.params["program"]
        adjoint: Program | None = equation.params["adjoint"]
        inner = _Primal(self.recorder, dict(zip(body.inputs, equation.inputs, strict=True)))
        for step in body.equations:
            inner.append(step)
        outputs = tuple(map(inner.atom, body.outputs))
        if adjoint is None:
            self.steps += inner.steps
            return outputs
        count: int = equation.params["value"]
        self.steps.append(_CustomCall(equation, adjoint, outputs[:count], outputs[count:]))
        return outputs


class _Sweep:
    """The backward walk and the cotangents found so far."""

    def __init__(self, recorder: Recorder, tape: _Primal, wrt: set[Variable]) -> None:
        self.recorder = recorder
        self.tape = tape
        self.active = _activity(tape.steps, wrt)
        self.cotangents: dict[Variable, Atom] = {}
        self.contributions: list[Contribution] = []
        self.location: Location = NOWHERE

    def seed(self, output: Atom) -> None:
        if isinstance(output, Variable) and output in self.active:
            self.cotangents[output] = one(output.type)

    def run(self) -> None:
        for step in reversed(self.tape.steps):
            if isinstance(step, _CustomCall):
                self._visit_call(step)
            else:
                self._visit(step)
        for variable, total in self.cotangents.items():
            name = self.recorder.hints.get(variable)
            if name and isinstance(total, Variable):
                self.recorder.hints.setdefault(total, f"d_{name}")

    def cotangent(self, variable: Variable) -> Atom:
        """The finished cotangent, zeros where nothing contributed."""
        found = self.cotangents.get(variable)
        return self._zeros(variable.type) if found is None else self._returned(found, variable.type)

    # --- one equation --------------------------------------------------------------------------

    def _visit(self, equation: Equation) -> None:
        if not any(output in self.cotangents for output in equation.outputs):
            return
        active = tuple(isinstance(a, Variable) and a in self.active for a in equation.inputs)
        if not any(active):
            return
        self.location = equation.location.in_section("adjoint")
        if any(atom.type.dtype.kind == "c" for atom in (*equation.inputs, *equation.outputs)):
            raise DerivativeError(
                f"`{equation.primitive}` is complex on the way to a gradient",
                location=equation.location,
                hint="compute with real and imaginary parts",
            )
        if rule_function(equation.primitive) is None:
            raise DerivativeError(
                f"`{equation.primitive}` has no derivative rule", location=equation.location
            )
        rule = rule_for(equation, active)
        d_out = self.cotangents[equation.output]
        if rule.kind == "accumulates":
            self._accumulate_into(equation, rule.program, d_out)
            return
        operands: list[Atom] = [equation.output, *equation.variables]
        if rule.kind == "adjoint":
            operands.append(d_out)
        results = self._inline(rule.program, operands)
        for index, result in zip(rule.targets, results, strict=True):
            target = equation.inputs[index]
            assert isinstance(target, Variable)
            if rule.kind == "partials":
                result = self._record("multiply", d_out, result)
            self._contribute(equation, target, result)

    def _accumulate_into(self, equation: Equation, program: Program, d_out: Atom) -> None:
        """A rule that adds its contribution to a part of the cotangent so far."""
        target = equation.inputs[0]
        assert isinstance(target, Variable)
        so_far = self.cotangents.get(target)
        if so_far is None:
            so_far = self._zeros(target.type)
        elif so_far.type != target.type:
            so_far = self._returned(so_far, target.type)
        (total,) = self._inline(program, [so_far, d_out, *_variables(equation.inputs[1:])])
        self._set(equation, target, None, total)

    def _visit_call(self, step: _CustomCall) -> None:
        cotangents = [self._result_cotangent(result) for result in step.results]
        if not any(r in self.cotangents for r in step.results if isinstance(r, Variable)):
            return
        self.location = step.equation.location.in_section("adjoint")
        results = self.recorder.inline(step.adjoint, (*step.residuals, *cotangents), self.location)
        targets: Sequence[int] = step.equation.params["targets"]
        for index, result in zip(targets, results, strict=True):
            target = step.equation.inputs[index]
            if isinstance(target, Variable) and target in self.active:
                self._contribute(step.equation, target, result)

    def _result_cotangent(self, result: Atom) -> Atom:
        if isinstance(result, Variable):
            return self.cotangents.get(result) or self._zeros(result.type)
        return self._zeros(result.type)

    # --- cotangents ----------------------------------------------------------------------------

    def _contribute(self, equation: Equation, target: Variable, contribution: Atom) -> None:
        contribution = self._returned(contribution, target.type)
        so_far = self.cotangents.get(target)
        if so_far is None:
            total = contribution
        elif target.type.kind == "array":
            total = self._record("accumulate", so_far, contribution, op="add")
        else:
            total = self._record("add", so_far, contribution)
        self._set(equation, target, contribution, total)

    def _set(self, equation: Equation, target: Variable, part: Atom | None, total: Atom) -> None:
        self.cotangents[target] = total
        self.contributions.append(Contribution(equation, target, part, total))

    def _returned(self, cotangent: Atom, to: Type) -> Atom:
        """A cotangent in the shape and dtype of its variable: a broadcast is summed away, a cast
        undone."""
        dims = cotangent.type.dims
        if dims != to.dims:
            extra = len(dims) - len(to.dims)
            spread = [
                axis
                for axis in range(len(dims))
                if axis < extra or (to.dims[axis - extra] == 1 and dims[axis] != 1)
            ]
            if extra < 0 or not _broadcasts(to.dims, dims):
                cotangent = self._record("broadcast_to", cotangent, shape=to.dims)
            else:
                cotangent = self._record("sum", cotangent, axis=tuple(spread), keepdims=False)
                if cotangent.type.dims != to.dims:
                    cotangent = self._record("reshape", cotangent, shape=to.dims)
        if cotangent.type.dtype != to.dtype:
            primitive = "to_python" if to.kind == "python" else "cast"
            cotangent = self._record(primitive, cotangent, dtype=to.dtype)
        if to.kind == "array" and cotangent.type.kind != "array":
            cotangent = self._record("asarray", cotangent)
        elif to.kind != "array" and cotangent.type.kind == "array":
            cotangent = self._record("to_scalar", cotangent)
        return cotangent

    def _zeros(self, type: Type) -> Atom:
        if type.kind == "array":
            return self._record("full", Constant(0), shape=type.dims, dtype=type.dtype)
        return Constant(0.0) if type.kind == "python" else Constant(type.dtype.type(0))

    def _record(self, primitive: str, *inputs: Atom, **params: Any) -> Variable:
        (output,) = self.recorder.record(primitive, inputs, self.location, params)
        return output

    def _inline(self, program: Program, operands: Sequence[Atom]) -> tuple[Atom, ...]:
        return self.recorder.inline(program, tuple(operands), self.location)


def one(type: Type) -> Constant:
    """The seed: the derivative of a number with respect to itself, in its dtype."""
    return Constant(1.0) if type.dtype == np.float64 else Constant(type.dtype.type(1))


def _variables(atoms: Sequence[Atom]) -> list[Variable]:
    """Rules take constants as static values, so that only variables are inputs of a rule."""
    return [atom for atom in atoms if isinstance(atom, Variable)]


def _activity(steps: Sequence[Equation | _CustomCall], wrt: set[Variable]) -> set[Variable]:
    """Variables that depend on ``wrt`` through differentiable equations."""
    active = set(wrt)
    for step in steps:
        inputs: Sequence[Atom]
        outputs: Sequence[Atom]
        if isinstance(step, _CustomCall):
            inputs, outputs = step.equation.inputs, step.results
        else:
            inputs, outputs = step.inputs, step.outputs
            if not is_differentiable(step.primitive):
                continue
        if any(isinstance(a, Variable) and a in active for a in inputs):
            active |= {o for o in outputs if isinstance(o, Variable) and o.type.inexact}
    return active


def _broadcasts(dims: tuple[int, ...], to: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(dims, to) == to
    except ValueError:
        return False
