"""The parts of a program and of its loops, to be changed: what the passes on loops share."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from stcompile.base.location import Location
from stcompile.wengert.ir import Atom, Equation, Program, Variable, freeze, map_programs
from stcompile.wengert.naming import Names, base_name, is_numbered
from stcompile.wengert.primitives import infer
from stcompile.wengert.primitives.control import Ports, port_of
from stcompile.wengert.types import Type


class Scope:
    """The equations of a program that is made anew, and names for new variables."""

    def __init__(self, program: Program) -> None:
        outputs = [output for equation in program.equations for output in equation.outputs]
        self._names = Names([v.name for v in (*program.inputs, *outputs)], separator=".")
        self.equations: list[Equation] = []
        self.makers: dict[Variable, Equation] = {}

    def aside(self) -> Scope:
        """A scope of its own whose new names are new here as well."""
        other = copy.copy(self)
        other.equations, other.makers = [], {}
        return other

    def add(self, equation: Equation) -> None:
        self.equations.append(equation)
        self.makers.update(dict.fromkeys(equation.outputs, equation))

    def variable(self, type: Type, hint: str = "") -> Variable:
        """A new variable, named after ``hint`` or numbered."""
        named = hint and not is_numbered(base_name(hint))
        return Variable(self._names.like(hint) if named else self._names.unnamed(), type)

    def record(
        self,
        primitive: str,
        inputs: tuple[Atom, ...],
        location: Location,
        output: Variable | None = None,
        **params: Any,
    ) -> Variable:
        """One more pure equation; returns its output (``output``, or a new variable)."""
        frozen = freeze(params)
        (found,) = infer(primitive, tuple(atom.type for atom in inputs), frozen)
        output = output or self.variable(found)
        self.add(Equation((output,), primitive, inputs, frozen, (), location))
        return output


class Carried(NamedTuple):
    """A value that each step hands on: before the loop, in the body, at its end, and after it."""

    initial: Atom
    variable: Variable
    final: Atom
    result: Variable


class Fed(NamedTuple):
    """What the body reads under a name: a constant, or a port with an item for each step."""

    source: Atom
    variable: Variable


class Kept(NamedTuple):
    """An atom of the body, and the port of its values in all steps."""

    atom: Atom
    port: Variable


@dataclass(frozen=True)
class CountedLoop:
    """A loop of a static number of steps, at least one, by its ports."""

    equation: Equation
    length: int
    counter: Variable
    constants: tuple[Fed, ...]
    carry: tuple[Carried, ...]
    xs: tuple[Fed, ...]
    ys: tuple[Kept, ...]
    equations: tuple[Equation, ...]

    @staticmethod
    def of(equation: Equation) -> CountedLoop | None:
        """The parts of a loop; None for other equations, ``while`` loops, loops of which the
        number of steps is not known, and those that may not run."""
        if equation.primitive != "loop":
            return None
        ports = Ports.of(equation)
        if not ports.length:
            return None
        assert ports.counter is not None
        parts = zip(ports.carry, ports.body_carry, ports.carried, ports.results, strict=True)
        return CountedLoop(
            equation,
            ports.length,
            ports.counter,
            tuple(map(Fed, ports.constants, ports.body_constants)),
            tuple(Carried(*part) for part in parts),
            tuple(map(Fed, ports.xs, ports.body_xs)),
            tuple(map(Kept, ports.stacked, ports.ys)),
            ports.body.equations,
        )

    @property
    def body(self) -> Program:
        body: Program = self.equation.params["body"]
        return body

    def done(self) -> Equation:
        """The equation of these parts."""
        body = replace(
            self.body,
            inputs=(
                *(c.variable for c in self.constants),
                self.counter,
                *(c.variable for c in self.carry),
                *(x.variable for x in self.xs),
            ),
            equations=self.equations,
            outputs=(*(c.final for c in self.carry), *(y.atom for y in self.ys)),
        )
        params = {**self.equation.params, "body": body}
        params |= {"constants": len(self.constants), "carry": len(self.carry)}
        return replace(
            self.equation,
            outputs=(*(c.result for c in self.carry), *(y.port for y in self.ys)),
            inputs=(
                *(c.source for c in self.constants),
                *(c.initial for c in self.carry),
                *(x.source for x in self.xs),
            ),
            params=freeze(params),
        )

    def port(self, scope: Scope, atom: Atom) -> Variable:
        """A new variable for the values of an atom in all steps: ``hs`` for ``h``."""
        name = atom.name if isinstance(atom, Variable) else ""
        named = name and not is_numbered(base_name(name))
        return scope.variable(
            port_of(atom.type, self.length), f"{base_name(name)}s" if named else ""
        )


Change = Callable[[Scope, CountedLoop], "Mapping[Variable, Atom] | None"]
"""Records what stands in the place of a loop, and returns what stands for results that are gone.
None: nothing was recorded, the loop stays as it is."""


def change_loops(program: Program, change: Change) -> Program:
    """The program with each of its loops of a known number of steps changed, the inner ones
    first."""
    scope = Scope(program)
    mapping: dict[Variable, Atom] = {}
    changed = False
    for original in program.equations:
        equation = map_programs(
            original.substitute(mapping), functools.partial(change_loops, change=change)
        )
        loop = CountedLoop.of(equation)
        lost = change(scope, loop) if loop is not None else None
        if lost is None:
            scope.add(equation)
        else:
            mapping.update(lost)
        changed = changed or lost is not None or equation is not original
    if not changed:
        return program
    outputs = tuple(mapping.get(a, a) if isinstance(a, Variable) else a for a in program.outputs)
    return replace(program, equations=tuple(scope.equations), outputs=outputs)


def needed(equations: Iterable[Equation], wanted: Iterable[Atom]) -> list[Equation]:
    """The pure equations that atoms are computed by, in order."""
    live = set(wanted)
    found = []
    for equation in reversed(list(equations)):
        if not live.isdisjoint(equation.outputs):
            live.update(equation.inputs)
            found.append(equation)
    return found[::-1]
