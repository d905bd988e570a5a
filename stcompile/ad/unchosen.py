"""Zeros of cotangents: what was not chosen has none, whatever it is multiplied by.

``np.where(x > 0, np.sqrt(x), 0.0)`` does not choose the root at 0, and its adjoint multiplies the
zero there by the derivative of a root, which is infinite: 0 * inf is NaN. A choice that meets a
factor is therefore moved behind it, which changes nothing else and costs nothing:

    d: where(c, g, 0.0)                     v: multiply(g, f)
    d_x: multiply(d, f)                     d_x: where(c, v, 0.0)

Where no mask tells the zeros, as of sums over uses and of what a loop carries, the product is one
whose zeros win: a *strong* zero, as in the automatic differentiation of Julia (ChainRules, "strong
zero"). Either is done only where the factor may be infinite or NaN (`stcompile.analysis.finite`);
how much is feared depends on where the zeros come from (`stcompile.ad.known_zeros.Zero`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stcompile.ad.known_zeros import KnownZeros, Zero, Zeros, innermost
from stcompile.analysis.finite import Limit, Reach, Reaches
from stcompile.base.location import Location
from stcompile.wengert.dims import broadcast
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, freeze
from stcompile.wengert.naming import name_variables, names_of
from stcompile.wengert.primitives.control import Ports
from stcompile.wengert.recorder import Recorder

_TRUSTED = {
    Zero.PART: Limit.LARGE,
    Zero.VANISHED: Limit.LARGE,
    Zero.BEATEN: Limit.PLAIN,
    Zero.CHOSEN: Limit.BOUNDED,
}
"""The factors that zeros are multiplied by as they are."""


def keep_zeros_of_tangents(
    recorder: Recorder, equations: Sequence[Equation], tangents: Sequence[Variable]
) -> list[Equation]:
    """The equations of values and their tangents, with products whose zeros stay zeros."""
    walk = _Walk(recorder, Reaches((), {}))
    walk.moving.update(tangents)
    return walk.run(equations)


def keep_zeros(
    recorder: Recorder,
    primal: Sequence[Equation],
    adjoint: Sequence[Equation],
    cotangents: Sequence[Atom] = (),
) -> list[Equation]:
    """The equations of an adjoint with products whose zeros stay zeros. ``cotangents`` are given
    from outside; others begin with the seed, 1."""
    walk = _Walk(recorder, Reaches(list(primal), {}))
    walk.moving.update(atom for atom in cotangents if isinstance(atom, Variable))
    for equation in primal:
        walk.known.note(equation)
    return walk.run(adjoint)


class _Walk:
    """The walk over an adjoint: ``moving`` depend on a cotangent, ``made`` are the new
    equations."""

    def __init__(self, recorder: Recorder, reaches: Reaches) -> None:
        self.recorder = recorder
        self.reaches = reaches
        self.moving: set[Variable] = set()
        self.known = KnownZeros(self.record)
        self.made: list[Equation] = []
        self.location: Location

    def run(self, equations: Sequence[Equation]) -> list[Equation]:
        with self.recorder.aside() as made:
            self.made = made
            self.reaches = Reaches(_Both(self.reaches.equations, made), self.reaches.known)
            for equation in equations:
                self.visit(equation)
        return made

    def visit(self, equation: Equation) -> None:
        self.location = equation.location
        is_moving = any(map(self.is_moving, equation.inputs)) or _is_seeded(equation)
        if is_moving:
            self.moving.update(o for o in equation.outputs if o.type.inexact)
            if equation.primitive in ("multiply", "divide") and self.product(equation):
                return
            equation = self.inside(equation)
        self.made.append(equation)
        self.recorder.note(equation)
        self.known.note(equation)

    def is_moving(self, atom: Atom) -> bool:
        return isinstance(atom, Variable) and atom in self.moving

    # --- products ------------------------------------------------------------------------------

    def product(self, equation: Equation) -> bool:
        """Record a product of a cotangent that has zeros with a factor that may be infinite; False
        if there is no need."""
        x, y = equation.inputs
        sides = ((x, y),) if equation.primitive == "divide" else ((x, y), (y, x))
        for vector, factor in sides:
            if self._is_masked(equation, vector, factor):
                return True
            zeros = self.known.of(vector) if self.is_moving(vector) else None
            if zeros is None or not self._fears(zeros, equation, factor):
                continue
            is_array = equation.output.type.kind == "array"
            inner = innermost(zeros)
            if inner is not None and self._fears(inner, equation, factor):
                return self._strong(equation, zeros, vector, factor)
            if zeros.choice and is_array and self._choose(equation, zeros, vector, factor):
                return True
            return self._strong(equation, zeros, vector, factor)
        return False

    def _is_masked(self, equation: Equation, vector: Atom, mask: Atom) -> bool:
        """Record the product of a cotangent that may be infinite with a mask: a choice, or a
        product in which the zeros of the mask win."""
        zeros = None if self.is_moving(mask) or mask == vector else self.known.of(mask)
        if equation.primitive != "multiply" or not self.is_moving(vector):
            return False
        if zeros is None or zeros.all:
            return False
        out = equation.output
        limit = self.reaches[vector].limit
        is_feared = limit >= Limit.LARGE and zeros.kind >= Zero.BEATEN
        if equation.location.section == "tangent":  # of what vanished there is no tangent
            is_feared |= limit >= Limit.WILD and zeros.kind == Zero.VANISHED
        if not is_feared or vector.type.dtype != out.type.dtype:
            return False
        if mask.type.dtype.kind == "b" and zeros.choice and out.type.kind == "array":
            choice = replace(zeros.choice, value=lambda: vector, inner=self.known.of(vector))
            self.known.zeros[out] = Zeros(zeros.kind, choice)
            return self._chosen(out, True, mask, vector)
        if mask.type.dtype != out.type.dtype:
            return False
        self.known.zeros[out] = Zeros(zeros.kind)
        return self._as(out, "strong_product", mask, vector)

    def _fears(self, zeros: Zeros, equation: Equation, factor: Atom) -> bool:
        reach = self.reaches[factor]
        limit = reach.limit
        if equation.primitive == "divide":
            is_parameter = not factor.type.dims and limit <= Limit.PLAIN
            if not is_parameter or zeros.kind >= Zero.BEATEN:
                limit = max(limit, self.reaches.by(factor, reach))
        return limit > _TRUSTED[zeros.kind]

    def _choose(self, equation: Equation, zeros: Zeros, vector: Atom, factor: Atom) -> bool:
        """Choose after the product instead of before it."""
        choice, out = zeros.choice, equation.output
        assert choice is not None
        mask, value = choice.mask(), choice.value()
        if broadcast(mask.type.dims, out.type.dims) != out.type.dims:
            return False
        operands = (value, factor) if equation.inputs[0] is vector else (factor, value)
        product = self.record(equation.primitive, *operands)
        made = self.made.pop()
        if choice.inner is not None and isinstance(value, Variable):
            self.moving.add(value)
            self.known.zeros[value] = choice.inner
        if choice.inner is None or not self.product(made):
            self.made.append(made)
            self.known.note(made)
        inner = self.known.of(product)
        self.known.zeros[out] = Zeros(
            zeros.kind, replace(choice, mask=lambda: mask, value=lambda: product, inner=inner)
        )
        return self._chosen(out, choice.holds, mask, product)

    def _chosen(self, out: Variable, holds: bool, mask: Atom, product: Atom) -> bool:
        zero = Constant(0.0)
        return self._as(out, "where", mask, *((product, zero) if holds else (zero, product)))

    def _strong(self, equation: Equation, zeros: Zeros, vector: Atom, factor: Atom) -> bool:
        primitive = "strong_quotient" if equation.primitive == "divide" else "strong_product"
        made = self.known.makers.get(factor) if isinstance(factor, Variable) else None
        is_product = made is not None and equation.primitive == "multiply"
        if made and is_product and _is_reciprocal(made):
            primitive, factor = "strong_quotient", made.inputs[1]
        self.known.zeros[equation.output] = Zeros(zeros.kind)
        return self._as(equation.output, primitive, vector, factor)

    def _as(self, out: Variable, primitive: str, *inputs: Atom) -> bool:
        """Record what a variable is from now on, if it has its type."""
        variable = self.record(primitive, *inputs)
        made = self.made.pop()
        if variable.type != out.type:
            return False
        made = replace(made, outputs=(out,))
        self.made.append(made)
        self.known.makers[out] = made
        return True

    def record(self, primitive: str, *inputs: Atom, **params: Any) -> Variable:
        (output,) = self.recorder.record(primitive, inputs, self.location, params)
        return output

    # --- branches and loops --------------------------------------------------------------------

    def inside(self, equation: Equation) -> Equation:
        """The equation with products whose zeros stay, in its sub-programs."""
        if equation.primitive == "cond":
            operands = equation.inputs[1:]
            arms = {
                way: self._program(equation.params[way], operands) for way in ("then", "otherwise")
            }
            return _with(equation, arms)
        if equation.primitive == "loop":
            ports = Ports.of(equation)
            known = self.known.at_step(ports, self.known.carried(ports))
            counter = [] if ports.is_while else [False]
            moving = [self._is_moved(a) for a in (*ports.constants, *ports.carry, *ports.xs)]
            moving[len(ports.constants) : len(ports.constants)] = counter
            reach = self.reaches.of_body(ports, [self.reaches[a] for a in ports.results])
            return _with(equation, {"body": self._inner(ports.body, moving, known, reach)})
        return equation

    def _is_moved(self, atom: Atom) -> bool:
        is_number = isinstance(atom, Constant) and atom.type.inexact  # a seed, it may be
        return is_number or self.is_moving(atom)

    def _program(self, program: Program, operands: Sequence[Atom]) -> Program:
        moving, known = map(self._is_moved, operands), map(self.known.at_entry, operands)
        reach = [self.reaches[atom] for atom in operands]
        return self._inner(program, [*moving], [*known], reach)

    def _inner(
        self,
        program: Program,
        moving: Sequence[bool],
        known: Sequence[Zeros | None],
        reach: Sequence[Reach],
    ) -> Program:
        reaches = Reaches((), dict(zip(program.inputs, reach, strict=True)))
        walk = _Walk(Recorder(program), reaches)
        for variable, is_moved, zeros in zip(program.inputs, moving, known, strict=True):
            if is_moved and variable.type.inexact:
                walk.moving.add(variable)
            if zeros is not None:
                walk.known.zeros[variable] = zeros
        made = walk.run(program.equations)
        if all(new is old for new, old in zip(made, program.equations, strict=False)):
            return program
        new = replace(program, equations=tuple(made))
        names = {v: name for v, name in names_of(new).items() if not name.startswith("%")}
        return name_variables(new, names)


def _with(equation: Equation, programs: Mapping[str, Program]) -> Equation:
    if all(equation.params[name] is program for name, program in programs.items()):
        return equation
    return replace(equation, params=freeze({**equation.params, **programs}))


def _is_seeded(equation: Equation) -> bool:
    """True for an equation that takes the number 1.0, the cotangent of the value itself."""
    return equation.location.section == "adjoint" and any(
        isinstance(a, Constant) and a.type.inexact and a.value == 1 for a in equation.inputs
    )


def _is_reciprocal(equation: Equation) -> bool:
    ones = (Constant(1), Constant(1.0))
    return equation.primitive == "divide" and equation.inputs[0] in ones


class _Both(Sequence[Equation]):
    """Two lists of equations, one after the other; the second one may grow."""

    def __init__(self, first: Sequence[Equation], second: Sequence[Equation]) -> None:
        self.first, self.second = first, second

    def __len__(self) -> int:
        return len(self.first) + len(self.second)

    def __getitem__(self, at: Any) -> Any:
        return self.first[at] if at < len(self.first) else self.second[at - len(self.first)]
