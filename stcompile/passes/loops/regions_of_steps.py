"""Parts of arrays that the steps of a loop use, with bounds that move with the steps.

A part is a range of indices along each axis, from a first index to the index behind the last: both
are numbers, or move with the steps, ``a[i, : i + 1]``. From the bounds of two parts follows the
distance of two steps at which the parts have an element in common.

>>> row = Region((Range(Line(0, 1), Line(1, 1), True), Range(Line(0, 0), Line(20, 0), False)))
>>> below = Region((Range(Line(1, 1), Line(20, 0), False), Range(Line(0, 0), Line(20, 0), False)))
>>> row.steps_after(row, 20), below.steps_after(row, 20)
((0, 0), (-19, -1))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from stcompile.wengert.dims import Dim, Size, Symbol
from stcompile.wengert.ir import Equation, Variable
from stcompile.wengert.parts import Part, integers_of


class Line(NamedTuple):
    """The integer ``offset + slope * step``."""

    offset: int
    slope: int

    def over(self, steps: int) -> tuple[int, int]:
        """The least and the greatest integer over so many steps."""
        last = self.offset + self.slope * (steps - 1)
        return min(self.offset, last), max(self.offset, last)


class Range(NamedTuple):
    """The indices of an axis, from ``low`` to below ``high``; ``single`` if there is a single index
    and the part has no such axis."""

    low: Line
    high: Line
    single: bool

    @property
    def is_fixed(self) -> bool:
        return not (self.low.slope or self.high.slope)

    @property
    def is_step(self) -> bool:
        """True for a single index that is the number of the step plus a constant."""
        return self.single and self.low.slope == 1


@dataclass(frozen=True)
class Region:
    """The ranges of a part, one for each axis of the array."""

    ranges: tuple[Range, ...]

    def steps_after(self, other: Region, steps: int) -> tuple[int, int] | None:
        """The distances, from the least to the greatest, at which a step that uses this part may
        follow a step that uses the other part with a common element. None if they never share an
        element."""
        least, most = 1 - steps, steps - 1
        for own, its in zip(self.ranges, other.ranges, strict=True):
            pairs = (
                (own.low, _before(its.high), True),  # own.low <= its.high - 1
                (its.low, _before(own.high), False),
            )
            for under, over, is_own in pairs:
                if under.over(steps)[0] > over.over(steps)[1]:
                    return None
                if under.slope != over.slope or under.slope not in (1, -1):
                    continue
                margin = over.offset - under.offset  # the distance that one step may be behind
                if (under.slope == 1) == is_own:
                    most = min(most, margin)
                else:
                    least = max(least, -margin)
        return (least, most) if least <= most else None


def _before(line: Line) -> Line:
    return line._replace(offset=line.offset - 1)


def region_of(equation: Equation, counter: Variable, symbol: Symbol) -> Region | None:
    """The part of its first operand that an equation reads or writes; None if its bounds are not
    linear in the step, or if it leaves out indices in between."""
    part = Part.of(equation.params)
    if set(part.step) - {1} or any(place != counter for place in integers_of(equation)):
        return None
    found = []
    for axis, (form, length, _) in enumerate(part.axes):
        low, width = _line(form[0], symbol), _line(length, symbol)
        if low is None or width is None:
            return None
        low = low._replace(slope=low.slope + sum(form[1:]))
        high = Line(low.offset + width.offset, low.slope + width.slope)
        if abs(low.slope) > 1 or abs(high.slope) > 1:
            return None
        found.append(Range(low, high, axis in part.drop))
    return Region(tuple(found))


def _line(size: Size, symbol: Symbol) -> Line | None:
    if not isinstance(size, Dim):
        return Line(size, 0)
    if len(size.terms) != 1 or size.terms[0][0] != symbol:
        return None
    return Line(size.offset, size.terms[0][1])
