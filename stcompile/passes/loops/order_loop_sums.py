"""Add first the terms of sums in loops that do not depend on earlier steps.

`x_k @ Wx + h @ Wh + b` becomes `(x_k @ Wx + b) + h @ Wh`, whose first sum can leave the loop. It
rounds differently. Only sums of float arrays of the same dtype are changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from stcompile.passes.general.rebuild import Scope
from stcompile.passes.loops.loop_ports import CountedLoop
from stcompile.wengert.ir import Atom, Equation, Variable


def ordered_sums(loop: CountedLoop) -> CountedLoop:
    """The loop with the terms of its sums in the order: the same in all steps, known before the
    loop, the rest."""
    sums = _Sums(loop)
    roots = {at: found for at in range(len(loop.equations)) if (found := sums.disordered(at))}
    if not roots:
        return loop
    body = Scope(loop.body)
    gone = {v for root in roots.values() for v in root.inner}
    for at, equation in enumerate(loop.equations):
        if at in roots:
            total, *terms = roots[at].terms
            for place, term in enumerate(terms):
                output = equation.output if place == len(terms) - 1 else None
                total = body.record("add", (total, term), equation.location, output)
        elif gone.isdisjoint(equation.outputs):
            body.add(equation)
    return replace(loop, equations=tuple(body.equations))


@dataclass(frozen=True)
class _Root:
    """The terms of a sum in a better order, and the sums that it was made of."""

    terms: list[Atom]
    inner: list[Variable]


class _Sums:
    def __init__(self, loop: CountedLoop) -> None:
        self.equations = loop.equations
        self.makers = {v: e for e in loop.equations for v in e.outputs}
        read = [v for e in loop.equations for v in e.variables]
        read += [a for a in loop.done().params["body"].outputs if isinstance(a, Variable)]
        self.uses = Counter(read)
        self.ranks = _ranks(loop)
        self.terms_of_others = {
            v
            for e in loop.equations
            if _is_sum(e)
            for v in e.variables
            if self.uses[v] == 1 and _is_sum(self.makers.get(v))
        }

    def disordered(self, at: int) -> _Root | None:
        """The sum at a position if it is not a term of another sum, and its terms are better in
        another order."""
        equation = self.equations[at]
        if not _is_sum(equation) or equation.output in self.terms_of_others:
            return None
        inner: list[Variable] = []
        terms = [term for atom in equation.inputs for term in self._terms(atom, inner)]
        ranks = [self._rank(term) for term in terms]
        settings = {self.makers[v].location.errstate for v in (*inner, equation.output)}
        if len(terms) < 3 or ranks == sorted(ranks) or len(settings) > 1:
            return None
        if sum(rank < 2 for rank in ranks) < 2:
            return None
        return _Root(sorted(terms, key=self._rank), inner)

    def _terms(self, atom: Atom, inner: list[Variable]) -> list[Atom]:
        if not isinstance(atom, Variable) or atom not in self.terms_of_others:
            return [atom]
        inner.append(atom)
        return [term for a in self.makers[atom].inputs for term in self._terms(a, inner)]

    def _rank(self, atom: Atom) -> int:
        return self.ranks.get(atom, 2) if isinstance(atom, Variable) else 0


def _is_sum(equation: Equation | None) -> bool:
    """True for the sum of two float arrays of the same dtype."""
    if equation is None or equation.primitive != "add":
        return False
    types = [atom.type for atom in (*equation.inputs, equation.output)]
    return all(t.kind == "array" and t.inexact and t.dtype == types[0].dtype for t in types)


def _ranks(loop: CountedLoop) -> Mapping[Variable, int]:
    """Ranks of variables: 0 for a variable that is the same in all steps, 1 for a variable that
    depends on the step, 2 for a variable that depends on earlier steps."""
    ranks = dict.fromkeys((fed.variable for fed in loop.constants), 0)
    ranks |= dict.fromkeys((loop.counter, *(fed.variable for fed in loop.xs)), 1)
    for equation in loop.equations:
        read = [2 if equation.effects else 0, *(ranks.get(v, 2) for v in equation.variables)]
        ranks.update(dict.fromkeys(equation.outputs, max(read)))
    return ranks
