"""Check that the text reads every value before its memory is written again.

The Wengert list gives each version of an array a name of its own. In the text several versions
share a name, or a buffer, and an expression stands where it is used, which may be later than where
its value is defined. `verify_schedule` walks through the text in order, notes the version that each
name and each array holds, and raises if a version is read that has been overwritten: the gradient
would silently be wrong.

It follows some of the paths that a call can take: each loop makes one step, or two, and branches
take the first arm, the second, or both in turn. On each path it is known exactly where every array
is.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from stcompile.analysis.regions import Branch, Region, Repeat, Step
from stcompile.analysis.storage import changed_by_kernel, shared_input, target_of
from stcompile.base.errors import InternalError
from stcompile.base.location import Location
from stcompile.plan.allocation import Block
from stcompile.plan.schedule import Schedule, Way
from stcompile.wengert.bounds import least
from stcompile.wengert.ir import Atom, Variable
from stcompile.wengert.templates import mark_of


def verify_schedule(schedule: Schedule) -> None:
    """Raise `InternalError` where the text would read a version that was overwritten."""
    has_loops = any(isinstance(item, Repeat) for _, item in schedule.tree.items())
    has_branches = any(isinstance(item, Branch) for _, item in schedule.tree.items())
    for steps in (1, 2) if has_loops else (1,):
        for arms in ((0,), (1,), (0, 1, 1)) if has_branches else ((0,),):
            checker = _Checker(schedule, steps, itertools.cycle(arms))
            for variable in schedule.tree.inputs:
                checker.define(variable, checker.new(variable))
            checker.region(schedule.tree.region)
            checker.read(schedule.tree.region.outputs, None)


@dataclass(frozen=True)
class _New:
    """An array that is allocated where a variable is defined, in a step of a loop."""

    variable: Variable
    turn: int


Memory: TypeAlias = "frozenset[Block | _New]"
"""The buffers and new arrays that an array may be in."""


_UNREAD = frozenset({Way.NOTHING, Way.HELD, Way.UNDEFINED, Way.INLINE})
_NEW = frozenset({Way.NAME, Way.COPY, Way.ADD, Way.NEW_BLAS, Way.NUMPY})


class _Checker:
    """A path through the text. ``names`` has the variables that each name stands for, ``lost`` the
    variables whose array was overwritten, with the location of the overwriting; ``memory`` has the
    memory of each array."""

    def __init__(self, schedule: Schedule, steps: int, arms: Iterator[int]) -> None:
        self.schedule = schedule
        self.steps, self.arms = steps, arms
        self.names: dict[Variable, frozenset[Variable]] = {}
        self.lost: dict[Variable, Location] = {}
        self.memory: dict[Variable, Memory] = {}
        self.places: dict[Block | _New, dict[Variable, None]] = {}  # who is in each outermost one
        self.turn = 0
        self.collected = _collected(schedule)

    # --- reading -------------------------------------------------------------------------------

    def read(self, atoms: Iterable[Atom], where: Location | None) -> None:
        """Check the reads in the text of some atoms."""
        for atom in atoms:
            for variable in self._leaves(atom):
                self._check(variable, where)

    def _leaves(self, atom: Atom) -> Iterator[Variable]:
        """The variables whose names or places are read where an atom is printed."""
        schedule = self.schedule
        if not isinstance(atom, Variable) or schedule.is_undefined(atom) or schedule.is_row(atom):
            return
        if atom not in schedule.inlined:
            yield atom
        elif atom in schedule.tree.makers:
            for part in schedule.tree.makers[atom].equation.inputs:
                yield from self._leaves(part)
        else:
            for source in schedule.fed[atom]:
                if source is not None and source in self.names:
                    yield from self._leaves(source)

    def _check(self, variable: Variable, where: Location | None) -> None:
        names = self.names.get(self.schedule.head_of(variable))
        by = self.lost.get(variable)
        if (names is not None and variable not in names) or by is not None:
            hint = self.schedule.tree.hints[variable]
            raise InternalError(
                f"the code reads `{hint}` after its place was written again"
                + (f", on line {by.line}" if by is not None and by.line else ""),
                location=where,
            )

    # --- memory --------------------------------------------------------------------------------

    def new(self, variable: Variable) -> Memory:
        return frozenset({_New(variable, self.turn)})

    def _own(self, variable: Variable) -> Memory:
        """The buffer of a variable, or a new array."""
        plan = self.schedule.plan
        block = plan.allocation.block_of.get(plan.head_of.get(variable, variable))
        return self.new(variable) if block is None else frozenset({block})

    def _of(self, atom: Atom) -> Memory:
        return self.memory.get(atom, frozenset()) if isinstance(atom, Variable) else frozenset()

    # --- writing -------------------------------------------------------------------------------

    def define(self, variable: Variable, memory: Memory) -> None:
        """Note that a variable has its value, in some memory."""
        self.names[self.schedule.head_of(variable)] = frozenset({variable})
        self._put(variable, memory)

    def _alias(self, variable: Variable, atom: Atom) -> None:
        """Note that a variable stands for a value that has its name already."""
        head = self.schedule.head_of(variable)
        also = {atom} if isinstance(atom, Variable) else set[Variable]()
        self.names[head] = self.names.get(head, frozenset()) | also | {variable}
        self._put(variable, self._of(atom) or self._own(variable))

    def _put(self, variable: Variable, memory: Memory) -> None:
        self.lost.pop(variable, None)
        if variable.type.kind == "array":
            self.memory[variable] = memory
            for place in memory:
                self.places.setdefault(_path(place)[0], {})[variable] = None

    def _overwrite(self, output: Variable, memory: Memory, where: Location) -> None:
        """Note that an array is written in its memory. Parts of a concatenation that were computed
        in their final place are not written."""
        plan = self.schedule.plan
        joined = (plan.head_of[part.variable] for part in plan.joined.get(output, ()))
        parts = {plan.allocation.block_of[head] for head in joined}
        for written in memory:
            for variable in self.places.get(_path(written)[0], ()):
                if variable == output or variable in self.schedule.rows:
                    continue  # nothing else is written to the row of a step
                if any(
                    _overlap(place, written) and parts.isdisjoint(_path(place))
                    for place in self.memory[variable]
                ):
                    self.lost.setdefault(variable, where)

    # --- items ---------------------------------------------------------------------------------

    def region(self, region: Region) -> None:
        self._collect(region.start)
        for item in region.items:
            if isinstance(item, Step):
                self._step(item)
            elif isinstance(item, Branch):
                self._branch(item)
            else:
                self._repeat(item)
            self._collect(item.at if isinstance(item, Step) else item.end)

    def _collect(self, at: int) -> None:
        """Read the values that loops collect at a position."""
        for loop, atom in self.collected.get(at, ()):
            self.read([atom], loop.location)

    def _step(self, step: Step) -> None:
        schedule, equation = self.schedule, step.equation
        way, where = schedule.ways[step.at], equation.location
        if equation.primitive == "store":
            self._store(equation.inputs[0])
        if way not in _UNREAD:
            product = schedule.products.get(step.at)
            self.read(equation.inputs if product is None else product.reads, where)
        if way in (Way.NOTHING, Way.UNDEFINED):
            return
        changed = changed_by_kernel(step, schedule.writes)
        for output in equation.outputs:
            memory = self._memory_of(step, way, output, changed)
            is_new = way in _UNREAD or (way in _NEW and output not in schedule.writes.made_in)
            if not is_new and output.type.kind == "array":
                self._overwrite(output, memory, where)
            if way is Way.INLINE:  # it has no name
                self._put(output, memory)
            else:
                self.define(output, memory)

    def _memory_of(
        self, step: Step, way: Way, output: Variable, changed: Mapping[Variable, Variable]
    ) -> Memory:
        """The memory of the result of a step."""
        schedule, equation = self.schedule, step.equation
        if output in changed:
            return self._of(changed[output])
        if output in schedule.writes.made_in:
            return self._of(schedule.writes.made_in[output])
        if schedule.has_place(output) or equation.primitive == "kernel":
            return self._own(output)
        source = shared_input(equation)
        if source is not None:
            return self._of(source)
        is_change = mark_of(equation.primitive) == "write" and way not in _NEW
        return self._of(target_of(equation)) if is_change else self.new(output)

    def _store(self, target: Atom) -> None:
        """Forget overwritten versions in the target of a store: from the store on, the list itself
        reads the stored value there."""
        places = {_path(place)[0] for place in self._of(target)}
        for variable in [*self.lost]:
            if not places.isdisjoint(_path(place)[0] for place in self._of(variable)):
                del self.lost[variable]

    def _hand_on(
        self,
        pairs: Iterable[tuple[Variable, Atom]],
        where: Location,
        copied: Container[Variable] = (),
    ) -> None:
        """Read the values that are handed on, then write them in the order given by `ordered`. The
        ``copied`` variables get new arrays."""
        pairs, schedule = list(pairs), self.schedule
        self.read((atom for _, atom in pairs), where)
        memory = {variable: self._of(atom) for variable, atom in pairs}
        there = {v for v, atom in pairs if v not in copied and schedule.is_there(v, atom)}
        for variable, _ in pairs:
            if variable in there:
                continue
            own = self._own(variable)
            if schedule.plan.has(variable):
                self._overwrite(variable, own, where)
            is_copied = schedule.plan.has(variable) or variable in copied
            self.define(variable, own if is_copied or not memory[variable] else memory[variable])
        for variable, atom in pairs:
            if variable in there:
                self._alias(variable, atom)

    def _branch(self, branch: Branch) -> None:
        self.read([branch.predicate], branch.location)
        arm = branch.arms[next(self.arms)]
        self.region(arm)
        pairs = zip(branch.outputs, arm.outputs, strict=True)
        self._hand_on([pair for pair in pairs if pair[0] in self.schedule.read], branch.location)

    def _repeat(self, loop: Repeat) -> None:
        where = loop.location
        initial = [(c.variable, c.initial) for c in loop.carry]
        self._hand_on(initial, where, self.schedule.writes.copied)
        if loop.count is not None:
            self.read([loop.count], where)
        for _ in range(self.steps):
            self.turn += 1
            self._test(loop)
            if loop.counter is not None:
                self.define(loop.counter, frozenset())
            for feed in loop.feeds:
                if feed.variable in self.schedule.read:
                    self.read([feed.source], where)
                    self.define(feed.variable, self._of(feed.source))
            self.region(loop.body)
            self._hand_on([(c.variable, c.final) for c in loop.carry], where)
        self._test(loop)
        for carry in loop.carry:
            self._alias(carry.output, carry.variable)
        for collected in loop.collected:
            self.define(collected.output, self._own(collected.output))

    def _test(self, loop: Repeat) -> None:
        if loop.condition is not None:
            self.region(loop.condition)
            self.read([loop.condition.outputs[0]], loop.location)


def _collected(schedule: Schedule) -> Mapping[int, Sequence[tuple[Repeat, Atom]]]:
    """The values that loops collect, by the positions where they are collected."""
    found: dict[int, list[tuple[Repeat, Atom]]] = {}
    for _, item in schedule.tree.items():
        if not isinstance(item, Repeat):
            continue
        for collected in item.collected:
            if collected.output in schedule.read and not schedule.is_in_row(collected):
                found.setdefault(collected.at, []).append((item, collected.atom))
    return found


def _overlap(one: Block | _New, other: Block | _New) -> bool:
    """True if two pieces of memory have an element in common."""
    for mine, its in zip(_path(one), _path(other), strict=False):
        if mine == its:
            continue
        if isinstance(mine, _New) or isinstance(its, _New):
            return False
        if mine.rows is None or its.rows is None or mine.around is not its.around:
            return False
        return not (
            least(its.rows.start - mine.rows.stop) >= 0
            or least(mine.rows.start - its.rows.stop) >= 0
        )
    return True  # one is a part of the other


def _path(place: Block | _New) -> list[Block | _New]:
    """A piece of memory, preceded by the pieces that contain it."""
    found = [place]
    while isinstance(place, Block) and place.around is not None:
        place = place.around
        found.append(place)
    return found[::-1]
