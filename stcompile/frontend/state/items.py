"""Items that a loop or a call takes one after another: of sequences, iterators and generators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from stcompile.frontend.state.values import Cell, Value, scaled

ENDLESS = 2**61  # an iterator with so many items or more has no end
USED_UP = 2**63  # the position of an iterator that has ended, even if its list grows
TAKEN = USED_UP - 1  # the position of an iterator that something else has taken items from


@dataclass(frozen=True, eq=False)
class Sequence:
    """Items that are made when they are read, since the iterable may change on the way. ``count``
    gives their present number. If they are ``rows``, of an array, a range or a list, they can also
    be made for the counter of a rolled loop, after a call of ``prepare``: it returns pairs of the
    storage of an array that is copied for the loop, and the storage of its copy."""

    count: int | Callable[[], int]
    item: Callable[[Any], Any]
    sources: tuple[Any, ...] = ()
    rows: bool = True
    prepare: Callable[[], tuple[tuple[Cell, Cell], ...]] = tuple

    @property
    def length(self) -> int:
        return self.count if isinstance(self.count, int) else self.count()

    def after(self, start: int) -> Sequence:
        """The items from a position on."""

        def item(index: Any) -> Any:
            at = scaled(index, 1, start)
            return self.item(at)

        count = self.count
        left = count - start if isinstance(count, int) else lambda: count() - start
        return Sequence(left, item, self.sources, self.rows, self.prepare)


@dataclass(eq=False)
class Counted(Value):
    """A range, or items made from those of a range, whose number, ``count``, is known only at run
    time. ``once``: it is an iterator. ``source`` is the list that the items are of."""

    noun = "range"
    is_static = True

    count: Any
    item: Callable[[Any], Any]
    once: bool = False
    is_used: bool = False
    source: Any = None


@dataclass(eq=False)
class Iterator(Value):
    """An iterator over a sequence: its items are used up once."""

    noun = "iterator"

    items: Sequence
    position: int = 0
    born: int = 0

    @property
    def left(self) -> bool:
        """True if there are items left."""
        return self.position < self.items.length

    def held(self) -> Iterable[Any]:
        return self.items.sources


@dataclass(eq=False)
class Generated(Value):
    """A generator that a call has made. ``body`` runs the function's body, and passes on each item
    where it is yielded: the code that takes the items runs within it. It returns the function's
    value. ``names`` are the function's. If the items come from an object, without a function that
    waits between them, ``pull`` gives the next item, or `MISSING`."""

    noun = "generator"

    name: str
    body: Callable[[Callable[[Any], None]], Any]
    names: dict[str, Any]
    is_used: bool = False
    pull: Callable[[], Any] | None = None

    def held(self) -> Iterable[Any]:
        return self.names.values()
