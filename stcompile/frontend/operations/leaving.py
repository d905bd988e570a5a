"""Lists whose number of items the data decide, where they leave a program.

A result consists of numbers and arrays. Therefore the list is returned as arrays, one array for
each number or array in an item, with a row for each item; the caller gets a list of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stcompile.base import trees
from stcompile.base.deferred import deferred
from stcompile.frontend.state.rests import filled_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Layout
from stcompile.wengert.types import Type

FILLED = "stcompile.frontend.operations.filled"
columns_of, from_columns = deferred(FILLED, "columns_of"), deferred(FILLED, "from_columns")


@dataclass(frozen=True)
class Rows:
    """The items of a list in the structure of a result: an array for each leaf of an item, by its
    path in the item."""

    layout: Layout
    columns: dict[trees.Path, Any]


def paths_in(layout: Layout, path: trees.Path = ()) -> Iterator[trees.Path]:
    """The paths of the numbers and arrays of an item."""
    if isinstance(layout, Type):
        yield path
    else:
        for index, part in enumerate(layout.parts):
            yield from paths_in(part, (*path, ("item", index)))


def with_rows(run: Run, value: Any) -> Any:
    """Replace the lists whose number of items the data decide by rows."""
    filled = filled_in(value)
    if filled is not None:
        columns = columns_of(run, filled)
        return Rows(filled.layout, dict(zip(paths_in(filled.layout), columns, strict=True)))
    parts = trees.children(value)
    made = [with_rows(run, part) for _, part in parts or ()]
    if all(new is part for new, (_, part) in zip(made, parts or (), strict=True)):
        return value
    return trees.with_children(value, made)


def with_lists(run: Run, value: Any) -> Any:
    """Replace rows by lists."""
    if isinstance(value, Rows):
        columns = [*value.columns.values()]
        assert all(isinstance(column, Array) for column in columns)
        return run.own([from_columns(run, value.layout, columns)] if columns else [])
    parts = trees.children(value)
    made = [with_lists(run, part) for _, part in parts or ()]
    if all(new is part for new, (_, part) in zip(made, parts or (), strict=True)):
        return value
    return trees.with_children(value, made)


def has_rows(value: Any) -> bool:
    """True for a structure that contains `Rows`."""
    if isinstance(value, Rows):
        return True
    return any(has_rows(part) for _, part in trees.children(value) or ())
