"""The order of the items of sets that a program makes, as far as it is known.

The order depends on the history of a set: on the order of the items that it was made from, and on
earlier additions and removals. Sets are Python's own and are changed by Python's own operations, so
that they have Python's order. A change that is undone after a trial is the exception: Python has no
way to restore a set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


class Noted(set[Any]):
    """The items of a set at some time, in their order, with the size of its table."""

    def __init__(self, noted: set[Any]) -> None:
        super().__init__(noted)
        self.order = tuple(noted)
        self.size = noted.__sizeof__()

    def is_as(self, other: set[Any]) -> bool:
        same = len(self.order) == len(other) and self.size == other.__sizeof__()
        return same and all(a is b for a, b in zip(self.order, other, strict=True))


class SetOrders:
    def __init__(self) -> None:
        self._sources: dict[int, list[Any]] = {}  # the sources of sets, themselves first
        self._losing: dict[int, Any] = {}  # sets that have lost items: their tables have gaps
        self._lost: dict[int, Any] = {}

    def derive(self, made: Any, sources: Iterable[Any]) -> None:
        """Note the sets from which a set was made or changed."""
        if isinstance(made, set | frozenset):
            sets = [s for s in sources if isinstance(s, set | frozenset) and s is not made]
            self._sources.setdefault(id(made), [made]).extend(sets)

    def note_loss(self, changed: Any) -> None:
        """Note that items are removed from a set."""
        self._losing[id(changed)] = changed

    def put_back(self, container: set[Any], noted: Noted) -> None:
        """Restore the items of a set."""
        if id(container) not in self._losing:
            if noted.is_as(container):
                return
            for items in (noted.order, set(noted.order), noted):  # a table grows in several ways
                container.clear()
                container.update(items)
                if noted.is_as(container):
                    return
        container.clear()
        container.update(noted)
        self._lost[id(container)] = container

    def is_lost(self, items: Any) -> bool:
        """True for a set whose items may be in another order than in Python."""
        return id(items) in self._lost

    def behind(self, items: Any) -> Iterator[Any]:
        """A set, and the sets on whose order its own order depends."""
        seen, stack = set[int](), [items]
        while stack:
            one = stack.pop()
            if id(one) not in seen:
                seen.add(id(one))
                stack += self._sources.get(id(one), ())
                yield one
