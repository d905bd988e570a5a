"""Values of all steps of a loop, with labelled axes, as sums of products that are not computed yet.

A product of a vector of each step and of a matrix is as large as all steps together, and is summed
in the end: then it is a product of two matrices. So products are kept as their factors until they
are needed; sums over labels become a ``contract``.

A `Label` is an axis: the axis of the steps, or an axis of an array that steps read. If steps read a
range of it that moves, the label has the range as its ``window``: an element outside of the window
exists, but has no meaning. Before such elements are summed, they are replaced by zeros.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from stcompile.base.location import Location
from stcompile.passes.general.rebuild import Scope
from stcompile.passes.loops.regions_of_steps import Line
from stcompile.wengert.ir import Atom, Constant, Variable
from stcompile.wengert.primitives.axes import AxisMap, Name
from stcompile.wengert.primitives.contraction import Contraction, Side, sides_of


class UnsuitableError(Exception):
    """Raised if there is no good form for all steps at once."""


@dataclass(frozen=True, eq=False)
class Label:
    """An axis of ``size`` elements; labels are compared by identity. ``window`` is the range that a
    step uses."""

    size: int
    window: tuple[Line, Line] | None = None

    def is_like(self, other: Label) -> bool:
        return (self.size, self.window) == (other.size, other.window)


class Factor(NamedTuple):
    """An array and the labels of its axes."""

    atom: Atom
    labels: tuple[Label, ...] = ()


class Value(NamedTuple):
    """A sum of products: the values of a variable of the body in all steps. ``axes`` are its own
    axes in order, None for an axis of length 1; any other label is the axis of the steps."""

    terms: tuple[tuple[Factor, ...], ...]
    axes: tuple[Label | None, ...] = ()

    @property
    def labels(self) -> set[Label]:
        return {one for term in self.terms for factor in term for one in factor.labels}

    def with_labels(self, names: Mapping[Label, Label]) -> Value:
        terms = tuple(
            tuple(Factor(f.atom, tuple(names.get(one, one) for one in f.labels)) for f in term)
            for term in self.terms
        )
        return Value(terms, tuple(one and names.get(one, one) for one in self.axes))


class Products:
    """A recorder of operations on values. ``uncertain`` are sums of products with zeros in place of
    elements without meaning: right where they are finite, as zero times infinity is NaN."""

    def __init__(self, scope: Scope, steps: int, where: Location) -> None:
        self.scope = scope
        self.steps = Label(steps)
        self.where = where
        self.uncertain: set[Atom] = set()

    def record(self, primitive: str, *inputs: Atom, **params: Any) -> Variable:
        return self.scope.record(primitive, inputs, self.where, **params)

    # --- values -----------------------------------------------------------------------------------

    def multiplied(self, axes: AxisMap, x: Value, y: Value) -> Value:
        """The product of two values, element by element, summed over pairs of axes that are not
        in the result."""
        y, named = self._together(axes, x, y)
        terms = tuple(self._product(a, b) for a in x.terms for b in y.terms)
        return self._over(axes, named, Value(terms))

    def _product(self, x: Sequence[Factor], y: Sequence[Factor]) -> tuple[Factor, ...]:
        """All factors; a factor whose axes another factor has is multiplied at once."""
        found = list(x)
        for factor in y:
            near = [f for f in found if {*factor.labels} <= {*f.labels}]
            over = [f for f in found if {*f.labels} <= {*factor.labels}]
            other = min(near or over, key=_size, default=None)
            if other is not None:
                found.remove(other)
                factor = self.joined("multiply", other, factor)
            found.append(factor)
        return tuple(found)

    def added(self, axes: AxisMap, x: Value, y: Value) -> Value:
        """The sum or the difference of two values."""
        y, named = self._together(axes, x, y)
        primitive = "subtract" if axes.equation.primitive == "subtract" else "add"
        own = tuple(named.get(name) for name in axes.result)
        if all(len(term) == 1 for term in (*x.terms, *y.terms)):
            ((a,), (b,)) = self._one(x).terms[0], self._one(y).terms[0]
            if {*a.labels} <= {*b.labels} or {*b.labels} <= {*a.labels}:
                return Value(((self.joined(primitive, a, b),),), own)
        if primitive == "subtract" or x.labels != y.labels:
            raise UnsuitableError
        return Value((*x.terms, *y.terms), own)

    def arranged_anew(self, axes: AxisMap, x: Value) -> Value:
        """A value with its axes in another order, with new axes of length 1, or summed along
        some of its axes."""
        return self._over(axes, dict(zip(axes.operands[0], x.axes, strict=True)), x)

    def _over(self, axes: AxisMap, named: Mapping[Name, Label | None], whole: Value) -> Value:
        """A value whose axes have names, summed over those that are taken as a whole."""
        gone = {name: one for name, one in named.items() if name in axes.whole}
        kept = tuple(None if name in gone else named.get(name) for name in axes.result)
        if len(axes.operands) > 1 and None in gone.values():
            raise UnsuitableError
        summed = {one for one in gone.values() if one is not None}
        if not gone:
            return whole._replace(axes=kept)
        return self._value(self.summed(whole, summed), kept)

    def changed(self, primitive: str, value: Value, *others: Atom) -> Value:
        """Apply a function of a number, and of further operands without axes, to a value."""
        factor = self.summed(value, ())
        return Value(
            ((Factor(self.record(primitive, factor.atom, *others), factor.labels),),), value.axes
        )

    def _value(self, factor: Factor, axes: tuple[Label | None, ...]) -> Value:
        return Value(((factor,),), axes)

    def _one(self, value: Value) -> Value:
        return value if len(value.terms) == 1 else self._value(self.summed(value, ()), value.axes)

    def _together(
        self, axes: AxisMap, x: Value, y: Value
    ) -> tuple[Value, dict[Name, Label | None]]:
        """The second value with the labels of the first value, where their axes go together, and
        the labels of all axes."""
        y = y.with_labels({one: replace(one) for one in y.labels if one is not self.steps})
        named, its = (
            dict(zip(names, value.axes, strict=True))
            for names, value in zip(axes.operands, (x, y), strict=True)
        )
        same = _same((named[name], one) for name, one in its.items() if name in named)
        y = y.with_labels(same)
        for name, one in zip(axes.operands[1], y.axes, strict=True):
            named[name] = named.get(name) or one
        return y, named

    # --- arrays -----------------------------------------------------------------------------------

    def summed(self, value: Value, gone: Collection[Label]) -> Factor:
        """The array of a value, summed along some labels. Elements that steps do not use are zeros
        where it is summed."""
        found: Factor | None = None
        for term in value.terms:
            own = self._term(term, gone)
            found = own if found is None else self.joined("add", found, own)
        assert found is not None
        return found

    def _term(self, term: Sequence[Factor], gone: Collection[Label]) -> Factor:
        labels = {one for factor in term for one in factor.labels}
        if not labels.issuperset(gone):
            raise UnsuitableError  # the same in all of them: a sum would multiply it
        factors = list(term)
        windows = [one for one in labels if one.window and (one in gone or self.steps in gone)]
        for one in windows:
            at = min(
                (i for i, f in enumerate(factors) if {one, self.steps} <= {*f.labels}),
                key=lambda i: _size(factors[i]),
                default=None,
            )
            if at is None:
                raise UnsuitableError
            factors[at] = self.masked(factors[at], (one,))
        result = self._multiplied_out(factors, gone)
        if windows and len(factors) > 1:
            assert isinstance(result.atom, Variable)
            self.uncertain.add(result.atom)
        return result

    def _multiplied_out(self, factors: Sequence[Factor], gone: Collection[Label]) -> Factor:
        if len(factors) == 1:
            return self._sum(factors[0], gone)
        if len(factors) > 2:
            return self._multiplied_out(self._with_fewer(factors, gone), gone)
        x, y = (
            self._sum(one, {*gone} - {*other.labels}) for one, other in (factors, factors[::-1])
        )
        shared = {*x.labels} & {*y.labels} & {*gone}
        if not shared or {*x.labels} <= {*y.labels} or {*y.labels} <= {*x.labels}:
            return self._sum(self.joined("multiply", x, y), gone)
        result = [one for one in (*x.labels, *y.labels) if one not in gone]
        result = list(dict.fromkeys(result))
        product = Contraction.of_names(x.labels, y.labels, result)
        return Factor(self.record("contract", x.atom, y.atom, **product.params), tuple(result))

    def _with_fewer(self, factors: Sequence[Factor], gone: Collection[Label]) -> list[Factor]:
        """The factors with two of them multiplied and summed along the labels that no other factor
        has."""
        for pair in itertools.combinations(factors, 2):
            rest = [factor for factor in factors if factor not in pair]
            alone = {*gone}.difference(*(factor.labels for factor in rest))
            if alone & {*pair[0].labels} & {*pair[1].labels}:
                return [*rest, self._multiplied_out(pair, alone)]
        raise UnsuitableError

    def _sum(self, factor: Factor, gone: Collection[Label]) -> Factor:
        axes = tuple(at for at, one in enumerate(factor.labels) if one in gone)
        if not axes:
            return factor
        kept = tuple(one for one in factor.labels if one not in gone)
        return Factor(self.record("sum", factor.atom, axis=axes, keepdims=False), kept)

    def joined(self, primitive: str, x: Factor, y: Factor) -> Factor:
        """An operation element by element on two arrays."""
        labels = x.labels if len(x.labels) >= len(y.labels) else y.labels
        labels = (*labels, *(one for one in (*x.labels, *y.labels) if one not in labels))
        atoms = (self.arranged(factor, labels) for factor in (x, y))
        return Factor(self.record(primitive, *atoms), labels)

    def arranged(self, factor: Factor, labels: Sequence[Label | None]) -> Atom:
        """An array with axes in this order, of length 1 for labels that it does not have."""
        if not factor.labels:
            return factor.atom
        axes = tuple(factor.labels.index(one) for one in labels if one in factor.labels)
        if len(axes) != len(factor.labels):
            raise UnsuitableError
        atom = factor.atom
        if axes != tuple(range(len(axes))):
            atom = self.record("transpose", atom, axes=axes)
        first = next((at for at, one in enumerate(labels) if one in factor.labels), 0)
        if len(labels[first:]) == len(axes):
            return atom
        sizes = dict(zip(factor.labels, factor.atom.type.dims, strict=True))
        dims = tuple(1 if one is None else sizes.get(one, 1) for one in labels[first:])
        return self.record("reshape", atom, shape=dims)

    # --- factors as steps use them ----------------------------------------------------------------

    def masked(self, factor: Factor, windows: Iterable[Label]) -> Factor:
        """An array of each step, with zeros outside of some windows."""
        mask = self.mask(factor.labels, windows)
        if mask is None:
            return factor
        zero = Constant(np.dtype(factor.atom.type.dtype).type(0))
        return Factor(self.record("where", mask, factor.atom, zero), factor.labels)

    def mask(self, labels: Sequence[Label | None], windows: Iterable[Label]) -> Variable | None:
        """An array that is True where each step uses the elements of an array with these labels;
        None if it uses all of them."""
        found: Variable | None = None
        for one in windows:
            assert one.window is not None
            low, high = one.window
            tests = []
            if low.over(self.steps.size)[1] > 0:
                tests.append(("greater_equal", low))
            if high.over(self.steps.size)[0] < one.size:
                tests.append(("less", high))
            if low.slope == high.slope and high.offset - low.offset == 1:
                tests = [("equal", low)]
            for primitive, line in tests:
                place = self._count(Line(0, 1), one, labels)
                bound = self._count(line, self.steps, labels)
                own = self.record(primitive, place, bound)
                found = own if found is None else self.record("logical_and", found, own)
        return found

    def _count(self, line: Line, label: Label, labels: Sequence[Label | None]) -> Atom:
        """The numbers of a line along a label."""
        if not line.slope:
            return Constant(line.offset)
        stop = line.offset + line.slope * label.size
        params = {
            "start": line.offset,
            "stop": stop,
            "step": line.slope,
            "dtype": np.dtype("int64"),
        }
        return self.arranged(Factor(self.record("arange", **params), (label,)), labels)


def _size(factor: Factor) -> int:
    return math.prod(one.size for one in factor.labels)


def _same(pairs: Iterable[tuple[Label | None, Label | None]]) -> dict[Label, Label]:
    """The labels that are replaced by others, since their axes go together."""
    found = {}
    for own, its in pairs:
        if own is not None and its is not None:
            if not own.is_like(its):
                raise UnsuitableError
            found[its] = own
    return found


# --- sums of products -----------------------------------------------------------------------------


class _Made(NamedTuple):
    """A product, and the matrices that its rows and its columns come from."""

    product: Variable
    sides: tuple[Side, Side]


def sum_of_products(products: Products, x: Atom, y: Atom) -> Variable | None:
    """``a @ m + a @ n`` as ``a @ (m + n)``, if both operands are products with a common factor."""
    first, second = _made(products.scope, x), _made(products.scope, y)
    if first is None or second is None:
        return None
    for side in (0, 1):
        if first.sides[side] != second.sides[side]:
            continue
        labels = Label(0), Label(1), Label(2)  # of the rows, of the columns, of the sum
        rest = [
            _factor(one, labels[1 - side], labels[2])
            for one in (first.sides[1 - side], second.sides[1 - side])
        ]
        total = products.joined("add", *rest)
        common = _factor(first.sides[side], labels[side], labels[2])
        left, right = (common, total) if side == 0 else (total, common)
        made = Contraction.of_names(left.labels, right.labels, labels[:2])
        result = products.record("contract", left.atom, right.atom, **made.params)
        if first.product in products.uncertain or second.product in products.uncertain:
            products.uncertain.add(result)
        return result
    return None


def _factor(side: Side, own: Label, summed: Label) -> Factor:
    return Factor(side.atom, (summed, own) if side.summed == 0 else (own, summed))


def _made(scope: Scope, atom: Atom) -> _Made | None:
    """The factors of a product of two matrices, or of its transpose; None for other atoms."""
    maker = scope.maker(atom)
    if maker is not None and maker.primitive == "transpose" and maker.params["axes"] == (1, 0):
        found = _made(scope, maker.inputs[0])
        return None if found is None else found._replace(sides=found.sides[::-1])
    sides = None if maker is None or maker.primitive != "contract" else sides_of(maker)
    return None if maker is None or sides is None else _Made(maker.output, sides)
