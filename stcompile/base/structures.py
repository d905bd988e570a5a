"""Classes whose objects are taken apart by some of their attributes only."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Mapping, MutableMapping
from typing import Any, Final

_MARKS: Final[Mapping[str, Callable[[Any], Collection[str]]]] = {  # attributes of other libraries
    "__attrs_attrs__": lambda cls: [field.name for field in cls.__attrs_attrs__],
    "__pydantic_fields__": lambda cls: [*cls.__pydantic_fields__],
}
_NAMED: Final[MutableMapping[type, tuple[str, ...]]] = weakref.WeakKeyDictionary()


def name_parts(cls: type, names: Collection[str]) -> None:
    """Note which attributes of the objects of a class are its parts."""
    _NAMED[cls] = tuple(names)


def parts_named(cls: type) -> Collection[str] | None:
    """The attributes that may be parts of an object: those that were named for its class, the
    fields of a class of attrs or of a model of pydantic; None for any."""
    for base in cls.__mro__:
        if base in _NAMED:
            return _NAMED[base]
    return next((names(cls) for mark, names in _MARKS.items() if hasattr(cls, mark)), None)
