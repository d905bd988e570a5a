"""Liveness: whether a value of a region tree is read later.

Arms of a branch are alternatives: a use in one arm keeps nothing alive in the other arm. In a loop
a use of a value from outside comes again in the next step, so it keeps that value alive throughout
the loop.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stcompile.analysis.regions import Branch, Region, Repeat, Step, Tree
from stcompile.wengert.ir import Variable


@dataclass(frozen=True, eq=False)
class _Scope:
    """Positions that are run together: an arm, or a loop's steps. ``exit`` is the position where
    execution goes on afterwards."""

    start: int
    stop: int
    exit: int
    repeats: bool
    parent: _Scope | None


class Moments:
    """The positions where the variables of a tree get their values, and the positions that are run
    together. All questions about a tree start from this."""

    def __init__(self, tree: Tree) -> None:
        self.definitions: dict[Variable, tuple[int, ...]] = {}
        self.born: dict[Variable, int] = {}
        self.around: dict[Variable, int] = {}  # for a carry's variable: the end of its body
        self.kept: dict[Variable, int] = {}  # and where its value is the loop's result if it ends
        last = tree.region.end
        self.scopes: list[_Scope] = [_Scope(0, last, last + 1, False, None)] * (last + 1)
        for variable in tree.inputs:
            self._define(variable, -1, -1)
        self._enter(tree.region, self.scopes[0])

    def _define(self, variable: Variable, born: int, *at: int) -> None:
        """Note a variable that has its value from position ``born`` on, and is assigned at the
        positions ``at``."""
        self.born[variable] = born
        self.definitions[variable] = at

    def _enter(self, region: Region, scope: _Scope) -> None:
        for item in region.items:
            if isinstance(item, Step):
                for output in item.equation.outputs:
                    self._define(output, item.at, item.at)
            elif isinstance(item, Branch):
                for output in item.outputs:
                    self._define(output, item.end, *(arm.end for arm in item.arms))
                for arm in item.arms:
                    self._cover(_Scope(arm.start, arm.end, item.end, False, scope), [arm])
            else:
                self._repeat(item)
                inner = _Scope(item.head, item.body.end, item.end, True, scope)
                self._cover(inner, item.regions)

    def _cover(self, scope: _Scope, regions: Iterable[Region]) -> None:
        self.scopes[scope.start : scope.stop + 1] = [scope] * (scope.stop + 1 - scope.start)
        for region in regions:
            self._enter(region, scope)

    def _repeat(self, loop: Repeat) -> None:
        if loop.counter is not None:
            self._define(loop.counter, loop.head, loop.head)
        kept = loop.head if loop.condition is None else loop.condition.end
        for carry in loop.carry:
            self._define(carry.variable, loop.head, loop.at, loop.body.end)
            self._define(carry.output, loop.end, loop.end)
            self.around[carry.variable] = loop.body.end
            self.kept[carry.variable] = kept
        for feed in loop.feeds:
            self._define(feed.variable, loop.body.start, loop.body.start)
        for collected in loop.collected:
            self._define(collected.output, loop.at, loop.at)


class Liveness:
    """Answers `live_after`. ``uses`` are positions where variables are read."""

    def __init__(self, moments: Moments, uses: Mapping[Variable, Iterable[int]]) -> None:
        self.definitions = moments.definitions
        self._born = moments.born
        self._around = moments.around
        self._scopes = moments.scopes
        self._uses = {variable: sorted(places) for variable, places in uses.items()}
        self._ends: dict[Variable, int] = {}
        for variable, kept in moments.kept.items():
            insort(self._uses.setdefault(variable, []), kept)

    def live_after(self, variable: Variable, at: int) -> bool:
        """True if the value that a variable has just after a position may be read later."""
        born = self._born[variable]
        if at == self._around.get(variable):
            return True
        if at < born:
            if at not in self.definitions[variable]:
                return False
            if variable in self._around:
                return True
            at = born - 1  # an arm hands it on: it is read after the branch
            scope: _Scope | None = self._scopes[born]
        else:
            scope = self._scopes[max(at, 0)]
        uses = self._uses.get(variable)
        if not uses:
            return False
        while scope is not None:
            if _any_in(uses, at + 1, scope.stop):
                return True
            if scope.repeats and born < scope.start and _any_in(uses, scope.start, at):
                return True
            at, scope = scope.exit - 1, scope.parent
        return False

    def end_of(self, variable: Variable) -> int:
        """The first position from which on a variable is not live after any."""
        end = self._ends.get(variable)
        if end is None:
            end = self._ends[variable] = self._end_of(variable)
        return end

    def _end_of(self, variable: Variable) -> int:
        born = self._born[variable]
        end = self._around.get(variable, -1) + 1
        for place in self._uses.get(variable, ()):
            end = max(end, place)
            scope: _Scope | None = self._scopes[place]
            while scope is not None:
                if scope.repeats and born < scope.start:  # it is read again in the next step
                    end = max(end, scope.stop + 1)
                scope = scope.parent
        return end


def _any_in(places: list[int], first: int, last: int) -> bool:
    """True if a position in the sorted ``places`` is from ``first`` to ``last``."""
    return bisect_left(places, first) < bisect_right(places, last)
