"""Maxima that cancel: values subtracted to keep an exponential small, and added again.

``m + log(sum(exp(t - m)))`` does not depend on ``m``, nor does ``exp(t - m) / sum(exp(t - m))``. If
every path from a maximum to the differentiated value is of this kind, its derivative is exactly
zero, and nothing needs to be computed for it (Blanchard, Higham and Higham 2021, IMA J. Numer.
Anal. 41, section 2, for the two identities).

A small change ``e`` of the maximum has one of three effects on a value: none; ``c * e`` is added to
it; it is multiplied by ``exp(c * e)``. Any other effect ends the search.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from stcompile.ad.rules import is_differentiable
from stcompile.wengert.ir import Atom, Constant, Equation, Variable
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.axes import AxisMap
from stcompile.wengert.primitives.axis_rules import axis_map

Labels: TypeAlias = tuple[int | None, ...]


@dataclass(frozen=True)
class Shift:
    """The effect of a change ``e`` of a maximum on a value. ``labels`` has the axis of ``e`` that
    each axis of the value goes with, None where all elements change alike."""

    kind: Literal["added", "scaled"]
    factor: Fraction
    labels: Labels


class _OtherEffect(Exception):
    """Raised if a value changes in some other way."""


Effects: TypeAlias = Mapping[Variable, Shift]
Rule: TypeAlias = Callable[["_Search", Equation, "list[Shift | None]"], "Shift | None"]


def idle_maxima(equations: Sequence[Equation], results: Collection[Variable]) -> set[Variable]:
    """The maxima whose changes do not change any of the results.

    Only the kinds of equations in this module are known to cancel. A maximum that any other
    equation reads, or a maximum of control flow, is not idle.
    """
    maxima = [e.output for e in equations if e.primitive == "max" and e.output.type.inexact]
    if not maxima:
        return set()
    search = _Search(equations, results)
    return {maximum for maximum in maxima if search.cancels(maximum)}


class _Search:
    """Follows a maximum through the equations that read it."""

    def __init__(self, equations: Sequence[Equation], results: Collection[Variable]) -> None:
        self.equations = equations
        self.results = results
        self.readers: dict[Variable, list[int]] = {}
        self.makers: dict[Variable, Equation] = {}
        for at, equation in enumerate(equations):
            self.makers.update(dict.fromkeys(equation.outputs, equation))
            for variable in equation.variables:
                self.readers.setdefault(variable, []).append(at)

    def cancels(self, maximum: Variable) -> bool:
        labels = tuple(axis if dim != 1 else None for axis, dim in enumerate(maximum.type.dims))
        shifts = {maximum: Shift("added", Fraction(1), labels)}
        if maximum in self.results:
            return False
        waiting = list(self.readers.get(maximum, ()))
        heapq.heapify(waiting)
        done = -1
        while waiting:
            at = heapq.heappop(waiting)
            if at == done:
                continue
            done = at
            equation = self.equations[at]
            try:
                shift = self._after(equation, shifts)
            except _OtherEffect:
                return False
            if shift is not None:
                if equation.output in self.results:
                    return False
                shifts[equation.output] = shift
                for reader in self.readers.get(equation.output, ()):
                    heapq.heappush(waiting, reader)
        return True

    def _after(self, equation: Equation, shifts: Effects) -> Shift | None:
        """The shift of an equation's output; None if the output does not change."""
        if not is_differentiable(equation.primitive) and not equation.effects:
            return None  # as by the chain rule: it is constant except for jumps
        rule = RULES.get(equation.primitive)
        if rule is None or not equation.output.type.inexact:
            raise _OtherEffect
        operands = [shifts.get(a) if isinstance(a, Variable) else None for a in equation.inputs]
        return rule(self, equation, operands)

    def counts(self, atom: Atom, length: int) -> bool:
        """True for the indices 0, 1, ... of an axis, in turn."""
        equation = self.makers.get(atom) if isinstance(atom, Variable) else None
        if equation is None or equation.primitive != "arange":
            return False
        params = equation.params
        return (params["start"], params["step"], params["stop"]) == (0, 1, length)


# --- elementwise ------------------------------------------------------------------------------


def _moved(equation: Equation, shifts: list[Shift | None]) -> list[Shift | None]:
    """The shifts of operands, with labels for the axes of the result that their axes go to."""
    axes = axis_map(equation)
    return [s and _along(equation, axes, side, s) for side, s in enumerate(shifts)]


def _along(equation: Equation, axes: AxisMap | None, side: int, shift: Shift) -> Shift:
    if axes is None:
        raise _OtherEffect
    labels: list[int | None] = [None] * equation.output.type.ndim
    for label, place in zip(shift.labels, axes.places(side), strict=True):
        if label is not None and place is None:
            raise _OtherEffect
        if place is not None:
            labels[place] = label
    return replace(shift, labels=tuple(labels))


