"""The order in which values are handed on, at the end of a step of a loop or of an arm of a
branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from stcompile.plan.schedule import Schedule
from stcompile.wengert.ir import Atom, Variable

Pair: TypeAlias = tuple[Variable, Atom]


@dataclass(frozen=True)
class Move:
    """An atom that is handed on to ``target``, or kept ``aside`` for it first."""

    target: Variable
    atom: Atom
    aside: bool = False


def is_crossed(schedule: Schedule, pairs: Sequence[Pair]) -> bool:
    """True if a variable that was assigned is read for a later assignment, which needs its old
    value."""
    heads = [schedule.head_of(variable) for variable, _ in pairs]
    return any(
        not schedule.reads(atom).isdisjoint(heads[:place]) for place, (_, atom) in enumerate(pairs)
    )


def ordered(schedule: Schedule, pairs: Sequence[Pair]) -> list[Move]:
    """Order the moves so that each comes before the values that it reads are overwritten. Every
    round makes a move. If every remaining move overwrites a variable that another move reads, the
    move with the fewest readers is made, and these read a copy that is kept aside. (Boissinot et
    al. 2009, algorithm 1)."""
    written = {variable: schedule.written(variable) for variable, _ in pairs}
    read = {variable: schedule.shown(schedule.reads(atom)) for variable, atom in pairs}
    pending, found = dict(pairs), []

    def readers(target: Variable) -> list[Variable]:
        return [v for v in pending if v is not target and written[target] & read[v]]

    while pending:
        free = (variable for variable in pending if not readers(variable))
        target = next(free, None) or min(pending, key=lambda v: len(readers(v)))
        for reader in readers(target):
            found.append(Move(reader, pending[reader], aside=True))
            read[reader] = set()
        found.append(Move(target, pending.pop(target)))
    return found
