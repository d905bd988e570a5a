"""Variables that share a name in the text.

A value that is written in place keeps its name, and so does a value that a loop hands on. Further
variables share a name if that saves an assignment: the initial value and the final value of a
carried variable, the results of the arms and of the branch. Two variables share a name only if
neither is assigned while the value of the other is still read, and if the user did not name them
differently.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right, insort
from collections.abc import Container, Mapping, Sequence

from stcompile.analysis.liveness import Liveness
from stcompile.analysis.regions import Branch, Region, Repeat, Step, Tree, regions_of
from stcompile.analysis.storage import Writes, changed_by_kernel
from stcompile.plan.inlining import is_unnamed
from stcompile.wengert.ir import Atom, Variable, as_variable
from stcompile.wengert.naming import base_name
from stcompile.wengert.templates import inplace_operand


class Sharing:
    """The classes of variables that share a name."""

    def __init__(
        self,
        tree: Tree,
        liveness: Liveness,
        writes: Writes,
        without_name: set[Variable],
        places: Mapping[Variable, Sequence[int]],
        rows: Container[Atom] = (),
    ) -> None:
        """Find the classes. ``rows`` are the values of loops that are computed where they are
        collected: the initial value of such a state is in another array."""
        self.tree = tree
        self._rows = rows
        self.writes = writes
        self.liveness = liveness
        self._places = places
        self._copied: dict[int, Atom] = {}  # by position, targets of writes that copy them first
        self.excluded = set(without_name)
        self._class: dict[Variable, list[Variable]] = {}
        self._first_name: dict[int, tuple[int, str] | None] = {}  # by the id of a class's list
        for _, item in tree.items():
            if isinstance(item, Repeat):
                self.excluded.update(feed.variable for feed in item.feeds)
                self.excluded.update([item.counter] if item.counter is not None else [])
                for carry in item.carry:
                    self._join(carry.variable, carry.output)
            elif isinstance(item, Step):
                self._written(item)
        for made, target in writes.made_in.items():
            self._join(target, made)
        self._region(tree.region)

    def members(self, variable: Variable) -> Sequence[Variable]:
        """The variables that share a name, in order of their definition."""
        return self._class.get(variable, [variable])

    def same(self, one: Variable, other: Atom) -> bool:
        if one == other:
            return True
        own = self._class.get(one)
        return own is not None and isinstance(other, Variable) and self._class.get(other) is own

    def unite(self, one: Variable, other: Variable) -> bool:
        """Let two variables share a name, unless the user named them differently."""
        if not self.same(one, other):
            if None not in (self._name(one), self._name(other)):
                return False
            self._join(one, other)
        return True

    def is_named(self, *variables: Variable) -> bool:
        """True if the user, or the adjoint, has a name for any of the variables."""
        return any(self._name(variable) is not None for variable in variables)

    @property
    def classes(self) -> Mapping[Variable, Sequence[Variable]]:
        """The members of each class of several variables."""
        return self._class

    def _join(self, one: Variable, other: Variable) -> None:
        more, few = sorted((self.members(one), self.members(other)), key=len, reverse=True)
        names = [found for v in (one, other) if (found := self._named(v)) is not None]
        joint = self._class.setdefault(more[0], [more[0]])
        self._first_name[id(joint)] = min(names, default=None)
        for variable in few:
            insort(joint, variable, key=self._first)
            self._class[variable] = joint

    def _first(self, variable: Variable) -> int:
        return self.liveness.definitions[variable][0]

    def _written(self, step: Step) -> None:
        equation = step.equation
        if equation.primitive == "undef":
            self.excluded.update(equation.outputs)
        if self.writes.inplace.get(step.at) is False:
            self._copied[step.at] = equation.inputs[inplace_operand(equation.primitive)]
        if self.writes.inplace.get(step.at):
            target = as_variable(equation.inputs[inplace_operand(equation.primitive)])
            self._join(target, equation.output)
        for output, target in changed_by_kernel(step, self.writes).items():
            self._join(target, output)

    def _region(self, region: Region) -> None:
        for item in region.items:
            for inner in regions_of(item):
                self._region(inner)
            if isinstance(item, Branch):
                self._branch(item)
            elif isinstance(item, Repeat):
                self._repeat(item)

    def _branch(self, branch: Branch) -> None:
        arms = (branch.then.outputs, branch.otherwise.outputs)
        for output, *atoms in zip(branch.outputs, *arms, strict=True):
            if self._name(output) is None and len({self._name(a) for a in atoms} - {None}) > 1:
                continue
            for atom in atoms:
                self._try(output, atom)

    def _repeat(self, loop: Repeat) -> None:
        for carry in loop.carry:
            self._try(carry.variable, carry.final)
        for carry in loop.carry:
            if carry.final not in self._rows:
                self._try(carry.variable, carry.initial)

    def _try(self, variable: Variable, atom: Atom) -> None:
        """Let two variables share a name if possible."""
        if not isinstance(atom, Variable) or not self.excluded.isdisjoint((variable, atom)):
            return
        if self.same(variable, atom):
            return
        names = {self._name(variable), self._name(atom)} - {None}
        if len(names) > 1 or self._interfere(self.members(variable), self.members(atom)):
            return
        self._join(variable, atom)

    def _name(self, atom: Atom) -> str | None:
        """The user's name for a class of variables."""
        found = self._named(atom) if isinstance(atom, Variable) else None
        return None if found is None else found[1]

    def _named(self, variable: Variable) -> tuple[int, str] | None:
        """The position and the name of the first member of a class that has a name."""
        joint = self._class.get(variable)
        if joint is not None:
            return self._first_name[id(joint)]
        hint = self.tree.hints[variable]
        return None if is_unnamed(hint) else (self._first(variable), base_name(hint))

    def _interfere(self, ours: Sequence[Variable], theirs: Sequence[Variable]) -> bool:
        return self._overwrite(ours, theirs) or self._overwrite(theirs, ours)

    def _overwrite(self, ours: Sequence[Variable], theirs: Sequence[Variable]) -> bool:
        """True if a variable of ``ours`` is assigned while the value of a variable of ``theirs``
        may still be read. Both are in order of definition."""
        liveness = self.liveness
        starts = list(map(self._first, theirs))
        ends = list(itertools.accumulate(map(liveness.end_of, theirs), max))
        for one in ours:
            for at in liveness.definitions[one]:
                if self._is_read_after_copy(theirs, at):
                    return True
                place = bisect_right(starts, at)
                while place and ends[place - 1] > at:
                    place -= 1
                    if liveness.live_after(theirs[place], at):
                        return True
        return False

    def _is_read_after_copy(self, variables: Sequence[Variable], at: int) -> bool:
        """True if a write that copies its target first reads any of the variables after the
        copy."""
        target = self._copied.get(at)
        if target is None:
            return False
        return any(v != target and at in self._places.get(v, ()) for v in variables)
