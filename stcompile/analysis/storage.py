"""Storage: which arrays may share memory, which writes may happen in place, and which arrays a
caller may keep.

Every array has *roots*: the variables whose equations made the storage that it may be in, or the
inputs that it may belong to. Different roots are different storage, except for roots that
*overlap*: a value that a loop hands on from step to step may belong to the caller, or have an
alias. This is found by iteration: the values of a loop are assumed to be separate, and the
program's own, until a step shows that they are not.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, insort
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from stcompile.analysis.liveness import Liveness, Moments
from stcompile.analysis.regions import Branch, Region, Repeat, Step, Tree, regions_of, unfold
from stcompile.wengert.ir import Atom, Equation, Program, Variable, as_variable
from stcompile.wengert.templates import inplace_operand, mark_of

Roots: TypeAlias = frozenset[Variable]

_READ_ONLY = {"broadcast_to", "windows", "diagonal"}  # views that NumPy does not let anyone write
_NONE: Roots = frozenset()


def shared_input(equation: Equation) -> Variable | None:
    """The input that the output shares storage with, if it is a view."""
    if mark_of(equation.primitive) != "view" or not equation.inputs:
        return None
    if equation.primitive == "index" and any(a.type.dims for a in equation.inputs[1:]):
        return None  # index arrays copy, numbers do not
    source = equation.inputs[0]
    return source if isinstance(source, Variable) and source.type.kind == "array" else None


@dataclass
class Storage:
    """The ``roots`` of all variables, and the roots that overlap; the ``owned`` roots, which an
    equation allocated; the variables that are ``views`` or ``read_only`` (broadcasts, and views of
    them); the ``sources`` of variables: the array of a view, the array that the steps of a loop
    read items of, or the array that a write in place changes."""

    tree: Tree
    roots: dict[Variable, Roots] = field(default_factory=dict)
    overlaps: dict[Variable, set[Variable]] = field(default_factory=dict)
    owned: set[Variable] = field(default_factory=set)
    read_only: set[Variable] = field(default_factory=set)
    views: set[Variable] = field(default_factory=set)
    sources: dict[Variable, Variable] = field(default_factory=dict)

    def roots_of(self, atom: Atom) -> Roots:
        atom = self.tree.atom(atom)
        return self.roots[atom] if isinstance(atom, Variable) else _NONE

    def reach(self, roots: Roots) -> Roots:
        """The roots, and the roots that overlap with them."""
        return roots.union(*(self.overlaps[root] for root in roots if root in self.overlaps))

    def share(self, one: Atom, other: Atom) -> bool:
        """True if two values may be in the same storage."""
        return not self.roots_of(one).isdisjoint(self.reach(self.roots_of(other)))

    def lineage(self, atom: Atom) -> Iterator[Variable]:
        """A variable, its source (see `Storage`), the source's source, and so on."""
        shown = atom if isinstance(atom, Variable) else None
        while shown is not None:
            yield shown
            shown = self.sources.get(shown)

    def is_own(self, atom: Atom) -> bool:
        """True for a whole array, not a view, that the program made and that may be written."""
        atom = self.tree.atom(atom)
        return self.roots_of(atom) <= self.owned and not {atom} & (self.read_only | self.views)


def storage_of(program: Program) -> Storage:
    """The storage of a program's variables, as if every write copied first."""
    return tree_storage(unfold(program))


def tree_storage(tree: Tree, copied: Collection[Variable] = ()) -> Storage:
    """The storage of a tree's variables, as if every write copied first; the first values of
    ``copied`` are copied as well."""
    return _Analysis(tree, None, frozenset(copied)).run().storage


@dataclass(frozen=True)
class Writes:
    """For each step that writes, by its position: True if it may write in place. ``copied`` are the
    variables of loops whose first value is copied, so that the steps may write in place;
    ``storage`` is the storage of the variables with these writes. ``needed`` has, for a write that
    copies an array of the program's own, the variables that are read later and may be in the same
    storage. ``kernels`` has, for each step that is a kernel, the positions of the operands that it
    writes to. ``made_in`` has the values that are made in the argument that they are stored to, and
    that argument; ``done`` are the positions of the stores that this saves."""

    inplace: Mapping[int, bool]
    copied: Collection[Variable]
    storage: Storage
    needed: Mapping[int, Sequence[Variable]] = field(default_factory=dict)
    kernels: Mapping[int, Collection[int]] = field(default_factory=dict)
    made_in: Mapping[Variable, Variable] = field(default_factory=dict)
    done: Collection[int] = ()


