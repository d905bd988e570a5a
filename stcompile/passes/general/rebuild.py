"""Rebuilding a program with equations added, replaced and left out."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stcompile.base.location import Location
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, freeze, map_programs
from stcompile.wengert.naming import Names, base_name, is_numbered
from stcompile.wengert.primitives import infer
from stcompile.wengert.types import Type


def with_inner(program: Program, change: Callable[[Program], Program]) -> Program:
    """The program with the programs inside its equations changed."""
    return program.with_equations([map_programs(e, change) for e in program.equations])


def in_adjoint(program: Program) -> Program:
    """The program with all its equations located in the adjoint."""
    placed = (replace(e, location=e.location.in_section("adjoint")) for e in program.equations)
    return replace(program, equations=tuple(placed))


def have_same_settings(*equations: Equation) -> bool:
    """True for equations that run under the same `numpy.errstate`, so that they may be merged."""
    return len({equation.location.errstate for equation in equations}) == 1


def is_zeros(maker: Equation | None) -> bool:
    """True for the equation of an array that is filled with zeros."""
    value = maker.inputs[0] if maker is not None and maker.primitive == "full" else None
    return isinstance(value, Constant) and bool(value.value == 0)


class Builder:
    """A maker of equations for a program, under names that are new in it."""

    def __init__(self, program: Program) -> None:
        outputs = [output for equation in program.equations for output in equation.outputs]
        self._names = Names([v.name for v in (*program.inputs, *outputs)], separator=".")

    def variable(self, type: Type, hint: str = "") -> Variable:
        """Make a new variable, named after ``hint`` or numbered."""
        named = hint and not is_numbered(base_name(hint))
        return Variable(self._names.like(hint) if named else self._names.unnamed(), type)

    def equation(
        self,
        primitive: str,
        inputs: tuple[Atom, ...],
        location: Location,
        params: Mapping[str, Any],
        output: Variable | None = None,
        hint: str = "",
    ) -> Equation:
        """Make a pure equation of an ``output``, or of a new variable."""
        frozen = freeze(params)
        (type,) = infer(primitive, tuple(atom.type for atom in inputs), frozen)
        output = output or self.variable(type, hint)
        return Equation((output,), primitive, inputs, frozen, (), location)


class Scope(Builder):
    """The equations of a program that is made anew."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.equations: list[Equation] = []
        self.makers: dict[Variable, Equation] = {}

    def aside(self) -> Scope:
        """A scope of its own whose new names are new in this scope as well."""
        other = copy.copy(self)
        other.equations, other.makers = [], {}
        return other

    def add(self, equation: Equation) -> None:
        self.equations.append(equation)
        self.makers.update(dict.fromkeys(equation.outputs, equation))

    def maker(self, atom: Atom) -> Equation | None:
        """The equation, of those that were added, that defines an atom."""
        return self.makers.get(atom) if isinstance(atom, Variable) else None

    def record(
        self,
        primitive: str,
        inputs: tuple[Atom, ...],
        location: Location,
        output: Variable | None = None,
        **params: Any,
    ) -> Variable:
        """Add a pure equation; return its output (``output``, or a new variable)."""
        equation = self.equation(primitive, inputs, location, params, output)
        self.add(equation)
        return equation.output


class Rebuild(Builder):
    """Changes to a program's equations, noted by their positions and made all at once.

    ``makers`` has the position of the equation that defines a variable, ``uses`` counts how often
    each is read (by the program's outputs as well), ``readers`` has the positions that read it.
    """

    def __init__(self, program: Program) -> None:
        super().__init__(program)
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

    def maker(self, atom: Atom, primitive: str) -> Equation | None:
        """The equation that defines an atom, if it is of the given primitive."""
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
        """Insert a new equation right before a position; return its output."""
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
        """Insert an equation with a name, or a version of the name, for its output."""
        return self.insert_made(at, self.equation(primitive, inputs, location, params, hint=called))

    def insert_made(self, at: int, equation: Equation) -> Variable:
        """Insert an equation with a single output right before a position; return its output."""
        self._before.setdefault(at, []).append(equation)
        return equation.output

    def drop(self, at: int) -> None:
        """Leave an equation out."""
        self.dropped.add(at)

    def substitute(self, at: int, equation: Equation) -> None:
        """Replace the equation at a position by another equation with the same outputs."""
        self._instead[at] = equation

    def substitute_all(self, at: int, equations: Sequence[Equation]) -> None:
        """Replace the equation at a position by several equations, of which the last has the same
        outputs; those of the others get names that are new in the program."""
        mapping: dict[Variable, Atom] = {}
        for equation in equations[:-1]:
            outputs = tuple(self.variable(v.type) for v in equation.outputs)
            self._before.setdefault(at, []).append(
                replace(equation.substitute(mapping), outputs=outputs)
            )
            mapping.update(zip(equation.outputs, outputs, strict=True))
        last = equations[-1].substitute(mapping)
        self.substitute(at, replace(last, outputs=self.equations[at].outputs))

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
        return self.program.with_equations(made, mapping)

    def _resolved(self) -> Mapping[Variable, Atom]:
        """The mapping with chains followed to their ends."""
        found: dict[Variable, Atom] = {}
        for variable, atom in self.mapping.items():
            while isinstance(atom, Variable) and atom in self.mapping:
                atom = self.mapping[atom]
            found[variable] = atom
        return found
