"""Algebra that the chain rule leaves behind: products with 1, sums over nothing, double signs,
broadcasts of what broadcasts anyway.

Only equations of adjoints and tangents are touched: the primal stays as the user wrote it. The
rewrites are exact but for five: ``d * (1 / y)`` becomes ``d / y``, which rounds once instead of
twice, ``d / y * y`` becomes ``d``, also where y is 0 or infinite, as a determinant of which the
logarithm is taken may be, ``sum(-x)`` becomes ``-sum(x)``, which may be another zero, the slope of
``y = 1 / (1 + e)`` becomes ``y * (1 - y)``, and a product reads the matrix that was transposed.

>>> from stcompile.wengert.text import parse_program
>>> program = parse_program('''
... program f(x: f64[3], d: f64[3]) {
...   v1: f64[3] = multiply(d, -1)
...   v2: f64[3] = divide(1, x)
...   v3: f64[3] = multiply(v1, v2)
...   v4: f64[3] = multiply(v3, 1.0)
...   return v4
... }''')
>>> print(simplify_adjoint(in_adjoint(program)))
program f(x: f64[3], d: f64[3]) {
  v1: f64[3] = negative(d)
  v2: f64[3] = divide(1, x)
  v3: f64[3] = divide(d, x)
  v4: f64[3] = negative(v3)
  return v4
}
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stcompile.base.location import Location
from stcompile.codegen_templates.numpy.subscripts import form
from stcompile.passes.general.known_values import KnownValues
from stcompile.passes.general.rebuild import Rebuild
from stcompile.wengert.evaluate import apply
from stcompile.wengert.ir import (
    Atom,
    Constant,
    Equation,
    Params,
    Program,
    Variable,
    exact,
    freeze,
    map_programs,
)
from stcompile.wengert.naming import is_numbered, name_variables, names_of
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.contraction import Contraction
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.types import Type

NOTHING: Params = freeze({})
Rewrite = Callable[["_Simplifier", Equation], "Atom | None"]
"""What stands for the result of an equation; one of another type is not taken."""


def simplify_adjoint(program: Program) -> Program:
    """The program with its adjoint equations simplified."""
    simplifier = _Simplifier(program)
    return _signs_in_factors(simplifier.run())


def _signs_in_factors(program: Program) -> Program:
    """The program with the sign of a product in its constant factor: ``-(2.0 * x / y)`` is
    ``-2.0 * x / y``. Only where nothing else reads the product."""
    rebuild = Rebuild(program)
    for at, equation in enumerate(program.equations):
        if equation.primitive != "negative" or not equation.location.is_derived:
            continue
        (atom,) = equation.inputs
        while rebuild.is_used_once(atom):
            place = rebuild.defined_at(atom)
            made = rebuild.current(place) if place >= 0 else None
            if made is None or not made.location.is_derived:
                break
            if made.primitive not in ("multiply", "divide"):
                break
            factor = made.inputs[0]
            if isinstance(factor, Constant) and _has_sign(factor.value, made.output.type):
                positive = made.with_inputs((Constant(-factor.value), made.inputs[1]))
                rebuild.substitute(place, positive)
                rebuild.drop(at)
                rebuild.mapping[equation.output] = equation.inputs[0]
                break
            atom = factor
    return rebuild.done()


def _has_sign(factor: Any, type: Type) -> bool:
    """True for a number that may be negated in place of a floating-point result."""
    if isinstance(factor, int):
        return factor != 0 and type.inexact
    return isinstance(factor, float | np.inexact)


def in_adjoint(program: Program) -> Program:
    """The program with all its equations said to belong to the adjoint."""
    return replace(
        program,
        equations=tuple(
            replace(e, location=e.location.in_section("adjoint")) for e in program.equations
        ),
    )


class _Simplifier:
    """Builds the program anew. What stays as it is keeps its variables."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.recorder = Recorder()
        self.definitions: dict[Variable, Equation] = {}
        self.known = KnownValues(self.definitions)
        self.original: Equation  # the one at hand, as it is in the program
        self.location: Location

    def run(self) -> Program:
        program, recorder = self.program, self.recorder
        hints = names_of(program)
        mapping: dict[Variable, Atom] = {}
        for equation in program.equations:
            self.original, self.location = equation, equation.location
            moved = map_programs(equation.substitute(mapping), simplify_adjoint)
            if self.location.is_derived and len(moved.outputs) == 1:
                results: tuple[Atom, ...] = (self._simplified(moved),)
            else:
                results = self.keep(moved)
            for old, new in zip(equation.outputs, results, strict=True):
                if new is not old:
                    mapping[old] = new
                    if isinstance(new, Variable) and not is_numbered(old.name):
                        hints.setdefault(new, old.name)
        simplified = program.with_equations(recorder.equations, mapping)
        return program if simplified is program else name_variables(simplified, hints)

    def keep(self, equation: Equation) -> tuple[Variable, ...]:
        """Record an equation: under its own variables if they have the types of its results."""
        types = tuple([output.type for output in equation.outputs])
        if equation is self.original or types == _types(equation):
            self.recorder.equations.append(equation)
            outputs = equation.outputs
        else:
            outputs = self.recorder.record(
                equation.primitive, equation.inputs, equation.location, equation.params
            )
        self.definitions.update(dict.fromkeys(outputs, self.recorder.equations[-1]))
        return outputs

    def record(self, primitive: str, *inputs: Atom, params: Params = NOTHING) -> Atom:
        """Record an equation, simplified in its turn."""
        return self._simplified(Equation((), primitive, inputs, params, location=self.location))

    def _simplified(self, equation: Equation) -> Atom:
        folded = self._folded(equation)
        if folded is not None:
            return folded
        equation = self._spread(equation)
        rewrite = REWRITES.get(equation.primitive)
        result = rewrite(self, equation) if rewrite else None
        if result is None or result.type != _types(equation)[0]:
            return self.keep(equation)[0]
        return result

    def _folded(self, equation: Equation) -> Atom | None:
        """An elementwise equation of constants and arrays of one constant, computed."""
        if not PRIMITIVES[equation.primitive].elementwise:
            return None
        found = map(self._repeated, equation.inputs)
        values = [constant.value for constant in found if constant is not None]
        if len(values) < len(equation.inputs):
            return None
        if all(isinstance(atom, Constant) for atom in equation.inputs):
            return Constant(apply(equation.primitive, tuple(values), equation.params))
        (result,) = _types(equation)
        number = np.asarray(apply(equation.primitive, tuple(values), equation.params))
        if result.kind != "array" or number.dtype != result.dtype:
            return None
        return self.repeat(number[()], result)

    def _repeated(self, atom: Atom) -> Constant | None:
        """The constant that an atom is, or that all elements of an array are."""
        if isinstance(atom, Constant):
            return atom
        made = self.definition(atom, "broadcast_to")
        source = made.inputs[0] if made else None
        # as its elements are: a Python number would take part in promotions in another way
        return (
            Constant(atom.type.dtype.type(source.value)) if isinstance(source, Constant) else None
        )

    def repeat(self, number: Any, type: Type) -> Atom:
        """An array of one number."""
        plain = number.item() if type.dtype == np.float64 else number
        params = freeze({"shape": type.dims})
        return self.keep(
            Equation((), "broadcast_to", (Constant(plain),), params, location=self.location)
        )[0]

    def as_type(self, atom: Atom, type: Type) -> Atom:
        """A constant as a number or array of a type; anything else as it is."""
        if isinstance(atom, Constant) and type.kind == "array":
            return self.repeat(type.dtype.type(atom.value), type)
        if isinstance(atom, Constant) and type.kind == "scalar":
            return Constant(type.dtype.type(atom.value))
        return atom

    def definition(self, atom: Atom, primitive: str) -> Equation | None:
        """The equation that defines an atom, if it is of this primitive."""
        equation = self._made_by(atom)
        return equation if equation and equation.primitive == primitive else None

    def _made_by(self, atom: Atom) -> Equation | None:
        return self.definitions.get(atom) if isinstance(atom, Variable) else None

    def is_equal(self, one: Atom, other: Atom) -> bool:
        """True for two computations of the same value, as the two factors in ``x * x`` give it."""
        first, second = self._made_by(one), self._made_by(other)
        if first is None or second is None:
            return False
        same = (first.primitive, first.inputs) == (second.primitive, second.inputs)
        return (
            same
            and exact(first.params) == exact(second.params)
            and PRIMITIVES[first.primitive].elementwise
        )

    def logistic(self, quotient: Atom | None, e: Atom | None) -> Atom | None:
        """``y = 1 / (1 + e)`` where the quotient is ``y / (1 + e)``."""
        outer = self.definition(quotient, "divide") if quotient is not None else None
        if outer is None:
            return None
        value, bottom = outer.inputs
        inner, total = self.definition(value, "divide"), self.definition(bottom, "add")
        if (
            inner is None
            or total is None
            or inner.inputs[1] != bottom
            or not _is(inner.inputs[0], 1)
        ):
            return None
        one, other = total.inputs
        return value if (_is(one, 1) and other == e) or (_is(other, 1) and one == e) else None

    def negated(self, atom: Atom) -> Atom | None:
        """``x`` where the atom is ``-x``. (Integers wrap around: their sign does not move.)"""
        equation = self.definition(atom, "negative") if atom.type.inexact else None
        return equation.inputs[0] if equation else None

    def _spread(self, equation: Equation) -> Equation:
        """The equation of ``x`` for a broadcast of ``x`` that another operand repeats anyway."""
        places: Sequence[int] = ()
        if equation.primitive == "accumulate" and equation.params["op"] != "contract":
            places = (1,)  # what is added
        elif PRIMITIVES[equation.primitive].elementwise:
            places = range(len(equation.inputs))
        for at in places:
            broadcast = self.definition(equation.inputs[at], "broadcast_to")
            if broadcast is not None:
                before, after = equation.inputs[:at], equation.inputs[at + 1 :]
                direct = equation.with_inputs((*before, broadcast.inputs[0], *after))
                if _types(direct) == _types(equation):
                    equation = direct
        return equation