def plan_writes(tree: Tree, moments: Moments) -> Writes:
    """Decide which writes need no copy: the storage is the program's own, and no value that may
    share it is read afterwards."""
    places = {variable: [use.at for use in uses] for variable, uses in tree.uses.items()}
    for _, item in tree.items():
        if isinstance(item, Repeat):
            for collected in item.collected:
                if collected.is_stack:  # a list keeps the array itself
                    for atom in (collected.atom, collected.output):
                        if isinstance(atom, Variable):
                            places.setdefault(atom, []).append(item.body.end)
    analysis = _Analysis(tree, Liveness(moments, places)).run()
    copying = (step for step in tree.steps if analysis.inplace.get(step.at) is False)
    needed = {step.at: analysis.needed(target_of(step.equation), step.at) for step in copying}
    copied = frozenset(analysis.copied)
    return Writes(analysis.inplace, copied, analysis.storage, needed, analysis.kernels)


def target_of(equation: Equation) -> Atom:
    """The operand that a writing equation changes."""
    return equation.inputs[inplace_operand(equation.primitive)]


def changes(tree: Tree, writes: Writes) -> Iterator[tuple[int, Variable]]:
    """The positions where storage is changed in place, and the variables that are written to."""
    for step in tree.steps:
        equation = step.equation
        if equation.primitive == "store":
            targets = equation.inputs[:1]
        elif writes.inplace.get(step.at):
            targets = (target_of(equation),)
        else:
            targets = tuple(equation.inputs[place] for place in writes.kernels.get(step.at, ()))
        yield from ((step.at, target) for target in targets if isinstance(target, Variable))


def written(tree: Tree, writes: Writes) -> Iterator[Variable]:
    """Variables whose storage is changed in place somewhere."""
    return (target for _, target in changes(tree, writes))


class _Facts(NamedTuple):
    """Facts about the values that a loop hands on: the pairs of roots that overlap, the values that
    may belong to the caller or be in a list, and the values that are read-only."""

    overlaps: frozenset[Roots]
    foreign: Roots
    read_only: Roots

    def __or__(self, other: _Facts) -> _Facts:
        return _Facts(
            self.overlaps | other.overlaps,
            self.foreign | other.foreign,
            self.read_only | other.read_only,
        )


class _Member(NamedTuple):
    """A variable that may be in a root's storage: the position from which on it is no longer live,
    and its number among the variables."""

    end: int
    place: int
    variable: Variable


class _Slot(NamedTuple):
    """An array or a list that a loop hands on: its variable, its values before the loop and at the
    end of a step, and the variable after the loop."""

    variable: Variable
    initial: Atom | None
    final: Atom
    output: Variable


def changed_by_kernel(step: Step, writes: Writes) -> Mapping[Variable, Variable]:
    """The outputs of a kernel that are written into an operand, each with that operand; empty for
    other steps."""
    places = writes.kernels.get(step.at)
    if not places:
        return {}
    pairs: Mapping[int, int] = dict(step.equation.params["writes"])
    found: dict[Variable, Variable] = {}
    for place in places:
        target = as_variable(step.equation.inputs[place])
        found[step.equation.outputs[pairs[place]]] = target
    return found


