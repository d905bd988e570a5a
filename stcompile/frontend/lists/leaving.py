"""Lists whose number of items the data decide, where they leave a program.

A result consists of numbers and arrays. Therefore the list is returned as arrays, one array for
each number or array in an item, with a row for each item; the caller gets a list of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stcompile.base import trees
from stcompile.base.deferred import deferred
from stcompile.frontend.lists.item_layouts import Rows
from stcompile.frontend.state.rests import filled_in
from stcompile.frontend.state.run import Run

from_rows = deferred("stcompile.frontend.lists.filled", "from_rows")


def with_rows(run: Run, value: Any) -> Any:
    """Replace the lists whose number of items the data decide by rows."""

    def rows(part: Any) -> Any:
        filled = filled_in(part)
        return None if filled is None else filled.as_rows(run)

    return _replaced(rows, value)


def with_lists(run: Run, value: Any) -> Any:
    """Replace rows by lists."""

    def listed(part: Any) -> Any:
        if not isinstance(part, Rows):
            return None
        return run.own([from_rows(run, part)] if part.columns else [])

    return _replaced(listed, value)


def _replaced(change: Callable[[Any], Any], value: Any) -> Any:
    """The structure with the parts that ``change`` gives in place of others; it gives None for a
    part that stays. The structure itself if all stay."""
    found = change(value)
    if found is not None:
        return found
    parts = trees.children(value) or ()
    made = [_replaced(change, part) for _, part in parts]
    if all(new is part for new, (_, part) in zip(made, parts, strict=True)):
        return value
    return trees.with_children(value, made)


def has_rows(value: Any) -> bool:
    """True for a structure that contains `Rows`."""
    if isinstance(value, Rows):
        return True
    return any(has_rows(part) for _, part in trees.children(value) or ())
