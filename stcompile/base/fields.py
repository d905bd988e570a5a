"""Objects of ordinary classes, taken apart for the time of a call.

Most objects are read attribute by attribute, where a program reads them. An object that is
differentiated by has *parts* like a dataclass: the attributes that hold floating-point arrays and
numbers. `Fields` stands for it among the arguments, and in every function that walks through
structures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast


@dataclass(frozen=True)
class Facts:
    """The class of an object, its ``parts`` by attribute, its other attributes, and the object
    itself. The ``watched`` attributes would be parts if they held floating-point numbers. For an
    object that is not made of its attributes ``put_together(parts, beside)`` makes it."""

    tree_leaf: ClassVar[bool] = True
    kind: type
    parts: Mapping[str, Any]
    rest: Mapping[str, Any]
    original: Any
    watched: tuple[str, ...] = ()
    put_together: Callable[[Any, Any], Any] | None = None
    beside: Any = None


class Fields:
    """An object taken apart. It has the object's attributes and no others, so that code that reads
    the object can be given this instead."""

    __slots__ = ("__facts",)

    def __init__(self, facts: Facts) -> None:
        object.__setattr__(self, "_Fields__facts", facts)

    def __getattr__(self, name: str) -> Any:
        facts = facts_of(self)
        if name in facts.parts:
            return facts.parts[name]
        if name in facts.rest:
            return facts.rest[name]
        return getattr(facts.original, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(facts_of(self).original, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(facts_of(self).original, name)


def facts_of(fields: Fields) -> Facts:
    """The facts about an object taken apart."""
    return cast(Facts, object.__getattribute__(fields, "_Fields__facts"))


@dataclass(frozen=True)
class Same:
    """The sign for an object or an array that was met before. Its ``number`` is that of its first
    place, when objects taken apart and leaves are counted from the outside in, in order."""

    tree_leaf: ClassVar[bool] = True
    number: int
