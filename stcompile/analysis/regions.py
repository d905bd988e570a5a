"""A program as a tree of *regions*: its control flow as nested blocks of one function.

A `Region` is a sequence of items and the atoms that are read at its end. An item is a `Step` (a
plain equation), a `Branch` or a `Repeat`. Sub-programs have name spaces of their own and take
values from outside as operands; in the tree every variable is unique, and a variable that only
stands for a value from outside is replaced by that value.

*Positions* number the tree in the order of the text: its steps, and the points between them where
values are handed on.

>>> from stcompile.wengert.text import parse_program
>>> tree = unfold(parse_program('''
... program f(p: bool, x: float) {
...   y: float = cond(p, x; otherwise=program otherwise(a: float) { return a },
...                         then=program then(a: float) { b: float = sin(a) return b })
...   return y
... }'''))
>>> (branch,) = tree.region.items
>>> branch.then.items[0].equation.inputs, branch.otherwise.outputs
((x: float,), (x: float,))
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from stcompile.base.location import Location
from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Size, Symbol
from stcompile.wengert.ir import Atom, Equation, Program, Variable, as_variable
from stcompile.wengert.naming import is_numbered
from stcompile.wengert.primitives.control import Ports


@dataclass(frozen=True, eq=False)
class Region:
    """A sequence of items, and the atoms that are handed on at its ``end``."""

    start: int
    items: tuple[Item, ...]
    outputs: tuple[Atom, ...]
    end: int


@dataclass(frozen=True, eq=False)
class Step:
    """An equation that is not control flow; ``source`` is the equation in the program."""

    at: int
    equation: Equation
    source: Equation


@dataclass(frozen=True, eq=False)
class Branch:
    """A choice between two regions; each hands on an atom for each of the ``outputs``. ``source``
    is its equation in the program."""

    at: int
    predicate: Atom
    then: Region
    otherwise: Region
    outputs: tuple[Variable, ...]
    end: int
    source: Equation

    @property
    def location(self) -> Location:
        return self.source.location

    @property
    def arms(self) -> tuple[Region, Region]:
        return self.then, self.otherwise


class Carry(NamedTuple):
    """A value that each step hands on to the next: its variable in the body, its value before the
    loop, its value at the end of the body, and its variable after the loop."""

    variable: Variable
    initial: Atom
    final: Atom
    output: Variable


class Feed(NamedTuple):
    """A variable of the body that gets an item of ``source`` in each step."""

    variable: Variable
    source: Atom


class Collected(NamedTuple):
    """An atom of the body whose values in all steps make up ``output``. It is stored at the
    position ``at`` of the body, where it is known."""

    atom: Atom
    output: Variable
    at: int

    @property
    def is_stack(self) -> bool:
        return self.output.type.kind == "stack"


@dataclass(frozen=True, eq=False)
class Repeat:
    """A loop, with a ``length``, or a ``count``, or a ``condition``. It is prepared
    (carry, collections) at ``at``, and ``head`` is the position of its first line. ``source`` is
    its equation in the program."""

    at: int
    head: int
    counter: Variable | None
    length: Size | None
    binds: Symbol | None
    count: Atom | None
    condition: Region | None
    reverse: bool
    carry: tuple[Carry, ...]
    feeds: tuple[Feed, ...]
    collected: tuple[Collected, ...]
    body: Region
    end: int
    source: Equation

    @property
    def runs(self) -> bool:
        """True if the loop is known to have at least one step."""
        return self.length is not None and least(self.length) > 0

    @property
    def location(self) -> Location:
        return self.source.location

    @property
    def regions(self) -> tuple[Region, ...]:
        return (self.body,) if self.condition is None else (self.condition, self.body)


Item: TypeAlias = Step | Branch | Repeat


UseKind = Literal[
    "operand",  # of a step
    "predicate",  # of a branch
    "count",  # of a loop
    "initial",  # of a carry
    "source",  # an array or a stack that a loop steps through
    "collected",  # in each step of a loop
    "test",  # of a while loop
    "final",  # handed on to the next step
    "arm",  # handed on by an arm of a branch
    "result",  # of the program
]


class Use(NamedTuple):
    """A read of a variable: its position, the region it is in, and the item that reads it."""

    variable: Variable
    at: int
    kind: UseKind
    region: Region
    user: Item | None


@dataclass(frozen=True, eq=False)
class Tree:
    """A program unfolded. ``hints`` are the names of its variables where they were defined;
    ``replaced`` are variables of the program that the tree has another atom for. The ``owned``
    inputs may be written to."""

    inputs: tuple[Variable, ...]
    region: Region
    hints: Mapping[Variable, str]
    replaced: Mapping[Variable, Atom]
    owned: frozenset[Variable] = frozenset()

    def atom(self, atom: Atom) -> Atom:
        """The atom of the tree that stands for an atom of the program."""
        return self.replaced.get(atom, atom) if isinstance(atom, Variable) else atom

    def items(self) -> Iterator[tuple[Region, Item]]:
        """All items with their regions, in the order of the text."""
        return _items(self.region)

    @functools.cached_property
    def steps(self) -> Sequence[Step]:
        """All steps, in the order of the text."""
        return tuple(item for _, item in self.items() if isinstance(item, Step))

    @functools.cached_property
    def makers(self) -> Mapping[Atom, Step]:
        """The steps that compute variables."""
        return {output: step for step in self.steps for output in step.equation.outputs}

    @functools.cached_property
    def uses(self) -> Mapping[Variable, Sequence[Use]]:
        """All uses of each variable that is used."""
        found: dict[Variable, list[Use]] = {}
        for region, item in self.items():
            for atom, at, kind, inside in _reads(region, item):
                if isinstance(atom, Variable):
                    found.setdefault(atom, []).append(Use(atom, at, kind, inside, item))
        for atom in self.region.outputs:
            if isinstance(atom, Variable):
                use = Use(atom, self.region.end, "result", self.region, None)
                found.setdefault(atom, []).append(use)
        return found


def _items(region: Region) -> Iterator[tuple[Region, Item]]:
    for item in region.items:
        yield region, item
        for inner in regions_of(item):
            yield from _items(inner)


def regions_of(item: Item) -> tuple[Region, ...]:
    """The regions within an item."""
    if isinstance(item, Step):
        return ()
    return item.arms if isinstance(item, Branch) else item.regions


def _reads(region: Region, item: Item) -> Iterator[tuple[Atom, int, UseKind, Region]]:
    if isinstance(item, Step):
        for atom in item.equation.inputs:
            yield atom, item.at, "operand", region
    elif isinstance(item, Branch):
        yield item.predicate, item.at, "predicate", region
        for arm in item.arms:
            for atom in arm.outputs:
                yield atom, arm.end, "arm", arm
    else:
        if item.count is not None:
            yield item.count, item.head, "count", region
        if item.condition is not None:
            yield item.condition.outputs[0], item.condition.end, "test", item.condition
        for carry in item.carry:
            yield carry.initial, item.at, "initial", region
            yield carry.final, item.body.end, "final", item.body
        for feed in item.feeds:
            yield feed.source, item.body.start, "source", item.body
        for collected in item.collected:
            yield collected.atom, collected.at, "collected", item.body


def unfold(program: Program) -> Tree:
    """The tree of a program."""
    unfolder = _Unfolder()
    scope: _Scope = {}
    hints = unfolder.hints
    hints.update((variable, variable.name) for variable in program.inputs)
    region = unfolder.region(program.equations, program.outputs, scope, is_outer=True)
    return Tree(program.inputs, region, hints, scope)


_Scope: TypeAlias = dict[Variable, Atom]  # the atoms for the variables of one program


def _atom(scope: _Scope, atom: Atom) -> Atom:
    return scope.get(atom, atom) if isinstance(atom, Variable) else atom


class _Unfolder:
    def __init__(self) -> None:
        self.hints: dict[Variable, str] = {}
        self._positions = itertools.count()
        self._count = 0

    def _next(self) -> int:
        return next(self._positions)

    def region(
        self,
        equations: Sequence[Equation],
        outputs: Sequence[Atom],
        scope: _Scope,
        is_outer: bool = False,
    ) -> Region:
        start = self._next()
        items = tuple(self._items(equations, scope, is_outer))
        return Region(start, items, tuple(_atom(scope, a) for a in outputs), self._next())

    def _program(self, program: Program, inputs: Sequence[Atom]) -> Region:
        scope = dict(zip(program.inputs, inputs, strict=True))
        return self.region(program.equations, program.outputs, scope)

    def _items(
        self, equations: Sequence[Equation], scope: _Scope, is_outer: bool
    ) -> Iterator[Item]:
        for original in equations:
            equation = original.substitute(scope)
            if equation.primitive == "call":
                yield from self._call(equation, scope)
            elif equation.primitive == "cond":
                yield self._branch(equation, original, scope, is_outer)
            elif equation.primitive == "loop":
                yield self._repeat(equation, original, scope, is_outer)
            else:
                outputs = self._define(equation.outputs, scope, is_outer)
                if outputs != equation.outputs:
                    equation = replace(equation, outputs=outputs)
                yield Step(self._next(), equation, original)

    def _define(
        self, variables: Sequence[Variable], scope: _Scope, is_outer: bool = False
    ) -> tuple[Variable, ...]:
        """Make the variables that an equation defines unique. Variables of the outermost program
        keep their names."""
        if is_outer:
            self.hints.update((variable, variable.name) for variable in variables)
            return tuple(variables)
        return tuple(self._fresh(variable, scope) for variable in variables)

    def _fresh(self, variable: Variable, scope: _Scope) -> Variable:
        self._count += 1
        fresh = Variable(f"@{self._count}", variable.type)
        self.hints[fresh] = variable.name
        scope[variable] = fresh
        return fresh

    def _call(self, equation: Equation, scope: _Scope) -> Iterator[Item]:
        program: Program = equation.params["program"]
        inner = dict(zip(program.inputs, equation.inputs, strict=True))
        yield from self._items(program.equations, inner, False)
        for output, atom in zip(equation.outputs, program.outputs, strict=True):
            scope[output] = result = _atom(inner, atom)
            is_fresh = isinstance(result, Variable) and result.name.startswith("@")
            if isinstance(result, Variable) and is_fresh and not is_numbered(output.name):
                self.hints[result] = output.name

    def _branch(
        self, equation: Equation, source: Equation, scope: _Scope, is_outer: bool
    ) -> Branch:
        at = self._next()
        predicate, *operands = equation.inputs
        then = self._program(equation.params["then"], operands)
        otherwise = self._program(equation.params["otherwise"], operands)
        kept = []
        for place, output in enumerate(equation.outputs):
            if then.outputs[place] == otherwise.outputs[place]:
                scope[output] = then.outputs[place]
            else:
                kept.append(place)
        return Branch(
            at,
            predicate,
            replace(then, outputs=tuple(then.outputs[place] for place in kept)),
            replace(otherwise, outputs=tuple(otherwise.outputs[place] for place in kept)),
            self._define([equation.outputs[place] for place in kept], scope, is_outer),
            self._next(),
            source,
        )

    def _repeat(
        self, equation: Equation, source: Equation, scope: _Scope, is_outer: bool
    ) -> Repeat:
        at, head = self._next(), self._next()
        ports = Ports.of(equation)
        inner: _Scope = dict(zip(ports.body_constants, ports.constants, strict=True))
        counter = None if ports.counter is None else self._fresh(ports.counter, inner)
        changing = self._changing(ports, inner, scope)
        variables = [inner[variable] for variable in ports.body_carry]
        condition = None
        if ports.condition is not None:
            condition = self._program(ports.condition, (*ports.constants, *variables))
        feeds = tuple(
            Feed(self._fresh(variable, inner), source)
            for variable, source in zip(ports.body_xs, ports.xs, strict=True)
        )
        body = self.region(ports.body.equations, ports.body.outputs, inner)
        finals, noted = body.outputs[: len(ports.carry)], body.outputs[len(ports.carry) :]
        outputs = self._define([ports.results[place] for place in changing], scope, is_outer)
        carry = []
        for place, output in zip(changing, outputs, strict=True):
            own = as_variable(inner[ports.body_carry[place]])
            carry.append(Carry(own, ports.carry[place], finals[place], output))
        collections = self._define(ports.ys, scope, is_outer)
        known = _known_at(body)
        return Repeat(
            at,
            head,
            counter,
            ports.length,
            ports.binds,
            ports.count,
            condition,
            ports.reverse,
            tuple(carry),
            feeds,
            tuple(
                Collected(atom, output, known.get(atom, body.start))
                for atom, output in zip(noted, collections, strict=True)
            ),
            replace(body, outputs=(*(c.final for c in carry), *noted)),
            self._next(),
            source,
        )

    def _changing(self, ports: Ports, inner: _Scope, scope: _Scope) -> list[int]:
        """The places in the carry of values that steps change; others keep their initial value."""
        changing = []
        for place, variable in enumerate(ports.body_carry):
            if ports.carried[place] == variable:
                inner[variable] = scope[ports.results[place]] = ports.carry[place]
            else:
                self._fresh(variable, inner)
                changing.append(place)
        return changing


def _known_at(body: Region) -> dict[Atom, int]:
    """The positions in a body where its own variables get their values."""
    return {
        variable: item.at if isinstance(item, Step) else item.end
        for item in body.items
        for variable in defined_by(item)
    }


def defined_by(item: Item) -> tuple[Variable, ...]:
    """The variables that an item defines for later items."""
    if isinstance(item, Step):
        return item.equation.outputs
    if isinstance(item, Branch):
        return item.outputs
    return (*(c.output for c in item.carry), *(c.output for c in item.collected))
