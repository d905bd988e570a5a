"""Keep the state of a loop only at every k-th step, and run the steps in between again for the
adjoint.

A loop of n steps keeps the values that its adjoint reads from each step (its residuals): R bytes a
step. Of a state of C bytes every k-th suffices, if each segment of k steps is run again, with its
residuals, before the adjoint of the segment: n/k C + k R bytes, least at k = √(n C / R), for the
time of an additional forward pass (Griewank & Walther 2008, ch. 12; Chen et al. 2016).

    loop n                             loop m: keep the state
      step, residuals                    loop k: step
    ...                         →      ...
    reverse loop n                     reverse loop m
      adjoint(residuals)                 loop k: step, residuals
                                         reverse loop k: adjoint(residuals)

The last n - m k steps stay unchanged. Loops with effects are left alone, and so are residuals that
other equations read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from stcompile.base.location import Section
from stcompile.base.thresholds import CHECKPOINTED_STEPS
from stcompile.wengert.ir import (
    Atom,
    Constant,
    Equation,
    Program,
    Variable,
    map_programs,
    substituted,
)
from stcompile.wengert.naming import base_name, is_numbered
from stcompile.wengert.primitives.control import COUNTER, Ports, step_of
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.types import Type

_Given: TypeAlias = tuple[Sequence[Atom], Sequence[Atom]]  # the state, and ys


@dataclass(frozen=True)
class _Pair:
    """A loop, its adjoint, and the residuals: their positions among the loop's ys, with those among
    the adjoint's xs."""

    primal: Equation
    adjoint: Equation
    residuals: Mapping[int, Sequence[int]]

    @property
    def segment(self) -> int:
        """The number of steps between two states that are kept."""
        primal = Ports.of(self.primal)
        assert isinstance(primal.length, int)
        state = sum(_bytes(atom.type) for atom in primal.carry)
        kept = sum(primal.ys[y].type.nbytes for y in self.residuals) / primal.length
        best = round(math.sqrt(primal.length * max(state, 1) / max(kept, 1)))
        return min(max(best, 2), primal.length // 2)


def checkpoint_loops(program: Program) -> Program:
    """The program with the states of its loops kept at every k-th step."""
    pairs = _pairs(program)
    return _Rewriter(program, pairs).run() if pairs else program


def _bytes(type: Type) -> int:
    return max(type.nbytes, type.dtype.itemsize)


def _pairs(program: Program) -> list[_Pair]:
    readers: dict[Variable, list[Equation]] = {}
    for equation in program.equations:
        for variable in equation.variables:
            readers.setdefault(variable, []).append(equation)
    results = {atom for atom in program.outputs if isinstance(atom, Variable)}
    found: list[_Pair] = []
    taken: set[tuple[Variable, ...]] = set()  # an adjoint is rewritten for one loop
    for loop in program.equations:
        if loop.primitive != "loop" or loop.effects or not _is_plain(loop):
            continue
        adjoints: dict[tuple[Variable, ...], Equation] = {}
        residuals: dict[int, Sequence[int]] = {}
        for place, y in enumerate(Ports.of(loop).ys):
            users = {user.outputs: user for user in readers.get(y, ())}
            user = next(iter(users.values()), None)
            if user is None or len(users) > 1 or y in results or not _is_adjoint(user, loop, y):
                continue
            adjoints.update(users)
            xs = Ports.of(user).xs
            residuals[place] = [at for at, x in enumerate(xs) if x == y]
        if len(adjoints) == 1 and taken.isdisjoint(adjoints):
            (adjoint,) = adjoints.values()
            taken.update(adjoints)
            found.append(_Pair(loop, adjoint, residuals))
    return found


def _is_plain(loop: Equation) -> bool:
    """True for a loop of a known number of steps through arrays."""
    ports = Ports.of(loop)
    if ports.steps is None or ports.steps < CHECKPOINTED_STEPS:
        return False
    return all(port.type.kind == "array" for port in (*ports.xs, *ports.ys)) and all(
        atom.type.kind in ("array", "python", "scalar") for atom in ports.carry
    )


def _is_adjoint(user: Equation, loop: Equation, residual: Variable) -> bool:
    """True for a loop that takes the steps of another loop backwards, and its residual step by
    step."""
    if user.primitive != "loop" or user.effects or not _is_plain(user):
        return False
    theirs, ours = Ports.of(user), Ports.of(loop)
    if theirs.length != ours.length or theirs.reverse == ours.reverse:
        return False
    return residual in theirs.xs and residual not in (*theirs.constants, *theirs.carry)


class _Rewriter:
    def __init__(self, program: Program, pairs: Sequence[_Pair]) -> None:
        self.program = program
        self.primals = {pair.primal.outputs: pair for pair in pairs}
        self.adjoints = {pair.adjoint.outputs: pair for pair in pairs}
        self.recorder = Recorder()
        self.mapping: dict[Variable, Atom] = {}
        self.states: dict[tuple[Variable, ...], Sequence[Atom]] = {}  # kept, by the loop's outputs
        self.rests: dict[tuple[Variable, ...], Sequence[Atom]] = {}  # residuals of the last steps

    def run(self) -> Program:
        inputs = self.recorder.inputs_of(self.program)
        self.mapping.update(zip(self.program.inputs, inputs, strict=True))
        for equation in self.program.equations:
            if equation.outputs in self.primals:
                self._note(equation, self._primal(self.primals[equation.outputs]))
            elif equation.outputs in self.adjoints:
                self._note(equation, self._adjoint(self.adjoints[equation.outputs]))
            else:
                self.recorder.again(equation, self.mapping)
        outputs = substituted(self.program.outputs, self.mapping)
        return self.recorder.program(self.program.name, inputs, outputs)

    def _note(self, equation: Equation, outputs: Sequence[Atom]) -> None:
        self.mapping.update(zip(equation.outputs, outputs, strict=True))
        self.recorder.name_as(equation.outputs, outputs)

    # --- the loop ------------------------------------------------------------------------------

    def _primal(self, pair: _Pair) -> Sequence[Atom]:
        loop = _Segments(pair.primal, pair.segment, self.mapping, self.recorder)
        others = [at for at in range(len(loop.ports.ys)) if at not in pair.residuals]

        def segment(run: _Segment) -> _Given:
            carry, ys = loop.steps(run, others)
            return carry, [*run.carry, *ys]

        carry: Sequence[Atom] = loop.carry
        rest: Sequence[Atom] = ()
        if loop.rest and loop.ports.reverse:
            carry, rest = loop.last_steps(carry)
        carry, made = loop.segments(carry, loop.xs, segment)
        if loop.rest and not loop.ports.reverse:
            carry, rest = loop.last_steps(carry)
        count = len(loop.carry)
        for kept, variable in zip(made[:count], loop.ports.body_carry, strict=True):
            if not is_numbered(variable.name):
                loop.hint(kept, f"kept_{base_name(variable.name)}")
        self.states[pair.primal.outputs] = made[:count]
        self.rests[pair.primal.outputs] = rest
        ys: list[Atom] = [Constant(0)] * len(loop.ports.ys)  # stacks of residuals are not read
        for at, stacked in zip(others, made[count:], strict=True):
            ys[at] = loop.joined(stacked, rest[at] if rest else None)
        return [*carry, *ys]

    # --- its adjoint ---------------------------------------------------------------------------

    def _adjoint(self, pair: _Pair) -> Sequence[Atom]:
        primal = _Segments(pair.primal, pair.segment, self.mapping, self.recorder, "adjoint")
        loop = _Segments(pair.adjoint, pair.segment, self.mapping, self.recorder)
        states, rest = self.states[pair.primal.outputs], self.rests[pair.primal.outputs]
        source = {at: y for y, places in pair.residuals.items() for at in places}
        own = [at for at in range(len(loop.xs)) if at not in source]
        given = {at: rest[y] for at, y in source.items()} if rest else {}

        def segment(run: _Segment) -> _Given:
            first, rest = run.xs[: len(states)], run.xs[len(states) :]
            xs, items = rest[: len(primal.xs)], rest[len(primal.xs) :]
            start = [
                self._state(item, atom.type, primal)
                for item, atom in zip(first, primal.carry, strict=True)
            ]
            again = _Segment(run.base, run.constants[: len(primal.constants)], start, xs)
            _, ys = primal.steps(again, list(pair.residuals))
            residuals = dict(zip(pair.residuals, ys, strict=True))
            known = dict(zip(own, items, strict=True))
            all_xs = [
                residuals[source[at]] if at in source else known[at] for at in range(len(loop.xs))
            ]
            constants = run.constants[len(primal.constants) :]
            inner = _Segment(run.base, constants, run.carry, all_xs)
            return loop.steps(inner, range(len(loop.ports.ys)))

        carry: Sequence[Atom] = loop.carry
        last: Sequence[Atom] = ()
        if loop.rest and loop.ports.reverse:
            carry, last = loop.last_steps(carry, given)
        main = [*primal.xs, *(loop.xs[at] for at in own)]
        carry, made = loop.segments(carry, main, segment, primal.constants, states)
        if loop.rest and not loop.ports.reverse:
            carry, last = loop.last_steps(carry, given)
        ys = [loop.joined(y, last[at] if last else None) for at, y in enumerate(made)]
        return [*carry, *ys]

    @staticmethod
    def _state(item: Atom, type: Type, loop: _Segments) -> Atom:
        """A state that was kept, converted to its own type: an item of an array may be a NumPy
        scalar."""
        if item.type == type:
            return item
        if type.kind == "python":
            return loop.record("to_python", [item], dtype=type.dtype)
        return loop.record("asarray", [item])


@dataclass(frozen=True)
class _Segment:
    """The inputs of the steps of a segment: the number of the first step, the constants, the state,
    and the items of the segment. Also the inputs of a single step: its number, and the same."""

    base: Atom
    constants: Sequence[Atom]
    carry: Sequence[Atom]
    xs: Sequence[Atom]


class _Segments:
    """A loop of n steps as m segments of k, and the ``rest``."""

    def __init__(
        self,
        loop: Equation,
        k: int,
        mapping: Mapping[Variable, Atom],
        recorder: Recorder,
        section: Section | None = None,
    ) -> None:
        """Prepare the loop; its steps are run again for the given ``section``."""
        moved = loop.substitute(mapping)
        self.ports = ports = Ports.of(moved)
        self.constants, self.carry, self.xs = ports.constants, ports.carry, ports.xs
        self.section = section
        self.location = loop.location.in_section(section) if section else loop.location
        self.recorder = recorder
        assert isinstance(ports.length, int)
        self.k, self.m, self.rest = k, ports.length // k, ports.length % k

    def record(self, primitive: str, inputs: Sequence[Atom], **params: object) -> Variable:
        (output,) = self.recorder.record(primitive, tuple(inputs), self.location, params)
        return output

    def segments(
        self,
        carry: Sequence[Atom],
        xs: Sequence[Atom],
        segment: Callable[[_Segment], _Given],
        more: Sequence[Atom] = (),
        states: Sequence[Atom] = (),
    ) -> _Given:
        """Record the outer loop; return the state after it, and the stacked results of each
        segment. ``more`` are further constants, before the loop's own, ``states`` have an item for
        each segment."""
        constants = (*more, *self.constants)
        rows = [*states, *(self._in_segments(x) for x in xs)]

        def steps(one: _Segment) -> _Given:
            base = self.record("multiply", (one.base, Constant(self.k)))
            return segment(replace(one, base=base))

        return self._loop(self.m, constants, carry, rows, steps)

    def steps(self, run: _Segment, wanted: Sequence[int]) -> _Given:
        """Record the steps of a segment; return the state after them, and the ``wanted`` ys."""

        def step(one: _Segment) -> _Given:
            *constants, base = one.constants
            number = self.record("add", (base, one.base))
            after, ys = self._body((*constants, number, *one.carry, *one.xs))
            return after, [ys[at] for at in wanted]

        constants = (*run.constants, run.base)
        carried, stacked = self._loop(self.k, constants, run.carry, run.xs, step)
        for at, own in zip(wanted, stacked, strict=True):
            self.hint(own, self.ports.ys[at].name)
        return carried, stacked

    def hint(self, atom: Atom, own: str) -> None:
        """Name a variable after the given name, unless it is numbered."""
        if isinstance(atom, Variable) and not is_numbered(own):
            self.recorder.hints[atom] = own

    def last_steps(self, carry: Sequence[Atom], given: Mapping[int, Atom] | None = None) -> _Given:
        """Record the steps after the last segment; return the state and all their ys. ``given`` are
        items by position."""
        given = given or {}
        xs = [given[at] if at in given else self._last(x) for at, x in enumerate(self.xs)]

        def step(one: _Segment) -> _Given:
            number = self.record("add", (one.base, Constant(self.m * self.k)))
            return self._body((*one.constants, number, *one.carry, *one.xs))

        carried, stacked = self._loop(self.rest, self.constants, carry, xs, step)
        for own, whole in zip(stacked, self.ports.ys, strict=True):
            self.hint(own, whole.name)
        return carried, stacked

    def joined(self, stacked: Atom, rest: Atom | None) -> Atom:
        """Concatenate the results of all segments and of the last steps."""
        dims = stacked.type.dims
        whole = self.record("reshape", [stacked], shape=(dims[0] * dims[1], *dims[2:]))
        return whole if rest is None else self.record("concatenate", [whole, rest], axis=0)

    # --- parts ---------------------------------------------------------------------------------

    def _body(self, inputs: Sequence[Atom]) -> _Given:
        body = self.ports.body
        if self.section is not None:
            body = _in_section(body, self.section)
        outputs = self.recorder.inline(body, tuple(inputs))
        return outputs[: len(self.carry)], outputs[len(self.carry) :]

    def _loop(
        self,
        length: int,
        constants: Sequence[Atom],
        carry: Sequence[Atom],
        xs: Sequence[Atom],
        step: Callable[[_Segment], _Given],
    ) -> _Given:
        """Record a loop; return the state after it, and the stacked results of each ``step``."""
        types = [atom.type for atom in constants] + [COUNTER] + [atom.type for atom in carry]
        types += [step_of(x.type, length) for x in xs]
        inputs = tuple(self.recorder.variable(type) for type in types)
        first, last = len(constants), len(constants) + 1 + len(carry)
        state, items = inputs[first + 1 : last], inputs[last:]
        named = list(zip(state, self.ports.body_carry, strict=True))
        if len(items) == len(self.ports.body_xs):
            named += zip(items, self.ports.body_xs, strict=True)
        for variable, own in named:
            self.hint(variable, own.name)
        with self.recorder.aside() as equations:
            after, ys = step(_Segment(inputs[first], inputs[:first], state, items))
        params: dict[str, object] = {
            "constants": len(constants),
            "carry": len(carry),
            "length": length,
            "body": self.recorder.program("body", inputs, (*after, *ys), equations),
        }
        if self.ports.reverse:
            params["reverse"] = True
        found = self.recorder.record("loop", (*constants, *carry, *xs), self.location, params)
        return found[: len(carry)], found[len(carry) :]

    def _in_segments(self, x: Atom) -> Atom:
        """The items of all segments, a row for each segment."""
        dims = x.type.dims
        count = self.m * self.k
        if count < dims[0]:
            x = self._part(x, 0, count)
        return self.record("reshape", [x], shape=(self.m, self.k, *dims[1:]))

    def _last(self, x: Atom) -> Atom:
        return self._part(x, self.m * self.k, self.rest)

    def _part(self, x: Atom, start: int, length: int) -> Atom:
        rest = x.type.dims[1:]
        starts = ((start,), *((0,) for _ in rest))
        return self.record(
            "slice", [x], start=starts, length=(length, *rest), step=(1,) * x.type.ndim, drop=()
        )


def _in_section(program: Program, section: Section) -> Program:
    """A program whose equations are located in a section."""
    moved = (
        replace(
            map_programs(equation, lambda inner: _in_section(inner, section)),
            location=equation.location.in_section(section),
        )
        for equation in program.equations
    )
    return replace(program, equations=tuple(moved))
