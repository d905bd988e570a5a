"""Mirrors of objects from outside, by the identity of the objects."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from stcompile.base import trees
from stcompile.base.guards import has_own_hash
from stcompile.base.places import Place
from stcompile.frontend.state.relied import Relied
from stcompile.frontend.state.values import Scalar


class Order:
    """The order that sets have in this process."""


ORDER: Final = Order()


def _order(items: Collection[Any]) -> tuple[Any, ...]:
    """The order of a set, and the size of its table, on which the order of copies depends."""
    return items.__sizeof__(), *items


class Mirrors:
    """The mirrors so far, and the parts of the arguments. An object is kept alive with its mirror,
    so that no other gets its identity."""

    def __init__(self, relied: Relied) -> None:
        self.relied = relied
        self.known: dict[int, tuple[Any, Any, Place]] = {}
        self.numbers: dict[Place, Scalar] = {}
        self.structures: dict[int, Any] = {}  # those of the arguments
        self.given: dict[int, str] = {}  # the arguments' parts, with their expressions
        self.of_objects: set[int] = set()  # those of the parts that objects hold
        self.of_parts: dict[int, tuple[type, str]] = {}  # those of objects taken apart: where

    def keep(self, value: Any, mirror: Any, place: Place) -> Any:
        """The mirror of an object, for each look at it from now on."""
        self.known[id(value)] = value, mirror, place
        return mirror

    def note_given(self, mirror: Any) -> None:
        """Note the structures of an argument, to recognise aliases."""
        parts = trees.children(mirror)
        if parts is not None:
            self.structures[id(mirror)] = mirror
            for _, part in parts:
                self.note_given(part)

    def may_be_another(self, value: Any) -> bool:
        """True for an object among the arguments, which another argument may alias."""
        return id(value) in self.structures

    def stands_for(self, mirror: Any, other: Any) -> None:
        """Note a structure that stands for another structure, inside of a program of its own."""
        origin = self.origin(other)
        if isinstance(origin, str) and not isinstance(mirror, Scalar):
            self.given[id(mirror)] = origin
            if id(other) in self.of_objects:
                self.of_objects.add(id(mirror))
            if id(other) in self.of_parts:
                self.of_parts[id(mirror)] = self.of_parts[id(other)]

    def is_of_object(self, mirror: Any) -> bool:
        """True for a list or a dict that an object from outside holds."""
        if id(mirror) in self.given:
            return id(mirror) in self.of_objects
        origin = self.origin(mirror)
        return isinstance(origin, Place) and origin.is_of_object

    def origin(self, mirror: Any) -> str | Place | None:
        """The expression or the place of an object from outside, of which this is the mirror or the
        object itself; None if it is none."""
        if id(mirror) in self.given:
            return self.given[id(mirror)]
        found = [place for _, held, place in self.known.values() if held is mirror]
        return found[0] if found else self.relied.place_of(mirror)

    def is_mirror(self, value: Any, place: Place, mirror: Any) -> bool:
        """True if ``mirror`` is what the program has read from a place with that ``value``."""
        if mirror is self.numbers.get(place, place):
            return True
        if id(value) in self.known and self.known[id(value)][1] is mirror:
            return True
        return mirror is value and place in self.relied.guards

    def rely_on_order(self, items: Collection[Any]) -> None:
        """Rely on the order of a set: sets with the same items may have them in another order,
        depending on earlier additions and removals. Python's hashes of text differ from process to
        process, so the program is good for this process only."""
        if id(items) in self.known:
            self.relied.guard(self.known[id(items)][2].fact("order", _order))
        if len(items) > 1 and not all(map(has_own_hash, items)):
            self.relied.identity(Place.constant(ORDER, "the order of a set"), ORDER)
