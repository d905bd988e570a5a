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
  v6: f64[9] = loop(d, a; body=program body(d: f64[3,5], i: int, a: f64[9]) {
    v1: f64[5] = slice(d, i; drop=(0,), length=(1, 5), start=((0, 1), (0, 0)), step=(1, 1))
    v2: f64[9] = accumulate(a, v1, i; drop=(), length=(5,), op='slice', start=((0, 2),), step=(1,))
    return v2
  }, carry=1, constants=1, length=3)
  return v6
}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

from stcompile.base.thresholds import KERNEL_CALLS
from stcompile.passes.general.added_parts import AddedPart, Start, chains
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.rebuild import Rebuild, with_inner
from stcompile.passes.kernels.writer import Writer
from stcompile.wengert.ir import Atom, Equation, Program
from stcompile.wengert.parts import Index, Indices, placed

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
    *others, end = parts
    for part in others:
        build.drop(part.at)
    w, axis, acc = Writer(), _common(grids), parts[0].added.inputs[0]

    def add(along: Indices, carry: Sequence[Atom]) -> Sequence[Atom]:
        for grid in grids:
            lengths = [length for length, _, _ in grid.levels]
            carry = w.nest(lengths, carry, partial(_add, w, grid, axis, along))
        return carry

    with w.at(end.added.location):
        if axis is None:
            add((), [acc])
        else:
            w.nest([acc.type.dims[axis]], [acc], add)
    build.substitute_all(end.at, w.equations)


def _add(
    w: Writer,
    grid: _Grid,
    axis: int | None,
    along: Indices,
    indices: Indices,
    carry: Sequence[Atom],
) -> Sequence[Atom]:
    """Add a part of a grid; of an ``axis`` that all parts have whole, its elements at the index
    ``along`` it."""
    read, added = grid.parts[0].read, grid.parts[0].added
    moves = [(of_read, of_added) for _, of_read, of_added in grid.levels]
    cut = None
    if axis is not None:
        cut = _axis_read(read, axis)
        moves.insert(0, (_unit(read, cut, read.params["step"][cut]), _unit(added, axis, 1)))
    integers, params = _moved_part(read, (*along, *indices), [by for by, _ in moves], cut)
    with w.at(read.location):
        value = w.make("slice", read.inputs[0], *integers, **params)
    integers, params = _moved_part(added, (*along, *indices), [by for _, by in moves], axis)
    with w.at(added.location):
        return [w.make("accumulate", carry[0], value, *integers, **params)]


def _moved_part(
    part: Equation, indices: Indices, steps: Sequence[Start], cut: int | None
) -> tuple[tuple[Atom, ...], dict[str, Any]]:
    """The integers and params of a part that indices move in steps, cut to a single index on an
    axis."""
    starts = [Index(start[0]) for start in part.params["start"]]
    for index, by in zip(indices, steps, strict=True):
        starts = [start + index * move for start, move in zip(starts, by, strict=True)]
    integers, start = placed(starts)
    params: dict[str, Any] = {**part.params, "start": start}
    if cut is not None:
        params["drop"] = tuple(sorted({*params["drop"], cut}))
        params["length"] = (*params["length"][:cut], 1, *params["length"][cut + 1 :])
    return integers, params


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