class _Analysis:
    """A walk through a tree in order. Without ``liveness`` every write copies, and the first values
    of the carried variables in ``given`` are copied."""

    def __init__(self, tree: Tree, liveness: Liveness | None, given: Roots = _NONE) -> None:
        self.tree = tree
        self.liveness = liveness
        self.given = given
        self.storage = Storage(tree)
        self.placed: list[Variable] = []  # in order
        self.members: dict[Variable, list[_Member]] = {}  # by root, in order of their ends
        self.since: dict[Variable, int] = {}  # variables placed before a root's first member
        self.inplace: dict[int, bool] = {}
        self.kernels: dict[int, frozenset[int]] = {}
        self.copied: set[Variable] = set()

    def run(self) -> _Analysis:
        for variable in self.tree.inputs:
            self._place(variable, frozenset({variable}))
        self.storage.owned |= self.tree.owned
        self._region(self.tree.region)
        return self

    def _place(self, variable: Variable, roots: Roots) -> None:
        member = self._member(variable, len(self.placed))
        self.placed.append(variable)
        self.storage.roots[variable] = roots
        for root in roots:
            if root not in self.members:
                self.members[root] = [member]
                self.since[root] = member.place
            else:
                insort(self.members[root], member)

    def _member(self, variable: Variable, place: int) -> _Member:
        end = 0 if self.liveness is None else self.liveness.end_of(variable)
        return _Member(end, place, variable)

    def _allocate(self, variable: Variable) -> None:
        self._place(variable, frozenset({variable}))
        self.storage.owned.add(variable)

    def _region(self, region: Region) -> None:
        for item in region.items:
            if isinstance(item, Step):
                self._step(item)
            elif isinstance(item, Branch):
                self._branch(item)
            else:
                self._repeat(item)

    # --- steps and branches --------------------------------------------------------------------

    def _step(self, step: Step) -> None:
        equation, storage = step.equation, self.storage
        if equation.primitive == "kernel":
            self._kernel(step)
            return
        source = shared_input(equation)
        if mark_of(equation.primitive) == "write":
            target = target_of(equation)
            self.inplace[step.at] = free = self._may_write(target, step.at)
            if free:
                self._place(equation.output, storage.roots_of(target))
                if isinstance(target, Variable):
                    storage.sources[equation.output] = target
                return
        for output in equation.outputs:
            if equation.primitive == "undef":
                self._place(output, _NONE)
            elif source is not None and output.type.kind == "array":
                self._place(output, storage.roots[source])
                storage.views.add(output)
                storage.sources[output] = source
            elif output.type.kind == "stack":
                self._place(output, frozenset({output}))
            else:
                self._allocate(output)
            if equation.primitive in _READ_ONLY or source in storage.read_only:
                storage.read_only.add(output)

    def _kernel(self, step: Step) -> None:
        """Place the results of a kernel: in the operand that it writes to, if no other value,
        including the other operands, needs its storage."""
        equation, storage = step.equation, self.storage
        pairs: Mapping[int, int] = dict(equation.params["writes"])
        free = set[int]()
        for place in pairs:
            target = equation.inputs[place]
            others = (*equation.inputs[:place], *equation.inputs[place + 1 :])
            shared = any(storage.share(target, other) for other in others)
            is_whole = target not in storage.views  # a view may have no name
            if is_whole and not shared and self._may_write(target, step.at):
                free.add(place)
        self.kernels[step.at] = frozenset(free)
        targets = {pairs[place]: equation.inputs[place] for place in free}
        for at, output in enumerate(equation.outputs):
            target = targets.get(at, output)
            if target is output or not isinstance(target, Variable):
                self._allocate(output)
            else:
                self._place(output, storage.roots_of(target))
                storage.sources[output] = target

    def _may_write(self, target: Atom, at: int) -> bool:
        return self._is_writeable(target) and next(self._live(target, at), None) is None

    def _is_writeable(self, target: Atom) -> bool:
        if self.liveness is None or target in self.storage.read_only:
            return False
        roots = self.storage.roots_of(target)
        return bool(roots) and roots <= self.storage.owned

    def _live(self, target: Atom, at: int) -> Iterator[Variable]:
        """The variables that may be in the storage of a write's target and are read after it."""
        assert self.liveness is not None
        for root in self.storage.reach(self.storage.roots_of(target)):
            for member in reversed(self.members[root]):
                if member.end <= at:  # and so are all before it
                    break
                if self.liveness.live_after(member.variable, at):
                    yield member.variable

    def needed(self, target: Atom, at: int) -> Sequence[Variable]:
        """The live variables for which a write into the program's own storage copies; empty if
        others own it."""
        return tuple(dict.fromkeys(self._live(target, at))) if self._is_writeable(target) else ()

    def _branch(self, branch: Branch) -> None:
        storage = self.storage
        for arm in branch.arms:
            self._region(arm)
        pairs = zip(branch.then.outputs, branch.otherwise.outputs, strict=True)
        for output, atoms in zip(branch.outputs, pairs, strict=True):
            if output.type.kind in ("python", "scalar"):
                self._allocate(output)
                continue
            self._place(output, _NONE.union(*map(storage.roots_of, atoms)))
            if not storage.read_only.isdisjoint(atoms):
                storage.read_only.add(output)

    # --- loops ---------------------------------------------------------------------------------

    def _repeat(self, loop: Repeat) -> None:
        """Analyse a loop without copies, or with copies of some initial values if these save more
        copies in its steps."""
        if self.liveness is None:
            self._loop(loop, self.given.intersection(c.variable for c in loop.carry))
            return
        mark = len(self.placed)
        self._loop(loop, _NONE)
        copied = tried = _NONE
        best = self._cost(loop)
        for candidate in self._candidates(loop):
            tried = copied | {candidate}
            self._undo(mark)
            self._loop(loop, tried)
            if self._cost(loop) < best:
                copied, best = tried, self._cost(loop)
        if tried != copied:
            self._undo(mark)
            self._loop(loop, copied)

    def _cost(self, loop: Repeat) -> int:
        """The number of copies that the steps of a loop make for their writes."""
        copies = sum(not self.inplace[step.at] for step in self._writes(loop))
        copies += sum(len(self._unwritten(step)) for step in _steps(loop))
        return copies + sum(c.variable in self.copied for r in _loops(loop) for c in r.carry)

    def _unwritten(self, step: Step) -> Sequence[Atom]:
        """The operands that a kernel copies before it writes to them."""
        if step.at not in self.kernels:
            return ()
        free, inputs = self.kernels[step.at], step.equation.inputs
        return [inputs[at] for at, _ in step.equation.params["writes"] if at not in free]

    def _writes(self, loop: Repeat) -> Iterator[Step]:
        return (step for step in _steps(loop) if step.at in self.inplace)

    def _candidates(self, loop: Repeat) -> list[Variable]:
        """The carried values that could be written in place if their initial value were copied
        before the loop."""
        wanted: set[Variable] = set()
        for step in self._writes(loop):
            if not self.inplace[step.at]:
                target = step.equation.inputs[inplace_operand(step.equation.primitive)]
                wanted |= self.storage.roots_of(target)
        for step in _steps(loop):
            wanted = wanted.union(*map(self.storage.roots_of, self._unwritten(step)))
        for inner in _loops(loop):
            for carry in inner.carry:
                if carry.variable in self.copied:
                    wanted |= self.storage.roots_of(carry.initial)
        return [c.variable for c in loop.carry if c.variable in wanted and _is_array(c.variable)]

    def _loop(self, loop: Repeat, copied: Roots) -> None:
        slots = [_Slot(*carry) for carry in loop.carry if not _is_number(carry.variable)]
        slots += [_Slot(c.output, None, c.atom, c.output) for c in loop.collected if c.is_stack]
        outside = len(self.placed)
        firsts = {s.variable: s.initial for s in slots if s.variable not in copied}
        facts = self._facts(slots, firsts, outside)
        while True:
            mark = len(self.placed)
            self._prepare(loop, slots, facts)
            for region in loop.regions:
                self._region(region)
            after = self._facts(slots, {s.variable: s.final for s in slots}, outside)
            if facts | after == facts:
                break
            facts |= after
            self._undo(mark)
        self.copied |= copied
        self._leave(loop, slots, after if loop.runs else facts)

    def _facts(
        self, slots: list[_Slot], values: Mapping[Variable, Atom | None], outside: int
    ) -> _Facts:
        """The facts that follow if the slots get these values; ``outside`` variables were placed
        before the loop."""
        storage = self.storage
        roots = dict.fromkeys((slot.variable for slot in slots), _NONE)
        for variable, atom in values.items():
            if atom is not None:
                roots[variable] = storage.roots_of(atom)
        overlaps = set()
        for slot in slots:
            own = roots[slot.variable] | ({slot.variable} if slot.initial is None else _NONE)
            reached = storage.reach(own)
            overlaps |= {
                frozenset({slot.variable, root})
                for root in reached
                if self.since.get(root, outside) < outside
            }
            for other in slots:
                if other is not slot and not reached.isdisjoint(roots[other.variable]):
                    overlaps.add(frozenset({slot.variable, other.variable}))
        return _Facts(
            frozenset(overlaps),
            frozenset(v for v in roots if v.type.kind == "stack" or not roots[v] <= storage.owned),
            frozenset(v for v in roots if values.get(v) in storage.read_only),
        )

    def _prepare(self, loop: Repeat, slots: list[_Slot], facts: _Facts) -> None:
        """Set the state at the head of a loop."""
        storage = self.storage
        if loop.counter is not None:
            self._place(loop.counter, frozenset({loop.counter}))
        for carry in loop.carry:
            if _is_number(carry.variable):
                self._allocate(carry.variable)
        self._open(slots, [slot.variable for slot in slots], facts)
        for feed in loop.feeds:
            number = _is_number(feed.variable)
            own = frozenset({feed.variable})
            self._place(feed.variable, own if number else storage.roots_of(feed.source))
            if isinstance(feed.source, Variable) and not number:
                storage.sources[feed.variable] = feed.source
            if feed.source in storage.read_only:
                storage.read_only.add(feed.variable)

    def _leave(self, loop: Repeat, slots: list[_Slot], facts: _Facts) -> None:
        """Set the state after a loop, in which its outputs stand for the contents of its slots."""
        for carry in loop.carry:
            if _is_number(carry.output):
                self._allocate(carry.output)
        for collected in loop.collected:
            if not collected.is_stack:
                self._allocate(collected.output)
        carried = [slot for slot in slots if slot.initial is not None]
        self._open(slots, [slot.output for slot in carried], facts)

    def _open(self, slots: list[_Slot], variables: list[Variable], facts: _Facts) -> None:
        """Place variables (of slots, or the outputs that stand for them after the loop) according
        to the facts."""
        storage = self.storage
        names = {s.variable: s.output if s.output in variables else s.variable for s in slots}
        for slot in slots:
            variable = names[slot.variable]
            if variable not in variables:
                continue
            self._place(variable, frozenset({variable}))
            if slot.variable not in facts.foreign:
                storage.owned.add(variable)
            if slot.variable in facts.read_only:
                storage.read_only.add(variable)
        for pair in facts.overlaps:
            one, other = (names.get(v, v) for v in pair)
            storage.overlaps.setdefault(one, set()).add(other)
            storage.overlaps.setdefault(other, set()).add(one)

    def _undo(self, mark: int) -> None:
        """Forget all variables but the first ``mark``."""
        storage = self.storage
        while len(self.placed) > mark:
            variable = self.placed.pop()
            member = self._member(variable, len(self.placed))
            for root in storage.roots.pop(variable):
                members = self.members[root]
                del members[bisect_left(members, member)]
                if not members:
                    del self.members[root], self.since[root]
            for other in storage.overlaps.pop(variable, ()):
                storage.overlaps[other].discard(variable)
            storage.sources.pop(variable, None)
            for known in (storage.owned, storage.read_only, storage.views, self.copied):
                known.discard(variable)


def _is_number(variable: Variable) -> bool:
    return variable.type.kind in ("python", "scalar")


def _is_array(variable: Variable) -> bool:
    return variable.type.kind == "array"


def _steps(item: Step | Branch | Repeat) -> Iterator[Step]:
    """The steps within an item."""
    if isinstance(item, Step):
        yield item
    for region in regions_of(item):
        yield from itertools.chain.from_iterable(map(_steps, region.items))


def _loops(loop: Repeat | Branch | Step) -> Iterator[Repeat]:
    """The loops within an item, without itself."""
    for region in regions_of(loop):
        for item in region.items:
            if isinstance(item, Repeat):
                yield item
            yield from _loops(item)
