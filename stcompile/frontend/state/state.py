"""The mutable state of a staged program, and undoing changes to it.

Everything that a program can change is a *site*: a name of a frame, the variable of a cell, the
contents of a container, an attribute of an object, the position of an iterator. A `Journal`
remembers the contents of sites before their first change, so that a path of control flow can be
staged, looked at, and taken back.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from stcompile.base.classes import MISSING, own, own_attributes, set_own
from stcompile.base.containers import contents, refill
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.set_orders import Noted, SetOrders
from stcompile.frontend.state.values import DICT_VIEWS, Array, Unread, Value


@dataclass(frozen=True, eq=False)
class NameSite:
    """A name of a frame."""

    frame: Frame
    name: str

    @property
    def key(self) -> tuple[Any, ...]:
        return NameSite, id(self.frame), self.name

    @property
    def born(self) -> int:
        return self.frame.born

    def read(self) -> Any:
        return self.frame.names.get(self.name, MISSING)

    def write(self, value: Any) -> None:
        if value is MISSING:
            self.frame.names.pop(self.name, None)
        else:
            self.frame.names[self.name] = value


@dataclass(frozen=True, eq=False)
class FieldSite:
    """A ``field`` of a value of the compiler."""

    owner: Any
    field: ClassVar[str]

    @property
    def key(self) -> tuple[Any, ...]:
        return type(self), id(self.owner)

    @property
    def born(self) -> int:
        born: int = self.owner.born
        return born

    def read(self) -> Any:
        return getattr(self.owner, self.field)

    def write(self, value: Any) -> None:
        setattr(self.owner, self.field, value)


class CellSite(FieldSite):
    """The variable of a cell: the contents of an array."""

    field = "variable"


class PositionSite(FieldSite):
    """The position of an iterator."""

    field = "position"


class ShapeSite(FieldSite):
    """The shape of an array: the part of a cell that it shows, and the type."""

    @property
    def born(self) -> int:
        born: int = self.owner.cell.born
        return born

    def read(self) -> Any:
        return self.owner.type, self.owner.path

    def write(self, value: Any) -> None:
        self.owner.type, self.owner.path = value


@dataclass(frozen=True, eq=False)
class ContentsSite:
    """The contents of a container or a set that the program made; ``born`` is its age."""

    container: Any
    born: int
    orders: SetOrders

    @property
    def key(self) -> tuple[Any, ...]:
        return ContentsSite, id(self.container)

    def read(self) -> Any:
        of_set = isinstance(self.container, set)
        return Noted(self.container) if of_set else contents(self.container)

    def write(self, value: Any) -> None:
        if isinstance(self.container, set):
            self.orders.put_back(self.container, value)
            return
        refill(self.container, value)


@dataclass(frozen=True, eq=False)
class AttributeSite:
    """An attribute of an object that the program made; ``born`` is its age."""

    owner: Any
    name: str
    born: int

    @property
    def key(self) -> tuple[Any, ...]:
        return AttributeSite, id(self.owner), self.name

    def read(self) -> Any:
        return own(self.owner, self.name)

    def write(self, value: Any) -> None:
        set_own(self.owner, self.name, value)


@dataclass(frozen=True, eq=False)
class OutsideSite(AttributeSite):
    """An attribute of an object from outside. The object keeps what it has: what the program sets
    is ``held`` beside it; until then the attribute is as on ``entry``."""

    held: dict[tuple[int, str], Any]
    entry: Unread

    def read(self) -> Any:
        return self.held.get((id(self.owner), self.name), self.entry)

    def write(self, value: Any) -> None:
        self.held[id(self.owner), self.name] = value


Site: TypeAlias = NameSite | CellSite | ContentsSite | AttributeSite | PositionSite | ShapeSite
Key: TypeAlias = tuple[Any, ...]


class Journal:
    """The sites that were changed since an ``age``, with their earlier contents. Sites that are
    younger are not restored: nothing else can reach them. ``is_certain``: the changes are made
    whatever the data are."""

    def __init__(self, age: int, is_certain: bool = False) -> None:
        self.age = age
        self.is_certain = is_certain
        self.before: dict[Key, tuple[Site, Any]] = {}

    def note(self, site: Site) -> None:
        """Remember a site before it is changed."""
        if site.key not in self.before:
            self.before[site.key] = site, site.read()

    def after(self) -> dict[Key, tuple[Site, Any]]:
        """The present contents of the changed sites."""
        return {key: (site, site.read()) for key, (site, _) in self.before.items()}

    def settle(self) -> None:
        """Read what attributes held before that the program has not read: a path that leaves them
        alone goes on with it."""
        for key, (site, value) in self.before.items():
            if isinstance(value, Unread):
                self.before[key] = site, value.read()

    def undo(self) -> None:
        for site, value in self.before.values():
            if site.born <= self.age:
                site.write(value)


def reachable(
    frames: Iterable[Frame],
    left_out: Collection[Key],
    owned: Collection[int],
    more: Iterable[Any] = (),
) -> set[int]:
    """Identities of the cells and containers that some name, loop, container or ``owned`` object
    refers to, except through the sites in ``left_out``, and of the objects that the values ``more``
    are or refer to."""
    seen: set[int] = set()
    stack: list[Any] = list(more)
    for frame in frames:
        stack += frame.iterated
        names = frame.names.items()
        stack += [value for name, value in names if (NameSite, id(frame), name) not in left_out]
    while stack:
        value = stack.pop()
        if isinstance(value, Array):
            seen.add(id(value.cell))
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        if (ContentsSite, id(value)) in left_out:
            continue
        if id(value) in owned:
            parts, site = own_attributes(value), (AttributeSite, id(value))
            stack += [part for name, part in parts if (*site, name) not in left_out]
        if isinstance(value, list | tuple | set | deque):
            stack += value
        elif isinstance(value, dict):
            stack += value.values()
        elif type(value) in DICT_VIEWS:
            stack += gc.get_referents(value)  # the dict of a view, which has no attribute for it
        elif isinstance(value, Value):
            stack += value.held()
    return seen
