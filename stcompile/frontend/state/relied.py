"""Facts about the outside that a program relies on: each is a guard, which holds at every call."""

from __future__ import annotations

import functools
import types
from typing import Any

from stcompile.base.classes import find, has_own, is_changeable, names_of, owner_of, slot_of
from stcompile.base.guards import Guard, IdentityGuard, NamesGuard
from stcompile.base.places import Place


class Relied:
    """The facts so far, and the places of real objects whose attributes are read."""

    def __init__(self) -> None:
        self.guards: dict[Place, Guard] = {}
        self.names: dict[types.ModuleType, dict[str, None]] = {}  # names read from libraries
        self.places: dict[int, tuple[Any, Place]] = {}

    def guard(self, place: Place) -> Any:
        """A static fact about the outside: its value now, guarded."""
        value = place.read()
        self.guards.setdefault(place, Guard(place, value))
        return value

    def identity(self, place: Place, expected: Any) -> None:
        self.guards.setdefault(place, IdentityGuard(place, expected))

    def track(self, value: Any, place: Place) -> None:
        """Remember the place of a real object, for its attributes."""
        self.places.setdefault(id(value), (value, place))

    def place_of(self, value: Any) -> Place | None:
        """The place of a real object, if it is from outside."""
        found = self.places.get(id(value))
        return found[1] if found else None

    def class_of(self, value: Any) -> type:
        """The class of an object, which does not change."""
        place = self.place_of(value)
        if place is not None and is_changeable(type(value)):
            self.identity(place.kind(), type(value))
        return type(value)

    def lookup(self, cls: type, name: str, after: type | None = None) -> Any:
        """Look up a name in a class, or in the classes after ``after`` in its method resolution
        order, unbound; `MISSING` if no class has it. The program relies on the result from now
        on."""
        found = find(cls, name, after)
        last = owner_of(cls, name, after)
        order = cls.__mro__ if last is None else cls.__mro__[: cls.__mro__.index(last) + 1]
        if any(map(is_changeable, order)):
            self.identity(Place.of_class(cls, name, after), found)
        return found

    def lacks(self, owner: Any, name: str) -> None:
        """Guard that a real object has no attribute of that name itself."""
        place = self.place_of(owner)
        if place is None:
            return
        if slot_of(type(owner), name) is not None:
            self.guard(place.fact(f"own {name}", functools.partial(has_own, name=name)))
        elif names_of(owner) is not None:
            self.guard(place.has_own(name))

    def all_guards(self) -> tuple[Guard, ...]:
        """All guards that have to hold for the program to be right. The names of a library's module
        are a single guard: there are many of them, and they are hardly ever replaced."""
        places = [Place.of_names(module, (*names,)) for module, names in self.names.items()]
        modules = [NamesGuard(place, place.read()) for place in places]
        return (*self.guards.values(), *modules)
