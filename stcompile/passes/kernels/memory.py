"""Arrays in memory: new ones, and parts of those that are there, written by loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from stcompile.passes.kernels.elements import SMALL, Lazy, Value, all_forms
from stcompile.passes.kernels.reductions import UNROLLED, Reductions
from stcompile.passes.kernels.writer import Form, Forms, one_element
from stcompile.wengert.bounds import greatest, least
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Constant, Equation, Variable
from stcompile.wengert.types import Type

ROW = 4  # numbers of a row that are added at a time


class Place(NamedTuple):
    """How one element is written: by a primitive of the array, the value and some integers. Where
    it is, if that is known in terms of counters."""

    primitive: str
    integers: Sequence[Atom]
    params: Mapping[str, Any]
    forms: Forms | None = None

    @staticmethod
    def at(forms: Forms, primitive: str = "update") -> Place:
        """An element that is assigned (``accumulate``: added to)."""
        counters, params = one_element(forms)
        params |= {"op": "slice"} if primitive == "accumulate" else {}
        return Place(primitive, counters, params, forms)


Places: TypeAlias = Callable[[Forms], Place]


class Memory(Reductions):
    """A writer of arrays. While one is written to, ``target`` is the array as it was, the index
    that is written now, and the array as it is; there is a ``conflict`` if a value reads what may
    be overwritten by then."""

    def __init__(self) -> None:
        super().__init__()
        self.target: tuple[Atom, Forms | None, Atom] | None = None
        self.conflict = False

    def array(self, value: Value) -> Atom:
        """A value in memory; a number as it is."""
        if not isinstance(value, Lazy):
            return value
        if not value.type.dims:
            return self.make("asarray", value.element(()))
        return value.memory or self.memory(value)

    def numbers(self, type: Type, atoms: Sequence[Atom]) -> Lazy:
        """A small array of these elements."""
        memory = self.make("empty", shape=type.dims, dtype=type.dtype)
        places = dict(zip(all_forms(type.dims), atoms, strict=True))
        for forms, atom in places.items():
            place = Place.at(forms)
            memory = self.make(place.primitive, memory, atom, *place.integers, **place.params)

        def element(forms: Forms) -> Atom:
            return places[forms] if forms in places else self.read(memory, forms)

        return Lazy(type, element, numbers=tuple(atoms), memory=memory)

    def numbers_of(self, value: Value) -> tuple[Atom, ...]:
        """The elements of a small array."""
        if isinstance(value, Lazy) and value.numbers:
            return value.numbers
        dtype = value.type.dtype
        return tuple(
            self.scalar(self.element(value, at), dtype) for at in all_forms(value.type.dims)
        )

    def memory(self, lazy: Lazy, hint: str = "") -> Variable:
        """A new array with the elements of a lazy one."""
        dims = lazy.type.dims
        made = self.make("empty", shape=dims, dtype=lazy.type.dtype)
        if hint:
            self.hints[made] = hint
        return self.filled(made, dims, lazy, Place.at)

    def filled(
        self, target: Variable, dims: Sequence[Size], value: Value, places: Places
    ) -> Variable:
        """An array with a value written to a part of these dims."""

        def step(forms: Forms, carry: Sequence[Atom]) -> Sequence[Atom]:
            place = places(forms)
            outer, self.target = self.target, (target, place.forms, carry[0])
            v = self.element(value, spread(forms, value.type.dims))
            self.target = outer
            return [self.make(place.primitive, carry[0], v, *place.integers, **place.params)]

        mark, was = len(self.equations), self.conflict
        self.conflict = False
        if isinstance(value, Lazy) and value.numbers and math.prod(map(greatest, dims)) <= SMALL:
            result: Atom = target
            for forms in all_forms([greatest(n) for n in dims]):
                (result,) = step(forms, [result])
        else:
            (result,) = self.nest(dims, [target], step)
        assert isinstance(result, Variable)
        if self.conflict and isinstance(value, Lazy):  # it reads what is overwritten before that
            del self.equations[mark:]
            aside = self.memory(value)
            self.conflict = was
            return self.filled(target, dims, aside, places)
        self.conflict = was
        return result

    def sum_of_rows(self, equation: Equation, x: Value) -> Variable | None:
        """A sum along axes that are not the last one: row after row is added to the sums, which can
        be done for several numbers at a time. None for other sums, and those of few rows."""
        dims, output = x.type.dims, equation.output.type
        gone, last = equation.params["axis"], len(x.type.dims) - 1
        if not output.dims or last in gone or output.dtype != x.type.dtype:
            return None
        if output.dtype.kind != "f" or least(dims[last]) < ROW:
            return None
        if math.prod(least(dims[axis]) for axis in gone) <= UNROLLED:
            return None
        kind = np.dtype(np.float64)
        made = self.make("full", Constant(kind.type(0)), shape=output.dims, dtype=kind)

        def step(forms: Forms, carry: Sequence[Atom]) -> Sequence[Atom]:
            kept = [Form(0) if axis in gone else form for axis, form in enumerate(forms)]
            if not equation.params["keepdims"]:
                kept = [form for axis, form in enumerate(forms) if axis not in gone]
            place = Place.at(tuple(kept), "accumulate")
            one = self.scalar(self.element(x, forms), kind)
            return [self.make(place.primitive, carry[0], one, *place.integers, **place.params)]

        (total,) = self.nest(dims, [made], step)
        assert isinstance(total, Variable)
        if output.dtype == kind:
            return total
        return self.memory(
            Lazy(output, lambda forms: self.scalar(self.read(total, forms), output.dtype))
        )

    def read(self, array: Variable, forms: Forms) -> Atom:
        if self.target is not None and array == self.target[0]:
            _, written, now = self.target
            if forms == written and isinstance(now, Variable):
                return super().read(now, forms)
            self.conflict = True
        return super().read(array, forms)

    def nest(
        self,
        dims: Sequence[Size],
        carry: Sequence[Atom],
        step: Callable[[Forms, Sequence[Atom]], Sequence[Atom]],
        forms: Forms = (),
    ) -> Sequence[Atom]:
        """Loops over axes, one inside the other."""
        if not dims:
            return step(forms, carry)
        length, *rest = dims
        if isinstance(length, int) and length == 1:
            return self.nest(rest, carry, step, (*forms, Form(0)))

        def inner(counter: Variable, variables: tuple[Variable, ...]) -> Sequence[Atom]:
            return self.nest(rest, variables, step, (*forms, Form.of(counter)))

        return self.loop(length, carry, inner)

    def settled(self, variable: Variable, atom: Atom) -> Value:
        """A number, as the array without dimensions that a variable may be."""
        if variable.type.kind != "array" or variable.type.dims:
            return atom
        return Lazy(variable.type, lambda _: atom)

    def handed(self, value: Value) -> Atom:
        """A value as it is handed on: in memory, or as a number."""
        if value.type.kind == "array" and not value.type.dims:
            return self.element(value, ())
        return self.array(value)


def spread(forms: Forms, dims: Sequence[Size]) -> Forms:
    """The indices of a value that is spread over a part."""
    last = forms[len(forms) - len(dims) :] if len(dims) <= len(forms) else forms
    padded = (Form(0),) * (len(dims) - len(forms)) + last
    return tuple(
        Form(0) if isinstance(n, int) and n == 1 else form
        for n, form in zip(dims, padded, strict=True)
    )
