"""Arrays in memory: new arrays, and parts of existing arrays, written by loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from stcompile.base.thresholds import ADDED_ROW, UNPACKED, UNROLLED_SUM
from stcompile.passes.kernels.elements import all_indices, place_in, selecting
from stcompile.passes.kernels.reductions import Terms, terms_of
from stcompile.passes.kernels.writer import Lazy, Value, Writer
from stcompile.wengert.bounds import usual
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Constant, Equation, Variable, as_variable
from stcompile.wengert.parts import Index, Indices, one_element, read_of, starts_of, view_of
from stcompile.wengert.primitives.axis_rules import axis_map
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

    def write(self, w: Writer, array: Atom, value: Atom) -> Variable:
        """Record the write of a value to an array; return the array with it."""
        return w.make(self.primitive, array, value, *self.integers, **self.params)


Places: TypeAlias = Callable[[Indices], ElementPlace]


def in_memory(w: Writer, value: Value) -> Atom:
    """A value in memory; a number stays a number."""
    if not isinstance(value, Lazy):
        return value
    if not value.type.dims:
        return w.make("asarray", value.element(()))
    return value.memory or new_array(w, value)


def small_array(w: Writer, type: Type, atoms: Sequence[Atom]) -> Lazy:
    """A small array of the elements ``atoms``."""
    memory = w.make("empty", shape=type.dims, dtype=type.dtype)
    places = dict(zip(all_indices(type.dims), atoms, strict=True))
    for indices, atom in places.items():
        memory = ElementPlace.at(indices).write(w, memory, atom)

    def element(indices: Indices) -> Atom:
        return places[indices] if indices in places else w.read(memory, indices)

    return Lazy(type, element, numbers=tuple(atoms), memory=memory)


def numbers_of(w: Writer, value: Value) -> tuple[Atom, ...]:
    """The elements of a small array."""
    if isinstance(value, Lazy) and value.numbers:
        return value.numbers
    dtype = value.type.dtype
    return tuple(w.scalar(w.element(value, at), dtype) for at in all_indices(value.type.dims))


def new_array(w: Writer, lazy: Lazy, hint: str = "") -> Variable:
    """A new array with the elements of a lazy array."""
    dims = lazy.type.dims
    made = w.make("empty", shape=dims, dtype=lazy.type.dtype)
    if hint:
        w.hints[made] = hint
    return filled(w, made, dims, lazy, ElementPlace.at)


def filled(
    w: Writer, target: Variable, dims: Sequence[Size], value: Value, places: Places
) -> Variable:
    """An array with a value written to a part of the given dims."""

    def step(indices: Indices, carry: Sequence[Atom]) -> Sequence[Atom]:
        place = places(indices)
        outer, w.target = w.target, (target, place.indices, carry[0])
        v = w.element(value, spread(indices, value.type.dims))
        w.target = outer
        return [place.write(w, carry[0], v)]

    mark, was, around = len(w.equations), w.conflict, w.around
    w.conflict, w.around = False, frozenset(w.counted)
    known = [n for n in dims if isinstance(n, int)]
    is_small = len(known) == len(dims) and math.prod(known) <= UNPACKED
    if isinstance(value, Lazy) and value.numbers and is_small:
        result: Atom = target
        for indices in all_indices(known):
            (result,) = step(indices, [result])
    else:
        (result,) = w.nest(dims, [target], step)
    assert isinstance(result, Variable)
    is_conflict, w.conflict, w.around = w.conflict, was, around
    if is_conflict and isinstance(value, Lazy):  # it reads overwritten elements
        del w.equations[mark:]
        return filled(w, target, dims, new_array(w, value), places)
    return result


def sum_of_rows(w: Writer, equation: Equation, operands: Sequence[Value]) -> Variable | None:
    """A sum, or a product of arrays, computed by adding row after row to the results: for
    several numbers at a time, and along rows as they lie in memory. None if each result is
    better summed up by itself, and for sums of few rows."""
    terms, output = terms_of(w, equation, operands), equation.output.type
    if terms is None or not (terms.kept and terms.gone) or output.dtype.kind != "f":
        return None
    if any(atom.type.dtype != output.dtype for atom in equation.inputs):
        return None
    if usual(terms.kept[-1]) < ADDED_ROW or math.prod(map(usual, terms.gone)) <= UNROLLED_SUM:
        return None
    if not _goes_along_rows(w, equation, terms):
        return None
    kind = np.dtype(np.float64)
    made = w.make("full", Constant(kind.type(0)), shape=output.dims, dtype=kind)
    count = len(terms.kept)
    lengths = [*terms.kept, *terms.gone]

    def step(indices: Indices, carry: Sequence[Atom]) -> Sequence[Atom]:
        at = dict(zip(terms.order, indices, strict=True))
        own = tuple(at.get(axis, Index(0)) for axis in range(len(lengths)))
        place = ElementPlace.at(own[:count], "accumulate")
        one = w.scalar(terms.item(own[:count], own[count:]), kind)
        return [place.write(w, carry[0], one)]

    (total,) = w.nest([lengths[axis] for axis in terms.order], [made], step)
    assert isinstance(total, Variable)
    if output.dtype == kind:
        return total
    return new_array(
        w, Lazy(output, lambda indices: w.scalar(w.read(total, indices), output.dtype))
    )


def _goes_along_rows(w: Writer, equation: Equation, terms: Terms) -> bool:
    """True if fewer arrays are read across their rows with the last axis of the results in the
    innermost loop than with a summed axis there. In a tie, sums follow the axes of their
    operand, and the results of products are summed up separately."""
    is_conflict, w.conflict = w.conflict, False
    counters = [w.counter("i") for _ in (*terms.kept, *terms.gone)]
    indices = tuple(map(Index.of, counters))
    count = len(terms.kept)
    with w.aside() as equations:
        terms.item(indices[:count], indices[count:])
    w.conflict = is_conflict
    by_rows, one_by_one = (_across(equations, counters[at]) for at in (count - 1, -1))
    if by_rows != one_by_one:
        return by_rows < one_by_one
    return equation.primitive == "sum" and terms.order[-1] < count


def settled(variable: Variable, atom: Atom) -> Value:
    """A number as an array without dimensions, if the variable is such an array."""
    if variable.type.kind != "array" or variable.type.dims:
        return atom
    return Lazy(variable.type, lambda _: atom)


def handed(w: Writer, value: Value) -> Atom:
    """A value for handing on: in memory, or as a number."""
    if value.type.kind == "array" and not value.type.dims:
        return w.element(value, ())
    return in_memory(w, value)


# --- writes ---------------------------------------------------------------------------------------


def write(w: Writer, equation: Equation, operands: Sequence[Value]) -> Value:
    target, value, *rest = operands
    params = equation.params
    if isinstance(target, Lazy) and target.numbers:
        changed = _changed(w, equation, target, value, rest)
        if changed is not None:
            return changed
    array = as_variable(in_memory(w, target))
    op = params.get("op", "slice" if equation.primitive == "update" else "index")
    if op == "add":
        return filled(w, array, array.type.dims, value, _added)
    if op != "slice":
        return _indexed(w, equation, array, value, rest)
    place = place_in(w, params, rest)
    dims = [n for axis, n in enumerate(params["length"]) if axis not in params["drop"]]
    to = equation.primitive
    return filled(w, array, dims, value, lambda at: ElementPlace.at(place(at), to))


def _changed(
    w: Writer, equation: Equation, target: Lazy, value: Value, counters: Sequence[Value]
) -> Lazy | None:
    """A small array with other numbers at the positions of a slice."""
    p = equation.params
    if view_of(equation) != "slice" or counters:
        return None
    if not all(isinstance(n, int) for n in (*p["length"], *(start[0] for start in p["start"]))):
        return None
    kept = [axis for axis in range(target.type.ndim) if axis not in p["drop"]]
    found = dict(zip(all_indices(target.type.dims), target.numbers, strict=True))
    for indices in all_indices([p["length"][axis] for axis in kept]):
        inner = dict(zip(kept, indices, strict=True))
        at = tuple(
            inner.get(axis, Index(0)) * step + start[0]
            for axis, (start, step) in enumerate(zip(p["start"], p["step"], strict=True))
        )
        atom = w.scalar(w.element(value, spread(indices, value.type.dims)), target.type.dtype)
        if equation.primitive == "accumulate":
            atom = w.make("add", found[at], atom)
        found[at] = atom
    return small_array(w, target.type, tuple(found.values()))


def _indexed(
    w: Writer, equation: Equation, array: Variable, value: Value, integers: Sequence[Value]
) -> Value:
    """Write to the elements that integers select."""
    part = read_of(equation, array)
    axes = axis_map(part)
    assert axes is not None
    params: dict[str, Any] = {"at": ("index",) * array.type.ndim}
    params |= {"op": "distinct"} if equation.primitive == "accumulate" else {}

    def place(indices: Indices) -> ElementPlace:
        named = dict(zip(axes.result, indices, strict=True))
        return ElementPlace(equation.primitive, selecting(w, part, axes, integers, named), params)

    return filled(w, array, part.output.type.dims, value, place)


def _added(indices: Indices) -> ElementPlace:
    return ElementPlace.at(indices, "accumulate")


def _across(equations: Sequence[Equation], counter: Variable) -> int:
    """The number of reads of elements that move across the rows of their arrays with a counter."""
    reads = (starts_of(equation) for equation in equations if equation.primitive == "slice")
    return sum(any(index.times(counter) for index in starts[:-1]) for starts in reads)


def spread(indices: Indices, dims: Sequence[Size]) -> Indices:
    """The indices of a value that is broadcast to a part."""
    last = indices[max(0, len(indices) - len(dims)) :]
    padded = (Index(0),) * (len(dims) - len(indices)) + last
    return tuple(
        Index(0) if isinstance(n, int) and n == 1 else index
        for n, index in zip(dims, padded, strict=True)
    )
