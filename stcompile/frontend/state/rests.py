"""Lists some or all of whose items are not known one by one.

Such a list holds a `Rest` in place of these items. Known items may come before and after it: a
position in the list is known if it is counted from an end without reaching the rest. A `ListArray`
has all items of the list: they are in arrays, and it knows how to read and change them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard

from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Grown, Rest

FILLED = "how many items this list has is known only at run time"
FILLED_HINT = "make an array of it first: `np.array(items)`"
APPENDED = "this list is appended to in a loop: how many items it has is known only at run time"
APPENDED_HINT = (
    "loop over a range that is long enough and end it by `break`, or write the values into an array"
    " made before the loop"
)
UNLIKE = "the items of this list are not numbers or arrays of one type"


class ListArray(Rest):
    """All items of a list, in arrays: ``count`` of them, and at least ``low``. An operation that
    they do not support is refused for their reason."""

    count: Any
    low: Any
    layout: Any  # of an item

    def item(self, run: Run, items: Any, index: Any) -> Any:
        """``items[index]``."""
        return run.checked(self)

    def set_item(self, run: Run, items: Any, index: Any, value: Any) -> None:
        """``items[index] = value``."""
        run.checked(self)

    def call(
        self, run: Run, items: list[Any], name: str, arguments: Sequence[Any], keywords: Any
    ) -> Any:
        """``items.append(value)`` and the like; the items may still be known one by one."""
        return run.checked(self)

    def operate(self, run: Run, python: Any, left: Any, right: Any) -> Any:
        """``items + more`` or ``more + items``."""
        return run.checked(self)

    def unpacked(self, run: Run, first: int, last: int | None) -> Any:
        """The items that an unpacking assigns: the ``first`` items, and if ``last`` is not None, a
        list of the items in the middle, and the ``last`` items."""
        return run.checked(self)

    def iterated(self, run: Run, items: list[Any]) -> Any:
        """The items for a loop, which may change items, but not their number."""
        return run.checked(self)

    def sorted(self, run: Run, reverse: bool) -> Any:
        """The items in order."""
        return run.checked(self)

    def as_array(self, run: Run) -> Any:
        """``np.array(items)``."""
        return run.checked(self)

    def as_rows(self, run: Run) -> Any:
        """The items as `Rows` of a result."""
        return run.checked(self)


def rest_in(items: Iterable[Any]) -> Rest | None:
    """The `Rest` of a list, if some of its items are unknown."""
    return next((item for item in items if isinstance(item, Rest)), None)


def arrays_in(container: Any) -> ListArray | None:
    """The arrays that all items of a list are in; None for anything else."""
    if type(container) is list and len(container) == 1:
        (container,) = container
    return container if isinstance(container, ListArray) else None


def is_filled(item: Any) -> TypeGuard[ListArray]:
    """True for all items of a list that may have more or fewer items."""
    return isinstance(item, ListArray) and not item.is_lent


def filled_in(container: Any) -> ListArray | None:
    """The arrays that all items of a list are in, if it may have more or fewer items."""
    found = arrays_in(container)
    return found if is_filled(found) else None


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
