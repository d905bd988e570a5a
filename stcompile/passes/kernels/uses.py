"""Uses of arrays by loops over numbers: the axes that their innermost loops go along."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from stcompile.analysis.accesses import Number, Walk, Where
from stcompile.base.thresholds import VECTOR_STEPS
from stcompile.wengert.ir import Atom, Equation, Variable
from stcompile.wengert.parts import starts_of
from stcompile.wengert.primitives.control import Ports


@dataclass
class Use:
    """The use of an operand by a loop: how often innermost loops go along each of its axes. An
    operand that is not used ``by_element`` alone has to keep its order."""

    along: Counter[int] = field(default_factory=Counter)
    by_element: bool = True


def uses_of(loop: Equation) -> Mapping[int, Use]:
    """The uses of the operands that may be stored in another order, by their positions."""
    ports = Ports.of(loop)
    given = (*ports.constants, *ports.carry)
    if ports.count is not None or ports.xs:
        return {}
    found = {at: Use() for at, atom in enumerate(given) if is_matrix(atom)}
    _Uses(found).loop(loop, [at if at in found else None for at in range(len(given))], Where())
    return {at: use for at, use in found.items() if use.by_element}


def is_matrix(atom: Atom) -> bool:
    """True for an array of known dims that has more than a single order of axes."""
    t = atom.type
    has_order = isinstance(atom, Variable) and t.kind == "array" and t.ndim > 1
    return has_order and not t.is_named and t.size > 0


class _Uses(Walk):
    """A walk that notes the uses of arrays by their numbers."""

    def __init__(self, uses: Mapping[int, Use]) -> None:
        self.uses = uses

    def access(self, number: int, equation: Equation, where: Where) -> None:
        counters = where.counters_of(where.depth) if where.steps >= VECTOR_STEPS else ()
        starts = enumerate(starts_of(equation))
        axes = [axis for axis, index in starts if any(map(index.times, counters))]
        if len(axes) == 1:
            self.uses[number].along[axes[0]] += where.times

    def lose(self, *numbers: Number) -> None:
        for number in numbers:
            if number is not None:
                self.uses[number].by_element = False


def variable_of(atom: Atom) -> Variable:
    return atom if isinstance(atom, Variable) else Variable("", atom.type)
