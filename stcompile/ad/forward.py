"""Forward mode: a program and its tangents, as a single program.

Each equation is followed by the equation of its tangent (Griewank & Walther 2008, ch. 3.1), which
follows from the rules of reverse mode: partial derivatives multiply tangents, linear primitives are
applied to tangents, and any other rule, a linear map of the cotangent, is transposed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from stcompile.ad.control import STRUCTURED
from stcompile.ad.linearity import require_same_way
from stcompile.ad.rules import Rule, rule_for
from stcompile.ad.spectra import with_spectra, without_spectra
from stcompile.ad.sweep import (
    Sweep,
    active_outputs,
    has_derivative,
    known_rule,
    loop_activity,
    require_real,
)
from stcompile.ad.tape import CustomCall, Tape, taped
from stcompile.ad.unchosen import keep_zeros_of_tangents
from stcompile.ad.vectors import Vectors
from stcompile.base.errors import DerivativeError
from stcompile.base.location import Section
from stcompile.base.timings import timed
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, freeze
from stcompile.wengert.naming import base_name, is_numbered, name_variables, names_of
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.attempts import as_called
from stcompile.wengert.primitives.control import NESTED, Ports
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.symbols import with_own_symbols
from stcompile.wengert.types import Type


@timed("tangent")
def forward(program: Program, wrt: Sequence[Variable]) -> Program:
    """The joint program of the values and their tangents.

    It takes the program's inputs and a tangent for each of ``wrt``, which are inputs of floating
    point, and returns the program's outputs and a tangent for each output of floating point.
    """
    program = with_spectra(program)
    recorder = Recorder(program)
    inputs = recorder.inputs_of(program)
    renamed = dict(zip(program.inputs, inputs, strict=True))
    tangents = {renamed[v]: recorder.variable(v.type, _dot(v.name)) for v in wrt}
    outputs, moved = pushed(program, inputs, tangents, recorder)
    equations = recorder.equations
    equations[:] = keep_zeros_of_tangents(recorder, list(equations), list(tangents.values()))
    vectors = Vectors(recorder)
    found = [
        vectors.zeros(output.type) if tangent is None else vectors.exactly(tangent, output.type)
        for output, tangent in zip(outputs, moved, strict=True)
        if output.type.inexact
    ]
    name = f"{program.name}_jvp"
    raw = Program(
        name, (*inputs, *tangents.values()), tuple(recorder.equations), (*outputs, *found)
    )
    return name_variables(without_spectra(raw)[0], recorder.hints)


def pushed(
    program: Program,
    inputs: Sequence[Atom],
    tangents: Mapping[Variable, Atom],
    recorder: Recorder,
) -> tuple[tuple[Atom, ...], list[Atom | None]]:
    """Record a program on ``inputs`` with the tangents of its variables: its outputs, and the
    tangent of each, None if it does not depend on inputs that have a tangent."""
    walk = _Forward(recorder, dict(zip(program.inputs, inputs, strict=True)), tangents)
    for equation in program.equations:
        walk.append(equation)
    outputs = tuple(map(walk.tape.atom, program.outputs))
    return outputs, [walk.tangents.get(a) if isinstance(a, Variable) else None for a in outputs]


class _Forward:
    """The walk over the equations, and the tangents found so far."""

    def __init__(
        self,
        recorder: Recorder,
        variables: dict[Variable, Atom],
        tangents: Mapping[Variable, Atom],
    ) -> None:
        self.recorder = recorder
        self.tape = Tape(recorder, variables)
        self.tangents = {v: tangent for v, tangent in tangents.items() if has_derivative(v)}
        self.vectors = Vectors(recorder)

    def append(self, equation: Equation) -> None:
        """Record an equation, and its tangent after it. A call whose rule concerns reverse mode
        alone has the tangent of its body."""
        if equation.primitive == "call" and equation.params.get("through"):
            equation = replace(equation, params=freeze({**equation.params, "adjoint": None}))
        moved = equation.substitute(self.tape.variables)
        is_moving = bool(active_outputs(moved, set(self.tangents)))
        if is_moving and equation.primitive in NESTED:
            structured = self._cond if equation.primitive == "cond" else self._loop
            self.tape.variables.update(zip(equation.outputs, structured(moved), strict=True))
            return
        if equation.primitive == "call" and equation.params["adjoint"] is None:
            self._inlined(moved, equation.outputs)
            return
        done = len(self.tape.steps)
        self.tape.append(equation)
        for step in self.tape.steps[done:]:
            if isinstance(step, CustomCall):
                self._call(step)
            elif active_outputs(step, set(self.tangents)):
                self._equation(step)

    def _inlined(self, call: Equation, outputs: Sequence[Variable]) -> None:
        """The body of a call, with its tangents."""
        body = with_own_symbols(call.params["program"], self.recorder.bound)
        moving = {v: self.tangents[v] for v in call.variables if v in self.tangents}
        found, tangents = pushed(body, call.inputs, moving, self.recorder)
        for result, tangent in zip(found, tangents, strict=True):
            if tangent is not None and isinstance(result, Variable):
                self.tangents[result] = tangent
        self.tape.variables.update(zip(outputs, found, strict=True))

    # --- one equation --------------------------------------------------------------------------

    def _equation(self, equation: Equation) -> None:
        equation = as_called(equation)
        self.vectors.location = equation.location.in_section(_section(equation))
        active = tuple(self._tangent(atom) is not None for atom in equation.inputs)
        rule = known_rule(equation, active)
        if rule.kind == "partials":
            tangent = self._partials(equation, rule)
        elif PRIMITIVES[equation.primitive].linear:
            tangent = self._linear(equation)
        else:
            tangent = self._transposed(equation, rule)
        self._set(equation.output, tangent)

    def _linear(self, equation: Equation) -> Atom:
        """Apply the primitive itself to tangents: zeros for operands without a tangent. An operand
        to which the rule gives no cotangent, such as an index, stays unchanged."""
        data = rule_for(equation, (True,) * len(equation.inputs)).targets
        operands: list[Atom] = []
        for at, atom in enumerate(equation.inputs):
            if self._tangent(atom) is not None:
                operands.append(self._exact(atom))
            else:
                operands.append(self.vectors.zeros(atom.type) if at in data else atom)
        (output,) = self.vectors.record_all(equation.primitive, tuple(operands), equation.params)
        return output

    def _partials(self, equation: Equation, rule: Rule) -> Atom | None:
        """The sum of the partial derivatives, each times the tangent of its operand."""
        operands = (equation.output, *equation.variables)
        partials = self.vectors.inline(rule.program, operands)
        total: Atom | None = None
        for index, partial in zip(rule.targets, partials, strict=True):
            tangent = self._tangent(equation.inputs[index])
            assert tangent is not None
            term: Atom = tangent
            if not (isinstance(partial, Constant) and partial.value == 1):
                term = self.vectors.record("multiply", tangent, partial)
            total = term if total is None else self.vectors.record("add", total, term)
        return total

    def _transposed(self, equation: Equation, rule: Rule) -> Atom | None:
        """The transpose of an adjoint, which is a linear map of the cotangent of the result."""
        if rule.kind != "adjoint":
            raise DerivativeError(
                f"forward mode has no rule for `{equation.primitive}`",
                location=equation.location,
                hint="use reverse mode: st.grad, st.vjp",
            )
        moving = [equation.inputs[index] for index in rule.targets]
        known = (equation.output, *equation.variables)
        (tangent,) = self._transpose(rule.program, known, (equation.output,), moving)
        return tangent

    def _call(self, call: CustomCall) -> None:
        """A function with its own adjoint, a linear map of the cotangents of its results."""
        require_real(call.equation)
        self.vectors.location = call.equation.location.in_section(_section(call.equation))
        targets: Sequence[int] = call.equation.params["targets"]
        moving = [call.equation.inputs[index] for index in targets]
        if all(self._tangent(atom) is None for atom in moving):
            return
        tangents = self._transpose(call.adjoint, call.residuals, call.results, moving)
        for result, tangent in zip(call.results, tangents, strict=True):
            if isinstance(result, Variable) and result.type.inexact:
                self._set(result, tangent)

    def _transpose(
        self,
        adjoint: Program,
        known: Sequence[Atom],
        results: Sequence[Atom],
        moving: Sequence[Atom],
    ) -> tuple[Atom | None, ...]:
        """The tangents of ``results``, by an adjoint that takes the ``known`` values and their
        cotangents and gives the cotangents of ``moving``."""
        first = len(known)
        wanted = [first + i for i, result in enumerate(results) if result.type.inexact]
        given = [i for i, atom in enumerate(moving) if self._tangent(atom) is not None]
        transposed = transpose(adjoint, wanted, given)
        zeros = [self.vectors.zeros(variable.type) for variable in adjoint.inputs[first:]]
        tangents = [self._exact(moving[i], adjoint.outputs[i].type) for i in given]
        found = iter(self.vectors.inline(transposed, (*known, *zeros, *tangents)))
        return tuple(next(found) if result.type.inexact else None for result in results)

    # --- control flow --------------------------------------------------------------------------

    def _cond(self, equation: Equation) -> tuple[Variable, ...]:
        """Record a branch: its tangents are those of the arm that is taken."""
        self.vectors.location = equation.location
        predicate, *operands = equation.inputs
        moving = [i for i, atom in enumerate(operands) if self._tangent(atom) is not None]
        names = ("then", "otherwise")
        walks = [_Inner(equation.params[name], moving) for name in names]
        flags = [any(both) for both in zip(*(walk.moves for walk in walks), strict=True)]
        programs = {
            name: walk.program((*walk.inputs, *walk.dots.values()), flags, len(flags))
            for name, walk in zip(names, walks, strict=True)
        }
        inputs = (predicate, *operands, *(self._exact(operands[i]) for i in moving))
        outputs = self.vectors.record_all("cond", inputs, {**equation.params, **programs})
        results = outputs[: len(flags)]
        self._set_all(equation, results, flags, outputs[len(flags) :])
        return results

    def _loop(self, equation: Equation) -> tuple[Variable, ...]:
        """Record a loop: the tangents of carried values are carried beside them."""
        self.vectors.location = equation.location
        ports = Ports.of(equation)
        constants, carry, ys = loop_activity(ports, set(self.tangents))
        xs = [self._tangent(x) is not None for x in ports.xs]
        first = len(constants) + (not ports.is_while)
        moving_constants = _where(constants)
        moving_carry = _where(carry)
        moving_xs = _where(xs)
        at_carry = [first + i for i in moving_carry]
        at_xs = [first + len(carry) + i for i in moving_xs]
        walk = _Inner(ports.body, [*moving_constants, *at_carry, *at_xs])
        dots = walk.dots
        inputs = (
            *walk.inputs[: len(constants)],
            *(dots[i] for i in moving_constants),
            *walk.inputs[len(constants) : first + len(carry)],
            *(dots[i] for i in at_carry),
            *walk.inputs[first + len(carry) :],
            *(dots[i] for i in at_xs),
        )
        flags = [*carry, *ys]
        params = {
            **equation.params,
            "constants": len(constants) + len(moving_constants),
            "carry": len(carry) + len(moving_carry),
            "body": walk.program(inputs, flags, len(carry)),
        }
        if ports.condition is not None:
            params["condition"] = _with_unread(
                ports.condition, len(constants), moving_constants, moving_carry
            )
        operands: list[Atom] = [] if ports.count is None else [ports.count]
        operands += [*ports.constants, *(self._exact(ports.constants[i]) for i in moving_constants)]
        operands += [*ports.carry, *(self._exact(ports.carry[i]) for i in moving_carry)]
        operands += [*ports.xs, *(self._exact(ports.xs[i]) for i in moving_xs)]
        outputs = self.vectors.record_all("loop", tuple(operands), params)
        n, m = len(carry), len(moving_carry)
        results = (*outputs[:n], *outputs[n + m : n + m + len(ys)])
        self._set_all(equation, results, flags, (*outputs[n : n + m], *outputs[n + m + len(ys) :]))
        return results

    # --- tangents ------------------------------------------------------------------------------

    def _tangent(self, atom: Atom) -> Atom | None:
        return self.tangents.get(atom) if isinstance(atom, Variable) else None

    def _exact(self, atom: Atom, type: Type | None = None) -> Atom:
        """The tangent of an atom in a given type, or in the atom's own type; zeros if it has no
        tangent."""
        tangent = self._tangent(atom)
        to = type or atom.type
        return self.vectors.zeros(to) if tangent is None else self.vectors.exactly(tangent, to)

    def _set(self, variable: Variable, tangent: Atom | None) -> None:
        """Note the tangent of a variable, if it has a derivative."""
        if tangent is None or not has_derivative(variable):
            return
        self.tangents[variable] = tangent = self.vectors.exactly(tangent, variable.type)
        name = self.recorder.hints.get(variable)
        if name and isinstance(tangent, Variable):
            self.recorder.hints.setdefault(tangent, _dot(name))

    def _set_all(
        self,
        equation: Equation,
        results: Sequence[Variable],
        flags: Sequence[bool],
        tangents: Sequence[Variable],
    ) -> None:
        self.recorder.name_as(equation.outputs, results)
        rest = iter(tangents)
        for result, flag in zip(results, flags, strict=True):
            if flag:
                self._set(result, next(rest))


class _Inner:
    """A sub-program with its tangents; ``moving`` are the inputs that have a tangent, ``moves``
    says which outputs then have a tangent."""

    def __init__(self, program: Program, moving: Sequence[int]) -> None:
        program = with_spectra(program)
        self.name = program.name
        self.recorder = Recorder(program)
        self.inputs = self.recorder.inputs_of(program)
        self.dots = {
            at: self.recorder.variable(program.inputs[at].type, _dot(program.inputs[at].name))
            for at in moving
        }
        tangents = {self.inputs[at]: dot for at, dot in self.dots.items()}
        self.outputs, self.tangents = pushed(program, self.inputs, tangents, self.recorder)
        self.moves = [tangent is not None for tangent in self.tangents]

    def program(self, inputs: Sequence[Variable], flags: Sequence[bool], first: int) -> Program:
        """The sub-program of these inputs. It returns the ``first`` outputs, the tangents of those
        among them that ``flags`` names, then the other outputs and their tangents."""
        vectors = Vectors(self.recorder)
        tangents = [
            self._tangent(vectors, output, tangent) if flag else None
            for output, tangent, flag in zip(self.outputs, self.tangents, flags, strict=True)
        ]
        outputs: list[Atom] = []
        for part in (slice(0, first), slice(first, None)):
            outputs += self.outputs[part]
            outputs += [tangent for tangent in tangents[part] if tangent is not None]
        return self.recorder.program(self.name, inputs, outputs)

    def _tangent(self, vectors: Vectors, output: Atom, tangent: Atom | None) -> Atom:
        if tangent is not None:
            return vectors.exactly(tangent, output.type)
        if output.type.kind == "stack" and not self._is_undefined(output):
            raise DerivativeError(
                "a list that one branch fills with values that depend on what is differentiated, "
                "and another branch with values that do not, is not supported in forward mode",
                hint="use reverse mode: st.grad, st.vjp",
            )
        return vectors.zeros(output.type)

    def _is_undefined(self, output: Atom) -> bool:
        made = (e for e in self.recorder.equations if output in e.outputs)
        return any(equation.primitive == "undef" for equation in made)


def transpose(program: Program, wanted: Sequence[int], given: Sequence[int]) -> Program:
    """The transpose of a program that is linear in the inputs ``wanted``: from all inputs, and a
    value for each of the outputs ``given``, to a value for each of ``wanted``.

    A linear map is its own derivative: its pullback, from any point, is its transpose.
    """
    require_same_way(program, wanted)
    recorder, inputs, tape = taped(program)
    outputs = [tape.atom(program.outputs[i]) for i in given]
    values = tuple(recorder.variable(output.type) for output in outputs)
    sweep = Sweep(recorder, tape, {inputs[i] for i in wanted}, STRUCTURED)
    for output, value in zip(outputs, values, strict=True):
        sweep.give(output, value)
    sweep.run()
    found = tuple(sweep.cotangent_of(inputs[i]) for i in wanted)
    raw = Program(program.name, (*inputs, *values), tuple(recorder.equations), found)
    return name_variables(raw, {})


def _with_unread(
    condition: Program, constants: int, more_constants: Sequence[int], more_carry: Sequence[int]
) -> Program:
    """The condition of a while loop with the tangents among its inputs, which it does not read."""
    first, last = condition.inputs[:constants], condition.inputs[constants:]
    beside = [
        Variable(f"%{at}", variable.type)
        for at, variable in enumerate(
            [*(first[i] for i in more_constants), *(last[i] for i in more_carry)]
        )
    ]
    cut = len(more_constants)
    inputs = (*first, *beside[:cut], *last, *beside[cut:])
    return name_variables(replace(condition, inputs=inputs), names_of(condition))


def _where(flags: Sequence[bool]) -> list[int]:
    return [at for at, flag in enumerate(flags) if flag]


def _dot(name: str) -> str:
    """The name of the tangent of a variable."""
    return "" if is_numbered(name) else f"{base_name(name)}_dot"


def _section(equation: Equation) -> Section:
    """The section of a tangent: tangents of the primal stand between its lines, tangents of an
    adjoint belong to the adjoint."""
    section = equation.location.section
    return "tangent" if section == "forward" else section
