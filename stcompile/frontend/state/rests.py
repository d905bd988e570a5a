"""Lists whose number of items the data decide.

The list holds a `Rest` in place of the unknown items; known items may come before and after it. A
position in the list is known if it is counted from an end without reaching the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Filled, Grown, Rest

FILLED = "how many items this list has is known only at run time"
FILLED_HINT = "make an array of it first: `np.array(items)`"
UNLIKE = "the items of this list are not numbers or arrays of one type"


def rest_in(items: Iterable[Any]) -> Rest | None:
    """The `Rest` of a list, if some of its items are unknown."""
    return next((item for item in items if isinstance(item, Rest)), None)


def filled_in(items: Any) -> Filled | None:
    """The rows that are the items of a list; None if the number of items is known."""
    is_one = type(items) is list and len(items) == 1
    return items[0] if is_one and isinstance(items[0], Filled) else None


def count_of(items: Sequence[Any]) -> Any:
    """The number of items: an int, or a number known at run time."""
    filled = filled_in(items)
    return len(items) if filled is None else filled.count


def name_of(run: Run, container: Any) -> str:
    """The user's name for a list."""
    names = run.frame.names.items() if container is not None else ()
    return next((name for name, value in names if value is container), "")


def check_place(run: Run, items: Sequence[Any], index: Any) -> None:
    """Refuse an index or a slice if it is not known which items it selects."""
    if rest_in(items) is None:
        return
    passed = items
    if isinstance(index, slice):
        start, stop, step = index.start, index.stop, index.step
        if isinstance(start, int) and start < 0 and stop is None and step in (None, 1):
            passed = _passed(items, start)
            index = start
    elif isinstance(index, int):
        passed = _passed(items, index)
    rest = rest_in(passed)
    if rest is not None:
        ask(items, index)
        run.refuse(rest.reason, rest.hint)


def ask(items: Sequence[Any], index: Any) -> None:
    """Note that an item was read by its position, counted from the end."""
    if not isinstance(index, int) or index >= 0:
        return
    for known, item in enumerate(reversed(items)):
        if isinstance(item, Rest):
            if isinstance(item, Grown):
                item.asked.append(-index - known)
            return


def check_insertion(run: Run, items: Sequence[Any], index: Any) -> None:
    """Refuse to insert an item if its position is not known."""
    if isinstance(index, int) and index > 0:
        check_place(run, items, index - 1)
    elif index != 0:
        check_place(run, items, index)


def _passed(items: Sequence[Any], index: int) -> Sequence[Any]:
    """The items that are passed on the way to an item from the nearer end."""
    if index >= 0:
        return items[: index + 1]
    return items[index:] if -index <= len(items) else items
