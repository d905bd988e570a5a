"""Rebuilding a program with equations added, replaced and left out."""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stcompile.base.location import Location
from stcompile.wengert.ir import Atom, Equation, Program, Variable, freeze, map_programs
from stcompile.wengert.primitives import infer


def with_inner(program: Program, change: Callable[[Program], Program]) -> Program:
    """The program with the programs inside its equations changed."""
    return with_equations(program, [map_programs(e, change) for e in program.equations])


def with_equations(program: Program, equations: Sequence[Equation]) -> Program:
    """The program with other equations; the program itself if they are its own."""
    if are_same(equations, program.equations):
        return program
    return replace(program, equations=tuple(equations))


def are_same(equations: Sequence[Equation], others: Sequence[Equation]) -> bool:
    """True for the very same equations in the same order."""
    return len(equations) == len(others) and all(map(operator.is_, equations, others))


def have_same_settings(*equations: Equation) -> bool:
    """True for equations that run under the same `numpy.errstate`: they may become one."""
    return len({equation.location.errstate for equation in equations}) == 1


class Rebuild:
    """Changes to a program's equations, noted by their positions and made all at once.

    ``makers`` has the position of the equation that defines a variable, ``uses`` counts how often
    each is read (by the program's outputs as well), ``readers`` has the positions that do.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.equations = program.equations
        self.makers: dict[Variable, int] = {}
        self.uses: Counter[Variable] = Counter()
        self.readers: dict[Variable, list[int]] = {}
        for at, equation in enumerate(self.equations):
            self.makers.update(dict.fromkeys(equation.outputs, at))
            for variable in equation.variables:
                self.uses[variable] += 1
                self.readers.setdefault(variable, []).append(at)
        self.uses.update(atom for atom in program.outputs if isinstance(atom, Variable))
        self.dropped: set[int] = set()
        self.mapping: dict[Variable, Atom] = {}
        self._before: dict[int, list[Equation]] = {}
        self._instead: dict[int, Equation] = {}
        self._taken = {v.name for v in (*program.inputs, *self.makers)}
        self._names = (f"v{n}" for n in itertools.count(1) if f"v{n}" not in self._taken)

    def maker(self, atom: Atom, primitive: str) -> Equation | None:
        """The equation that defines an atom, if it is of this primitive."""
        at = self.makers.get(atom) if isinstance(atom, Variable) else None
        if at is None or self.equations[at].primitive != primitive:
            return None
        return self.equations[at]

    def defined_at(self, atom: Atom) -> int:
        """The position that defines an atom; -1 for inputs and constants."""
        return self.makers.get(atom, -1) if isinstance(atom, Variable) else -1

    def is_used_once(self, atom: Atom) -> bool:
        return isinstance(atom, Variable) and self.uses[atom] == 1

    def insert(
        self,
        at: int,
        primitive: str,
        inputs: tuple[Atom, ...],
        location: Location,
        **params: Any,
    ) -> Variable:
        """A new equation right before a position; returns its output."""
        return self.insert_named("", at, primitive, inputs, location, **params)

    def insert_named(
        self,
        called: str,
        at: int,
        primitive: str,
        inputs: tuple[Atom, ...],
        location: Location,
        **params: Any,
    ) -> Variable:
        """As `insert`, with a name for the output, or a version of that name."""
        frozen = freeze(params)
        (type,) = infer(primitive, tuple(atom.type for atom in inputs), frozen)
        output = Variable(self._version(called) if called else next(self._names), type)
        equation = Equation((output,), primitive, inputs, frozen, (), location)
        self._before.setdefault(at, []).append(equation)
        return output

    def _version(self, called: str) -> str:
        """The first version of a name that is free."""
        versions = (called, *(f"{called}.{n}" for n in range(1, len(self._taken) + 1)))
        own = next(version for version in versions if version not in self._taken)
        self._taken.add(own)
        return own

    def drop(self, at: int) -> None:
        """Leave an equation out."""
        self.dropped.add(at)

    def substitute(self, at: int, equation: Equation) -> None:
        """Another equation for one, with the same outputs."""
        self._instead[at] = equation

    def current(self, at: int) -> Equation:
        """The equation that will stand at a position."""
        return self._instead.get(at, self.equations[at])

    @property
    def is_changed(self) -> bool:
        return bool(self.dropped or self.mapping or self._before or self._instead)

    def done(self) -> Program:
        """The program with all changes made."""
        if not self.is_changed:
            return self.program
        mapping = self._resolved()
        made: list[Equation] = []
        for at in range(len(self.equations) + 1):
            made += [e.substitute(mapping) for e in self._before.get(at, ())]
            if at < len(self.equations) and at not in self.dropped:
                made.append(self._instead.get(at, self.equations[at]).substitute(mapping))
        outputs = tuple(
            mapping.get(a, a) if isinstance(a, Variable) else a for a in self.program.outputs
        )
        return replace(self.program, equations=tuple(made), outputs=outputs)

    def _resolved(self) -> Mapping[Variable, Atom]:
        """The mapping with chains followed to their ends."""
        found: dict[Variable, Atom] = {}
        for variable, atom in self.mapping.items():
            while isinstance(atom, Variable) and atom in self.mapping:
                atom = self.mapping[atom]
            found[variable] = atom
        return found
