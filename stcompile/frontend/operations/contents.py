"""The contents of containers whose classes derive from others: of dicts from outside, whose items
are read as those of a plain dict, and of what the program makes or reads mirrors of."""

from __future__ import annotations

from typing import Any

from stcompile.base.classes import MISSING, find
from stcompile.base.containers import is_derived
from stcompile.frontend.state.run import Run

READING = frozenset({"get", "items", "keys", "values"})  # methods that change nothing


def contents_of(run: Run, owner: Any) -> dict[Any, Any] | None:
    """The items that a dict from outside has on entry, which each call compares; None for anything
    else. They may be read only."""
    if not isinstance(owner, dict) or type(owner) is dict or run.owns(owner):
        return None
    place = run.relied.place_of(owner)
    if place is None:
        return None
    kept = run.captures.contents
    if id(owner) not in kept:
        kept[id(owner)] = run.captures.captured(_items_of(owner), place.fact("items", _items_of))
    return kept[id(owner)]


def has_contents(run: Run, owner: Any) -> bool:
    """True for a deque, or an object of a class that derives from a list, a dict or a deque, whose
    contents the program knows: it made the object, or reads a mirror of it."""
    return is_derived(owner) and run.relied.place_of(owner) is None


def has_key(owner: Any, contents: dict[Any, Any], key: Any) -> bool:
    """False for a key that the class of a dict has a value of its own for, by ``__missing__``."""
    return find(type(owner), "__missing__") is MISSING or key in contents


def _items_of(owner: dict[Any, Any]) -> dict[Any, Any]:
    return dict(dict.items(owner))
