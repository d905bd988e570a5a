"""Restore arrays that a program overwrites part by part.

The adjoint of a step may read an array in the state in which the step read it, though later steps
wrote to it. Instead of the whole array for each step, the parts that are overwritten are kept, and
the adjoint puts them back as it goes: at each of its equations, the array is in the state that the
equation's primal read.

The *versions* of an array are the variables that stand for it, from an input of a program to one of
its outputs, each made of the previous version by a write to a part: by an equation, by the steps of
a loop, or by the arms of a branch.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from stcompile.ad.sweep import Sweep
from stcompile.wengert.bounds import usual
from stcompile.wengert.ir import Atom, Equation, Program, Variable, as_variable
from stcompile.wengert.parts import WRITES, read_of, view_of
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.control import Ports
from stcompile.wengert.primitives.indexing import is_mask

Pair: TypeAlias = tuple[int, int]
"""The place of an array among the inputs of a program, and the place of its last version among the
outputs."""

Undo: TypeAlias = Callable[[Sweep, Equation, int], None]
"""Records the equation that undoes the writes of a loop or a branch to one of its outputs."""


class State(NamedTuple):
    """A version of an array in the adjoint: ``given`` is the last version, which is handed in, and
    ``first`` the input, restored."""

    pair: Pair
    given: Variable
    first: Atom


# --- versions -------------------------------------------------------------------------------------


def pairs_of(program: Program) -> Iterator[Pair]:
    """Pairs of an input and an output of a program that are versions of the same array."""
    makers = _makers(program.equations)
    for place, output in enumerate(program.outputs):
        if isinstance(output, Variable) and output.type.kind == "array":
            first = _versions(makers, output)[0]
            if first in program.inputs:
                yield program.inputs.index(first), place


def _makers(equations: Sequence[Equation]) -> dict[Variable, Equation]:
    return {output: equation for equation in equations for output in equation.outputs}


def _versions(makers: dict[Variable, Equation], last: Variable) -> list[Variable]:
    """The versions of an array up to ``last``, from the first that is known."""
    found = [last]
    while (maker := makers.get(found[-1])) is not None:
        before = _before(maker, found[-1])
        if before is None:
            break
        found.append(before)
    return found[::-1]


def _before(equation: Equation, output: Variable) -> Variable | None:
    """The version that an equation changes to make ``output``; None if it makes no version."""
    place = equation.outputs.index(output)
    source: Atom | None = None
    if _writes_part(equation):
        source = equation.inputs[0]
    elif equation.primitive == "loop":
        ports = Ports.of(equation)
        first = len(ports.constants) + (not ports.is_while)
        if place < len(ports.carry) and (first + place, place) in set(pairs_of(ports.body)):
            source = ports.carry[place]
    elif equation.primitive == "cond":
        arms = (equation.params["then"], equation.params["otherwise"])
        inputs = {{o: i for i, o in pairs_of(arm)}.get(place) for arm in arms}
        found = inputs.pop()
        source = None if inputs or found is None else equation.inputs[1 + found]
    return source if isinstance(source, Variable) else None


def _writes_part(equation: Equation) -> bool:
    """True for a write to a part of known size: not for a number that is stored by a mask."""
    masks = filter(is_mask, equation.params.get("at", ()))
    is_known = all(size is not None for _, size, _ in masks)
    return equation.primitive in WRITES and bool(view_of(equation)) and is_known


def _size(equation: Equation, output: Variable) -> int:
    """The number of elements that an equation writes to an array."""
    if _writes_part(equation):
        return read_of(equation, output).output.type.size
    place = equation.outputs.index(output)
    if equation.primitive == "loop":
        ports = Ports.of(equation)
        steps = 1 if ports.length is None else usual(ports.length)
        return _written(ports.body, place) * steps
    return max(_written(equation.params[name], place) for name in ("then", "otherwise"))


def _written(program: Program, place: int) -> int:
    makers, output = _makers(program.equations), program.outputs[place]
    assert isinstance(output, Variable)
    return sum(_size(makers[v], v) for v in _versions(makers, output)[1:])


# --- states in the adjoint ------------------------------------------------------------------------


class Restoring:
    """Puts arrays back in the adjoint of a program, where that touches fewer elements than keeping
    the versions that are read. ``old`` are the parts that are kept for this."""

    def __init__(
        self,
        sweep: Sweep,
        inputs: Sequence[Variable],
        outputs: Sequence[Atom],
        fixed: Collection[Variable],
        undo: Undo,
    ) -> None:
        self.sweep = sweep
        self.inputs, self.outputs = inputs, outputs
        self.fixed = fixed
        self.undo = undo
        self.makers = _makers([s for s in sweep.tape.steps if isinstance(s, Equation)])
        self.old: set[Variable] = set()
        self.known: dict[Variable, Atom] = {}  # by version
        self.kept: set[Variable] = set()  # parts that were read before their array was put back
        self.versions: dict[Atom, Variable] = {}  # by state
        self.made: list[Equation] = []

    def run(
        self,
        adjoint: list[Equation],
        cotangents: Sequence[Atom],
        pairs: Collection[Pair],
        always: Collection[Pair],
    ) -> tuple[list[Equation], tuple[Atom, ...], tuple[State, ...]]:
        """The equations of the adjoint and the cotangents, with states of arrays in place of
        versions, and the states. The arrays of ``pairs`` may be put back, the arrays of ``always``
        are."""
        read = {v for e in adjoint for v in e.variables}
        read.update(atom for atom in cotangents if isinstance(atom, Variable))
        chosen: dict[Pair, Variable] = {}
        versions: dict[Pair, list[Variable]] = {}
        for pair in sorted(pairs):
            last = as_variable(self.outputs[pair[1]])
            found = _versions(self.makers, last)
            if found[0] == self.inputs[pair[0]] and (pair in always or self._pays(found, read)):
                hint = self.sweep.recorder.hints.get(last, "")
                chosen[pair] = self.sweep.recorder.variable(last.type, hint)
                versions[pair] = found
                self.known[last] = chosen[pair]
        if not chosen and not self.sweep.states:
            return adjoint, tuple(cotangents), ()
        inserted: dict[int, list[Equation]] = {}
        for found in versions.values():
            for before, after in reversed(list(itertools.pairwise(found))):
                if before not in self.sweep.states:
                    at = self.sweep.starts[self.makers[after].outputs[0]]
                    inserted.setdefault(at, []).extend(self._undone(before, after))
        self.versions = {state: version for version, state in self.sweep.states.items()}
        for at in range(len(adjoint) + 1):
            for equation in (*inserted.get(at, ()), *adjoint[at : at + 1]):
                self._add(equation)
        states = tuple(
            State(pair, given, self.known[versions[pair][0]]) for pair, given in chosen.items()
        )
        return self.made, tuple(map(self._state, cotangents)), states

    def _pays(self, versions: Sequence[Variable], read: Collection[Variable]) -> bool:
        """True if putting back touches fewer elements than keeping the versions that are read: each
        part is kept and put back, which touches it twice."""
        kept = sum(self._kept(variable, versions) for variable in read)
        parts = sum(
            _size(self.makers[after], after)
            for before, after in itertools.pairwise(versions)
            if before not in self.sweep.states
        )
        return 2 * parts < kept

    def _kept(self, variable: Variable, versions: Sequence[Variable]) -> int:
        """The elements that have to be kept for a read of a version, or of a view of a version."""
        source = self._source(variable)
        if source not in versions:
            return 0
        return source.type.size if source in self.fixed else variable.type.size

    def _source(self, variable: Variable) -> Variable:
        """The array that a variable is a view of, or the variable itself."""
        while (maker := self.makers.get(variable)) is not None:
            if not _is_view(maker):
                break
            source = as_variable(maker.inputs[0])
            variable = source
        return variable

    def _undone(self, before: Variable, after: Variable) -> list[Equation]:
        """The equations that make the version ``before`` from the version ``after``."""
        sweep, equations = self.sweep, self.sweep.tape.equations
        place = next(i for i, e in enumerate(equations) if after in e.outputs)
        equation = equations[place]
        with sweep.recorder.aside() as made:
            sweep.location = equation.location.in_section("adjoint")
            if not _writes_part(equation):
                self.undo(sweep, equation, equation.outputs.index(after))
                return made
            read = read_of(equation, before)
            old = sweep.recorder.variable(read.output.type)
            self.old.add(old)
            equations.insert(place, replace(read, outputs=(old,)))
            primitive = "update" if read.primitive == "slice" else "index_update"
            state = sweep.record(primitive, after, old, *read.inputs[1:], **read.params)
            sweep.states[before] = state
        return made

    def _add(self, equation: Equation) -> None:
        for variable in equation.variables:
            self._state(variable)
        self.made.append(equation.substitute(self.known))
        for output in equation.outputs:
            version = self.versions.get(output)
            if version is not None:
                self.known[version] = output

    def _state(self, atom: Atom) -> Atom:
        """An atom in the state that the adjoint has at present: a view is taken again."""
        if not isinstance(atom, Variable) or atom in self.known or atom in self.kept:
            return self.known.get(atom, atom) if isinstance(atom, Variable) else atom
        maker = self.makers.get(atom)
        if maker is None or not _is_view(maker) or atom in self.fixed:
            return atom
        source = maker.inputs[0]
        found = self._state(source)
        if found == source:
            self.kept.add(atom)
            return atom
        view = self.sweep.recorder.variable(atom.type, self.sweep.recorder.hints.get(atom, ""))
        location = maker.location.in_section("adjoint")
        inputs = (found, *maker.inputs[1:])
        self.made.append(replace(maker, outputs=(view,), inputs=inputs, location=location))
        self.known[atom] = view
        return view


def _is_view(equation: Equation) -> bool:
    """True for a view of an array."""
    if not PRIMITIVES[equation.primitive].view or not equation.inputs:
        return False
    source = equation.inputs[0]
    return isinstance(source, Variable) and source.type.kind == "array"
