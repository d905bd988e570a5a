"""Integers of the user's program as sizes, and sizes as integers."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from stcompile.frontend.state.changes import Changes
from stcompile.frontend.state.values import Affine
from stcompile.wengert.dims import Dim, Size, Symbol, Term, greatest, least, size_of
from stcompile.wengert.ir import Atom, Variable


class Sizes(Changes):
    """What integers stand for in the lengths of axes."""

    def __init__(self) -> None:
        super().__init__()
        self.terms: dict[Variable, Term] = {}  # what integers stand for in sizes
        self.names = itertools.count(1)  # of symbols
        self.prefix = ""  # of their names

    @abstractmethod
    def record_atoms(
        self, primitive: str, inputs: tuple[Atom, ...], params: Mapping[str, Any]
    ) -> tuple[Variable, ...]:
        """Record one equation."""

    def symbol(self, counter: Variable, hint: str, length: Size) -> Symbol:
        """The symbol that the counter of a loop of that length binds."""
        found = Symbol(f"{self.prefix}{hint}.{next(self.names)}", 0, length - 1)
        self.terms[counter] = found
        return found

    def forget(self, symbol: Symbol) -> None:
        """Let a counter stand for nothing in sizes."""
        self.terms = {v: term for v, term in self.terms.items() if term != symbol}

    def size_of(self, value: Any) -> Any:
        """An integer as a size; None for one that is not the sum of counters."""
        if isinstance(value, Affine):
            known = [(self.terms.get(variable), factor) for variable, factor in value.terms]
            if any(term is None for term, _ in known):
                return None
            return value.offset + sum(factor * size_of(term) for term, factor in known if term)
        if isinstance(value, Dim):
            return value
        is_number = isinstance(value, int | np.integer) and not isinstance(value, bool)
        return int(value) if is_number else None

    def integer(self, size: Size) -> Affine | int:
        """A size as an integer of the user's program."""
        if not isinstance(size, Dim):
            return size
        terms = tuple((self._stands_for(term), factor) for term, factor in size.terms)
        return Affine(terms[0][0], size.offset, terms, least(size), greatest(size))

    def _stands_for(self, term: Term) -> Variable:
        """The variable that holds what a term stands for: a counter, or what an equation makes."""
        for variable, known in self.terms.items():
            if known == term and variable not in self.recorder.producers:
                return variable
        found: Variable | None = self.made.get(term)
        if found is None:
            (found,) = self.record_atoms("size", (), {"of": size_of(term)})
            self.made[term] = found
            self.terms[found] = term
        return found
