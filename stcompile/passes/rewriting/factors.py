"""Merge numbers among the factors of a product, and put signs into them.

The equations between the product and the number are linear, such as an arrangement, a sum or a
product of matrices, and nothing else reads their results. Exact, except for the sign of zeros.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stcompile.passes.rewriting.rewrite import Result, UnderWay, rule
from stcompile.wengert.ir import Atom, Constant, Equation
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.types import Type

_LINEAR = frozenset(name for name, p in PRIMITIVES.items() if p.rearranges) | {
    *("sum", "broadcast_to", "multiply", "contract", "divide")
}


class Number(NamedTuple):
    """A number that multiplies: the operand of an equation at a position."""

    equation: Equation
    at: int

    @property
    def value(self) -> Any:
        return self.equation.inputs[self.at].value  # type: ignore[union-attr]

    def replaced(self, value: Any) -> Equation:
        inputs = list(self.equation.inputs)
        inputs[self.at] = Constant(value)
        return self.equation.with_inputs(tuple(inputs))


def is_moderate(atom: Atom, dtype: np.dtype[Any]) -> bool:
    """False for a number so large or small that a product with it may overflow or vanish although
    the other factor does not; 0, infinity and NaN are not moved either."""
    if not isinstance(atom, Constant) or dtype.kind not in "fc":
        return True
    finite = np.finfo(dtype)
    size = float(np.abs(atom.value))  # a float32 would make float32 of the bounds
    return bool(float(finite.tiny) ** 0.25 <= size <= float(finite.max) ** 0.25)


def _inner(under_way: UnderWay, atom: Atom) -> Equation | None:
    """The equation of the adjoint or a tangent that makes an atom, if exactly one equation reads
    the atom."""
    made = under_way.makers.get(atom) if under_way.is_read_once(atom) else None  # type: ignore[arg-type]
    is_free = made is not None and made.location.is_derived and atom.type.inexact
    return made if is_free and len(made.outputs) == 1 else None  # type: ignore[union-attr]


def _operands(equation: Equation) -> tuple[int, ...]:
    """The positions of operands in each of which an equation is linear, numbers first."""
    if equation.primitive not in _LINEAR:
        return ()
    every = range(1 if equation.primitive == "divide" else len(equation.inputs))
    return tuple(sorted(every, key=lambda at: not isinstance(equation.inputs[at], Constant)))


# --- two numbers ---------------------------------------------------------------------------------


@rule("multiply")
def two_factors(under_way: UnderWay, equation: Equation) -> Result:
    """Merge two factors into one if either is a power of two: that is exact. The factor stays where
    there are fewer elements."""
    x, y = (_number(under_way, equation, at) for at in (0, 1))
    if x is None or y is None or not any(_is_power(number.value) for number in (x, y)):
        return None
    both = x.value * y.value
    kept, gone = sorted((x, y), key=lambda number: _cost(number, equation))
    dtypes = {made.output.type.dtype for made in (x.equation, y.equation, equation)}
    values = [Constant(value) for value in (x.value, y.value, both)]
    if not all(is_moderate(v, dtype) for v in values for dtype in dtypes) or not _is_idle(gone):
        return None
    for number, value in ((kept, both), (gone, 1)):
        if number.equation is not equation:
            under_way.alter(number.replaced(value))
    if kept.equation is equation:
        return kept.replaced(both)
    return equation.inputs[1 - gone.at] if gone.equation is equation else equation


def _number(under_way: UnderWay, equation: Equation, at: int) -> Number | None:
    """The Python number that is, or multiplies, an operand of an equation."""
    operand = equation.inputs[at]
    if isinstance(operand, Constant):
        is_plain = type(operand.value) in (int, float) and equation.output.type.inexact
        return Number(equation, at) if is_plain and operand.value else None
    made = _inner(under_way, operand)
    found = (_number(under_way, made, i) for i in _operands(made)) if made else ()
    return next((number for number in found if number is not None), None)


def _is_power(value: float) -> bool:
    """True for a power of two."""
    return abs(math.frexp(value)[0]) == 0.5


def _cost(number: Number, equation: Equation) -> tuple[bool, int, bool]:
    """A sort key, less for a number that should stay: a dividend, among few elements, further
    inside."""
    made = number.equation
    return made.primitive != "divide", made.output.type.size, made is equation


def _is_idle(number: Number) -> bool:
    """True if the other factor has the type of the product."""
    equation = number.equation
    others = [atom.type for at, atom in enumerate(equation.inputs) if at != number.at]
    return equation.primitive == "multiply" and others == [equation.output.type]


# --- signs ---------------------------------------------------------------------------------------


@rule("negative")
def sign_in_factor(under_way: UnderWay, equation: Equation) -> Result:
    """Put the sign of a product into a number among its factors: ``-(2.0 * x / y)`` is ``-2.0 * x /
    y``. The sign of a choice goes into both of its sides. A value that is added stays, to be
    subtracted."""
    (product,) = equation.inputs
    if any(_adds(reader, equation.output) for reader in under_way.readers(equation.output)):
        return None
    changed = _negated(under_way, product)
    for one in changed:
        under_way.alter(one)
    return product if changed else None


def _adds(equation: Equation, value: Atom) -> bool:
    """True if an equation adds a value to an array, or to a part of it."""
    is_sum = equation.primitive == "accumulate" and equation.params["op"] in ("add", "slice")
    return is_sum and equation.inputs[1] == value


def _negated(under_way: UnderWay, atom: Atom) -> tuple[Equation, ...]:
    """The equations by which an atom is negated, with other numbers; empty if there is no way."""
    made = _inner(under_way, atom)
    if made is None:
        return ()
    if made.primitive == "where":
        return _negated_choice(under_way, made)
    places = (*_operands(made), 1) if made.primitive == "divide" else _operands(made)
    for at in places:
        operand = made.inputs[at]
        if isinstance(operand, Constant):
            if not _has_sign(operand.value, made.output.type):
                return ()
            return (Number(made, at).replaced(-operand.value),)
        if changed := _negated(under_way, operand):
            return changed
    return ()


def _negated_choice(under_way: UnderWay, made: Equation) -> tuple[Equation, ...]:
    """The equations by which both sides of a choice are negated; empty if there is no way."""
    condition, *sides = made.inputs
    inputs: list[Atom] = [condition]
    changed: list[Equation] = []
    for side in sides:
        if isinstance(side, Constant):
            if not _has_sign(side.value, made.output.type):
                return ()
            inputs.append(Constant(-side.value if side.value else side.value))
            continue
        inner = _negated(under_way, side)
        if not inner:
            return ()
        inputs.append(side)
        changed += inner
    return (*changed, made.with_inputs(tuple(inputs)))


def _has_sign(factor: Any, type: Type) -> bool:
    """True for a number that may be negated in place of a floating-point result."""
    if isinstance(factor, int):
        return factor != 0 and type.inexact
    return isinstance(factor, float | np.inexact)
