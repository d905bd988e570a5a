"""Lifetimes: from when to when the array of each class of variables is needed.

A *class* is the variables that share a name (`stcompile.plan.sharing`), and so an array. Its
lifetime is an interval of positions: from the first that gives it a value to the last that reads
it, or a view of it. A value from outside that a loop reads is needed until the loop ends.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stcompile.analysis.regions import Branch, Repeat, Step, Tree
from stcompile.analysis.storage import Storage
from stcompile.wengert.ir import Atom, Variable


@dataclass
class Lifetime:
    """Positions of the first write and of the last read (at least that of the first write)."""

    start: int
    end: int


def lifetimes(
    tree: Tree,
    storage: Storage,
    class_of: Mapping[Variable, Variable],
    places: Mapping[Variable, Iterable[int]],
) -> dict[Variable, Lifetime]:
    """The lifetimes of classes. ``class_of`` gives the class of each member by its first variable,
    and ``places`` the positions where the text reads a variable."""
    found: dict[Variable, Lifetime] = {}
    for variable, at in _definitions(tree):
        head = class_of.get(variable)
        if head is not None:
            life = found.setdefault(head, Lifetime(at, at))
            life.start, life.end = min(life.start, at), max(life.end, at)
    loops = _Loops(tree)
    for variable, positions in places.items():
        for head in shown_by(storage, class_of, variable):
            life = found[head]
            life.end = max(life.end, *(loops.until(at, life.start) for at in positions))
    return found


def shown_by(storage: Storage, class_of: Mapping[Variable, Variable], atom: Atom) -> set[Variable]:
    """The classes whose array an atom is or views a part of."""
    for shown in storage.lineage(atom):
        if shown in class_of:
            return {class_of[shown]}
    reached = storage.reach(storage.roots_of(atom))
    return {class_of[root] for root in reached if root in class_of}


def _definitions(tree: Tree) -> list[tuple[Variable, int]]:
    found: list[tuple[Variable, int]] = []
    for _, item in tree.items():
        if isinstance(item, Step):
            found += [(output, item.at) for output in item.equation.outputs]
        elif isinstance(item, Branch):
            for output in item.outputs:
                found += [(output, item.then.end), (output, item.otherwise.end)]
        else:
            for carry in item.carry:
                found += [(carry.variable, item.at), (carry.variable, item.end)]
                found.append((carry.output, item.end))
            for collected in item.collected:
                found += [(collected.output, item.at), (collected.output, item.end)]
    return found


class _Loops:
    """The loops of a tree, which determine how long a value is needed."""

    def __init__(self, tree: Tree) -> None:
        self.spans: list[tuple[int, int]] = [
            (item.head, item.end) for _, item in tree.items() if isinstance(item, Repeat)
        ]
        self.starts: Sequence[int] = [start for start, _ in self.spans]

    def until(self, at: int, start: int) -> int:
        """The last position at which a value that exists from ``start`` on is needed, if it is used
        at ``at``."""
        last = bisect_right(self.starts, at)
        ends = [end for begin, end in self.spans[:last] if start <= begin and at <= end]
        return max(ends, default=at)
