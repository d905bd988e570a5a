"""Objects from outside that the program changes: attributes, lists and dicts of the caller.

Nothing is changed while a call is staged. The attributes that a program sets on a real object are
held beside it, under the object's identity; lists, dicts and dataclasses are changed as mirrors.
The first change of each place is noted with what was there on entry, so that the end of the program
can be compared with its start.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from stcompile.base.errors import LanguageError
from stcompile.base.places import Place
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.state import AttributeSite, CellSite, ContentsSite, Key
from stcompile.frontend.state.values import Unread


class StagedAgain(Exception):
    """Raised where a value turns out to change from call to call that was read as a static one: the
    number, or the length of the list, in ``place``. The call is staged again with that in mind."""

    def __init__(self, place: Place) -> None:
        self.place = place


class ChangedPart(LanguageError):
    """A change of a list or dict that holds floating-point numbers in an object that is
    differentiated by: the ``attribute``, a class and a name, is no parameter."""

    attribute: tuple[type, str]


@dataclass(frozen=True)
class Change:
    """A site from outside that the program has changed, what it had ``entered`` with, and the first
    line that changed it."""

    site: AttributeSite | CellSite | ContentsSite
    entered: Any
    where: tuple[ast.AST, Frame]


class Outside:
    """The changes of a program, and the values that objects from outside hold instead of their
    own."""

    def __init__(self) -> None:
        self.held: dict[tuple[int, str], Any] = {}
        self._apart: dict[int, tuple[Any, Any]] = {}  # put together again, with what it stands for
        self.changes: dict[Key, Change] = {}
        self.version = 0  # grows with each change

    def stand_for(self, made: Any, original: Any) -> None:
        """Note an object that was put together for the time of a call, and the one from outside
        that was taken apart: what is set on the first is set on the second."""
        self._apart[id(made)] = made, original

    def real(self, owner: Any) -> Any:
        """The object that an attribute is set on."""
        return self._apart[id(owner)][1] if id(owner) in self._apart else owner

    def holds(self, owner: Any, name: str) -> bool:
        """True if the program knows better than the object itself what the attribute is."""
        return not isinstance(self.held.get((id(self.real(owner)), name), _UNTOLD), Unread)

    def is_changed(self, owner: Any) -> bool:
        """True for an object of which an attribute was set."""
        return any(one == id(owner) for one, _ in self.held)

    @property
    def set_apart(self) -> frozenset[tuple[type, str]]:
        """The attributes that were set of objects taken apart: the class and the name."""
        apart = {id(original) for _, original in self._apart.values()}
        sites = [change.site for change in self.changes.values()]
        return frozenset(
            (type(site.owner), site.name)
            for site in sites
            if isinstance(site, AttributeSite) and id(site.owner) in apart
        )

    @property
    def cells(self) -> list[CellSite]:
        """The arrays that objects from outside hold and the program writes into."""
        sites = (change.site for change in self.changes.values())
        return [site for site in sites if isinstance(site, CellSite)]

    def note(self, change: Change) -> None:
        """Note the first change of a site."""
        self.changes.setdefault(change.site.key, change)


_UNTOLD = Unread(lambda: None)