def _combined(kind: str, x: Shift | None, y: Shift | None, sign: int) -> Shift | None:
    """The shift of a sum or difference (of a product or quotient) of two shifted values."""
    if x is None or y is None:
        one = x or (y and replace(y, factor=sign * y.factor))
        if one is None or one.kind != kind:
            raise _OtherEffect
        return one
    if x.kind != kind or y.kind != kind or x.labels != y.labels:
        raise _OtherEffect
    factor = x.factor + sign * y.factor
    return replace(x, factor=factor) if factor else None


def _add(_: _Search, equation: Equation, shifts: list[Shift | None]) -> Shift | None:
    x, y = _moved(equation, shifts)
    return _combined("added", x, y, -1 if equation.primitive == "subtract" else 1)


def _multiply(_: _Search, equation: Equation, shifts: list[Shift | None]) -> Shift | None:
    x, y = _moved(equation, shifts)
    divides = equation.primitive == "divide"
    for shift, other in ((x, equation.inputs[1]), (y, equation.inputs[0])):
        if shift is None or shift.kind != "added":
            continue
        if not isinstance(other, Constant) or (divides and shift is y):
            raise _OtherEffect
        number = _number(other)
        return _times(shift, 1 / number if divides else number)
    return _combined("scaled", x, y, -1 if divides else 1)


def _number(atom: Constant) -> Fraction:
    value = atom.value
    if not isinstance(value, int | float) or not math.isfinite(value) or not value:
        raise _OtherEffect
    return Fraction(value)


def _times(shift: Shift, factor: Fraction) -> Shift:
    return replace(shift, factor=shift.factor * factor)


def _negative(_: _Search, equation: Equation, shifts: list[Shift | None]) -> Shift | None:
    (x,) = shifts
    assert x is not None
    return _times(x, Fraction(-1)) if x.kind == "added" else x


def _exp_or_log(_: _Search, equation: Equation, shifts: list[Shift | None]) -> Shift | None:
    (x,) = shifts
    assert x is not None
    if x.kind != ("added" if equation.primitive == "exp" else "scaled"):
        raise _OtherEffect
    return replace(x, kind="scaled" if equation.primitive == "exp" else "added")


# --- reductions, products ---------------------------------------------------------------------


def _reduced(_: _Search, equation: Equation, shifts: list[Shift | None]) -> Shift | None:
    (x,) = _moved(equation, shifts)
    assert x is not None
    if x.kind == "added" and equation.primitive == "sum":
        dims = equation.inputs[0].type.dims
        x = _times(x, Fraction(math.prod(dims[axis] for axis in equation.params["axis"])))
    return x if x.factor else None


def _contract(_: _Search, equation: Equation, shifts: list[Shift | None]) -> Shift | None:
    """The shift of a product with an array that is not shifted."""
    x, y = _moved(equation, shifts)
    one = x or y
    if one is None or (x and y) or one.kind != "scaled":
        raise _OtherEffect
    return one


# --- arrangement ------------------------------------------------------------------------------


def _arranged(_: _Search, equation: Equation, shifts: list[Shift | None]) -> Shift | None:
    """The shift of a rearrangement that keeps every axis along which the changes differ whole:
    ``top[:, 0]``."""
    if any(shifts[1:]):
        raise _OtherEffect
    return _moved(equation, shifts)[0]


def _picked(search: _Search, equation: Equation, shifts: list[Shift | None]) -> Shift | None:
    """The shift of a selection of an element of each row: ``x[arange(n), labels]``."""
    x, *indices = equation.inputs
    shift = shifts[0]
    at = equation.params["at"]
    if shift is None or any(shifts[1:]) or at != ("index",) * x.type.ndim:
        raise _OtherEffect
    found: Labels = (None,) * equation.output.type.ndim
    for label, index, dim in zip(shift.labels, indices, x.type.dims, strict=True):
        if label is None:
            continue
        if not search.counts(index, dim) or any(k is not None for k in found):
            raise _OtherEffect
        found = (*found[:-1], label)
    return replace(shift, labels=found)


RULES: Mapping[str, Rule] = {
    "add": _add,
    "subtract": _add,
    "multiply": _multiply,
    "divide": _multiply,
    "negative": _negative,
    "exp": _exp_or_log,
    "log": _exp_or_log,
    "sum": _reduced,
    "mean": _reduced,
    "max": _reduced,
    "contract": _contract,
    **dict.fromkeys(("copy", "cast", "asarray"), _arranged),
    "to_scalar": lambda search, equation, shifts: shifts[0],
    **{name: _arranged for name, primitive in PRIMITIVES.items() if primitive.view},
    "index": _picked,
}
