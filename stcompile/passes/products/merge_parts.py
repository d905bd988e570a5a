"""Add parts that belong at the same place to each other first.

The adjoint of a convolution adds a part of a product for each number of the kernel. Before a pool
there are several such products, and most places of the image get parts of more than one of them:
NumPy adds these faster where they are contiguous, in products whose rows BLAS sums itself.

Products whose parts lie a number of rows apart become one array: where they overlap, its rows are
sums of products, which `stcompile.passes.products.merge_sums` makes a single product. The parts of
one array that lie over parts of another array in other directions are added to those in one block.

>>> from stcompile.wengert.text import parse_program
>>> print(merge_parts(parse_program('''
... program f(a: f64[9], x: f64[2,4], e: f64[2,4]) {
...   d: f64[2,4] = tanh(x)
...   v1: f64[4] = slice(d; drop=(0,), length=(1, 4), start=((0,), (0,)), step=(1, 1))
...   v2: f64[9] = accumulate(a, v1; drop=(), length=(4,), op='slice', start=((0,),), step=(2,))
...   v3: f64[4] = slice(d; drop=(0,), length=(1, 4), start=((1,), (0,)), step=(1, 1))
...   v4: f64[9] = accumulate(v2, v3; drop=(), length=(4,), op='slice', start=((1,),), step=(2,))
...   v5: f64[4] = slice(e; drop=(0,), length=(1, 4), start=((0,), (0,)), step=(1, 1))
...   v6: f64[9] = accumulate(v4, v5; drop=(), length=(4,), op='slice', start=((1,),), step=(2,))
...   v7: f64[4] = slice(e; drop=(0,), length=(1, 4), start=((1,), (0,)), step=(1, 1))
...   v8: f64[9] = accumulate(v6, v7; drop=(), length=(4,), op='slice', start=((2,),), step=(2,))
...   return v8
... }''')))
program f(a: f64[9], x: f64[2,4], e: f64[2,4]) {
  d: f64[2,4] = tanh(x)
  v9: f64[1,4] = slice(e; drop=(), length=(1, 4), start=((0,), (0,)), step=(1, 1))
  v10: f64[2,4] = accumulate(d, v9; drop=(), length=(1, 4), op='slice', start=((1,), (0,)), step=(1, 1))
  v11: f64[4] = slice(v10; drop=(0,), length=(1, 4), start=((0,), (0,)), step=(1, 1))
  v12: f64[9] = accumulate(a, v11; drop=(), length=(4,), op='slice', start=((0,),), step=(2,))
  v13: f64[4] = slice(v10; drop=(0,), length=(1, 4), start=((1,), (0,)), step=(1, 1))
  v14: f64[9] = accumulate(v12, v13; drop=(), length=(4,), op='slice', start=((1,),), step=(2,))
  v15: f64[4] = slice(e; drop=(0,), length=(1, 4), start=((1,), (0,)), step=(1, 1))
  v16: f64[9] = accumulate(v14, v15; drop=(), length=(4,), op='slice', start=((2,),), step=(2,))
  return v16
}
"""  # noqa: E501

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import add, attrgetter, sub
from typing import Any

from stcompile.passes.general.added_parts import AddedPart, Start, chains
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.overlapping import overlapping
from stcompile.passes.general.rebuild import Rebuild, with_inner
from stcompile.wengert.ir import Atom, Program, Variable
from stcompile.wengert.parts import Part
from stcompile.wengert.primitives.contraction import contracting, sides_of


def merge_parts(program: Program) -> Program:
    """The program with parts that belong at the same place added to each other first."""
    return eliminate_dead_code(_merged(program))


def _merged(program: Program) -> Program:
    build = Rebuild(with_inner(program, _merged))
    for parts in chains(build):
        runs = [list(run) for _, run in itertools.groupby(parts, key=attrgetter("kind"))]
        grids = [grid for run in runs if (grid := _grid(run)) is not None]
        if len(grids) == len(runs) > 1:
            _Merger(build, parts).merge(grids)
    return build.done()


