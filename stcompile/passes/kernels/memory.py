"""Arrays in memory: new arrays, and parts of existing arrays, written by loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from stcompile.base.thresholds import ADDED_ROW, UNPACKED, UNROLLED_SUM
from stcompile.passes.kernels.elements import Lazy, Value, all_indices
from stcompile.passes.kernels.reductions import Reductions, Terms
from stcompile.wengert.bounds import greatest, usual
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Constant, Equation, Variable
from stcompile.wengert.parts import Index, Indices, one_element, starts_of
from stcompile.wengert.types import Type


class ElementPlace(NamedTuple):
    """A write of an element: a primitive of the array, the value and some integers; and its index,
    if it is known in terms of counters."""

    primitive: str
    integers: Sequence[Atom]
    params: Mapping[str, Any]
    indices: Indices | None = None

    @staticmethod
    def at(indices: Indices, primitive: str = "update") -> ElementPlace:
        """The assignment of an element (``accumulate``: the addition to an element)."""
        counters, params = one_element(indices)
        params |= {"op": "slice"} if primitive == "accumulate" else {}
        return ElementPlace(primitive, counters, params, indices)


Places: TypeAlias = Callable[[Indices], ElementPlace]


class Memory(Reductions):
    """A writer of arrays. While an array is written to, ``target`` has the array before the write,
    the index that is written now, and the present array; there is a ``conflict`` if a value reads
    elements that may be overwritten by then."""

    def __init__(self) -> None:
        super().__init__()
        self.target: tuple[Atom, Indices | None, Atom] | None = None
        self.conflict = False
        self.around: frozenset[Atom] = frozenset()  # the counters of loops around the write

    def array(self, value: Value) -> Atom:
        """A value in memory; a number stays a number."""
        if not isinstance(value, Lazy):
            return value
        if not value.type.dims:
            return self.make("asarray", value.element(()))
        return value.memory or self.memory(value)

    def numbers(self, type: Type, atoms: Sequence[Atom]) -> Lazy:
        """A small array of the elements ``atoms``."""
        memory = self.make("empty", shape=type.dims, dtype=type.dtype)
        places = dict(zip(all_indices(type.dims), atoms, strict=True))
        for indices, atom in places.items():
            place = ElementPlace.at(indices)
            memory = self.make(place.primitive, memory, atom, *place.integers, **place.params)

        def element(indices: Indices) -> Atom:
            return places[indices] if indices in places else self.read(memory, indices)

        return Lazy(type, element, numbers=tuple(atoms), memory=memory)

    def numbers_of(self, value: Value) -> tuple[Atom, ...]:
        """The elements of a small array."""
        if isinstance(value, Lazy) and value.numbers:
            return value.numbers
        dtype = value.type.dtype
        return tuple(
            self.scalar(self.element(value, at), dtype) for at in all_indices(value.type.dims)
        )

    def memory(self, lazy: Lazy, hint: str = "") -> Variable:
        """A new array with the elements of a lazy array."""
        dims = lazy.type.dims
        made = self.make("empty", shape=dims, dtype=lazy.type.dtype)
        if hint:
            self.hints[made] = hint
        return self.filled(made, dims, lazy, ElementPlace.at)

    def filled(
        self, target: Variable, dims: Sequence[Size], value: Value, places: Places
    ) -> Variable:
        """An array with a value written to a part of the given dims."""

        def step(indices: Indices, carry: Sequence[Atom]) -> Sequence[Atom]:
            place = places(indices)
            outer, self.target = self.target, (target, place.indices, carry[0])
            v = self.element(value, spread(indices, value.type.dims))
            self.target = outer
            return [self.make(place.primitive, carry[0], v, *place.integers, **place.params)]

        mark, was, around = len(self.equations), self.conflict, self.around
        self.conflict, self.around = False, frozenset(self.counted)
        if isinstance(value, Lazy) and value.numbers and math.prod(map(greatest, dims)) <= UNPACKED:
            result: Atom = target
            for indices in all_indices([greatest(n) for n in dims]):
                (result,) = step(indices, [result])
        else:
            (result,) = self.nest(dims, [target], step)
        assert isinstance(result, Variable)
        self.around = around
        if self.conflict and isinstance(value, Lazy):  # it reads overwritten elements
            del self.equations[mark:]
            aside = self.memory(value)
            self.conflict = was
            return self.filled(target, dims, aside, places)
        self.conflict = was
        return result

    def sum_of_rows(self, equation: Equation, operands: Sequence[Value]) -> Variable | None:
        """A sum, or a product of arrays, computed by adding row after row to the results: for
        several numbers at a time, and along rows as they lie in memory. None if each result is
        better summed up by itself, and for sums of few rows."""
        terms, output = self.terms_of(equation, operands), equation.output.type
        if terms is None or not (terms.kept and terms.gone) or output.dtype.kind != "f":
            return None
        if any(atom.type.dtype != output.dtype for atom in equation.inputs):
            return None
        if usual(terms.kept[-1]) < ADDED_ROW or math.prod(map(usual, terms.gone)) <= UNROLLED_SUM:
            return None
        if not self._goes_along_rows(equation, terms):
            return None
        kind = np.dtype(np.float64)
        made = self.make("full", Constant(kind.type(0)), shape=output.dims, dtype=kind)
        count = len(terms.kept)
        lengths = [*terms.kept, *terms.gone]

        def step(indices: Indices, carry: Sequence[Atom]) -> Sequence[Atom]:
            at = dict(zip(terms.order, indices, strict=True))
            own = tuple(at.get(axis, Index(0)) for axis in range(len(lengths)))
            place = ElementPlace.at(own[:count], "accumulate")
            one = self.scalar(terms.item(own[:count], own[count:]), kind)
            return [self.make(place.primitive, carry[0], one, *place.integers, **place.params)]

        (total,) = self.nest([lengths[axis] for axis in terms.order], [made], step)
        assert isinstance(total, Variable)
        if output.dtype == kind:
            return total
        return self.memory(
            Lazy(output, lambda indices: self.scalar(self.read(total, indices), output.dtype))
        )

    def _goes_along_rows(self, equation: Equation, terms: Terms) -> bool:
        """True if fewer arrays are read across their rows with the last axis of the results in the
        innermost loop than with a summed axis there. In a tie, sums follow the axes of their
        operand, and the results of products are summed up separately."""
        is_conflict, self.conflict = self.conflict, False
        counters = [self.counter("i") for _ in (*terms.kept, *terms.gone)]
        indices = tuple(map(Index.of, counters))
        count = len(terms.kept)
        with self.aside() as equations:
            terms.item(indices[:count], indices[count:])
        self.conflict = is_conflict
        by_rows, one_by_one = (_across(equations, counters[at]) for at in (count - 1, -1))
        if by_rows != one_by_one:
            return by_rows < one_by_one
        return equation.primitive == "sum" and terms.order[-1] < count

    def read(self, array: Variable, indices: Indices) -> Atom:
        if self.target is not None and array == self.target[0]:
            _, written, now = self.target
            is_same = indices == written
            if written and (is_same or any(map(self._are_apart, indices, written))):
                assert isinstance(now, Variable)
                return super().read(now, indices)
            self.conflict = True
        return super().read(array, indices)

    def _are_apart(self, one: Index, other: Index) -> bool:
        """True if no step of the writing loops writes an index that another step reads, whatever
        the counters of enclosing loops are."""
        found = one + other * -1
        around = {v for v, _ in (*one.terms, *other.terms) if v in self.around}
        factors = [factor for variable, factor in found.terms if variable in around]
        factors += [factor for variable, factor in one.terms if variable not in around]
        factors += [-factor for variable, factor in other.terms if variable not in around]
        if not isinstance(found.offset, int) or not found.offset:
            return False
        if not self.counted.issuperset(v for v, _ in (*one.terms, *other.terms)):
            return False
        return all((factor > 0) == (found.offset > 0) for factor in factors)  # counters are not < 0

    def nest(
        self,
        dims: Sequence[Size],
        carry: Sequence[Atom],
        step: Callable[[Indices, Sequence[Atom]], Sequence[Atom]],
        indices: Indices = (),
    ) -> Sequence[Atom]:
        """Record nested loops over axes."""
        if not dims:
            return step(indices, carry)
        length, *rest = dims
        if isinstance(length, int) and length == 1:
            return self.nest(rest, carry, step, (*indices, Index(0)))

        def inner(counter: Variable, variables: tuple[Variable, ...]) -> Sequence[Atom]:
            return self.nest(rest, variables, step, (*indices, Index.of(counter)))

        return self.loop(length, carry, inner)

    def settled(self, variable: Variable, atom: Atom) -> Value:
        """A number as an array without dimensions, if the variable is such an array."""
        if variable.type.kind != "array" or variable.type.dims:
            return atom
        return Lazy(variable.type, lambda _: atom)

    def handed(self, value: Value) -> Atom:
        """A value for handing on: in memory, or as a number."""
        if value.type.kind == "array" and not value.type.dims:
            return self.element(value, ())
        return self.array(value)


def _across(equations: Sequence[Equation], counter: Variable) -> int:
    """The number of reads of elements that move across the rows of their arrays with a counter."""
    found = 0
    for equation in equations:
        if equation.primitive == "slice":
            found += any(index.times(counter) for index in starts_of(equation)[:-1])
    return found


def spread(indices: Indices, dims: Sequence[Size]) -> Indices:
    """The indices of a value that is broadcast to a part."""
    last = indices[len(indices) - len(dims) :] if len(dims) <= len(indices) else indices
    padded = (Index(0),) * (len(dims) - len(indices)) + last
    return tuple(
        Index(0) if isinstance(n, int) and n == 1 else index
        for n, index in zip(dims, padded, strict=True)
    )
