"""Walks over what loops do with the elements of some arrays, through inner loops and branches.

Each array has a number. The variables that stand for it, its *versions*, are followed from step to
step: a write to an element makes the next version, and a loop or a branch hands versions on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stcompile.wengert.bounds import usual
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.loops import Carried, Loop
from stcompile.wengert.parts import READS, WRITES, view_of
from stcompile.wengert.primitives.control import Ports

WHILE_STEPS = 100  # that a while loop is taken to make
Number = int | None


@dataclass(frozen=True)
class Where:
    """The loops around an equation: their number, ``depth``; their ``counters``, each with the
    depth of its loop; the ``steps`` of the innermost loop, and how often the equation runs."""

    counters: Mapping[Variable, int] = field(default_factory=dict)
    depth: int = 0
    steps: int = 1
    times: int = 1

    def inside(self, steps: int) -> Where:
        """A step of an inner loop, of which the counter is not known yet."""
        return replace(self, depth=self.depth + 1, steps=steps, times=self.times * steps)

    def counters_of(self, depth: int) -> Iterable[Variable]:
        """The counter of a loop, under all of its names."""
        return [counter for counter, own in self.counters.items() if own == depth]


class Walk(ABC):
    """A walk through programs; subclasses note what they meet."""

    @abstractmethod
    def access(self, number: int, equation: Equation, where: Where) -> None:
        """Note a read or a write of an element."""

    @abstractmethod
    def lose(self, *numbers: Number) -> None:
        """Note arrays (None: none) that are used in any other way."""

    def visit(self, equation: Equation, where: Where) -> None:  # noqa: B027 - it may do nothing
        """Note an equation, before what it does with arrays."""

    def program(
        self, program: Program, own: Mapping[Variable, int], where: Where
    ) -> Sequence[Number]:
        """Walk through a program; return the numbers of the arrays that its outputs are."""
        versions = dict(own)
        for equation in program.equations:
            self.visit(equation, where)
            numbers = _numbers(equation.inputs, versions)
            first, *others = numbers or [None]
            if equation.primitive == "loop":
                ports = Ports.of(equation)
                used = (*ports.xs, *equation.inputs[: ports.count is not None])
                self.lose(*_numbers(used, versions))
                given = (*ports.constants, *ports.carry)
                versions |= self.loop(equation, _numbers(given, versions), where)
            elif equation.primitive == "cond":
                self.lose(first)
                versions |= self._branches(equation, others, where)
            elif equation.primitive in READS | WRITES and first is not None:
                self.lose(*others)
                self.access(first, equation, where)
                if equation.primitive in WRITES:
                    versions[equation.output] = first
            else:
                self.lose(*numbers)
        return _numbers(program.outputs, versions)

    def loop(
        self, loop: Equation, numbers: Sequence[Number], where: Where
    ) -> Mapping[Variable, int]:
        """Walk through a loop whose constants and first values are the arrays of these numbers;
        return the numbers of its results."""
        ports = Ports.of(loop)
        steps = WHILE_STEPS if ports.length is None else usual(ports.length)
        given, inside = (*ports.constants, *ports.carry), where.inside(steps)
        if ports.condition is not None:
            self._inner(ports.condition, ports.condition.inputs, given, numbers, inside)
        counters = {} if ports.counter is None else {ports.counter: inside.depth}
        inputs = (*ports.body_constants, *ports.body_carry)
        found = self._inner(ports.body, inputs, given, numbers, inside, counters)
        before = [*numbers[len(ports.constants) :], *(None for _ in ports.ys)]
        return self._alike(loop.outputs, before, found)

    def _branches(
        self, equation: Equation, numbers: Sequence[Number], where: Where
    ) -> Mapping[Variable, int]:
        given = equation.inputs[1:]
        arms: list[Program] = [equation.params[name] for name in ("then", "otherwise")]
        one, other = (self._inner(arm, arm.inputs, given, numbers, where) for arm in arms)
        return self._alike(equation.outputs, one, other)

    def _inner(
        self,
        program: Program,
        inputs: Sequence[Variable],
        given: Sequence[Atom],
        numbers: Sequence[Number],
        where: Where,
        counters: Mapping[Variable, int] | None = None,
    ) -> Sequence[Number]:
        """Walk through a program inside an equation, with its ``inputs`` for what is given."""
        own = {v: n for v, n in zip(inputs, numbers, strict=True) if n is not None}
        pairs = zip(inputs, given, strict=True)
        known = {
            v: where.counters[atom]
            for v, atom in pairs
            if isinstance(atom, Variable) and atom in where.counters
        }
        return self.program(program, own, replace(where, counters={**known, **(counters or {})}))

    def _alike(
        self, outputs: Sequence[Variable], one: Sequence[Number], other: Sequence[Number]
    ) -> Mapping[Variable, int]:
        """The arrays that outputs are either way."""
        results = {}
        for output, first, second in zip(outputs, one, other, strict=True):
            if first != second:
                self.lose(first, second)
            elif first is not None:
                results[output] = first
        return results


def accesses_of(loop: Loop, carried: Carried) -> list[Equation] | None:
    """The equations of a step that read and write slices of a carried array, in order; None if a
    step does anything else with it."""
    versions: set[Atom] = {carried.variable}
    found = []
    for equation in loop.equations:
        if versions.isdisjoint(equation.inputs):
            continue
        if view_of(equation) != "slice" or not versions.isdisjoint(equation.inputs[1:]):
            return None
        found.append(equation)
        if equation.primitive in WRITES:
            versions.add(equation.output)
    others = {c.final for c in loop.carry if c is not carried} | {kept.atom for kept in loop.ys}
    return found if carried.final in versions and versions.isdisjoint(others) else None


def _numbers(atoms: Iterable[Atom], versions: Mapping[Variable, int]) -> list[Number]:
    return [versions.get(atom) if isinstance(atom, Variable) else None for atom in atoms]
