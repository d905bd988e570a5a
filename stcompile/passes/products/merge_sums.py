"""Merge a sum of products into a product: ``x1.T @ y1 + x2.T @ y2`` is ``[x1; x2].T @ [y1; y2]``.

The gradient of a weight that many steps share is such a sum. The factors are stacked; where another
sum needs some of the same factors, it takes a slice. Sums over rows are merged in the same way.
Rounds differently: it runs at the fast level alone.

>>> from stcompile.wengert.text import parse_program
>>> print(merge_sums(parse_program('''
... program f(x1: f32[4,3], y1: f32[4,5], x2: f32[4,3], y2: f32[4,5]) {
...   v1: f32[3,5] = contract(x1, y1; batch=(), contracted=((0, 0),), order=(), spelling='')
...   v2: f32[3,5] = contract(x2, y2; batch=(), contracted=((0, 0),), order=(), spelling='')
...   v3: f32[3,5] = accumulate(v1, v2; op='add')
...   return v3
... }''')))
program f(x1: f32[4,3], y1: f32[4,5], x2: f32[4,3], y2: f32[4,5]) {
  v4: f32[8,3] = concatenate(x1, x2; axis=0)
  v5: f32[8,5] = concatenate(y1, y2; axis=0)
  v6: f32[3,5] = contract(v4, v5; batch=(), contracted=((0, 0),), order=(), spelling='')
  return v6
}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stcompile.base.location import Location
from stcompile.passes.general.rebuild import Rebuild, have_same_settings, with_inner
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.primitives.contraction import Contraction
from stcompile.wengert.sums import is_addition

COLUMNS = Contraction((2, 2), contracted=((0, 0),))


def merge_sums(program: Program) -> Program:
    """The program with its sums of products over rows, and of sums over rows, computed at once."""
    program = with_inner(program, merge_sums)
    merger = _Merger(program)
    chains = [c for at in range(len(program.equations)) if (c := merger.chain(at)) is not None]
    last = max((chain.root for chain in chains), default=0) + 1
    for chain in sorted(chains, key=merger.rank):
        merger.merge(chain, last)
    return merger.rebuild.done()


@dataclass(frozen=True)
class _Chain:
    """A sum: the position of its last addition, the positions of all its additions, and its
    terms."""

    root: int
    additions: tuple[int, ...]
    terms: tuple[Atom, ...]


@dataclass(frozen=True)
class _Stacked:
    """Parts that are stacked in a ``variable``, which is defined at a position."""

    parts: tuple[Atom, ...]
    variable: Variable
    at: int


class _Merger:
    def __init__(self, program: Program) -> None:
        self.rebuild = Rebuild(program)
        self.stacks = [
            _Stacked(equation.inputs, equation.output, at)
            for at, equation in enumerate(program.equations)
            if equation.primitive == "concatenate" and equation.params["axis"] == 0
        ]

    # --- the choice of sums --------------------------------------------------------------------

    def chain(self, at: int) -> _Chain | None:
        """The sum whose last addition is at a position; None for any other equation."""
        equation = self.rebuild.equations[at]
        if not _is_addition(equation):
            return None
        readers = self.rebuild.readers.get(equation.output, [])
        if self.rebuild.is_used_once(equation.output) and any(
            _is_addition(self.rebuild.equations[reader]) for reader in readers
        ):
            return None
        additions: list[int] = []
        terms = self._terms(equation, at, additions)
        if not have_same_settings(*(self.rebuild.equations[place] for place in additions)):
            return None
        return _Chain(at, tuple(additions), tuple(terms))

    def _terms(self, equation: Equation, at: int, additions: list[int]) -> list[Atom]:
        """The terms of a sum in order; ``additions`` gets the positions of all additions. A sum
        may have more of them than Python has frames."""
        additions.append(at)
        terms: list[Atom] = []
        waiting = list(reversed(equation.inputs))
        while waiting:
            atom = waiting.pop()
            where = self.rebuild.defined_at(atom)
            inner = self.rebuild.equations[where] if where >= 0 else None
            if inner is not None and _is_addition(inner) and self.rebuild.is_used_once(atom):
                additions.append(where)
                waiting += reversed(inner.inputs)
            else:
                terms.append(atom)
        return terms

    # --- merging -------------------------------------------------------------------------------

    def rank(self, chain: _Chain) -> tuple[int, bool]:
        """A sort key: sums of many terms come first, and products before sums, since others may
        take slices of them."""
        products = sum(self.rebuild.maker(term, "contract") is not None for term in chain.terms)
        return -products, not products

    def merge(self, chain: _Chain, last: int) -> None:
        """Merge the terms of a sum, after all of the sums unless it is read before."""
        rebuild, root = self.rebuild, self.rebuild.equations[chain.root]
        groups: dict[object, list[Atom]] = {}
        rest: list[Atom] = []
        for term in chain.terms:
            key = self._key(term, root)
            if key is None:
                rest.append(term)
            else:
                groups.setdefault(key, []).append(term)
        rest += [group[0] for group in groups.values() if len(group) == 1]
        merged = [group for group in groups.values() if len(group) > 1]
        if not merged:
            return
        before = min(last, *rebuild.readers.get(root.output, [last]))
        made = [self._merged(group, before, root.location) for group in merged]
        for group in merged:
            for term in group:
                rebuild.drop(rebuild.defined_at(term))
        for position in chain.additions:
            rebuild.drop(position)
        terms = [*made, *rest]
        total = terms[0]
        for term in terms[1:]:
            total = rebuild.insert(before, "accumulate", (total, term), root.location, op="add")
        rebuild.mapping[root.output] = total

    def _key(self, term: Atom, root: Equation) -> object:
        """A key that is equal for terms that can be merged in a sum; None for a term that
        cannot."""
        if not isinstance(term, Variable) or not self.rebuild.is_used_once(term):
            return None
        where = self.rebuild.defined_at(term)
        if where < 0 or where in self.rebuild.dropped:
            return None
        equation = self.rebuild.equations[where]
        types = tuple(atom.type for atom in equation.inputs)
        if not have_same_settings(equation, root):
            return None
        if equation.varies or any(t.ndim != 2 or not t.inexact for t in types):
            return None
        if equation.primitive == "sum" and equation.params["axis"] == (0,):
            return "sum", types[0].dtype, types[0].dims[1:], equation.params["keepdims"]
        if equation.primitive == "contract" and Contraction.of(equation).is_like(COLUMNS):
            return "contract", tuple((t.dtype, t.dims[1:]) for t in types)
        return None

    def _merged(self, group: Sequence[Atom], before: int, location: Location) -> Atom:
        """Merge terms of a sum into a single equation."""
        equations = [self.rebuild.equations[self.rebuild.defined_at(term)] for term in group]
        operands = self._ordered([equation.inputs for equation in equations], before)
        stacked = tuple(
            self._stacked(parts, before, location) for parts in zip(*operands, strict=True)
        )
        first = equations[0]
        params = {**first.params, "spelling": ""} if len(stacked) == 2 else dict(first.params)
        return self.rebuild.insert(before, first.primitive, stacked, location, **params)

    def _ordered(self, operands: list[tuple[Atom, ...]], before: int) -> list[tuple[Atom, ...]]:
        """The terms in an order in which factors are already stacked, if there is one; else in the
        order in which they are computed."""
        for place in range(len(operands[0])):
            column = [inputs[place] for inputs in operands]
            for stack in self.stacks:
                if stack.at > before or len(set(column)) < len(column):
                    continue
                if not set(column) <= set(stack.parts):
                    continue
                ordered = sorted(operands, key=lambda inputs: stack.parts.index(inputs[place]))
                if _run(stack.parts, [inputs[place] for inputs in ordered]) is not None:
                    return ordered
        return sorted(operands, key=lambda inputs: self.rebuild.defined_at(inputs[0]))

    def _stacked(self, parts: Sequence[Atom], before: int, location: Location) -> Atom:
        """The stacked parts: a slice of an existing stack, or a new array."""
        for stack in self.stacks:
            start = _run(stack.parts, parts)
            if stack.at <= before and start is not None:
                if len(parts) == len(stack.parts):
                    return stack.variable
                return self._rows(stack, start, parts, before, location)
        variable = self.rebuild.insert(before, "concatenate", tuple(parts), location, axis=0)
        self.stacks.append(_Stacked(tuple(parts), variable, before))
        return variable

    def _rows(
        self, stack: _Stacked, start: int, parts: Sequence[Atom], before: int, location: Location
    ) -> Atom:
        first = sum(part.type.dims[0] for part in stack.parts[:start])
        dims = stack.variable.type.dims
        return self.rebuild.insert(
            before, "slice", (stack.variable,), location,
            start=((first,), *(((0,),) * (len(dims) - 1))),
            length=(sum(part.type.dims[0] for part in parts), *dims[1:]),
            step=(1,) * len(dims), drop=(),
        )  # fmt: skip


def _is_addition(equation: Equation) -> bool:
    types = [atom.type for atom in (*equation.inputs, *equation.outputs)]
    return is_addition(equation) and types[0].inexact and all(t == types[0] for t in types)


def _run(whole: Sequence[Atom], parts: Sequence[Atom]) -> int | None:
    """The start of consecutive ``parts`` in a sequence."""
    for start in range(len(whole) - len(parts) + 1):
        if list(whole[start : start + len(parts)]) == list(parts):
            return start
    return None
