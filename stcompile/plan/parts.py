"""Arrays that live inside larger arrays: the rows of a product, the parts of a concatenation.

A value is *split* if all its readers take different rows of it: the rows are arrays by themselves,
which are computed with the value. A concatenation whose parts have been computed where it lives
needs no copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from stcompile.analysis.regions import Region, Step, Tree, Use
from stcompile.wengert.bounds import least, usual
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Equation, Variable
from stcompile.wengert.parts import Part
from stcompile.wengert.templates import mark_of


@dataclass(frozen=True)
class Rows:
    """Some rows of a larger array, from ``start`` on, as a ``variable`` of their own. In an array
    that was packed the elements are rows, and the variable may have any shape."""

    variable: Variable
    whole: Variable
    start: Size

    @property
    def stop(self) -> Size:
        length = self.variable.type.count if self.is_shaped else self.variable.type.dims[0]
        return self.start + length

    @property
    def is_shaped(self) -> bool:
        """True if the shape of the variable differs from that of the rows; the array is a vector
        then."""
        return bool(self.variable.type.dims[1:] != self.whole.type.dims[1:])


def split_rows(tree: Tree) -> dict[Variable, Rows]:
    """The rows of all values that can be split."""
    found: dict[Variable, Rows] = {}
    for region, item in tree.items():
        for output in item.equation.outputs if isinstance(item, Step) else ():
            rows = _split(output, region, tree.uses)
            if rows is not None:
                found.update((part.variable, part) for part in rows)
    return found


def _split(
    whole: Variable, region: Region, uses: Mapping[Variable, Sequence[Use]]
) -> list[Rows] | None:
    rows = []
    for use in uses.get(whole, ()):
        if not isinstance(use.user, Step) or use.region is not region:
            return None
        equation = use.user.equation
        start = _first_row(equation)
        if start is None or not all(_is_plain(other) for other in uses.get(equation.output, ())):
            return None
        rows.append(Rows(equation.output, whole, start))
    rows.sort(key=lambda part: usual(part.start))
    ends = [part.start + part.variable.type.dims[0] for part in rows]
    if any(least(part.start - end) < 0 for end, part in zip(ends, rows[1:], strict=False)):
        return None
    return rows


def _first_row(equation: Equation) -> Size | None:
    """The start of a slice that takes adjacent whole rows."""
    if equation.primitive != "slice" or equation.params["drop"] or equation.varies:
        return None
    start, length, step, _ = Part.of(equation.params)
    if length[1:] != equation.inputs[0].type.dims[1:] or set(step) != {1} or any(start[0][1:]):
        return None
    first: Size = start[0][0]
    return first


def _is_plain(use: Use) -> bool:
    """True for an operand that is read as it is, not through a view."""
    return isinstance(use.user, Step) and mark_of(use.user.equation.primitive) == "fresh"


def joined_parts(tree: Tree) -> Iterator[tuple[Step, list[Rows]]]:
    """The concatenations of different variables along their first axis, with their parts, and the
    packed vectors, with the arrays that occur in them once."""
    for step in tree.steps:
        equation = step.equation
        if equation.primitive == "pack":
            yield step, list(_packed(equation))
        if equation.primitive != "concatenate" or equation.params["axis"] != 0:
            continue
        if equation.varies:
            continue
        parts = list(equation.variables)
        same = all(part.type.dtype == equation.output.type.dtype for part in parts)
        if len(set(parts)) == len(equation.inputs) and same:
            start, rows = 0, []
            for part in parts:
                rows.append(Rows(part, equation.output, start))
                start += part.type.dims[0]
            yield step, rows


def _packed(equation: Equation) -> Iterator[Rows]:
    start = 0
    for atom in equation.inputs:
        is_array = isinstance(atom, Variable) and atom.type.dims
        if is_array and equation.inputs.count(atom) == 1:
            yield Rows(cast(Variable, atom), equation.output, start)
        start += atom.type.count
