"""Integers of the user's program as sizes, and sizes as integers."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from stcompile.frontend.state.changes import Changes
from stcompile.frontend.state.values import Affine, Array, Scalar, is_whole
from stcompile.wengert.bounds import greatest, least
from stcompile.wengert.dims import Dim, Size, Symbol, Term, size_of, symbols_in
from stcompile.wengert.ir import Atom, Constant, Equation, Variable, exact
from stcompile.wengert.naming import base_name
from stcompile.wengert.primitives import PRIMITIVES


def is_plain(equation: Equation) -> bool:
    """True if any two equal equations of this kind give the same value."""
    is_opaque = PRIMITIVES[equation.primitive].control or equation.primitive == "undef"
    return len(equation.outputs) == 1 and not equation.effects and not is_opaque


class Sizes(Changes):
    """The sizes that integers stand for in the lengths of axes."""

    def __init__(self) -> None:
        super().__init__()
        self.terms: dict[Variable, Term] = {}  # the terms of sizes that integers stand for
        self.lengths: set[Symbol] = set()  # lengths that the data decide
        self.names = itertools.count(1)  # of symbols
        self.prefix = ""  # of their names

    @abstractmethod
    def record_atoms(
        self, primitive: str, inputs: tuple[Atom, ...], params: Mapping[str, Any]
    ) -> tuple[Variable, ...]:
        """Record an equation."""

    def symbol(self, counter: Variable, hint: str, length: Size) -> Symbol:
        """The symbol that the counter of a loop of that length binds."""
        found = Symbol(f"{self.prefix}{hint}.{next(self.names)}", 0, length - 1)
        self.terms[counter] = found
        return found

    def measured(
        self, primitive: str, inputs: tuple[Atom, ...], params: Mapping[str, Any], like: Symbol
    ) -> Size:
        """A size that an equation computes, with the name and the bounds of a symbol. Equal
        equations compute the same size."""
        (number,) = self.record_atoms(primitive, inputs, params)
        return self.named(number, like)

    def named(self, number: Variable, like: Symbol) -> Size:
        """A number as a size, with the name and the bounds of the symbol ``like``; if these bounds
        leave a single number, the size is that number."""
        if isinstance(like.low, int) and like.low == like.high:
            return like.low
        for key, size in self.made.items():
            match key:
                case ("measured", Variable() as other) if self.is_same(number, other):
                    return size  # type: ignore[no-any-return]
        symbol = replace(like, name=f"{self.prefix}{base_name(like.name)}.{next(self.names)}")
        (variable,) = self.record_atoms("named", (number,), {"binds": symbol})
        found = self.made["measured", number] = size_of(symbol)
        self.made[symbol, self.depth] = variable
        self.made["bound", symbol] = True
        self.lengths.add(symbol)
        self.terms[variable] = symbol
        return found  # type: ignore[no-any-return]

    def counted(self, value: Any) -> Any:
        """An integer as a size; an integer that the data decide is named."""
        size = self.size_of(value)
        if size is not None or not isinstance(value, Scalar) or value.type.dtype.kind not in "iu":
            return size
        number = value.atom
        if value.type.kind != "python":
            params = {"dtype": np.dtype(np.int64)}
            (number,) = self.record_atoms("to_python", (number,), params)
        return self.named(number, Symbol("n", 0, None))

    def is_same(self, one: Atom, other: Atom) -> bool:
        """True if two atoms certainly have the same value: equal equations make them."""
        return self._is_same(one, other, set())

    def _is_same(self, one: Atom, other: Atom, seen: set[tuple[Atom, Atom]]) -> bool:
        if one == other or (one, other) in seen:
            return True
        ours, theirs = self.pure_maker(one), self.pure_maker(other)
        if ours is None or theirs is None:
            return False
        if ours.primitive != theirs.primitive or exact(ours.params) != exact(theirs.params):
            return False
        if len(ours.inputs) != len(theirs.inputs):
            return False
        pairs = zip(ours.inputs, theirs.inputs, strict=True)
        if not all(self._is_same(a, b, seen) for a, b in pairs):
            return False
        seen.add((one, other))
        return True

    def pure_maker(self, atom: Atom) -> Equation | None:
        """The equation that makes an atom, if it has no other output and no effect."""
        if isinstance(atom, Constant):
            return None
        made = self.recorder.producers.get(atom)
        return made if made is not None and is_plain(made) else None

    def is_measured(self, size: Size) -> bool:
        """True for a size that the data decide."""
        return not self.lengths.isdisjoint(symbols_in(size))

    def is_named_within(self, array: Array, outside: Mapping[Hashable, Any] | None = None) -> bool:
        """True for an array with a length that was named on a path which is over, or, if
        ``outside`` is given, on a path inside which the array is read; ``outside`` holds the
        objects made around that path."""
        made = self.made if outside is None else outside
        params = (static for step in array.path for static in step.params.values())
        statics = (array.type.dims, array.cell.variable.type.dims, *params)
        named = (symbol for static in statics for symbol in symbols_in(static))
        return any(symbol in self.lengths and ("bound", symbol) not in made for symbol in named)

    def forget(self, symbol: Symbol) -> None:
        """Let a counter stand for nothing in sizes."""
        self.terms = {v: term for v, term in self.terms.items() if term != symbol}

    def size_of(self, value: Any) -> Any:
        """An integer as a size; None for an integer that is not a sum of counters."""
        if isinstance(value, Affine):
            known = [(self.terms.get(variable), factor) for variable, factor in value.terms]
            if any(term is None for term, _ in known):
                return None
            return value.offset + sum(factor * size_of(term) for term, factor in known if term)
        if isinstance(value, Dim):
            return value
        is_number = is_whole(value) and not isinstance(value, bool)
        return int(value) if is_number else None

    def integer(self, size: Size) -> Affine | int:
        """A size as an integer of the user's program."""
        if not isinstance(size, Dim):
            return size
        terms = tuple((self._stands_for(term), factor) for term, factor in size.terms)
        return Affine(terms[0][0], size.offset, terms, least(size), greatest(size))

    def _stands_for(self, term: Term) -> Variable:
        """The variable that holds the value of a term: a counter, or the output of an equation."""
        for variable, known in self.terms.items():
            if known == term and variable not in self.recorder.producers:
                return variable
        key = term, self.depth  # a program that is closed does not read it from around it
        found: Variable | None = self.made.get(key)
        if found is None:
            (found,) = self.record_atoms("size", (), {"of": size_of(term)})
            self.made[key] = found
            self.terms[found] = term
        return found