def _is(atom: Atom, value: float) -> bool:
    return isinstance(atom, Constant) and bool(atom.value == value)


def _multiply(s: _Simplifier, equation: Equation) -> Atom | None:
    (result,) = _types(equation)
    for x, y in (equation.inputs, equation.inputs[::-1]):
        if _is(y, 1):
            return x
        if _is(y, -1) and x.type == result:
            return s.record("negative", x)
    x, y = equation.inputs
    for first, second in ((x, y), (y, x)):
        inner = s.negated(first)
        if inner is not None:
            return s.record("negative", s.record("multiply", *_ordered(inner, second, first is x)))
    for first, second in ((x, y), (y, x)):
        quotient = s.definition(first, "divide")
        if quotient and quotient.inputs[1] == second and quotient.location.is_derived:
            return s.as_type(quotient.inputs[0], result)
    for first, second in ((x, y), (y, x)):
        reciprocal = s.definition(second, "divide")
        if reciprocal and _is(reciprocal.inputs[0], 1) and reciprocal.location.is_derived:
            return s.record("divide", first, reciprocal.inputs[1])
    merged = _merged(s, equation)
    return _slope(s, equation) if merged is None else merged


def _merged(s: _Simplifier, equation: Equation) -> Atom | None:
    """One factor for two, of which one is a power of two: that is exact."""
    for outer, product in (equation.inputs, equation.inputs[::-1]):
        inner = s.definition(product, "multiply")
        if inner is None or not inner.location.is_derived or not isinstance(outer, Constant):
            continue
        for factor, x in (inner.inputs, inner.inputs[::-1]):
            if not isinstance(factor, Constant) or x.type.dtype.kind not in "fc":
                continue
            values = outer.value, factor.value
            if {type(value) for value in values} <= {int, float} and any(map(_is_power, values)):
                both = values[0] * values[1]
                if 1e-30 < abs(both) < 1e30:  # in float32 as well
                    return s.record("multiply", Constant(both), x)
    return None


