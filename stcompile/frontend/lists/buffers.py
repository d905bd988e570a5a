"""Rows of the arrays that the items of a list are in.

An array has a row for each item that the list can have: the row at an index is read and stored as
any part of an array.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from stcompile.frontend.lists.item_layouts import Layout
from stcompile.frontend.operations.subscripts import place_on_axis
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Affine, Array, Cell, Scalar
from stcompile.wengert.dims import Dim, Size, Sizes
from stcompile.wengert.ir import Atom, Variable
from stcompile.wengert.types import Type

COPIED = "a list whose length the data decide has a copy of it"


def blank(run: Run, type_: Type, capacity: Size) -> Variable:
    """An array with room for so many items of a type."""
    params = {"shape": (capacity, *type_.dims), "dtype": type_.dtype}
    (made,) = run.record_atoms("full", (run.atom(type_.dtype.type(0)),), params)
    return made


def freeze_item(run: Run, item: Any) -> None:
    """Freeze an item that is copied, so that nothing changes it: for the program the copy is the
    item."""
    if isinstance(item, Array):
        run.freeze(item.cell, COPIED)
    elif isinstance(item, tuple | list):
        run.disown(item)
        for part in item:
            freeze_item(run, part)


def _within(run: Run, buffer: Variable, index: Any) -> Any:
    """An index of the rows of an array whose length may have a name."""
    dim, place = buffer.type.dims[0], run.size_of(index)
    return place_on_axis(run, place, dim) if isinstance(dim, Dim) and place is not None else index


def _part(index: Any, row: Sizes, length: Size | None) -> tuple[tuple[Variable, ...], Any]:
    """The operands and the params of a slice of rows, or of a single row (``length`` is None)."""
    counters: tuple[Variable, ...] = ()
    start: tuple[Any, ...] = (index,)
    if isinstance(index, Affine):
        counters = tuple(counter for counter, _ in index.terms)
        start = (index.offset, *(coefficient for _, coefficient in index.terms))
    elif isinstance(index, Scalar):
        counters, start = (index.atom,), (0, 1)
    return counters, {
        "start": (start, *((0,) for _ in row)),
        "length": (1 if length is None else length, *row),
        "step": (1,) * (1 + len(row)),
        "drop": (0,) if length is None else (),
    }


def store(run: Run, buffer: Variable, value: Any, index: Any, length: Size | None) -> Variable:
    """The array with ``length`` rows replaced from an index on, or one row (None)."""
    index = _within(run, buffer, index) if length is None else index
    counters, params = _part(index, buffer.type.dims[1:], length)
    operands: tuple[Atom, ...] = (buffer, run.atom(value), *counters)
    (made,) = run.record_atoms("update", operands, params)
    hint = run.recorder.hints.get(buffer)
    if hint:
        run.recorder.hints[made] = hint
    return made


def row_at(run: Run, buffer: Variable, type_: Type, place: Any) -> Any:
    """The number or the array in a row."""
    counters, params = _part(_within(run, buffer, place), buffer.type.dims[1:], None)
    (row,) = run.record_atoms("slice", (buffer, *counters), params)
    if type_.kind == "python":
        (row,) = run.record_atoms("to_python", (row,), {"dtype": type_.dtype})
    value = run.value(row)
    if isinstance(value, Array):
        run.freeze(value.cell, COPIED)
    return value


def first_rows(run: Run, layout: Layout, buffers: Iterator[Variable], size: Size) -> Array:
    """Make one array of the first ``size`` items."""
    if isinstance(layout, Type):
        buffer = next(buffers)
        if size == buffer.type.dims[0]:
            return Array(Cell(buffer, depth=run.depth, born=run.age()), buffer.type)
        _, params = _part(0, buffer.type.dims[1:], size)
        array: Array = run.record("slice", Array(Cell(buffer), buffer.type), **params)
        return array
    parts = [first_rows(run, part, buffers, size) for part in layout]
    dtype = np.result_type(*(part.type.dtype for part in parts))
    stacked: Array = run.record("stack", *(run.cast(part, dtype) for part in parts), axis=1)
    return stacked
