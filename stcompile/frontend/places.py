"""Places: where a captured value is read from, now and at every call."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import stcompile.trees as trees


@dataclass(frozen=True)
class Place:
    """A global, a closure cell, an attribute, or a part of what another place holds.

    ``key`` tells places apart; ``read`` gets the present value.
    """

    key: tuple[Any, ...]
    read: Callable[[], Any] = field(compare=False)
    description: str = field(compare=False)

    @staticmethod
    def constant(value: Any, description: str) -> Place:
        """An object that is held on to, such as the function that is compiled."""
        return Place(("constant", id(value)), lambda: value, description)

    @staticmethod
    def of_global(names: dict[str, Any], name: str) -> Place:
        return Place(("global", id(names), name), lambda: names[name], name)

    @staticmethod
    def of_cell(cell: types.CellType, name: str) -> Place:
        return Place(("cell", id(cell)), lambda: cell.cell_contents, name)

    @staticmethod
    def of_class(cls: type, name: str) -> Place:
        """A method or attribute as it stands on the class that defines it."""
        owner = next(c for c in cls.__mro__ if name in vars(c))
        shown = f"{owner.__name__}.{name}"
        return Place(("class", id(owner), name), lambda: vars(owner)[name], shown)

    def attribute(self, name: str) -> Place:
        read, shown = self.read, f"{self.description}.{name}"
        return Place(("attribute", self.key, name), lambda: getattr(read(), name), shown)

    def part(self, path: trees.Path) -> Place:
        read, shown = self.read, trees.show_path(self.description, path)
        return Place(("part", self.key, path), lambda: trees.follow(read(), path), shown)

    def fact(self, name: str, ask: Callable[[Any], Any]) -> Place:
        """Something about the value, such as its structure."""
        read = self.read
        return Place(("fact", self.key, name), lambda: ask(read()), f"{name} of {self.description}")

    def same_as(self, other: Place) -> Place:
        """Whether two places hold one object."""
        one, two = self.read, other.read
        shown = f"{self.description} is {other.description}"
        return Place(("same", self.key, other.key), lambda: one() is two(), shown)
