"""Values of a loop's steps that are computed where the loop collects them.

for k in range(n):                     for k in range(n):
    np.tanh(v, out=h)            →         np.tanh(v, out=hs[k])
    hs[k] = h                              h = hs[k]

Nothing else writes to the row, so the state of the next step may be a name for it
(`docs/decisions/0019-what-is-handed-on-is-copied-into-its-buffer.md` tells why other states are
not).
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass, replace

from stcompile.analysis.regions import Carry, Collected, Repeat, Step, Tree
from stcompile.analysis.storage import Storage, Writes, written
from stcompile.wengert.ir import Variable, as_variable
from stcompile.wengert.templates import mark_of


@dataclass(frozen=True, eq=False)
class CollectedRow:
    """A value that each step of a ``loop`` computes directly in its row of the ``collected`` array.
    ``carry`` is the carried variable that it is handed on to, if any."""

    loop: Repeat
    collected: Collected
    carry: Carry | None

    @property
    def whole(self) -> Variable:
        return self.collected.output

    @property
    def names(self) -> tuple[Variable, ...]:
        """The variables that are names for a row."""
        value = as_variable(self.collected.atom)
        return (value, *((self.carry.variable, self.carry.output) if self.carry else ()))


def collected_rows(
    tree: Tree, writes: Writes, writable: Container[int], without: Collection[Variable]
) -> dict[Variable, CollectedRow]:
    """The values that can be computed in a row, by their variables; the variables ``without`` an
    array of their own cannot."""
    storage = writes.storage
    changed = {root for v in written(tree, writes) for root in storage.reach(storage.roots_of(v))}
    changed |= {*without, *writes.made_in}
    found: dict[Variable, CollectedRow] = {}
    for region, item in tree.items():
        if not isinstance(item, Repeat):
            continue
        computed = {
            step.equation.output
            for step in item.body.items
            if isinstance(step, Step) and step.at in writable
            if step.equation.primitive != "kernel"
            if mark_of(step.equation.primitive) == "fresh"
        }
        for collected in item.collected:
            value = collected.atom
            if value not in computed or value in found or not _fits(collected):
                continue
            assert isinstance(value, Variable)
            carries = [carry for carry in item.carry if carry.final == value]
            if len(carries) > 1 or (carries and region is not tree.region):
                continue
            row = CollectedRow(item, collected, carries[0] if carries else None)
            if changed.isdisjoint((*row.names, row.whole)):
                found[value] = row
    return found


def _fits(collected: Collected) -> bool:
    """True if the value is collected in an array whose rows are arrays."""
    whole, own = collected.output.type, collected.atom.type
    return whole.kind == "array" and own.ndim > 0 and not whole.varies and not own.varies


def with_rows(storage: Storage, rows: Mapping[Variable, CollectedRow]) -> Storage:
    """The storage of a tree in which the values ``rows`` are rows of the collected arrays."""
    overlaps = {root: set(others) for root, others in storage.overlaps.items()}
    views = set(storage.views)
    for row in rows.values():
        views.update(row.names)
        named = frozenset[Variable]().union(*map(storage.roots_of, row.names))
        for root in storage.reach(named):  # also values that the last state is handed on to
            overlaps.setdefault(root, set()).add(row.whole)
            overlaps.setdefault(row.whole, set()).add(root)
    return replace(storage, overlaps=overlaps, views=views)


def names_of_rows(rows: Mapping[Variable, CollectedRow]) -> Iterator[Variable]:
    """The variables that are names for rows."""
    for row in rows.values():
        yield from row.names
