"""Check that the steps of a loop are independent: find the part of an array that each step uses.

An array that steps write to is handed on from step to step, although each step may use a part of
its own. It does if all slices that a step reads and writes have the same single index of an axis,
and that index moves with the counter: two steps never meet.
"""

from __future__ import annotations

from dataclasses import dataclass

from stcompile.analysis.accesses import accesses_of
from stcompile.passes.loops.loop_ports import SizedLoop
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Equation, Variable
from stcompile.wengert.loops import Carried, Loop
from stcompile.wengert.parts import Index, Part, integers_of, starts_of, view_of


@dataclass(frozen=True)
class Access:
    """A slice that is read or written and that moves with a counter along an ``axis``. ``places``
    are the other integers in its start."""

    equation: Equation
    axis: int
    index: Index
    column: int  # of the counter among the integers
    places: tuple[Atom, ...]

    def for_all(self, length: Size) -> Part | None:
        """The slice that all of ``length`` steps read or write; None if they leave out indices in
        a regular way or meet."""
        part, at, axis = Part.of(self.equation.params), self.column + 1, self.axis
        width, speed = part.length[axis], part.start[axis][at]
        if width != 1 and (width, 1) != (speed, part.step[axis]):
            return None
        count, step = (length, speed) if width == 1 else (length * width, 1)
        return Part(
            tuple((*form[:at], *form[at + 1 :]) for form in part.start),
            (*part.length[:axis], count, *part.length[axis + 1 :]),
            (*part.step[:axis], step, *part.step[axis + 1 :]),
            tuple(dropped for dropped in part.drop if dropped != axis),
        )


def moving_part(equation: Equation, counter: Variable) -> Access | None:
    """The slice of its first operand that an equation reads or writes; None if it does not move
    with the counter along a single axis."""
    if view_of(equation) != "slice":
        return None
    places = integers_of(equation)
    columns = [at for at, place in enumerate(places) if place == counter]
    starts = starts_of(equation)
    moving = [axis for axis, start in enumerate(starts) if start.times(counter)]
    if len(columns) != 1 or len(moving) != 1:
        return None
    (column,), (axis,) = columns, moving
    others = tuple(place for at, place in enumerate(places) if at != column)
    return Access(equation, axis, starts[axis], column, others)


def access_of(equation: Equation, counter: Variable) -> Access | None:
    """The same for a slice that moves by single indices."""
    found = moving_part(equation, counter)
    return found if found is not None and found.axis in equation.params["drop"] else None


def own_axis(loop: SizedLoop, carried: Carried) -> int | None:
    """The axis of which each step has an index of its own, in all that it reads and writes of a
    carried array; None if there is none."""
    found = [access_of(equation, loop.counter) for equation in accesses_of(loop, carried) or ()]
    own = {(access.axis, access.index) for access in found if access is not None}
    return own.pop()[0] if len(own) == 1 and None not in found else None


def additions(loop: Loop, carried: Carried) -> list[Equation] | None:
    """The equations that add to a carried value, each time to the same part, if steps do nothing
    else with it. Numbers are added in another order in derivatives alone: in the user's own
    function they stay in order."""
    state: Atom = carried.variable
    found: list[Equation] = []
    for equation in loop.equations:
        if state not in equation.inputs:
            continue
        is_alone = equation.inputs[0] == state and equation.inputs.count(state) == 1
        if not is_alone or not _is_link(equation, loop.counter):
            return None
        found.append(equation)
        state = equation.output
    versions = {carried.variable, *(link.output for link in found)}
    read = [atom for e in loop.equations if e not in found for atom in e.inputs]
    read += [kept.atom for kept in loop.ys]
    read += [c.final for c in loop.carry if c.variable != carried.variable]
    is_sum = found and carried.final == state and carried.variable.type.inexact
    return found if is_sum and versions.isdisjoint(read) else None


def _is_link(equation: Equation, counter: Variable | None) -> bool:
    """True for an addition to the first operand, to a part that is the same in all steps."""
    if equation.primitive in ("add", "to_python"):
        is_number = equation.output.type.kind in ("scalar", "python")
        return is_number and equation.location.is_derived
    if equation.primitive != "accumulate" or counter in equation.inputs[2:]:
        return False
    if equation.params["op"] == "slice":
        return equation.inputs[1].type.dtype == equation.output.type.dtype
    return equation.params["op"] == "add" and equation.inputs[1].type == equation.output.type
