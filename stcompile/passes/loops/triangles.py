"""Equations of a loop over a triangle, written for all of its steps.

Each value gets the axes of the arrays that it is a part of (see `lazy_products`). A carried array
is noted as it is after all steps have written their parts, and each part is read from the version
that its step would have read: from the bounds of the parts follows which steps meet (see
`regions_of_steps`). A part may be read before all steps that write there, after them, or in the
same step, but not in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np

from stcompile.analysis.accesses import accesses_of
from stcompile.passes.general.rebuild import Scope
from stcompile.passes.loops.lazy_products import (
    Factor,
    Label,
    Products,
    UnsuitableError,
    Value,
    sum_of_products,
)
from stcompile.passes.loops.regions_of_steps import Line, Region, region_of
from stcompile.passes.loops.steps_apart import additions
from stcompile.wengert.ir import Atom, Constant, Equation, Variable
from stcompile.wengert.loops import Carried, Loop
from stcompile.wengert.parts import WRITES, Part
from stcompile.wengert.primitives.axis_rules import axis_map


class _Access(NamedTuple):
    """A use, by an equation, of a part of a carried array."""

    equation: Equation
    region: Region

    @property
    def adds(self) -> bool:
        return self.equation.primitive == "accumulate"

    @property
    def writes(self) -> bool:
        return self.equation.primitive in WRITES


class Triangle:
    """Records the equations of a loop for all of its steps. ``states`` has the versions of carried
    values, each as the array after all steps have made it; ``first`` the array before all steps."""

    def __init__(self, scope: Scope, loop: Loop, zeros: AbstractSet[Atom]) -> None:
        assert isinstance(loop.length, int) and loop.counter is not None and loop.binds is not None
        self.loop, self.counter, self.symbol, self.steps = (
            loop,
            loop.counter,
            loop.binds,
            loop.length,
        )
        self.products = Products(scope, self.steps, loop.equation.location)
        self.scope, self.zeros = scope, zeros
        self.values: dict[Variable, Value] = {}
        self.arrays: dict[Variable, Atom] = {c.variable: c.source for c in loop.constants}
        self.states: dict[Variable, Atom] = {c.variable: c.initial for c in loop.carry}
        self.first: dict[Variable, Atom] = {}
        self.early: set[Variable] = set()  # parts that are read before any step writes there
        if self.symbol.low != 0 or any(a.type.is_named for a in loop.equation.inputs):
            raise UnsuitableError

    def run(self) -> Mapping[Variable, Atom]:
        for fed in self.loop.xs:
            self.values[fed.variable] = self._row(fed.source, fed.variable)
        for carried in self.loop.carry:
            self._admit(carried)
        for equation in self.loop.equations:
            if equation.effects or equation.location.errstate or len(equation.outputs) != 1:
                raise UnsuitableError
            self.products.where = equation.location
            self._equation(equation)
        results: dict[Variable, Atom] = {}
        for carried in self.loop.carry:
            assert isinstance(carried.final, Variable)
            found = self.states if carried.final in self.states else self.arrays
            results[carried.result] = found[carried.final]
        for kept in self.loop.ys:
            results[kept.port] = self._kept(kept.atom, kept.port)
        if any(port.type != atom.type for port, atom in results.items()):
            raise UnsuitableError
        return results

    # --- ports ------------------------------------------------------------------------------------

    def _row(self, source: Atom, variable: Variable) -> Value:
        """The items of a port: shorter parts are stored at the start of their rows."""
        labels = []
        for size, dim in zip(source.type.dims[1:], variable.type.dims, strict=True):
            if isinstance(dim, int) and dim == size:
                labels.append(Label(size))
                continue
            raise_if = not isinstance(size, int) or isinstance(dim, int)
            if raise_if or len(dim.terms) != 1 or dim.terms[0][0] != self.symbol:
                raise UnsuitableError
            labels.append(Label(size, (Line(0, 0), Line(dim.offset, dim.terms[0][1]))))
        return Value(((Factor(source, (self.products.steps, *labels)),),), tuple(labels))

    def _kept(self, atom: Atom, port: Variable) -> Atom:
        """The values of all steps as an array."""
        value = self.values.get(atom) if isinstance(atom, Variable) else None
        if value is None or any(
            one is not None and one.window and one.window[0] != Line(0, 0) for one in value.axes
        ):
            raise UnsuitableError
        factor = self.products.summed(value, ())
        found = self.products.arranged(factor, (self.products.steps, *value.axes))
        if found.type.dims != port.type.dims:
            found = self.products.record("broadcast_to", found, shape=port.type.dims)
        return found

    def _admit(self, carried: Carried) -> None:
        """Note the version of a state that each part is read from; refuse parts that need a version
        in between."""
        if carried.final == carried.variable:
            self.arrays[carried.variable] = self.states.pop(carried.variable)
            return
        self.first[carried.variable] = carried.initial
        if not carried.variable.type.dims:
            links = additions(self.loop, carried)
            if links is None:
                raise UnsuitableError
            return
        found, uses = accesses_of(self.loop, carried), list[_Access]()
        for equation in found or ():
            region = region_of(equation, self.counter, self.symbol)
            if region is None:
                raise UnsuitableError
            uses.append(_Access(equation, region))
            if uses[-1].writes:
                self.first[equation.output] = carried.initial
        if found is None:
            raise UnsuitableError
        self._compare(uses)

    def _compare(self, uses: Sequence[_Access]) -> None:
        for at, use in enumerate(uses):
            writes = [(i, one) for i, one in enumerate(uses) if one.writes]
            if use.writes:
                for i, one in writes:  # what is not added has an index for each step of its own
                    found = self._after(use, one)
                    is_order = found is None or found[0] >= 0
                    if i < at and not (use.adds and one.adds) and not is_order:
                        raise UnsuitableError
                continue
            before = [self._after(use, one) for i, one in writes if i < at]
            after = [self._after(use, one) for i, one in writes if i > at]
            if any(found is not None and found[1] > 0 for found in after):
                raise UnsuitableError  # an earlier step writes these elements, later in its body
            met = [found for found in before if found is not None]
            if all(found[1] < 0 for found in met):
                self.early.add(use.equation.output)
            elif any(found[0] < 0 for found in met):
                raise UnsuitableError

    def _after(self, use: _Access, other: _Access) -> tuple[int, int] | None:
        """The distances, in the order in which steps run, at which this use may follow the other
        with a common element."""
        found = use.region.steps_after(other.region, self.steps)
        if found is not None and self.loop.equation.params.get("reverse"):
            return -found[1], -found[0]
        return found

    # --- equations --------------------------------------------------------------------------------

    def _equation(self, equation: Equation) -> None:
        primitive, params = equation.primitive, equation.params
        output, products = equation.output, self.products
        source = equation.inputs[0] if equation.inputs else None
        if isinstance(source, Variable) and source in self.states:
            return self._state(equation, source)
        if primitive == "slice" and isinstance(source, Variable) and source in self.arrays:
            self.values[output] = self._part(equation, self.arrays[source])
            return None
        if not output.type.inexact or output.type.kind not in ("array", "scalar"):
            raise UnsuitableError
        values = [self._value(atom) for atom in equation.inputs]
        axes = axis_map(equation)
        if axes is None:
            raise UnsuitableError
        if primitive in ("multiply", "contract"):
            found = products.multiplied(axes, *values)
        elif primitive in ("add", "subtract") or (
            primitive == "accumulate" and params["op"] == "add"
        ):
            found = products.added(axes, *values)
        elif primitive == "divide" and not values[1].labels:
            found = products.changed("divide", values[0], values[1].terms[0][0].atom)
        elif primitive in ("negative", "conjugate"):
            found = products.changed(primitive, values[0])
        elif primitive in ("copy", "transpose", "expand_dims", "sum"):
            found = products.arranged_anew(axes, *values)
        elif primitive == "reshape":
            found = _reshaped(values[0], output.type.dims)
        else:
            raise UnsuitableError
        self.values[output] = found
        return None

    def _value(self, atom: Atom) -> Value:
        """The value of an operand in all steps."""
        if isinstance(atom, Variable) and atom in self.values:
            return self.values[atom]
        if isinstance(atom, Variable):
            if atom not in self.arrays:
                raise UnsuitableError
            atom = self.arrays[atom]
        axes = tuple(map(Label, atom.type.dims))
        return Value(((Factor(atom, axes),),), axes)

    def _part(self, equation: Equation, array: Atom) -> Value:
        """The part of an array that steps read."""
        region = region_of(equation, self.counter, self.symbol)
        if region is None:
            raise UnsuitableError
        labels, params = self._labels(region, array)
        part = self._sliced(array, params)
        factor = Factor(part, tuple(one for one in labels if one is not None))
        axes = tuple(one for one, own in zip(labels, region.ranges, strict=True) if not own.single)
        gone = [
            one
            for one, own in zip(labels, region.ranges, strict=True)
            if own.is_step and one is not self.products.steps and one is not None
        ]
        return Value(((self.products.summed(Value(((factor,),), axes), gone),),), axes)

    def _sliced(self, array: Atom, params: Mapping[str, Any] | None) -> Atom:
        return array if params is None else self.products.record("slice", array, **params)

    def _labels(
        self, region: Region, array: Atom
    ) -> tuple[list[Label | None], Mapping[str, Any] | None]:
        """The axes of an array that steps use parts of, None for an axis that is dropped; and the
        params of the slice that contains all these parts, None if it is the whole array."""
        labels: list[Label | None] = []
        start, length, drop = [], [], []
        for axis, (own, size) in enumerate(zip(region.ranges, array.type.dims, strict=True)):
            assert isinstance(size, int)
            first, count = 0, size
            if own.is_step and self.products.steps not in labels:
                first, count = own.low.offset, self.steps
                labels.append(self.products.steps)
            elif own.is_fixed:
                first, count = own.low.offset, own.high.offset - own.low.offset
                labels.append(None if own.single else Label(count))
                drop += [axis] if own.single else []
            elif own.single and not own.is_step:
                raise UnsuitableError
            else:
                labels.append(Label(size, (own.low, own.high)))
            if first < 0 or first + count > size:
                raise UnsuitableError
            start.append(first)
            length.append(count)
        if not drop and tuple(length) == array.type.dims:
            return labels, None
        return labels, Part.block(start, length, drop).params

    # --- values that steps hand on ----------------------------------------------------------------

    def _state(self, equation: Equation, state: Variable) -> None:
        """Record a read or a write of a carried value, or of a part of it."""
        output, now = equation.output, self.states[state]
        if equation.primitive == "slice":
            array = self.first[state] if output in self.early else now
            self.values[output] = self._part(equation, array)
        elif equation.primitive == "to_python":
            self.states[output] = self.products.record("to_python", now, **equation.params)
        elif equation.primitive == "add":
            value = self._value(equation.inputs[1])
            total = self.products.summed(value, {self.products.steps})
            self.states[output] = self.products.record("add", now, total.atom)
        else:
            self.states[output] = self._written(equation, now)

    def _written(self, equation: Equation, now: Atom) -> Atom:
        """The array after all steps have written their parts of it."""
        products, value = self.products, self._value(equation.inputs[1])
        region = region_of(equation, self.counter, self.symbol)
        assert region is not None
        labels, params = self._labels(region, now)
        adds = equation.primitive == "accumulate"
        if adds and equation.params["op"] != "slice":
            raise UnsuitableError
        own = [one for one, own in zip(labels, region.ranges, strict=True) if not own.single]
        its = ((None,) * (len(own) - len(value.axes))) + value.axes
        names = {}
        for mine, other in zip(own, its, strict=True):
            if mine is not None and other is not None:
                if not mine.is_like(other):
                    raise UnsuitableError
                names[other] = mine
        value = value.with_labels(names)
        places = [one for one in labels if one is not None]
        dims = tuple(one.size for one in places)
        windows = [one for one in places if one.window]
        if products.steps not in places:
            if not adds or not value.labels.issuperset(windows):
                raise UnsuitableError
            windows = []
            factor = products.summed(value, {products.steps})
        else:
            factor = products.summed(value, ())
        found = products.arranged(factor, places)
        mask = products.mask(places, windows)
        if mask is not None:
            zero = np.dtype(now.type.dtype).type(0)
            outside = Constant(zero) if adds else self._sliced(now, params)
            found = products.record("where", mask, found, outside)
        if found.type.dims != dims:
            found = products.record("broadcast_to", found, shape=dims)
        if params is None and found.type == now.type:
            return self._added(now, found) if adds else found
        if params is None:
            params = Part.first(now.type.dims).params
        if adds:
            return products.record("accumulate", now, found, op="slice", **params)
        return products.record("update", now, found, **params)

    def _added(self, now: Atom, term: Atom) -> Atom:
        """The sum of two arrays. Products of matrices with a common factor are merged."""
        if now in self.zeros:
            return term
        before = self.scope.maker(now)
        if before is not None and before.primitive == "accumulate" and before.params["op"] == "add":
            base, other = before.inputs
            whole = sum_of_products(self.products, other, term)
            if whole is not None:
                return self.products.record("accumulate", base, whole, op="add")
        whole = sum_of_products(self.products, now, term)
        return whole or self.products.record("accumulate", now, term, op="add")


def _reshaped(value: Value, dims: Sequence[object]) -> Value:
    """A value with axes of length 1 added or removed."""
    left = [one for one in value.axes if one is not None]
    if sum(size != 1 for size in dims) != len(left):
        raise UnsuitableError
    rest = iter(left)
    return value._replace(axes=tuple(None if size == 1 else next(rest) for size in dims))
