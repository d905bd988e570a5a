"""A worklist for all local rules: they are applied until none of them changes an equation.

A rule is a small function of a program under way and of an equation in it. It looks at the
definitions and the uses around the equation, records further equations, and returns the replacement
of the result: another equation, or a known atom. None: nothing changes. A replacement that does not
have the type of the result is not taken.

>>> from stcompile.wengert.text import parse_program
>>> @rule("add")
... def doubled(under_way, equation):
...     x, y = equation.inputs
...     return under_way.record("multiply", Constant(2.0), x) if x == y else None
>>> print(rewrite(parse_program('''
... program f(x: float) {
...   v1: float = multiply(x, x)
...   v2: float = add(v1, v1)
...   return v2
... }'''), RuleBook((doubled,))))
program f(x: float) {
  v1: float = multiply(x, x)
  v2: float = multiply(2.0, v1)
  return v2
}

The order is that of the program: of all equations that wait to be looked at, the first one comes
next. Where one has changed, those wait again that read it, up to two equations further, and those
that it reads, if they have lost a reader. What nothing reads any more is gone at once, so that a
value is known to be read once.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from stcompile.analysis.indices import Ranges, is_never_negative, ranges_inside
from stcompile.base.errors import InternalError
from stcompile.base.location import Location
from stcompile.wengert.dims import UnknownSizeError
from stcompile.wengert.ir import (
    Atom,
    Constant,
    Equation,
    Program,
    Variable,
    freeze,
    map_named_programs,
)
from stcompile.wengert.naming import name_variables, names_of
from stcompile.wengert.primitives import PRIMITIVES, infer
from stcompile.wengert.primitives.base import OperandError, Primitive
from stcompile.wengert.types import Type

Result: TypeAlias = "Atom | Equation | None"
Applied = Callable[["UnderWay", Equation], Result]
_MOST = 100  # rewrites for each equation of a program: more of them go round in a circle


@dataclass(frozen=True)
class Rule:
    """A rewrite of the equations of some primitives; if ``derived``, of adjoints and tangents
    alone: the primal stays as the user wrote it."""

    apply: Applied
    primitives: frozenset[str]
    derived: bool = False

    def __call__(self, under_way: UnderWay, equation: Equation) -> Result:
        return self.apply(under_way, equation)


def rule(
    *primitives: str, having: Callable[[Primitive], bool] | None = None
) -> Callable[[Applied], Rule]:
    """A decorator for a rule on equations of ``primitives``, or of the primitives ``having`` a
    trait."""
    traits = [name for name, p in PRIMITIVES.items() if having is not None and having(p)]

    def made(apply: Applied) -> Rule:
        return Rule(apply, frozenset((*primitives, *traits)))

    return made


def derived(*rules: Rule) -> tuple[Rule, ...]:
    """The rules for adjoints and tangents alone."""
    return tuple(replace(one, derived=True) for one in rules)


class RuleBook:
    """Rules in the order in which they are tried. The ``last`` rules are tried where no other rule
    applies any more."""

    def __init__(self, rules: Iterable[Rule], last: Iterable[Rule] = ()) -> None:
        first = tuple(rules)
        self.rules = every = (*first, *last)
        self.turns = [_by_primitive(one) for one in dict.fromkeys((first, every))]


def _by_primitive(rules: Iterable[Rule]) -> Mapping[str, tuple[Rule, ...]]:
    found: dict[str, tuple[Rule, ...]] = {}
    for one in rules:
        for name in one.primitives:
            found[name] = (*found.get(name, ()), one)
    return found


def rewrite(program: Program, book: RuleBook) -> Program:
    """The program after all rules of a book, without equations that nothing reads."""
    return _rewritten(program, book, None)


def _rewritten(program: Program, book: RuleBook, known: Ranges | None) -> Program:
    """Rewrite a program; ``known`` are ranges of integers in a program that a loop or a branch
    runs, None for the outermost program."""

    def inner(equation: Equation) -> Equation:
        ranges = {name: dict(pairs) for name, pairs in ranges_inside(equation, known or {})}
        return map_named_programs(
            equation, lambda name, p: _rewritten(p, book, ranges.get(name, {}))
        )

    under_way = UnderWay(program, inner, known)
    for rules in book.turns:
        under_way.run(rules)
    return under_way.done()


Place: TypeAlias = tuple[int, ...]
"""The place of an equation among the others; places compare in this order. ``(3,)`` is the fourth
of the program; equations inserted before it are at ``(2, 1)``, ``(2, 2)``, …, and before the
latter, at ``(2, 1, 3)``."""


class UnderWay:
    """A program while it is rewritten, as rules see it.

    ``makers`` has the equation of each variable that is defined by an equation. ``is_inner`` is
    true of a program that a loop or a branch runs, whose inputs include some ``known`` integers.
    """

    def __init__(
        self, program: Program, inner: Callable[[Equation], Equation], known: Ranges | None
    ) -> None:
        self.program = program
        self.is_inner = known is not None
        self.known: Ranges = known or {}
        self.inner = inner  # rewrites the programs inside of loops and branches
        self.makers: dict[Variable, Equation] = {}
        self.location: Location  # of the equation that is looked at
        self._outputs = list(program.outputs)
        self._uses: Counter[Atom] = Counter(self._outputs)
        self._readers: dict[Variable, set[Place]] = {}
        self._places: dict[Variable, Place] = {}
        self._equations: dict[Place, Equation] = {}
        self._pending: list[Equation] = []
        self._names = names_of(program)
        self._heap: list[Place] = []
        self._waiting: set[Place] = set()
        self._made = 0
        for at, equation in enumerate(program.equations):
            self._add((at,), inner(equation))
        self._drop_unread([(at,) for at in range(len(program.equations))])

    # --- queries of rules -----------------------------------------------------------------------

    def made_by(self, atom: Atom, *primitives: str) -> Equation | None:
        """The equation that defines an atom, if it is of one of the given primitives."""
        equation = self.makers.get(atom) if isinstance(atom, Variable) else None
        return equation if equation is not None and equation.primitive in primitives else None

    def is_never_negative(self, atom: Atom) -> bool:
        """True if an integer is known to be at least 0."""
        maker = self.makers.get(atom) if isinstance(atom, Variable) else None
        return is_never_negative(atom, self.known, maker)

    def is_read(self, atom: Atom) -> bool:
        return bool(self._uses[atom])

    def is_read_once(self, atom: Atom) -> bool:
        return isinstance(atom, Variable) and self._uses[atom] == 1

    def is_returned(self, atom: Atom) -> bool:
        """True if an output is an atom or a view of it."""
        views = (e.output for e in self.readers(atom) if PRIMITIVES[e.primitive].view)
        return atom in self._outputs or any(map(self.is_returned, views))

    def readers(self, atom: Atom) -> Iterator[Equation]:
        """The equations that read an atom, in order."""
        places = self._readers.get(atom, ()) if isinstance(atom, Variable) else ()
        return (self._equations[place] for place in sorted(places))

    # --- actions of rules -----------------------------------------------------------------------

    def record(self, primitive: str, *inputs: Atom, called: str = "", **params: Any) -> Variable:
        """Record a pure equation right before the present equation; return its output."""
        frozen = freeze(params)
        (type,) = infer(primitive, tuple(atom.type for atom in inputs), frozen)
        self._made += 1
        output = Variable(f"%{self._made}", type)
        if called:
            self._names[output] = called
        equation = Equation((output,), primitive, inputs, frozen, (), self.location)
        self._pending.append(equation)
        self.makers[output] = equation
        return output

    def alter(self, equation: Equation) -> None:
        """Replace an equation whose output only the present equation reads by another with an
        output of the same type. A rule that does so must return a result."""
        place = self._places[equation.output]
        self._replace(place, equation)
        self._wait(place)

    def repeat(self, number: Any, type: Type) -> Atom:
        """An array filled with a number."""
        plain = number.item() if type.dtype == float else number
        return self.record("broadcast_to", Constant(plain), shape=type.dims)

    def stand_for(self, old: Variable, new: Atom) -> None:
        """Let an atom be read instead of a result of an equation. A rule that does so for one of
        several results goes on to return the equation."""
        name = self._names.get(old)
        if name is not None and isinstance(new, Variable) and new in self.makers:
            self._names.setdefault(new, name)
        for reader in sorted(self._readers.get(old, ())):
            changed = self._equations[reader].substitute({old: new})
            self._replace(reader, changed)
            self._wait(reader)
            self._changed(changed)
        for at, output in enumerate(self._outputs):
            if output == old:
                self._outputs[at] = new
                self._uses[old] -= 1
                self._uses[new] += 1
        self._drop_unread([self._places[old]])

    # --- the worklist ---------------------------------------------------------------------------

    def run(self, rules: Mapping[str, tuple[Rule, ...]]) -> None:
        """Apply rules until none changes an equation."""
        for place, equation in self._equations.items():
            if equation.primitive in rules:
                self._wait(place)
        left = _MOST * (len(self._equations) + 1)
        while self._heap:
            place = heapq.heappop(self._heap)
            self._waiting.discard(place)
            if place not in self._equations:
                continue
            equation = self._equations[place]
            is_derived = equation.location.is_derived
            for one in rules.get(equation.primitive, ()):
                if (is_derived or not one.derived) and self._applied(one, place, equation):
                    left -= 1
                    break
            if not left:
                raise InternalError(
                    f"the rules go round in a circle at {equation}", location=equation.location
                )

    def _applied(self, one: Rule, place: Place, equation: Equation) -> bool:
        """True if a rule has changed an equation."""
        self.location = equation.location
        self._pending = []
        try:
            result = one.apply(self, equation)
        except UnknownSizeError:  # the rule has something to say about known lengths alone
            result = None
        pending, self._pending = self._pending, []
        for recorded in pending:
            del self.makers[recorded.output]
        if pending and pending[-1].outputs == (result,):
            result = replace(pending.pop(), outputs=equation.outputs)
        if place not in self._equations:  # another value stands for all of its results
            return True
        if result is None or not self._fits(equation, result):
            return False
        for new in pending:
            self._made += 1
            at = (*place[:-1], place[-1] - 1, self._made)
            self._add(at, new)
            self._wait(at)
        if isinstance(result, Equation):
            if PRIMITIVES[result.primitive].control:
                result = self.inner(result)
            self._replace(place, result)
            self._wait(place)
            self._changed(result)
        else:
            self.stand_for(equation.output, result)
        self._drop_unread([self._places[new.output] for new in pending])
        return True

    def _changed(self, equation: Equation) -> None:
        """Put the readers of a changed equation on the worklist, and their readers."""
        for reader in [r for v in equation.outputs for r in self._readers.get(v, ())]:
            self._wait(reader)
            for output in self._equations[reader].outputs:
                for further in self._readers.get(output, ()):
                    self._wait(further)

    def _wait(self, place: Place) -> None:
        if place not in self._waiting:
            self._waiting.add(place)
            heapq.heappush(self._heap, place)

    def _fits(self, equation: Equation, result: Atom | Equation) -> bool:
        """True if a replacement has the types of the results of an equation that are read."""
        if not isinstance(result, Equation):
            return result.type == equation.output.type
        inputs = tuple(atom.type for atom in result.inputs)
        try:
            types = infer(result.primitive, inputs, result.params)
        except OperandError:
            return False
        gone = set(equation.outputs).difference(result.outputs)
        return types == tuple(o.type for o in result.outputs) and not any(map(self._uses.get, gone))

    # --- the equations --------------------------------------------------------------------------

    def _add(self, place: Place, equation: Equation) -> None:
        self._equations[place] = equation
        for output in equation.outputs:
            self._places[output] = place
            self.makers[output] = equation
        for variable in equation.variables:
            self._uses[variable] += 1
            self._readers.setdefault(variable, set()).add(place)

    def _replace(self, place: Place, equation: Equation) -> None:
        old = self._equations[place]
        for output in set(old.outputs).difference(equation.outputs):
            del self._places[output], self.makers[output]
        self._add(place, equation)
        self._drop_unread(self._forget(place, old))

    def _forget(self, place: Place, old: Equation) -> list[Place]:
        """Uncount the reads of an equation that is gone or replaced. Return the positions of
        equations whose results nothing reads now."""
        now = self._equations.get(place)
        kept = set(now.variables) if now is not None else set()
        unread = []
        for variable in old.variables:
            self._uses[variable] -= 1
            if variable not in kept:
                self._readers[variable].discard(place)
            made = self._places.get(variable)
            if made not in self._equations:
                continue
            if self._uses[variable] == 0:
                unread.append(made)
            elif self._uses[variable] == 1:
                self._wait(made)
                for reader in self._readers[variable]:
                    self._wait(reader)
        return unread

    def _drop_unread(self, places: list[Place]) -> None:
        """Drop equations that have no effect and whose results nothing reads, and the equations
        that only these read."""
        while places:
            place = places.pop()
            equation = self._equations.get(place)
            if equation is None or equation.effects or any(map(self._uses.get, equation.outputs)):
                continue
            del self._equations[place]
            for output in equation.outputs:
                del self.makers[output]
            places += self._forget(place, equation)

    def done(self) -> Program:
        """The program with all changes made; itself if nothing has changed."""
        equations = [self._equations[place] for place in sorted(self._equations)]
        pairs = zip(
            (*equations, *self._outputs),
            (*self.program.equations, *self.program.outputs),
            strict=False,
        )
        if len(equations) == len(self.program.equations) and all(a is b for a, b in pairs):
            return self.program
        changed = replace(self.program, equations=tuple(equations), outputs=tuple(self._outputs))
        return name_variables(changed, self._names)
