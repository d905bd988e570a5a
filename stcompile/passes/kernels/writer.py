"""Write loops over numbers: the equations of a step are recorded, and its program is closed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from stcompile.base.location import NOWHERE, Location
from stcompile.wengert.dims import Dim, Size, Symbol
from stcompile.wengert.ir import Atom, Constant, Variable, free_variables
from stcompile.wengert.parts import Index
from stcompile.wengert.primitives.control import COUNTER
from stcompile.wengert.recorder import Recorder

Step = Callable[[Variable, tuple[Variable, ...]], Sequence[Atom]]


class Writer(Recorder):
    """A recorder of equations at a ``location``, and of loops of them. ``counters`` are the
    integers that symbols stand for: counters of loops, and lengths that equations name."""

    def __init__(self) -> None:
        super().__init__()
        self.location: Location = NOWHERE
        self.counters: dict[Symbol, Variable] = {}
        self.counted: set[Atom] = set()  # counters of loops, and places on axes

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

    def counter(self, hint: str) -> Variable:
        made = self.variable(COUNTER, "i" if hint.startswith("_") else hint)
        self.counted.add(made)
        return made

    def hint_of(self, atom: Atom) -> str:
        if isinstance(atom, Constant):
            return ""
        own = self.hints.get(atom, atom.name)
        return "" if own.startswith("%") else own

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
