"""Simplify the arithmetic that the chain rule leaves: products with 1, nested choices, redundant
broadcasts.

Exact with three exceptions: ``d * (1 / y)`` becomes ``d / y``, which rounds once instead of twice,
``d / y * y`` becomes ``d``, also where y is 0 or infinite, as a determinant whose logarithm is
taken may be, and the slope of ``y = 1 / (1 + e)`` becomes ``y * (1 - y)``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from stcompile.passes.general.known_values import KnownValues
from stcompile.passes.rewriting.rewrite import Result, UnderWay, rule
from stcompile.wengert.evaluate import apply
from stcompile.wengert.ir import Atom, Constant, Equation, exact, freeze
from stcompile.wengert.primitives import PRIMITIVES, infer
from stcompile.wengert.types import Type


def is_number(atom: Atom, value: float) -> bool:
    """True for the constant of the given value."""
    return isinstance(atom, Constant) and bool(atom.value == value)


# --- numbers, and arrays of one -------------------------------------------------------------------


@rule(having=lambda primitive: primitive.elementwise)
def computed(under_way: UnderWay, equation: Equation) -> Result:
    """Compute an elementwise equation of constants and of arrays filled with a constant."""
    found = [_repeated(under_way, atom) for atom in equation.inputs]
    values = [constant.value for constant in found if constant is not None]
    if len(values) < len(found) or len(equation.outputs) != 1:
        return None
    number = apply(equation.primitive, tuple(values), equation.params)
    if all(isinstance(atom, Constant) for atom in equation.inputs):
        return Constant(number)
    type, element = equation.output.type, np.asarray(number)
    if type.kind != "array" or element.dtype != type.dtype:
        return None
    return under_way.repeat(element[()], type)


def _repeated(under_way: UnderWay, atom: Atom) -> Constant | None:
    """The constant that an atom is, or that all elements of an array are."""
    if isinstance(atom, Constant):
        return atom
    made = under_way.made_by(atom, "broadcast_to")
    source = made.inputs[0] if made else None
    # as its elements are: a Python number would take part in promotions in another way
    return Constant(atom.type.dtype.type(source.value)) if isinstance(source, Constant) else None


@rule("accumulate", having=lambda primitive: primitive.elementwise)
def spread_anyway(under_way: UnderWay, equation: Equation) -> Result:
    """Use ``x`` for a broadcast of ``x`` that another operand repeats anyway."""
    if equation.primitive == "accumulate" and equation.params["op"] == "contract":
        return None
    found = equation
    first = equation.primitive == "accumulate"  # its first operand has the shape of the result
    for at in range(int(first), 2 if first else len(equation.inputs)):
        broadcast = under_way.made_by(found.inputs[at], "broadcast_to")
        if broadcast is not None:
            before, after = found.inputs[:at], found.inputs[at + 1 :]
            direct = found.with_inputs((*before, broadcast.inputs[0], *after))
            types = tuple(atom.type for atom in direct.inputs)
            if infer(direct.primitive, types, direct.params) == (equation.output.type,):
                found = direct
    return None if found is equation else found


@rule("reshape", "broadcast_to", "cast", "asarray", "pad")
def same_already(under_way: UnderWay, equation: Equation) -> Result:
    """Drop conversions, reshapes, broadcasts and paddings that leave the operand unchanged."""
    return equation.inputs[0]  # one of another type is not taken


@rule("to_scalar")
def number_as_scalar(under_way: UnderWay, equation: Equation) -> Result:
    """Convert a number, or an array without axes made of a number, to a NumPy scalar directly."""
    made = under_way.made_by(equation.inputs[0], "broadcast_to")
    source = equation.inputs[0] if made is None else made.inputs[0]
    if isinstance(source, Constant):
        return Constant(equation.output.type.dtype.type(source.value))
    return source


@rule("accumulate", having=lambda primitive: primitive.elementwise or primitive.assigns)
def plain_number(under_way: UnderWay, equation: Equation) -> Result:
    """Use a Python number for a NumPy scalar among operands that are computed in its dtype
    anyway."""
    inputs = equation.inputs
    for at, atom in enumerate(inputs):
        if (
            isinstance(atom, Constant)
            and atom.type.kind == "scalar"
            and atom.type.dtype.kind != "b"
        ):
            beside = [a.type.dtype for a in inputs if a is not atom and a.type.kind != "python"]
            number = _plain(atom.value)
            common = np.result_type(atom.type.dtype, *beside)
            if not beside or np.result_type(number, *beside) != common:
                continue
            if common.type(number).tobytes() == common.type(atom.value).tobytes():
                return equation.with_inputs((*inputs[:at], Constant(number), *inputs[at + 1 :]))
    return None


def _plain(value: np.generic) -> Any:
    """The Python number that a NumPy scalar is printed as: 0.1 for ``float32(0.1)``."""
    return float(str(value)) if isinstance(value, np.floating) else value.item()


@rule("sum")
def sum_over_nothing(under_way: UnderWay, equation: Equation) -> Result:
    """Replace a sum over no axis by its operand."""
    return equation.inputs[0] if equation.params["axis"] == () else None


@rule("update", "index_update")
def written_copy(under_way: UnderWay, equation: Equation) -> Result:
    """Write into the source of a copy: the emitter copies where it must."""
    copied = under_way.made_by(equation.inputs[0], "copy")
    return copied and equation.with_inputs((copied.inputs[0], *equation.inputs[1:]))


@rule("accumulate")
def added_to_zeros(under_way: UnderWay, equation: Equation) -> Result:
    """Replace an addition to a part that was just set to zero by a write."""
    total, value, *places = equation.inputs
    written = under_way.made_by(total, "update")
    if written is None or not under_way.is_read_once(total) or not is_number(written.inputs[1], 0):
        return None
    same = {**written.params, "op": "slice"} == dict(equation.params)
    if not same or list(written.inputs[2:]) != places or value.type.dtype != total.type.dtype:
        return None
    inputs = (written.inputs[0], value, *places)
    return replace(equation, primitive="update", inputs=inputs, params=written.params)


@rule("update")
def written_as_it_was(under_way: UnderWay, equation: Equation) -> Result:
    """Drop a write of the values that a part already has."""
    source, value, *places = equation.inputs
    copied = under_way.made_by(value, "copy")
    part = under_way.made_by(value if copied is None else copied.inputs[0], "slice")
    if part is None or part.inputs != (source, *places) or part.params != equation.params:
        return None
    return source


# --- sums -----------------------------------------------------------------------------------------


@rule("add", "accumulate")
def added_to_itself(under_way: UnderWay, equation: Equation) -> Result:
    """Double a cotangent that is added to itself, as the two uses in ``x * x`` give it."""
    if equation.params.get("op", "add") != "add":
        return None
    x, y = equation.inputs
    is_twice = x == y or _is_equal(under_way, x, y)
    return under_way.record("multiply", Constant(2), x) if is_twice else None


def _is_equal(under_way: UnderWay, one: Atom, other: Atom) -> bool:
    """True for two computations of the same value, such as those for the two factors in ``x *
    x``."""
    first, second = (under_way.makers.get(atom) for atom in (one, other))  # type: ignore[arg-type]
    if first is None or second is None or not PRIMITIVES[first.primitive].elementwise:
        return False
    same = (first.primitive, first.inputs) == (second.primitive, second.inputs)
    return same and exact(first.params) == exact(second.params)


@rule("accumulate")
def added_to_repetition(under_way: UnderWay, equation: Equation) -> Result:
    """Add to ``x`` itself instead of to a broadcast of ``x``: the addition repeats it anyway."""
    broadcast = under_way.made_by(equation.inputs[0], "broadcast_to")
    if broadcast is None or equation.params["op"] != "add":
        return None
    inputs = (broadcast.inputs[0], equation.inputs[1])
    return replace(equation, primitive="add", inputs=inputs, params=freeze({}))


@rule("accumulate")
def distinct_places(under_way: UnderWay, equation: Equation) -> Result:
    """Mark a sum over indices that select no element twice."""
    total, *parts = equation.inputs
    if equation.params["op"] != "index" or parts[0].type.dtype != total.type.dtype:
        return None
    known, at = KnownValues(under_way.makers), equation.params["at"]
    if not known.are_distinct(total.type.dims, tuple(parts[1:]), at):
        return None
    return replace(equation, params=freeze({**equation.params, "op": "distinct"}))


# --- products -------------------------------------------------------------------------------------


@rule("multiply", "divide")
def by_one(under_way: UnderWay, equation: Equation) -> Result:
    """Replace a product with 1, or a quotient by 1, by the other operand."""
    x, y = equation.inputs
    if is_number(y, 1):
        return x
    return y if equation.primitive == "multiply" and is_number(x, 1) else None


@rule("multiply")
def quotient_times_divisor(under_way: UnderWay, equation: Equation) -> Result:
    """Replace ``d / y * y`` by ``d``."""
    x, y = equation.inputs
    for first, second in ((x, y), (y, x)):
        quotient = under_way.made_by(first, "divide")
        if quotient and quotient.inputs[1] == second and quotient.location.is_derived:
            return _as_type(under_way, quotient.inputs[0], equation.output.type)
    return None


def _as_type(under_way: UnderWay, atom: Atom, type: Type) -> Atom:
    """A constant as a number or array of a type; any other atom unchanged."""
    if isinstance(atom, Constant) and type.kind == "array":
        return under_way.repeat(type.dtype.type(atom.value), type)
    if isinstance(atom, Constant) and type.kind == "scalar":
        return Constant(type.dtype.type(atom.value))
    return atom


@rule("multiply")
def times_reciprocal(under_way: UnderWay, equation: Equation) -> Result:
    """Replace ``d * (1 / y)`` by ``d / y``."""
    x, y = equation.inputs
    for first, second in ((x, y), (y, x)):
        reciprocal = under_way.made_by(second, "divide")
        if reciprocal and is_number(reciprocal.inputs[0], 1) and reciprocal.location.is_derived:
            is_python = {first.type.kind, reciprocal.inputs[1].type.kind} == {"python"}
            if is_python and reciprocal.output.type.kind == "scalar":  # NumPy divides by 0
                if not isinstance(first, Constant):
                    continue
                first = _as_type(under_way, first, reciprocal.output.type)
            return under_way.record("divide", first, reciprocal.inputs[1])
    return None


@rule("multiply")
def logistic_slope(under_way: UnderWay, equation: Equation) -> Result:
    """Replace ``y / (1 + e) * e`` where y is ``1 / (1 + e)`` by ``y * (1 - y)``, times the
    remaining factor. It does not overflow where e does."""
    for first, last in (equation.inputs, equation.inputs[::-1]):
        product = under_way.made_by(first, "multiply")
        x, y = product.inputs if product else (first, None)
        for factor, beside in ((first, None), (x, y), (y, x)):
            value = _logistic(under_way, factor, last) or _logistic(under_way, last, factor)
            if value is None:
                continue
            rest = under_way.record("subtract", Constant(1), value)
            slope = under_way.record("multiply", value, rest)
            return slope if beside is None else under_way.record("multiply", beside, slope)
    return None


def _logistic(under_way: UnderWay, quotient: Atom | None, e: Atom | None) -> Atom | None:
    """The atom ``y = 1 / (1 + e)``, if the quotient is ``y / (1 + e)``."""
    outer = under_way.made_by(quotient, "divide") if quotient is not None else None
    if outer is None:
        return None
    value, bottom = outer.inputs
    inner, total = under_way.made_by(value, "divide"), under_way.made_by(bottom, "add")
    if inner is None or total is None or inner.inputs[1] != bottom:
        return None
    one, other = total.inputs
    fits = (is_number(one, 1) and other == e) or (is_number(other, 1) and one == e)
    return value if fits and is_number(inner.inputs[0], 1) else None


# --- choices --------------------------------------------------------------------------------------


@rule("where")
def known_choice(under_way: UnderWay, equation: Equation) -> Result:
    """Decide a choice by a condition that is known."""
    condition, x, y = equation.inputs
    known: Any = KnownValues(under_way.makers).of(condition)
    if known is None or not np.size(known):
        return None
    return x if np.all(known) else y if not np.any(known) else None


@rule("where")
def choice_in_choice(under_way: UnderWay, equation: Equation) -> Result:
    """Simplify a choice inside a choice by the same condition."""
    condition, x, y = equation.inputs
    inner, other = under_way.made_by(x, "where"), under_way.made_by(y, "where")
    if inner is not None and inner.inputs[0] == condition:
        x = inner.inputs[1]
    if other is not None and other.inputs[0] == condition:
        y = other.inputs[2]
    return equation.with_inputs((condition, x, y)) if (x, y) != equation.inputs[1:] else None


RULES = (
    *(computed, spread_anyway, same_already, number_as_scalar, plain_number, sum_over_nothing),
    *(
        written_copy,
        added_to_zeros,
        written_as_it_was,
        added_to_itself,
        added_to_repetition,
        distinct_places,
    ),
    *(known_choice, choice_in_choice, by_one),
)
PRODUCTS = (quotient_times_divisor, times_reciprocal, logistic_slope)
"""Rules that run after the rules of signs, which move signs out of products first."""
