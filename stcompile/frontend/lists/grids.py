"""Lists of numbers, and nested lists, kept as arrays while a loop is kept.

table[i][j]              table[i, j]
table[i][j] = v          table[i, j] = v
table[i] = [...]         table[i] = np.array([...])

The list has a `Grid` in place of its items, and the lists in it, its rows, are *lent*: nothing but
the grid may read or change them until the loop ends. So any other reference to a row, by another
name or from another list, is refused as soon as it is used, and the loop is not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, ClassVar

import numpy as np

from stcompile.base.thresholds import FEWEST_ROWS
from stcompile.frontend.lists.item_layouts import number_of
from stcompile.frontend.operations import indexing
from stcompile.frontend.operations.numbers import common_number
from stcompile.frontend.state.asking import NeedsGrid
from stcompile.frontend.state.frames import Keeping
from stcompile.frontend.state.rests import ListArray, name_of
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.state import ContentsSite
from stcompile.frontend.state.values import (
    Array,
    Cell,
    Rest,
    Row,
    Scalar,
    described,
    is_lent,
    is_numeric,
    is_traced,
    is_whole,
)
from stcompile.wengert.ir import Variable
from stcompile.wengert.types import Type

WHOLE = "while a loop keeps this list as an array, its items can only be read and set one by one"
WHOLE_HINT = "index it down to its numbers: `table[i][j]`"
UNLIKE = "this list cannot be an array while a loop goes on"
UNLIKE_HINT = "keep numbers of one type in it, and in all its rows as many"
Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Lent(Rest):
    """All items of a list that is a row of a grid."""

    is_lent: ClassVar[bool] = True
    reason: str = field(init=False, default=WHOLE)
    hint: str = field(init=False, default=WHOLE_HINT)


@dataclass(frozen=True, eq=False, kw_only=True)
class Grid(Lent, ListArray):
    """All items of a list: the numbers in ``array``, which has an axis for each level of lists.
    They are read as numbers of type ``kept``. ``taken`` are the lists that became rows later.

    A grid of a longer ``index`` is ``table[i]``, which can only be indexed further at once:
    ``found`` is the number of lists that had become rows when it was read; later it may be another
    row."""

    owner: list[Any]
    array: Array
    kept: Type
    keeping: Keeping
    rows: list[tuple[Any, list[Any]]]  # the site of each list, and its items before the loop
    taken: list[list[Any]] = field(default_factory=list)
    index: tuple[Any, ...] = ()
    found: int = 0

    @property
    def count(self) -> Any:
        return self.array.type.dims[0]

    def item(self, run: Run, items: Any, index: Any) -> Any:
        at = self._place(run, items, index)
        if len(at) < self.array.type.ndim:
            return replace(self, index=at, found=len(self.taken))
        number = indexing.get_item(run, self.array, at)
        if self.kept.kind == "python":
            number = run.record("to_python", number, dtype=self.kept.dtype)
        return number

    def set_item(self, run: Run, items: Any, index: Any, value: Any) -> None:
        """Set an item: a number, or a row that nothing else reads or changes from now on."""
        at = self._place(run, items, index)
        if len(at) < self.array.type.ndim:
            self._set_row(run, at, value)
            return
        if not _is_number(value):
            run.refuse(f"{described(run.checked(value))} is set in a list of numbers", UNLIKE_HINT)
        _check_type(run, self, [value])
        indexing.set_item(run, self.array, at, value)

    def _set_row(self, run: Run, at: tuple[Any, ...], value: Any) -> None:
        run.checked(value)
        rows: list[list[Any]] = []
        dims = self.array.type.dims[len(at) :]
        if type(value) is not list or _shape_of(run, value, rows) != dims:
            run.refuse(
                WHOLE, "assign a list that is made in the function and is as long as the others"
            )
        _check_type(run, self, [*_leaves(value, len(dims))])
        stored = run.as_array(value, self.kept.dtype)
        indexing.set_item(run, self.array, (*at, *(slice(None) for _ in dims)), stored)
        for row in rows:
            run.set(_site(run, row), [Lent()])
        self.taken.append(value)

    def _place(self, run: Run, items: Any, index: Any) -> tuple[Any, ...]:
        """The index of an item in the array; it is checked if it is known."""
        if (self.found != len(self.taken)) if items is self else (items is not self.owner):
            run.refuse(WHOLE, WHOLE_HINT)
        if isinstance(index, Scalar):
            if index.type.dtype.kind not in "iu":
                run.refuse("a list is indexed by what is no integer", "use an integer")
        elif is_whole(index):
            index, length = int(index), self.array.type.dims[len(self.index)]
            if not -length <= index < length:
                run.raises(IndexError("list index out of range"))
        else:
            run.refuse(WHOLE, WHOLE_HINT)
        return (*self.index, index)


# --- from a list to an array ---------------------------------------------------------------------


def lay_out(run: Run, container: list[Any], wanted: Type | None, keeping: Keeping) -> Grid:
    """Copy the items of a list into an array, whose dtype also holds numbers of the ``wanted``
    type."""
    rows: list[list[Any]] = []
    shape = _shape_of(run, container, rows)
    if shape is None or 0 in shape:
        run.refuse(UNLIKE, UNLIKE_HINT)
    items = [*_leaves(container, len(shape))]
    kept = _common(items, wanted)
    if kept is None:
        run.refuse(UNLIKE, UNLIKE_HINT)
    array = _filled(run, container, items, shape, kept)
    name = name_of(run, container)
    if name:
        run.recorder.hints.setdefault(array.cell.variable, name)
    lent = [(_site(run, row), [*row]) for row in rows]
    grid = Grid(owner=container, array=array, kept=kept, keeping=keeping, rows=lent)
    for (site, _), row in zip(lent, rows, strict=True):
        run.set(site, [grid if row is container else Lent()])
    return grid


def _site(run: Run, container: list[Any]) -> ContentsSite:
    return ContentsSite(container, run.owned[id(container)].born, run.orders)


def _shape_of(run: Run, value: Any, lists: list[list[Any]]) -> Shape | None:
    """The shape of a nested list; the list and its sublists are added to ``lists``. None if it is
    ragged, contains a list twice or a list that is not the program's own, or contains anything but
    numbers."""
    if not run.owns(value) or is_lent(value) or any(value is one for one in lists):
        return None
    lists.append(value)
    if not any(type(part) is list for part in value):
        return (len(value),) if all(map(_is_number, value)) else None
    inner: set[Shape | None] = set()
    seen: set[int] = set()
    for part in value:
        if type(part) is not list or id(part) in seen:
            return None
        seen.add(id(part))
        found: list[list[Any]] = []
        inner.add(_shape_of(run, part, found))
        lists += found
    shape = inner.pop()
    if inner or shape is None or len({*map(id, lists)}) < len(lists):
        return None
    return (len(value), *shape)


def _is_number(value: Any) -> bool:
    return is_numeric(value)


def _leaves(value: Any, depth: int) -> Iterator[Any]:
    for part in value:
        if depth == 1:
            yield part
        else:
            yield from _leaves(part, depth - 1)


def _common(items: Iterable[Any], wanted: Type | None) -> Type | None:
    """The type of number that holds each of the items, and numbers of the ``wanted`` type."""
    types = dict.fromkeys(item.type for item in items if isinstance(item, Scalar))
    static = {(type(item), repr(item)): item for item in items if not isinstance(item, Scalar)}
    examples: list[Any] = [number_of(type_) for type_ in (*types, *([wanted] if wanted else []))]
    examples += sorted(static.values(), key=lambda item: "fiub".find(np.asarray(item).dtype.kind))
    found: Type | None = None
    for example in examples:
        found = common_number(example if found is None else number_of(found), example)
        if found is None:
            return None
    return found


def _filled(
    run: Run, container: list[Any], items: Sequence[Any], shape: Shape, kept: Type
) -> Array:
    """A new array of the items, made with as few equations as possible."""
    places = [*product(*map(range, shape))]
    source, left = _source(items, places, shape, kept), [*map(is_traced, items)]
    if source is not None:
        array = _owned(run, source)
        left = [not _is_row_of(item, source, at) for item, at in zip(items, places, strict=True)]
    elif all(left) and len({item.identity for item in items}) == 1:
        whole: Array = run.record("full", items[0], shape=shape, dtype=kept.dtype)
        return whole
    elif 2 * sum(left) > len(items):
        return _owned(run, run.read(run.as_array(container, kept.dtype)))
    else:
        array = _constant(run, items, shape, kept)
    _set_columns(run, array, items, left, kept)
    length = shape[-1]
    for start in range(0, len(items), length):
        row, of_row = items[start : start + length], left[start : start + length]
        if length >= FEWEST_ROWS and all(of_row):
            stored = run.as_array([*row], kept.dtype)
            indexing.set_item(run, array, (*places[start][:-1], slice(None)), stored)
            continue
        for at, item, is_left in zip(places[start : start + length], row, of_row, strict=True):
            if is_left:
                indexing.set_item(run, array, at, item)
    return _owned(run, array.cell.variable)


def _set_columns(
    run: Run, array: Array, items: Sequence[Any], left: list[bool], kept: Type
) -> None:
    """Set whole columns of which no item is set yet, and take them from ``left``."""
    dims = array.type.dims
    length = dims[-1]
    if len(dims) == 1 or len(items) < FEWEST_ROWS * length:
        return
    for k in range(length):
        column = items[k::length]
        if all(left[k::length]):
            stored = column[0]
            if len({item.identity for item in column if isinstance(item, Scalar)}) > 1:
                whole = run.as_array([*column], kept.dtype)
                stored = run.view(whole, "reshape", shape=dims[:-1])
            elif not all(isinstance(item, Scalar) for item in column):
                continue
            indexing.set_item(run, array, (..., k), stored)
            left[k::length] = [False] * len(column)


def _owned(run: Run, variable: Variable) -> Array:
    """An array with storage of its own."""
    return Array(Cell(variable, depth=run.depth, born=run.age()), variable.type)


def _is_row_of(item: Any, source: Variable, at: Shape) -> bool:
    return isinstance(item, Row) and item.atom == source and item.index == at


def _source(
    items: Sequence[Any], places: Sequence[Shape], shape: Shape, kept: Type
) -> Variable | None:
    """The array that holds most items as its elements, at their positions."""
    middle = items[len(items) // 2]
    for one in (middle, items[-1]):
        if isinstance(one, Row) and one.atom.type == Type.array(kept.dtype, shape):
            found = sum(
                _is_row_of(item, one.atom, at) for item, at in zip(items, places, strict=True)
            )
            if 2 * found > len(items):
                return one.atom
    return None


def _constant(run: Run, items: Sequence[Any], shape: Shape, kept: Type) -> Array:
    """An array of the known items, with zeros for the others."""
    values = tuple(0.0 if is_traced(item) else kept.dtype.type(item).item() for item in items)
    if len({*map(repr, values)}) == 1:
        array: Array = run.record("full", values[0], shape=shape, dtype=kept.dtype)
        return array
    array = run.record("constant", values=values, shape=shape, dtype=kept.dtype)
    return array


# --- and back ------------------------------------------------------------------------------------


def take_back(run: Run, grid: Grid) -> None:
    """Give a list its items again: the elements of its array. If the array has changed, the rows of
    the list are new lists."""
    if len(grid.owner) != 1 or grid.owner[0] is not grid:
        run.refuse(WHOLE, WHOLE_HINT)
    source = grid.array.cell.variable
    if source is grid.array.cell.made and not grid.taken:
        for site, before in grid.rows:
            run.set(site, before)
        return
    if not grid.kept.inexact:
        run.refuse(
            "this list of integers may be needed as it is after the loop",
            "make it an array: `np.zeros(shape, int)`",
        )
    lists = iter(grid.rows)

    def contents(at: Shape) -> list[Any]:
        site, _ = next(lists)
        if len(at) + 1 < grid.array.type.ndim:
            length = grid.array.type.dims[len(at)]
            items: list[Any] = [contents((*at, k)) for k in range(length)]
        else:
            length = grid.array.type.dims[-1]
            items = [Row(source, (*at, k), grid.kept) for k in range(length)]
        if grid.taken and at:
            made: list[Any] = run.own(items)
            return made
        run.set(site, items)
        container: list[Any] = site.container
        return container

    contents(())


def _check_type(run: Run, grid: Grid, values: Sequence[Any]) -> None:
    """Ask for a grid of another type of number if the array's dtype does not hold the values."""
    found = _common(values, grid.kept)
    if found == grid.kept:
        return
    first = next(laid for laid in grid.keeping.laid if laid[0] is grid.owner)
    wanted = _common(values, first[1])
    if wanted is None or wanted == first[1]:
        run.refuse(UNLIKE, UNLIKE_HINT)
    error = NeedsGrid(UNLIKE, UNLIKE_HINT, grid.keeping, grid.owner, wanted)
    error.location = run.location.shown or run.location
    raise error
