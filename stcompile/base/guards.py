"""Guards: the facts outside of a program that it depends on, and the checks that they still
hold."""

from __future__ import annotations

import operator
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from stcompile.base import trees
from stcompile.base.classes import is_plain_value, other_names
from stcompile.base.containers import ITEMIZED, settings_of
from stcompile.base.places import Place

# The place no longer exists, or the structure in it contains itself.
UNREADABLE = (AttributeError, LookupError, TypeError, ValueError, RecursionError)


@dataclass(frozen=True)
class Guard:
    """A captured static value that the program depends on."""

    place: Place
    expected: Any

    def holds(self) -> bool:
        try:
            return self._is_met_by(self.place.read())
        except UNREADABLE:
            return False

    def _is_met_by(self, value: Any) -> bool:
        return same(value, self.expected)


@dataclass(frozen=True)
class IdentityGuard(Guard):
    """Holds as long as the place holds the identical object; an equal object is not enough."""

    def _is_met_by(self, value: Any) -> bool:
        return value is self.expected


@dataclass(frozen=True)
class NamesGuard(Guard):
    """Holds as long as the names of a module refer to the identical objects."""

    def holds(self) -> bool:
        try:
            return all(map(operator.is_, self.place.read(), self.expected))
        except UNREADABLE:
            return False


@dataclass(frozen=True)
class StructureGuard(Guard):
    """The types and keys of a captured structure: ``expected`` is `structure_of` the value in the
    place, with None for the parts that are guarded in another way."""

    def _is_met_by(self, value: Any) -> bool:
        return _is_like(structure_of(value), self.expected)


def same(value: Any, expected: Any) -> bool:
    """Compare by identity, or, for plain immutable values of the same type, by equality, part by
    part."""
    if value is expected:
        return True
    if type(value) is not type(expected):
        return False
    if isinstance(value, tuple):
        return len(value) == len(expected) and all(map(same, value, expected))
    if isinstance(value, frozenset):  # 1, 1.0 and True are equal
        return bool(value == expected) and set(map(_typed, value)) == set(map(_typed, expected))
    return is_plain_value(value) and bool(value == expected)


def has_own_hash(value: Any) -> bool:
    """True for values whose hash is the same in all processes."""
    if isinstance(value, tuple):
        return all(map(has_own_hash, value))
    return type(value) in (int, bool, float, complex)


def _typed(value: Any) -> tuple[type, str]:
    is_told = is_plain_value(value) or type(value) is float
    return type(value), repr(value) if is_told else str(id(value))


def _is_like(found: Any, expected: Any) -> bool:
    """True for a structure with the types and keys of another, as far as the other has them."""
    if expected is None or found is None:
        return expected is None
    kind, parts, others = expected
    if found[0] is not kind or not same(found[2], others) or len(found[1]) != len(parts):
        return False
    pairs = zip(found[1], parts, strict=True)
    return all(same(f[0], e[0]) and _is_like(f[1], e[1]) for f, e in pairs)


def structure_of(value: Any, unseen: Collection[trees.Path] = (), path: trees.Path = ()) -> Any:
    """The types and keys of a structure, without its leaves, and without the parts whose paths are
    ``unseen``. ``path`` leads to the value."""
    parts = trees.children(value)
    if parts is None or path in unseen:
        return None
    named = () if type(value) in ITEMIZED else tuple(key for (_, key), _ in parts)
    others = other_names(value, named) if named else settings_of(value)
    inner = [(step, structure_of(part, unseen, (*path, step))) for step, part in parts]
    return type(value), tuple(inner), others
