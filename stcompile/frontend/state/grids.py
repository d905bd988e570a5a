"""Lists whose items a loop keeps in an array while it is staged.

The list has a `Grid` in place of its items, and the lists in it, its rows, are *lent*: nothing but
the grid may read or change them until the loop ends. So any other reference to a row, by another
name or from another list, is refused as soon as it is used, and the loop is not kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stcompile.frontend.state.values import Array, Poison, Rest
from stcompile.wengert.types import Type

WHOLE = "while a loop keeps this list as an array, its items can only be read and set one by one"
WHOLE_HINT = "index it down to its numbers: `table[i][j]`"
STATIC_INDEX = (
    "stack the items into an array (`np.stack(items)[i]`), or use an index that is known at "
    "compile time: an int, or an item of an array that is passed as st.static(array)"
)
MOST = 16  # times that a loop is staged again, with another list as an array or of another type


@dataclass(eq=False)
class Keeping:
    """A loop that is to be kept since ``age``, and the lists that are ``laid`` out as arrays for
    it, each with the type of number that it needs to hold. No list is laid out once it
    ``is_closed``."""

    age: int
    laid: list[tuple[list[Any], Type | None]] = field(default_factory=list)
    is_closed: bool = False
    asked: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class Grid(Rest):
    """All items of a list: the numbers in ``array``, which has an axis for each level of lists.
    They are read as numbers of type ``kept``. ``taken`` are the lists that became rows later."""

    owner: list[Any]
    array: Array
    kept: Type
    keeping: Keeping
    rows: list[tuple[Any, list[Any]]]  # the site of each list, and its items before the loop
    taken: list[list[Any]] = field(default_factory=list)


class Lent(Rest):
    """All items of a list that is a row of a grid."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GridRow(Poison):
    """``table[i]``, which can only be indexed further at once. ``taken`` is the number of lists
    that had become rows when it was read: later it may be another row."""

    grid: Grid
    index: tuple[Any, ...]
    taken: int


def place_in_grid(container: Any) -> tuple[Grid, tuple[Any, ...]] | None:
    """The grid that has the items of a list, and the index that leads to them; None for anything
    else."""
    if isinstance(container, GridRow):
        return container.grid, container.index
    if type(container) is list and len(container) == 1 and isinstance(container[0], Grid):
        return container[0], ()
    return None


def is_lent(container: Any) -> bool:
    """True for a list whose items another object keeps."""
    return type(container) is list and any(isinstance(item, Grid | Lent) for item in container[:1])