# --- grids --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Grid:
    """Parts of an ``array``, one for each index of its leading axes from ``low`` to ``high``. The
    part at index 0 belongs at ``start``, the others at distances of ``steps`` from it."""

    array: Variable
    low: Start
    high: Start
    start: Start
    steps: tuple[Start, ...]
    like: AddedPart

    @property
    def lead(self) -> int:
        """The number of leading axes."""
        return len(self.low)

    @property
    def many(self) -> int:
        """The number of parts."""
        return math.prod(map(sub, self.high, self.low))

    @property
    def indices(self) -> Iterator[Start]:
        return itertools.product(*map(range, self.low, self.high))

    def is_own(self, build: Rebuild) -> bool:
        """True if the array is computed, and nothing else reads it: it may be changed."""
        is_read = build.uses.get(self.array, self.many) > self.many
        return not is_read and self.array not in build.program.inputs

    def without(self, low: Start, high: Start) -> _Grid | None:
        """The grid without the parts from one index to another; None if there are none, or if those
        that are left have no first and last index."""
        rows = list(zip(self.low, self.high, low, high, strict=True))
        if any(start >= stop for _, _, start, stop in rows):
            return None
        cut = [axis for axis, (a, b, start, stop) in enumerate(rows) if (a, b) != (start, stop)]
        if not cut:
            return replace(self, high=self.low)
        axis = cut[0]
        a, b, start, stop = rows[axis]
        if len(cut) > 1 or (a < start and stop < b):
            return None
        kept = (stop, b) if a == start else (a, start)
        own, others = list(self.low), list(self.high)
        own[axis], others[axis] = kept
        return replace(self, low=tuple(own), high=tuple(others))

    def place(self, index: Start) -> Start:
        """The position where a part belongs."""
        moves = [[by * n for by in step] for n, step in zip(index, self.steps, strict=True)]
        return tuple(map(sum, zip(self.start, *moves, strict=True)))

    def at(self, index: Start) -> dict[str, object]:
        """The params of the addition of a part."""
        place = tuple((n,) for n in self.place(index))
        return {**self.like.added.params, "start": place}

    def behind(self, other: _Grid) -> Start | None:
        """The index of ``other`` whose part belongs where the part of this grid at index 0 does;
        None if their parts belong at different places, or differ in size."""
        if self.steps != other.steps or not _alike(self, other):
            return None
        distance = [a - b for a, b in zip(self.start, other.start, strict=True)]
        index = []
        for step in self.steps:
            axis = next((axis for axis, by in enumerate(step) if by), None)
            index.append(0 if axis is None else distance[axis] // step[axis])
        found = tuple(index)
        return found if other.place(found) == self.start else None


def _alike(one: _Grid, other: _Grid) -> bool:
    """True if the parts of two grids have the same dims and lie at the same distances."""
    mine, others = (grid.like.added.params for grid in (one, other))
    return all(mine[key] == others[key] for key in ("length", "step"))


def _grid(parts: Sequence[AddedPart]) -> _Grid | None:
    """The grid of parts that are all items of the leading axes of an array."""
    read, array = parts[0].read, parts[0].source
    drop = read.params["drop"]
    lead, dims = len(drop), array.type.dims
    items = (1,) * lead + dims[lead:]
    if not lead or drop != tuple(range(lead)) or not isinstance(array, Variable):
        return None
    if read.params["length"] != items or set(read.params["step"]) != {1}:
        return None
    places = {part.place[0][:lead]: part.place[1] for part in parts}
    first, high = (0,) * lead, tuple(map(int, dims[:lead]))
    if len(places) != len(parts) or len(parts) != math.prod(high) or first not in places:
        return None
    units = [tuple(int(axis == at) for axis in range(lead)) for at in range(lead)]
    start = places[first]
    steps = tuple(
        tuple(b - a for a, b in zip(start, places.get(unit, start), strict=True)) for unit in units
    )
    grid = _Grid(array, first, high, start, steps, parts[0])
    return grid if all(grid.place(index) == place for index, place in places.items()) else None


# --- products -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Product:
    """A grid whose array is a product of matrices that nothing else reads: the factor that has the
    ``rows``, the factor that has the ``columns``, and their axes that are summed. The parts lie
    ``above`` those of another grid, along the first axis."""

    grid: _Grid
    rows: Atom
    columns: Atom
    summed: tuple[int, int]
    above: int = 0

    @property
    def stop(self) -> int:
        return self.above + self.grid.high[0]

    @property
    def width(self) -> int:
        """The number of rows that a step along the first axis of the grid is."""
        return int(self.rows.type.dims[1 - self.summed[0]]) // self.grid.high[0]

    @property
    def shape(self) -> object:
        """A key that is equal for products whose rows can be added."""
        return self.width, self.columns.type.dims[1 - self.summed[1]]

    def between(self, build: Rebuild, at: int, start: int, stop: int) -> Variable:
        """Insert the product of the rows of some parts, counted as ``above`` is."""
        axis, width = 1 - self.summed[0], self.width
        first, length = [0, 0], list(self.rows.type.dims)
        first[axis], length[axis] = (start - self.above) * width, (stop - start) * width
        part, location = Part.block(first, length), self.grid.like.added.location
        rows = build.insert(at, "slice", (self.rows,), location, **part.params)
        factors = rows, self.columns
        return build.insert(at, "contract", factors, location, **contracting(self.summed))


def _product(build: Rebuild, grid: _Grid) -> _Product | None:
    """The product that the array of a grid is."""
    reshape = build.maker(grid.array, "reshape")
    matrix = grid.array if reshape is None else reshape.inputs[0]
    contract = build.maker(matrix, "contract")
    is_own = reshape is None or build.is_used_once(matrix)
    if contract is None or contract.varies or not (is_own and grid.is_own(build)):
        return None
    sides = sides_of(contract)
    if sides is None or matrix.type.dims[0] % grid.high[0]:
        return None
    (rows, summed), (columns, other) = sides
    return _Product(grid, rows, columns, (summed, other))


# --- merging ------------------------------------------------------------------------------------


class _Merger:
    """The parts that are added to one array: all equations are inserted before the last
    addition."""

    def __init__(self, build: Rebuild, parts: Sequence[AddedPart]) -> None:
        self.build = build
        self.parts = parts
        self.at = parts[-1].at
        self.location = parts[-1].added.location

    def merge(self, grids: Sequence[_Grid]) -> None:
        found: list[_Grid] = []
        for grid in self._joined(grids):
            self._cover(found, grid)
        if sum(grid.many for grid in found) < len(self.parts):
            self._write(found)

    def _insert(self, primitive: str, *inputs: Atom, **params: Any) -> Variable:
        return self.build.insert(self.at, primitive, inputs, self.location, **params)

    # --- rows of products -----------------------------------------------------------------------

    def _joined(self, grids: Sequence[_Grid]) -> Iterator[_Grid]:
        """The grids; products that overlap along their first axis become a single grid."""
        left = list(grids)
        while left:
            first = left[0]
            above = [self._above(grid, first) for grid in left]
            products = [p for p in above if p and above[0] and p.shape == above[0].shape]
            runs = overlapping(products, lambda product: (product.above, product.stop))
            run = next((run for run in runs if any(p.grid is first for p in run)), [])
            yield self._in_pieces(run) if len(run) > 1 else first
            used = [first, *(product.grid for product in run)]
            left = [grid for grid in left if all(grid is not one for one in used)]

    def _above(self, grid: _Grid, first: _Grid) -> _Product | None:
        """A grid as a product above the first grid."""
        index = grid.behind(first)
        if index is None or any(index[1:]) or grid.high[1:] != first.high[1:]:
            return None
        product = _product(self.build, grid)
        return None if product is None else replace(product, above=index[0])

    def _in_pieces(self, run: Sequence[_Product]) -> _Grid:
        """The grid of several products. Its array is made in pieces, each the sum of the rows of
        all products that reach there."""
        lowest = run[0].grid
        cuts = sorted({cut for product in run for cut in (product.above, product.stop)})
        pieces = [self._piece(run, start, stop) for start, stop in itertools.pairwise(cuts)]
        whole = pieces[0] if len(pieces) == 1 else self._insert("concatenate", *pieces, axis=0)
        dims = (cuts[-1] - cuts[0], *lowest.array.type.dims[1:])
        array = self._insert("reshape", whole, shape=dims)
        return replace(lowest, array=array, high=(dims[0], *lowest.high[1:]))

    def _piece(self, run: Sequence[_Product], start: int, stop: int) -> Variable:
        terms = [
            product.between(self.build, self.at, start, stop)
            for product in run
            if product.above <= start and stop <= product.stop
        ]
        return functools.reduce(lambda a, b: self._insert("accumulate", a, b, op="add"), terms)

    # --- blocks ---------------------------------------------------------------------------------

    def _cover(self, found: list[_Grid], grid: _Grid) -> None:
        """Add the parts of a grid to those of grids that were found before it, where they belong at
        the same places; note the others."""
        for number, other in enumerate(found):
            index = grid.behind(other)
            if index is None or not other.is_own(self.build):
                continue
            low = tuple(map(max, other.low, map(add, grid.low, index)))
            high = tuple(map(min, other.high, map(add, grid.high, index)))
            rest = grid.without(tuple(map(sub, low, index)), tuple(map(sub, high, index)))
            if rest is None:
                continue
            inner = other.array.type.dims[other.lead :]
            length = (*map(sub, high, low), *inner)
            taken = Part.block((*map(sub, low, index), *(0 for _ in inner)), length)
            block = self._insert("slice", grid.array, **taken.params)
            place = Part.block((*low, *(0 for _ in inner)), length)
            array = self._insert("accumulate", other.array, block, op="slice", **place.params)
            found[number] = replace(other, array=array)
            grid = rest
        if grid.many:
            found.append(grid)

    def _write(self, grids: Sequence[_Grid]) -> None:
        """Replace the additions by those of the parts of some grids."""
        first, last = self.parts[0].added, self.parts[-1].added
        acc = first.inputs[0]
        for grid in grids:
            for index in grid.indices:
                acc = self._insert("accumulate", acc, self._item(grid, index), **grid.at(index))
        for part in self.parts:
            self.build.drop(part.at)
        self.build.mapping[last.output] = acc

    def _item(self, grid: _Grid, index: Start) -> Variable:
        """The part of a grid at an index."""
        inner = grid.array.type.dims[grid.lead :]
        drop = range(grid.lead)
        part = Part.block((*index, *(0 for _ in inner)), (*(1 for _ in index), *inner), tuple(drop))
        return self._insert("slice", grid.array, **part.params)