def _is_power(value: float) -> bool:
    """True for a power of two."""
    return abs(math.frexp(value)[0]) == 0.5


def _slope(s: _Simplifier, equation: Equation) -> Atom | None:
    """``y * (1 - y)`` for ``y / (1 + e) * e`` where y is ``1 / (1 + e)``, times what is beside it.
    It does not overflow where e does."""
    for first, last in (equation.inputs, equation.inputs[::-1]):
        product = s.definition(first, "multiply")
        x, y = product.inputs if product else (first, None)
        for factor, beside in ((first, None), (x, y), (y, x)):
            value = s.logistic(factor, last) or s.logistic(last, factor)
            if value is None:
                continue
            rest = s.record("subtract", Constant(1), value)
            slope = s.record("multiply", value, rest)
            return slope if beside is None else s.record("multiply", beside, slope)
    return None


def _ordered(first: Atom, second: Atom, as_given: bool) -> tuple[Atom, Atom]:
    return (first, second) if as_given else (second, first)


def _divide(s: _Simplifier, equation: Equation) -> Atom | None:
    x, y = equation.inputs
    if _is(y, 1):
        return x
    inner = s.negated(x)
    return None if inner is None else s.record("negative", s.record("divide", inner, y))


def _accumulate(s: _Simplifier, equation: Equation) -> Atom | None:
    """A cotangent added to itself, as the two uses in ``x * x`` give it."""
    total, *parts = equation.inputs
    if equation.params["op"] == "index" and parts[0].type.dtype == total.type.dtype:
        at = equation.params["at"]
        if s.known.are_distinct(total.type.dims, tuple(parts[1:]), at):
            distinct = freeze({**equation.params, "op": "distinct"})
            return s.keep(replace(equation, params=distinct))[0]
    if equation.params["op"] == "add" and (parts == [total] or s.is_equal(total, parts[0])):
        return s.record("multiply", Constant(2), total)
    return None


def _add(s: _Simplifier, equation: Equation) -> Atom | None:
    if equation.inputs[0] == equation.inputs[1]:
        return s.record("multiply", Constant(2), equation.inputs[0])
    for x, y in (equation.inputs, equation.inputs[::-1]):
        inner = s.negated(y)
        if inner is not None:
            return s.record("subtract", x, inner)
    return None


