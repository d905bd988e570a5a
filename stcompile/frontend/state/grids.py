"""Lists whose items a loop keeps in one array while it is staged.

Such a list has one `Grid` in place of its items, and the lists in it, its rows, are *lent*: nothing
but the grid may read or change them until the loop ends. So whatever else refers to a row, by
another name or from another list, is refused as soon as it is used, and the loop is not kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stcompile.base.errors import LanguageError, StcompileError
from stcompile.frontend.state.values import Array, Poison, Rest
from stcompile.wengert.types import Type

if TYPE_CHECKING:
    from stcompile.frontend.state.run import Run

WHOLE = "while a loop keeps this list as an array, its items can only be read and set one by one"
WHOLE_HINT = "index it down to its numbers: `table[i][j]`"
MOST = 16  # times that a loop is staged again, with another list as an array or of another type


@dataclass(eq=False)
class Keeping:
    """A loop that is to be kept since ``age``, and the lists that are ``laid`` out as arrays for
    it, each with the type of number that it needs to hold. Once it ``is_closed`` there are none."""

    age: int
    laid: list[tuple[list[Any], Type | None]] = field(default_factory=list)
    is_closed: bool = False
    asked: int = 0


class NeedsGrid(LanguageError):
    """The loop that is to be kept needs a list as an array, of a ``wanted`` type of number if that
    is known already."""

    def __init__(
        self, reason: str, hint: str, keeping: Keeping, container: list[Any], wanted: Type | None
    ) -> None:
        super().__init__(reason, hint=hint)
        self.keeping = keeping
        self.container = container
        self.wanted = wanted


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
    """``table[i]``, which can only be indexed further at once. ``taken`` is how many lists had
    become rows when it was read: later it may be another row."""

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
    """True for a list that something else keeps the items of."""
    return type(container) is list and any(isinstance(item, Grid | Lent) for item in container[:1])


def ask_for_grid(run: Run, container: Any, reason: str, hint: str) -> None:
    """Leave the loop that is to be kept, for another try with a list as an array: the outermost
    loop around which the list was made. Does nothing if there is none."""
    if type(container) is not list or not run.keeping or not run.owns(container):
        return
    born = run.made_at(container) or 0
    keeping = next((one for one in run.keeping if one.age >= born), None)
    if keeping is not None and not keeping.is_closed and not is_lent(container):
        error = NeedsGrid(reason, hint, keeping, container, None)
        error.location = run.location.shown or run.location
        raise error


def pass_on(run: Run, error: StcompileError) -> None:
    """Raise an error that a loop further out waits for."""
    if isinstance(error, NeedsGrid) and any(error.keeping is one for one in run.keeping):
        raise error
