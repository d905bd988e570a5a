"""The sweep: the walk backwards over a program's equations.

The rules say only how each primitive is differentiated. The common work is done here once: activity
(which values depend on the active inputs, and on which values the output depends), the sum over all
uses of a value, and the conversion of every cotangent to its variable's shape and dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stcompile.ad.rules import Rule, holds_for_complex, is_differentiable, rule_for, rule_function
from stcompile.ad.shifts import idle_maxima
from stcompile.ad.tape import CustomCall, Tape
from stcompile.ad.vectors import Vectors
from stcompile.base.errors import DerivativeError, StcompileError
from stcompile.base.location import NOWHERE
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, as_variable, freeze
from stcompile.wengert.primitives.attempts import as_called
from stcompile.wengert.primitives.control import Ports
from stcompile.wengert.primitives.special import OWN
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.types import Type


@dataclass(frozen=True)
class Contribution:
    """A step of the reverse sweep: ``equation`` added ``part`` to the cotangent of ``variable``,
    which is ``total`` from then on (``part`` is None if a rule adds by itself)."""

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


Visit = Callable[["Sweep", Equation], None]
"""Adds the contributions of one equation with sub-programs."""


class Sweep(Vectors):
    """The backward walk and the cotangents found so far. ``structured`` are the visits of the
    primitives with sub-programs."""

    def __init__(
        self, recorder: Recorder, tape: Tape, wrt: set[Variable], structured: Mapping[str, Visit]
    ) -> None:
        super().__init__(recorder)
        self.tape = tape
        self.structured = structured
        self.active = _activity(tape.steps, wrt)
        self.cotangents: dict[Variable, Atom] = {}
        self.contributions: list[Contribution] = []
        self.starts: dict[Variable, int] = {}  # of each equation's adjoint, by the outputs
        self.states: dict[Variable, Atom] = {}  # earlier versions of arrays that are put back

    def seed(self, output: Atom) -> None:
        if isinstance(output, Variable) and output in self.active:
            type = output.type
            seed: Atom = one(type)
            if type.dims:  # an array of one number
                makers = (e.location for e in self.recorder.equations if output in e.outputs)
                self.location = next(makers, NOWHERE).in_section("adjoint")
                seed = self.record("broadcast_to", seed, shape=type.dims)
            self.cotangents[output] = seed

    def run(self) -> None:
        equations = [s.equation if isinstance(s, CustomCall) else s for s in self.tape.steps]
        self.active -= idle_maxima(equations, self.cotangents.keys())
        for step in reversed(self.tape.steps):
            if isinstance(step, CustomCall):
                self._visit_call(step)
            else:
                start = len(self.recorder.equations)
                self.starts.update(dict.fromkeys(step.outputs, start))
                self._visit(step)
        for variable, total in self.cotangents.items():
            name = self.recorder.hints.get(variable)
            if name and isinstance(total, Variable):
                self.recorder.hints.setdefault(total, f"d_{name}")

    def give(self, output: Atom, cotangent: Atom) -> None:
        """Start from the cotangent of an output; cotangents of an output that is given twice are
        summed."""
        if not isinstance(output, Variable) or output not in self.active:
            return
        so_far = self.cotangents.get(output)
        if so_far is not None:
            cotangent = self.record("add", so_far, cotangent)
        self.cotangents[output] = cotangent

    def cotangent_of(self, atom: Atom) -> Atom:
        """The cotangent so far, in exactly the type of its atom; zeros if it has none."""
        found = self.cotangents.get(atom) if isinstance(atom, Variable) else None
        return self.zeros(atom.type) if found is None else self.exactly(found, atom.type)

    def replace_equation(
        self,
        equation: Equation,
        params: Mapping[str, Any],
        extra: Sequence[tuple[Type, str]],
        carried: Sequence[Type] = (),
        at: int = 0,
        initial: Sequence[Atom] = (),
    ) -> Equation:
        """Replace an equation of the primal by an equation with other params and more outputs:
        ``extra`` outputs, with names, at the end, and ``carried`` outputs from position ``at`` on,
        whose ``initial`` values are added at the end of the inputs."""
        outputs = list(equation.outputs)
        outputs[at:at] = [self.recorder.variable(t, "n_steps") for t in carried]
        outputs += [self.recorder.variable(t, name) for t, name in extra]
        merged = freeze({**equation.params, **params})
        inputs = (*equation.inputs, *initial)
        new = replace(equation, outputs=tuple(outputs), inputs=inputs, params=merged)
        place = next(i for i, e in enumerate(self.tape.equations) if e is equation)
        self.tape.equations[place] = new
        return new

    def cotangent(self, variable: Variable) -> Atom:
        """The finished cotangent, zeros where nothing contributed."""
        found = self.cotangents.get(variable)
        return self.zeros(variable.type) if found is None else self.returned(found, variable.type)

    # --- one equation --------------------------------------------------------------------------

    def _visit(self, equation: Equation) -> None:
        if not any(output in self.cotangents for output in equation.outputs):
            return
        active = tuple(isinstance(a, Variable) and a in self.active for a in equation.inputs)
        if not any(active):
            return
        self.location = equation.location.in_section("adjoint")
        if equation.primitive in self.structured:
            self.structured[equation.primitive](self, equation)
            return
        if equation.primitive == "given":
            equation, active = as_called(equation), active[1:]
        rule = known_rule(equation, active)
        d_out = self.cotangents[equation.output]
        if rule.kind == "accumulates":
            self._accumulate_into(equation, rule.program, d_out)
            return
        operands: list[Atom] = [equation.output, *equation.variables]
        if rule.kind == "adjoint":
            operands.append(d_out)
        results = self.inline(rule.program, operands)
        for index, result in zip(rule.targets, results, strict=True):
            target = as_variable(equation.inputs[index])
            if rule.kind == "partials":
                if isinstance(result, Constant) and result.value == 0:
                    continue  # constant where it has a derivative, as a floor is
                result = self.record("multiply", d_out, result)
            self.contribute(equation, target, result)

    def _accumulate_into(self, equation: Equation, program: Program, d_out: Atom) -> None:
        """Apply a rule that adds its contribution to a part of the cotangent so far."""
        target = as_variable(equation.inputs[0])
        so_far = self.cotangents.get(target)
        if so_far is None:
            so_far = self.zeros(target.type)
        elif so_far.type != target.type:
            so_far = self.returned(so_far, target.type)
        (total,) = self.inline(program, [so_far, d_out, *_variables(equation.inputs[1:])])
        self.set(equation, target, None, total)

    def _visit_call(self, step: CustomCall) -> None:
        cotangents = [self._result_cotangent(result) for result in step.results]
        if not any(r in self.cotangents for r in step.results if isinstance(r, Variable)):
            return
        require_real(step.equation)
        self.location = step.equation.location.in_section("adjoint")
        knows_lines = all(e.location.section == "adjoint" for e in step.adjoint.equations)
        where = None if knows_lines else self.location
        results = self.recorder.inline(step.adjoint, (*step.residuals, *cotangents), where)
        targets: Sequence[int] = step.equation.params["targets"]
        for index, result in zip(targets, results, strict=True):
            target = step.equation.inputs[index]
            if isinstance(target, Variable) and target in self.active:
                self.contribute(step.equation, target, result)

    def _result_cotangent(self, result: Atom) -> Atom:
        if isinstance(result, Variable):
            return self.cotangents.get(result) or self.zeros(result.type)
        return self.zeros(result.type)

    # --- cotangents ----------------------------------------------------------------------------

    def contribute(self, equation: Equation, target: Variable, contribution: Atom) -> None:
        contribution = self.returned(contribution, target.type)
        so_far = self.cotangents.get(target)
        if so_far is None:
            total = contribution
        elif target.type.kind in ("array", "stack"):
            total = self.record("accumulate", so_far, contribution, op="add")
        else:
            total = self.record("add", so_far, contribution)
        self.set(equation, target, contribution, total)

    def set(self, equation: Equation, target: Variable, part: Atom | None, total: Atom) -> None:
        self.cotangents[target] = total
        self.contributions.append(Contribution(equation, target, part, total))


_EXCHANGED = ("pack", "exchange", "exchange_start")  # gradients, by the ranks of a communicator


def known_rule(equation: Equation, active: tuple[bool, ...]) -> Rule:
    """The rule of an equation, for its active inputs. An equation without a rule is refused, and so
    is an equation whose rule has no derivative by an active input, or is not known to be right for
    complex numbers if there are any."""
    name = _shown(equation.params.get("spelling") or equation.primitive)
    if _is_complex(equation) and not holds_for_complex(equation):
        raise _refusal(name, equation)
    if rule_function(equation.primitive) is None:
        hint = "stop the derivative by st.stop_gradient, or write one by st.custom_rule"
        if equation.primitive in _EXCHANGED:
            hint = "differentiate the loss, not a training step with comm"
        location = equation.location.shown
        raise DerivativeError(f"{name} has no derivative rule", location=location, hint=hint)
    try:
        rule = rule_for(equation, active)
    except StcompileError as error:  # the error is in the rule; show the equation that led to it
        reason = f"the derivative of {name} here: {error.reason}"
        raise DerivativeError(reason, location=equation.location, hint="") from error
    if rule.kind == "partials" and len(rule.targets) < sum(active):
        without = next(i for i, flag in enumerate(active) if flag and i not in rule.targets)
        raise DerivativeError(
            f"{name} has no derivative with respect to its operand {without + 1}",
            location=equation.location,
            hint="give a number there, differentiate by what it does not depend on, or write a "
            "derivative by st.custom_rule",
        )
    return rule


def _shown(name: str) -> str:
    """A primitive as its users know it: they have not written the derivatives that are primitives
    of their own."""
    function, _, operand = name.rpartition("_by_")
    return f"the derivative of `{function}` by `{operand}`" if name in OWN else f"`{name}`"


def require_real(equation: Equation) -> None:
    """Refuse complex numbers in a call with a rule of its own, which was written for real numbers.
    A rule that the compiler made from the rules of the body, as for a checkpoint, is right for
    both."""
    if _is_complex(equation) and not equation.params.get("through"):
        raise _refusal("a function with a derivative rule of its own", equation)


def _is_complex(equation: Equation) -> bool:
    return any(atom.type.dtype.kind == "c" for atom in (*equation.inputs, *equation.outputs))


def _refusal(what: str, equation: Equation) -> DerivativeError:
    return DerivativeError(
        f"{what} is complex on the way to a gradient, and its derivative is known for real "
        "numbers alone",
        location=equation.location,
        hint="compute with real and imaginary parts: z.real, z.imag",
    )


def one(type: Type) -> Constant:
    """The seed: the derivative of a number with respect to itself, in its dtype."""
    return Constant(1.0) if type.dtype == np.float64 else Constant(type.dtype.type(1))


def _variables(atoms: Sequence[Atom]) -> list[Variable]:
    """The variables among atoms; rules take constants as static values."""
    return [atom for atom in atoms if isinstance(atom, Variable)]


def _activity(steps: Sequence[Equation | CustomCall], wrt: set[Variable]) -> set[Variable]:
    """Variables that depend on ``wrt`` through differentiable equations."""
    active = {variable for variable in wrt if has_derivative(variable)}
    for step in steps:
        if isinstance(step, CustomCall):
            if any(isinstance(a, Variable) and a in active for a in step.equation.inputs):
                active |= {r for r in step.results if isinstance(r, Variable) and has_derivative(r)}
        else:
            active |= set(active_outputs(step, active))
    return active


def active_outputs(equation: Equation, active: set[Variable]) -> list[Variable]:
    """The outputs of an equation that depend on active variables."""
    inputs = [isinstance(a, Variable) and a in active for a in equation.inputs]
    if not any(inputs) or not is_differentiable(equation.primitive):
        return []
    flags: Sequence[bool] = [True] * len(equation.outputs)
    if equation.primitive == "cond":
        branches = (equation.params["then"], equation.params["otherwise"])
        pairs = zip(*(_flow(branch, inputs[1:]) for branch in branches), strict=True)
        flags = [ours or theirs for ours, theirs in pairs]
    elif equation.primitive == "loop":
        carry, ys = loop_activity(Ports.of(equation), active)[1:]
        flags = [*carry, *ys]
    pairs_ = zip(equation.outputs, flags, strict=True)
    return [output for output, flag in pairs_ if flag and has_derivative(output)]


def has_derivative(variable: Variable) -> bool:
    """True for numbers of floating point, and arrays of them that have elements."""
    return variable.type.inexact and 0 not in variable.type.dims


def _flow(program: Program, inputs: Sequence[bool]) -> list[bool]:
    """For each output of a program, whether it depends on the active inputs."""
    active = {v for v, flag in zip(program.inputs, inputs, strict=True) if flag}
    for equation in program.equations:
        active |= set(active_outputs(equation, active))
    return [isinstance(atom, Variable) and atom in active for atom in program.outputs]


def loop_activity(ports: Ports, active: set[Variable]) -> tuple[list[bool], list[bool], list[bool]]:
    """The active constants, carry and ys of a loop, as flags; the carry over all of its steps."""

    def flags(atoms: Sequence[Atom]) -> list[bool]:
        return [isinstance(a, Variable) and a in active and a.type.inexact for a in atoms]

    constants, carry, xs = flags(ports.constants), flags(ports.carry), flags(ports.xs)
    counter = [] if ports.is_while else [False]
    while True:
        results = _flow(ports.body, [*constants, *counter, *carry, *xs])
        grown = [
            here or (after and atom.type.inexact)
            for here, after, atom in zip(carry, results, ports.carry, strict=False)
        ]
        if grown == carry:
            return constants, carry, results[len(carry) :]
        carry = grown