def _subtract(s: _Simplifier, equation: Equation) -> Atom | None:
    x, y = equation.inputs
    inner = s.negated(y)
    return None if inner is None else s.record("add", x, inner)


def _negative(s: _Simplifier, equation: Equation) -> Atom | None:
    return s.negated(equation.inputs[0])


def _same_type(s: _Simplifier, equation: Equation) -> Atom | None:
    """Conversions, reshapes and broadcasts to what the operand already is."""
    (result,) = _types(equation)
    return equation.inputs[0] if equation.inputs[0].type == result else None


def _arranged(s: _Simplifier, equation: Equation) -> Atom | None:
    """Another arrangement of what is negated: the sign comes last. One of equal numbers is made of
    them anew."""
    made = s.definition(equation.inputs[0], "broadcast_to")
    (result,) = _types(equation)
    if made and isinstance(made.inputs[0], Constant):
        return s.record("broadcast_to", made.inputs[0], params=freeze({"shape": result.dims}))
    inner = s.negated(equation.inputs[0])
    if inner is None:
        return None
    return s.record("negative", s.record(equation.primitive, inner, params=equation.params))


def _reshape(s: _Simplifier, equation: Equation) -> Atom | None:
    same = _same_type(s, equation)
    return _arranged(s, equation) if same is None else same


def _sum(s: _Simplifier, equation: Equation) -> Atom | None:
    x = equation.inputs[0]
    if equation.params["axis"] == ():
        return x
    inner = s.negated(x)
    if inner is None:
        return None
    return s.record("negative", s.record("sum", inner, params=equation.params))


def _to_scalar(s: _Simplifier, equation: Equation) -> Atom | None:
    """A number, or an array without axes made of one, as a NumPy scalar."""
    (result,) = _types(equation)
    made = s.definition(equation.inputs[0], "broadcast_to")
    source = equation.inputs[0] if made is None else made.inputs[0]
    if isinstance(source, Constant):
        return Constant(result.dtype.type(source.value))
    return source if source.type == result else None


def _written(s: _Simplifier, equation: Equation) -> Atom | None:
    """A write into a copy: the emitter copies where it must."""
    copied = s.definition(equation.inputs[0], "copy")
    if copied is None:
        return None
    inputs = (copied.inputs[0], *equation.inputs[1:])
    return s.keep(replace(equation, inputs=inputs))[0]


def _where(s: _Simplifier, equation: Equation) -> Atom | None:
    """A choice inside a choice by the same condition."""
    condition, x, y = equation.inputs
    known = s.known.of(condition)
    if known is not None and np.size(known):
        chosen = x if np.all(known) else y if not np.any(known) else None
        if chosen is not None:
            return chosen
    inner, other = s.definition(x, "where"), s.definition(y, "where")
    if inner is not None and inner.inputs[0] == condition:
        x = inner.inputs[1]
    if other is not None and other.inputs[0] == condition:
        y = other.inputs[2]
    direct = replace(equation, inputs=(condition, x, y))
    if direct.inputs == equation.inputs or _types(direct) != _types(equation):
        return None
    return s.keep(direct)[0]


def _contract(s: _Simplifier, equation: Equation) -> Atom | None:
    """A product of what an operand is the transpose of, where that is written with one ``@``."""
    product, inputs = Contraction.of(equation), list(equation.inputs)
    for side, operand in enumerate(equation.inputs):
        made = s.definition(operand, "transpose")
        if made is None or len(product.free(side)) > 1:
            continue
        turned = product.turned(side, made.params["axes"])
        if " @ " in form(*turned.ndims, turned.batch, turned.contracted, turned.order):
            inputs[side], product = made.inputs[0], turned
    if inputs == list(equation.inputs):
        return None
    return s.keep(replace(equation, inputs=tuple(inputs), params=product.params))[0]


def _types(equation: Equation) -> tuple[Type, ...]:
    inputs = tuple(atom.type for atom in equation.inputs)
    return PRIMITIVES[equation.primitive].infer(inputs, equation.params)


REWRITES: dict[str, Rewrite] = {
    "multiply": _multiply,
    "divide": _divide,
    "add": _add,
    "accumulate": _accumulate,
    "negative": _negative,
    "subtract": _subtract,
    "reshape": _reshape,
    "expand_dims": _arranged,
    "squeeze": _arranged,
    "transpose": _arranged,
    "broadcast_to": _same_type,
    "cast": _same_type,
    "to_scalar": _to_scalar,
    "asarray": _same_type,
    "sum": _sum,
    "where": _where,
    "contract": _contract,
    "update": _written,
    "index_update": _written,
    "masked_update": _written,
}
