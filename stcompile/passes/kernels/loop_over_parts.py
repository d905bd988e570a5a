"""Add parts at even distances to an array by loops.

The adjoint of a convolution adds a part for each number of the kernel, and NumPy passes over the
whole array with each call. The parts are slices of the same array, and their positions form a grid:
a loop goes along each axis of the grid. If all parts have an axis in common, the outermost loop
goes along it: the part of the array that is added to then stays in a cache, and threads may share
the steps. Each element gets the same terms in the same order.

>>> from stcompile.wengert.text import parse_program
>>> print(loop_over_parts(parse_program('''
... program f(a: f64[9], d: f64[3,5]) {
...   v1: f64[5] = slice(d; drop=(0,), length=(1, 5), start=((0,), (0,)), step=(1, 1))
...   v2: f64[9] = accumulate(a, v1; drop=(), length=(5,), op='slice', start=((0,),), step=(1,))
...   v3: f64[5] = slice(d; drop=(0,), length=(1, 5), start=((1,), (0,)), step=(1, 1))
...   v4: f64[9] = accumulate(v2, v3; drop=(), length=(5,), op='slice', start=((2,),), step=(1,))
...   v5: f64[5] = slice(d; drop=(0,), length=(1, 5), start=((2,), (0,)), step=(1, 1))
...   v6: f64[9] = accumulate(v4, v5; drop=(), length=(5,), op='slice', start=((4,),), step=(1,))
...   return v6
... }''')))
program f(a: f64[9], d: f64[3,5]) {
  v6: f64[9] = loop(d, a; body=program body(d: f64[3,5], i: int, v7: f64[9]) {
    v8: f64[5] = slice(d, i; drop=(0,), length=(1, 5), start=((0, 1), (0, 0)), step=(1, 1))
    v9: f64[9] = accumulate(v7, v8, i; drop=(), length=(5,), op='slice', start=((0, 2),), step=(1,))
    return v9
  }, carry=1, constants=1, length=3)
  return v6
}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from stcompile.base.location import Location
from stcompile.base.thresholds import KERNEL_CALLS
from stcompile.passes.general.added_parts import AddedPart, Start, chains
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.rebuild import Builder, Rebuild, with_inner
from stcompile.wengert.ir import Atom, Equation, Program, Variable, free_variables, freeze
from stcompile.wengert.primitives.control import COUNTER

Level = tuple[int, Start, Start]
"""Steps of a loop, and the distance of each step along the axes of the array that is read or
written."""


def loop_over_parts(program: Program) -> Program:
    """The program with loops in place of parts that are added at even distances."""
    return eliminate_dead_code(_looped(program))


def _looped(program: Program) -> Program:
    build = Rebuild(with_inner(program, _looped))
    for parts in chains(build):
        grids = [grid for run in _runs(parts) if (grid := _Grid.of(run)) is not None]
        if len(parts) >= KERNEL_CALLS and sum(len(grid.parts) for grid in grids) == len(parts):
            _write(build, parts, grids)
    return build.done()


def _runs(parts: Sequence[AddedPart]) -> Iterator[list[AddedPart]]:
    """Runs of consecutive parts of the same source."""
    for _, run in groupby(parts, key=attrgetter("kind")):
        yield list(run)


# --- grids --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Grid:
    """Parts in the order in which loops of these ``levels`` reach them."""

    parts: Sequence[AddedPart]
    levels: Sequence[Level]

    @staticmethod
    def of(parts: Sequence[AddedPart]) -> _Grid | None:
        levels = _levels([part.place for part in parts])
        return None if levels is None else _Grid(parts, levels)


def _levels(places: Sequence[tuple[Start, Start]]) -> Sequence[Level] | None:
    """The loops that reach the positions in this order, the outermost first; None if they form no
    grid. The innermost loop has as many steps as there are positions at the distance of the first
    two."""
    if len(places) == 1:
        return []
    first = places[0]
    step = _distance(first, places[1])
    many = 2
    while many < len(places) and places[many] == _moved(first, step, many):
        many += 1
    rows = [places[at : at + many] for at in range(0, len(places), many)]
    if any(row != [_moved(row[0], step, at) for at in range(many)] for row in rows):
        return None
    outer = _levels([row[0] for row in rows])
    return None if outer is None else [*outer, (many, *step)]


def _distance(one: tuple[Start, Start], other: tuple[Start, Start]) -> tuple[Start, Start]:
    read, added = (
        tuple(b - a for a, b in zip(x, y, strict=True)) for x, y in zip(one, other, strict=True)
    )
    return read, added


def _moved(
    place: tuple[Start, Start], step: tuple[Start, Start], times: int
) -> tuple[Start, Start]:
    read, added = (
        tuple(a + b * times for a, b in zip(x, y, strict=True))
        for x, y in zip(place, step, strict=True)
    )
    return read, added


# --- loops --------------------------------------------------------------------------------------


def _write(build: Rebuild, parts: Sequence[AddedPart], grids: Sequence[_Grid]) -> None:
    """Replace the equations that add these parts by loops."""
    first, (*others, end) = parts[0].added, parts
    for part in others:
        build.drop(part.at)
    last = end.added
    writer = _Loops(build, last.location)
    axis = _common(grids)

    def grids_of(acc: Variable, counter: Variable | None) -> Variable:
        for grid in grids:
            acc = writer.grid(grid, acc, axis, counter)
        return acc

    acc = first.inputs[0]
    assert isinstance(acc, Variable)
    if axis is None:
        grids_of(acc, None)
    else:
        length = acc.type.dims[axis]
        assert isinstance(length, int)
        writer.loop(length, acc, lambda counter, inner: grids_of(inner, counter))
    *before, made = writer.equations
    for equation in before:
        build.insert_made(end.at, equation)
    build.substitute(
        end.at,
        Equation(
            (last.output,), made.primitive, made.inputs, made.params, made.effects, made.location
        ),
    )


def _common(grids: Sequence[_Grid]) -> int | None:
    """An axis of the array, not the last, that all parts have whole."""
    (dims,) = {grid.parts[0].added.output.type.dims for grid in grids}
    for axis, length in enumerate(dims[:-1]):
        if length != 1 and all(_has_whole(grid, axis, length) for grid in grids):
            return axis
    return None


def _has_whole(grid: _Grid, axis: int, length: object) -> bool:
    added = grid.parts[0].added
    is_whole = added.params["length"][axis] == length and added.params["step"][axis] == 1
    source = _axis_read(grid.parts[0].read, axis)
    return is_whole and not any(r[source] or a[axis] for _, r, a in grid.levels)


def _axis_read(read: Equation, axis: int) -> int:
    """The axis of the source that is an axis of the part."""
    kept = [one for one in range(len(read.params["start"])) if one not in read.params["drop"]]
    return kept[axis]


def _unit(part: Equation, axis: int, by: int) -> Start:
    """A move along an axis."""
    return tuple(by * (one == axis) for one in range(len(part.params["start"])))


class _Loops:
    """A writer of loops; ``equations`` are the equations of the program under way."""

    def __init__(self, builder: Builder, location: Location) -> None:
        self.builder = builder
        self.location = location
        self.equations: list[Equation] = []

    def loop(
        self, length: int, acc: Variable, step: Callable[[Variable, Variable], Variable]
    ) -> Variable:
        """Record a loop whose steps change an array; return the array after all steps."""
        counter = self.builder.variable(COUNTER, "i")
        inner, outer = self.builder.variable(acc.type), self.equations
        self.equations = []
        result = step(counter, inner)
        equations, self.equations = self.equations, outer
        free = free_variables(equations, (result,), (counter, inner))
        own = (*free, counter, inner)
        body = Program("body", own, tuple(equations), (result,))
        params = {"body": body, "carry": 1, "constants": len(free), "length": length}
        made = self.builder.variable(acc.type)
        self.equations.append(
            Equation((made,), "loop", (*free, acc), freeze(params), (), self.location)
        )
        return made

    def grid(
        self, grid: _Grid, acc: Variable, axis: int | None, common: Variable | None
    ) -> Variable:
        """The array with all parts of a grid added, or their parts at a common index on an axis."""
        read, added = grid.parts[0].read, grid.parts[0].added
        factors: list[tuple[Variable, Start, Start]] = []
        cut = None
        if axis is not None and common is not None:
            cut = _axis_read(read, axis)
            along = _unit(read, cut, read.params["step"][cut]), _unit(added, axis, 1)
            factors.append((common, *along))

        def nest(levels: Sequence[Level], acc: Variable) -> Variable:
            if levels:
                length, along_read, along_added = levels[0]

                def step(counter: Variable, inner: Variable) -> Variable:
                    factors.append((counter, along_read, along_added))
                    result = nest(levels[1:], inner)
                    factors.pop()
                    return result

                return self.loop(length, acc, step)
            counters = tuple(counter for counter, _, _ in factors)
            places = [steps for _, steps, _ in factors], [steps for _, _, steps in factors]
            value = self._at(read, read.inputs, counters, places[0], cut)
            return self._at(added, (acc, value), counters, places[1], axis)

        return nest(grid.levels, acc)

    def _at(
        self,
        part: Equation,
        operands: tuple[Atom, ...],
        counters: tuple[Variable, ...],
        steps: Sequence[Start],
        cut: int | None,
    ) -> Variable:
        """A part at a position that counters move, cut to a single index on an axis."""
        params: dict[str, Any] = dict(part.params)
        params["start"] = tuple(
            (start[0], *(by[axis] for by in steps)) for axis, start in enumerate(params["start"])
        )
        if cut is not None:
            params["drop"] = tuple(sorted({*params["drop"], cut}))
            params["length"] = tuple(
                1 if axis == cut else length for axis, length in enumerate(params["length"])
            )
        made = self.builder.equation(part.primitive, (*operands, *counters), part.location, params)
        self.equations.append(made)
        return made.output
