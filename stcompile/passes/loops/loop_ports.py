"""Loops taken apart for changes: the common tools of the passes on loops."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from stcompile.passes.general.rebuild import Scope
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Equation, Program, Variable, map_programs, mentioned
from stcompile.wengert.loops import Loop, loop_of
from stcompile.wengert.naming import base_name, is_numbered
from stcompile.wengert.primitives.control import port_of


@dataclass(frozen=True)
class SizedLoop(Loop):
    """A loop whose number of steps is a size, and whose steps are all alike: no length depends on
    the step."""

    length: Size
    counter: Variable

    @staticmethod
    def of_size(equation: Equation) -> SizedLoop | None:
        """The parts of a loop; None for other equations."""
        if equation.primitive != "loop" or equation.effects:
            return None
        loop = loop_of(equation)
        is_sized = loop.length is not None and loop.counter is not None and loop.binds is None
        return SizedLoop(**vars(loop)) if is_sized else None


@dataclass(frozen=True)
class CountedLoop(SizedLoop):
    """A loop of a static number of steps, at least one, that are all alike."""

    length: int

    @staticmethod
    def of(equation: Equation) -> CountedLoop | None:
        """The parts of a loop; None for other equations, ``while`` loops, loops with the number of
        steps or another size known only at run time, and loops that may not run."""
        if equation.primitive != "loop":
            return None
        loop = loop_of(equation)
        return CountedLoop(**vars(loop)) if loop.steps and not mentioned(loop.equations) else None

    def port(self, scope: Scope, atom: Atom) -> Variable:
        """A new variable for the values of an atom in all steps: ``hs`` for ``h``."""
        name = atom.name if isinstance(atom, Variable) else ""
        named = name and not is_numbered(base_name(name))
        return scope.variable(
            port_of(atom.type, self.length), f"{base_name(name)}s" if named else ""
        )


Change = Callable[[Scope, CountedLoop], "Mapping[Variable, Atom] | None"]
"""Records the replacement of a loop, and returns the replacements of results that are gone. None:
nothing was recorded, the loop stays unchanged."""


def change_loops(program: Program, change: Change) -> Program:
    """The program with each of its loops of a known number of steps changed, the inner loops
    first."""

    def changed(scope: Scope, equation: Equation) -> Mapping[Variable, Atom] | None:
        loop = CountedLoop.of(equation)
        return None if loop is None else change(scope, loop)

    return change_equations(program, changed)


def change_equations(
    program: Program, change: Callable[[Scope, Equation], Mapping[Variable, Atom] | None]
) -> Program:
    """The program with its equations changed as its loops are by a `Change`."""
    scope = Scope(program)
    mapping: dict[Variable, Atom] = {}
    for original in program.equations:
        inner = functools.partial(change_equations, change=change)
        equation = map_programs(original.substitute(mapping), inner)
        lost = change(scope, equation)
        if lost is None:
            scope.add(equation)
        else:
            mapping.update(lost)
    return program.with_equations(scope.equations, mapping)


def needed(equations: Iterable[Equation], wanted: Iterable[Atom]) -> list[Equation]:
    """The pure equations that atoms are computed by, in order."""
    live = set(wanted)
    found = []
    for equation in reversed(list(equations)):
        if not live.isdisjoint(equation.outputs):
            live.update(equation.inputs)
            found.append(equation)
    return found[::-1]
