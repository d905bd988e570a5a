"""Whether the text reads every value before its place is written again.

The Wengert list names each version of an array once. In the text several versions share a name, or
a buffer, and an expression stands where it is used, which may be later than where its value is
defined. `verify_schedule` goes through the text in order, notes which version each name and each
array holds, and raises where a version is read that is no longer there: the gradient would be wrong
without a word.

The body of a loop is gone through twice, for what one step writes and the next one reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from stcompile.analysis.regions import Branch, Region, Repeat, Step
from stcompile.analysis.storage import changed_by_kernel, target_of
from stcompile.base.errors import InternalError
from stcompile.base.location import Location
from stcompile.plan.allocation import Block
from stcompile.plan.schedule import Schedule, Way
from stcompile.wengert.bounds import least
from stcompile.wengert.ir import Atom, Variable
from stcompile.wengert.templates import mark_of


def verify_schedule(schedule: Schedule) -> None:
    """Raise `InternalError` where the text would read a version that was overwritten."""
    checker = _Checker(schedule)
    checker.define(schedule.tree.inputs)
    checker.region(schedule.tree.region)
    checker.read(schedule.tree.region.outputs, checker.location)


@dataclass
class _Held:
    """What is there at one place of the text: the variables that each name stands for, and those
    whose array was overwritten, with the place that overwrote it."""

    names: dict[Variable, frozenset[Variable]] = field(default_factory=dict)
    lost: dict[Variable, Location] = field(default_factory=dict)

    def copy(self) -> _Held:
        return _Held(dict(self.names), dict(self.lost))


_UNREAD = frozenset({Way.NOTHING, Way.HELD, Way.UNDEFINED, Way.INLINE})
_NAMED = frozenset({Way.NAME, Way.COPY, Way.ADD, Way.NEW_BLAS, Way.NUMPY})


class _Checker:
    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.held = _Held()
        self.arrays: list[Variable] = []  # those that are defined, in order
        self.collected = _collected(schedule)
        self.location = schedule.tree.steps[0].equation.location if schedule.tree.steps else None

    # --- reading -------------------------------------------------------------------------------

    def read(self, atoms: Iterable[Atom], where: Location | None) -> None:
        """Check what the text of some atoms reads."""
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
                if source is not None and source in self.held.names:
                    yield from self._leaves(source)

    def _check(self, variable: Variable, where: Location | None) -> None:
        names = self.held.names.get(self.schedule.head_of(variable))
        by = self.held.lost.get(variable)
        if (names is not None and variable not in names) or by is not None:
            hint = self.schedule.tree.hints[variable]
            raise InternalError(
                f"the code reads `{hint}` after its place was written again"
                + (f", on line {by.line}" if by is not None and by.line else ""),
                location=where,
            )

    # --- writing -------------------------------------------------------------------------------

    def define(self, variables: Iterable[Variable]) -> None:
        """Note that variables have their values."""
        for variable in variables:
            self.held.names[self.schedule.head_of(variable)] = frozenset({variable})
            self._add(variable)

    def _alias(self, variable: Variable, atom: Atom) -> None:
        """Note that a variable stands for a value that has its name already."""
        head = self.schedule.head_of(variable)
        also = {atom} if isinstance(atom, Variable) else set[Variable]()
        self.held.names[head] = self.held.names.get(head, frozenset()) | also | {variable}
        self._add(variable)

    def _add(self, variable: Variable) -> None:
        self.held.lost.pop(variable, None)
        if variable.type.kind == "array":
            self.arrays.append(variable)

    def _overwrite(self, output: Variable, where: Location, target: Atom | None = None) -> None:
        """Note that an array is written: its buffer, or the array of a target."""
        plan, storage = self.schedule.plan, self.schedule.writes.storage
        own = plan.allocation.block_of.get(plan.head_of.get(output, output))
        joined = (plan.head_of[part.variable] for part in plan.joined.get(output, ()))
        parts = {plan.allocation.block_of[head] for head in joined}  # these are there already
        for variable in self.arrays:
            if variable == output or variable in self.schedule.rows:
                continue  # nothing else is written to the row of a step
            if own is not None:
                is_lost = any(
                    _overlap(block, own) and parts.isdisjoint(_path(block))
                    for block in self._blocks(variable)
                )
            else:
                is_lost = target is not None and storage.share(variable, target)
            if is_lost:
                self.held.lost.setdefault(variable, where)

    def _blocks(self, variable: Variable) -> Sequence[Block]:
        """The buffers that a variable may be in."""
        plan, tree = self.schedule.plan, self.schedule.tree
        storage = self.schedule.writes.storage
        *_, base = storage.lineage(variable)
        step = tree.makers.get(base)
        is_new = step is not None and mark_of(step.equation.primitive) == "fresh"
        is_apart = is_new or base in tree.inputs or base in plan.constants
        if is_apart and not any(map(plan.has, storage.lineage(variable))):
            return ()  # an array of its own, or a view of one
        heads = plan.shown(storage, variable)
        blocks = (plan.allocation.block_of.get(head) for head in heads)
        return [block for block in blocks if block is not None]

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
        """Read what loops collect at a position."""
        for loop, atom in self.collected.get(at, ()):
            self.read([atom], loop.location)

    def _step(self, step: Step) -> None:
        schedule, equation = self.schedule, step.equation
        way, where = schedule.ways[step.at], equation.location
        self.location = where
        if way is Way.HELD:
            self.define(equation.outputs)
        if equation.primitive == "store":
            self._store(equation.inputs[0])
        if way in _UNREAD:
            return
        product = schedule.products.get(step.at)
        self.read(equation.inputs if product is None else product.reads, where)
        if equation.primitive == "kernel":
            for output, target in changed_by_kernel(step, schedule.writes).items():
                self._overwrite(output, where, target)
        elif len(equation.outputs) == 1 and equation.output.type.kind == "array":
            output = equation.output
            if schedule.has_place(output):
                self._overwrite(output, where)
            elif output in schedule.writes.made_in:
                self._overwrite(output, where, schedule.writes.made_in[output])
            elif mark_of(equation.primitive) == "write" and way not in _NAMED:
                self._overwrite(output, where, target_of(equation))
        self.define(equation.outputs)

    def _store(self, target: Atom) -> None:
        """From a store on, the list itself reads what is stored, which may be there already."""
        storage = self.schedule.writes.storage
        for variable in [v for v in self.held.lost if storage.share(v, target)]:
            del self.held.lost[variable]

    def _hand_on(self, pairs: Iterable[tuple[Variable, Atom]], where: Location) -> None:
        """What is handed on is read first; `ordered` says in which order it is written."""
        pairs = list(pairs)
        needed = [pair for pair in pairs if not self.schedule.is_there(*pair)]
        self.read((atom for _, atom in pairs), where)
        for variable, atom in pairs:
            if (variable, atom) in needed:
                if self.schedule.plan.has(variable):
                    self._overwrite(variable, where)
                self.define([variable])
        for variable, atom in pairs:
            if (variable, atom) not in needed:
                self._alias(variable, atom)

    def _branch(self, branch: Branch) -> None:
        self.read([branch.predicate], branch.location)
        before, ends = self.held, []
        for arm in branch.arms:
            self.held = before.copy()
            self.region(arm)
            pairs = zip(branch.outputs, arm.outputs, strict=True)
            read = [(v, atom) for v, atom in pairs if v in self.schedule.read]
            self._hand_on(read, branch.location)
            ends.append(self.held)
        then, otherwise = ends
        names = {
            head: then.names.get(head, frozenset()) & otherwise.names.get(head, frozenset())
            for head in {*then.names, *otherwise.names}
        }
        self.held = _Held(names, {**then.lost, **otherwise.lost})
        for output in branch.outputs:
            self.held.lost.pop(output, None)

    def _repeat(self, loop: Repeat) -> None:
        where = loop.location
        self._hand_on([(c.variable, c.initial) for c in loop.carry], where)
        if loop.count is not None:
            self.read([loop.count], where)
        before = self.held.copy()
        for _ in range(2):
            if loop.condition is not None:
                self.region(loop.condition)
                self.read([loop.condition.outputs[0]], where)
            after = self.held.copy()
            if loop.counter is not None:
                self.define([loop.counter])
            for feed in loop.feeds:
                if feed.variable in self.schedule.read:
                    self.read([feed.source], where)
                    self.define([feed.variable])
            self.region(loop.body)
            self._hand_on([(c.variable, c.final) for c in loop.carry], where)
        if loop.condition is None:
            after = self.held.copy()
        self.held.lost = {**before.lost, **after.lost, **self.held.lost}
        for carry in loop.carry:
            self._alias(carry.output, carry.variable)
        self.define(c.output for c in loop.collected)


def _collected(schedule: Schedule) -> Mapping[int, Sequence[tuple[Repeat, Atom]]]:
    """The values that loops collect, by the positions where they do."""
    found: dict[int, list[tuple[Repeat, Atom]]] = {}
    for _, item in schedule.tree.items():
        for collected in item.collected if isinstance(item, Repeat) else ():
            if collected.output in schedule.read and not schedule.is_in_row(collected):
                found.setdefault(collected.at, []).append((item, collected.atom))
    return found


def _overlap(one: Block, other: Block) -> bool:
    """True if two pieces of memory have an element in common."""
    ours, theirs = _path(one), _path(other)
    for mine, its in zip(ours, theirs, strict=False):
        if mine is its:
            continue
        if mine.rows is None or its.rows is None or mine.around is not its.around:
            return False
        return not (
            least(its.rows.start - mine.rows.stop) >= 0
            or least(mine.rows.start - its.rows.stop) >= 0
        )
    return True  # one is a part of the other


def _path(block: Block) -> list[Block]:
    """A block, after those that it is a part of."""
    found = [block]
    while found[-1].around is not None:
        found.append(found[-1].around)
    return found[::-1]
