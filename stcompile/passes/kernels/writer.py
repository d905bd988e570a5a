"""Write loops over numbers, which read elements of arrays in memory or compute them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from stcompile.base.location import NOWHERE, Location
from stcompile.wengert.dims import Dim, Size, Symbol
from stcompile.wengert.ir import Atom, Constant, Variable, free_variables
from stcompile.wengert.parts import Index, Indices, one_element
from stcompile.wengert.primitives.control import COUNTER
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.types import Type

Step = Callable[[Variable, tuple[Variable, ...]], Sequence[Atom]]


@dataclass(frozen=True)
class Lazy:
    """An array that is computed element by element where it is read. ``cost`` are the operations
    for an element, ``leaves`` the arrays that are read, and ``depth`` is the nesting depth of lazy
    arrays. The elements of a small array are known as ``numbers``, and it has ``memory`` for
    indices that are not known."""

    type: Type
    element: Callable[[Indices], Atom]
    cost: float = 0.0
    leaves: frozenset[Variable] = frozenset()
    numbers: tuple[Atom, ...] = ()
    memory: Variable | None = None
    depth: int = 0


Value: TypeAlias = Atom | Lazy
Env = dict[Variable, Value]


def value_of(env: Env, atom: Atom) -> Value:
    return env[atom] if isinstance(atom, Variable) else atom


class Writer(Recorder):
    """A recorder of equations at a ``location``, and of loops of them. ``counters`` are the
    integers that symbols stand for: counters of loops, and lengths that equations name. While an
    array is written to, ``target`` has the array before the write, the index that is written now,
    and the present array; there is a ``conflict`` if a value reads elements that may be overwritten
    by then."""

    def __init__(self) -> None:
        super().__init__()
        self.location: Location = NOWHERE
        self.counters: dict[Symbol, Variable] = {}
        self.counted: set[Atom] = set()  # counters of loops, and places on axes
        self.target: tuple[Atom, Indices | None, Atom] | None = None
        self.conflict = False
        self.around: frozenset[Atom] = frozenset()  # the counters of loops around the write

    @contextmanager
    def at(self, location: Location) -> Iterator[None]:
        """Within the block, record equations at another location."""
        outer, self.location = self.location, location
        try:
            yield
        finally:
            self.location = outer

    def make(self, primitive: str, *inputs: Atom, **params: Any) -> Variable:
        """Record an equation with a single output."""
        (output,) = self.record(primitive, inputs, self.location, params)
        return output

    def loop(self, length: Size, carry: Sequence[Atom], step: Step) -> tuple[Variable, ...]:
        """Record a loop; return the last values that its steps hand on."""
        counter = self.counter("i")
        variables = tuple(self.variable(atom.type, self.hint_of(atom)) for atom in carry)
        with self.aside() as equations:
            outputs = tuple(step(counter, variables))
        own = (counter, *variables)
        free = free_variables(equations, outputs, own)
        body = self.program("body", (*free, *own), outputs, equations)
        params = {"body": body, "constants": len(free), "carry": len(carry), "length": length}
        results = self.record("loop", (*free, *carry), self.location, params)
        for result, atom in zip(results, carry, strict=True):
            if hint := self.hint_of(atom):
                self.hints[result] = hint
        return results

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

    def counter(self, hint: str) -> Variable:
        made = self.variable(COUNTER, "i" if hint.startswith("_") else hint)
        self.counted.add(made)
        return made

    def hint_of(self, atom: Atom) -> str:
        if isinstance(atom, Constant):
            return ""
        own = self.hints.get(atom, atom.name)
        return "" if own.startswith("%") else own

    # --- elements --------------------------------------------------------------------------------

    def element(self, value: Value, indices: Indices) -> Atom:
        """An element of an array, or the number itself."""
        if isinstance(value, Lazy):
            return value.element(indices)
        if value.type.kind != "array":
            return value
        assert isinstance(value, Variable)
        return self.read(value, indices)

    def read(self, array: Variable, indices: Indices) -> Atom:
        """An element of an array in memory; of one that is being written, as it was before."""
        if self.target is not None and array == self.target[0]:
            _, written, now = self.target
            is_same = indices == written
            if written and (is_same or any(map(self.are_apart, indices, written))):
                assert isinstance(now, Variable)
                array = now
            else:
                self.conflict = True
        counters, params = one_element(indices)
        return self.make("slice", array, *counters, **params)

    def are_apart(self, one: Index, other: Index) -> bool:
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

    def scalar(self, atom: Atom, dtype: np.dtype[Any]) -> Atom:
        """A number as a NumPy scalar."""
        if atom.type.kind == "scalar" and atom.type.dtype == dtype:
            return atom
        if isinstance(atom, Constant):
            return Constant(dtype.type(atom.value))
        return self.make("cast", atom, dtype=dtype)

    # --- indices -------------------------------------------------------------------------------

    def affine(self, size: Size) -> Index:
        """A size as an index: its symbols are counters of loops."""
        if not isinstance(size, Dim):
            return Index(size)
        if all(term in self.counters for term, _ in size.terms):
            pairs = tuple((self.counters[term], c) for term, c in size.terms)  # type: ignore[index]
            return Index(size.offset, pairs)
        return Index.of(self.make("size", of=size))

    def integer(self, index: Index) -> Atom:
        """An index as a number."""
        total: Atom | None = None
        for variable, factor in index.terms:
            term = variable if factor == 1 else self.make("multiply", Constant(factor), variable)
            total = term if total is None else self.make("add", total, term)
        if total is None:
            return Constant(index.offset)
        return self.make("add", total, Constant(index.offset)) if index.offset else total
