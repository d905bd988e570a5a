"""Take objects of ordinary classes apart (`Fields`), and put them together again.

The parts of an object are the attributes of its own that hold an array or a number of floating
point, or a structure or an object that does. No code of the object runs. Objects and arrays that
are met more than once are taken apart once: the later ones are `Same`, so that a derivative by them
is the sum over all their uses.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

import numpy as np

from stcompile.base import trees
from stcompile.base.classes import (
    MISSING,
    find,
    is_changeable,
    is_data,
    own,
    own_attributes,
    slot_of,
)
from stcompile.base.errors import ArgumentsError
from stcompile.base.fields import Facts, Fields, Same, facts_of
from stcompile.base.foreign import library_of
from stcompile.base.structures import TakeApart, way_of

Wanted: TypeAlias = Sequence[trees.Path]
WHOLE: Final[Wanted] = ((),)
WITHOUT_PARTS: Final = frozenset({int, bool, str, bytes, type(None), type(MISSING)})


def is_object(value: Any) -> bool:
    """True for an object that can be taken apart: of a class that is written in Python, down to
    `object`, and that finds attributes as Python does, or of a class that says how. With
    ``tree_leaf = True`` it is not."""
    cls = type(value)
    way = way_of(cls)
    if way is not None and way.take_apart is not None:
        return True
    if isinstance(value, type | enum.Enum | Fields) or not all(
        map(is_changeable, cls.__mro__[:-1])
    ):
        return False
    if find(cls, "__getattribute__") is not object.__getattribute__:
        return False
    if own(value, "tree_leaf") is True or find(cls, "tree_leaf") is True:
        return False
    return trees.children(value) is None and library_of(value) is None


class Opening:
    """The objects in the arguments of one call, taken apart in order. The attributes of classes in
    ``state`` are no parts unless they are wanted by name."""

    def __init__(self, state: Collection[tuple[type, str]] = ()) -> None:
        self._state = state
        self._count = 0
        self._numbers: dict[int, int] = {}  # of objects and arrays, by identity
        self._kept: list[Any] = []  # so that identities stay
        self._around: dict[int, str] = {}

    def opened(self, name: str, value: Any, wanted: Wanted) -> Any:
        """An argument with its objects taken apart, as far as the paths ``wanted`` lead;
        `ArgumentsError` for a structure that contains an object around it."""
        made, _ = self._opened(value, name, wanted)
        return made

    def moves(self, value: Any) -> bool:
        """True for a value with a floating-point leaf in it."""
        return self._opened(value, "", WHOLE)[1]

    def _opened(self, value: Any, shown: str, wanted: Wanted) -> tuple[Any, bool]:
        """The value taken apart, and whether there is a floating-point leaf in it."""
        if not wanted:
            self._count += sum(1 for _ in trees.leaves(value))
            return value, False
        identity = self.identity(value)
        if identity in self._around:
            raise ArgumentsError(
                f"{shown} is {self._around[identity]}, which contains it",
                hint='name the attributes that are differentiated by: wrt="self.W"',
            )
        if identity in self._numbers:
            self._count += 1
            return Same(self._numbers[identity]), True
        if identity:
            self._kept.append(value)
            self._numbers[identity] = self._count
        if self.is_object(value):
            return self._object(value, shown, wanted, identity)
        parts = trees.children(value)
        if parts is None:
            self._count += 1
            return value, self.is_moving(value)
        made, found = [], []
        for step, part in parts:
            inner = _inside(wanted, step)
            one, has = self._opened(part, trees.show_path(shown, (step,)), inner)
            made.append(one)
            found.append(has)
        return trees.with_children(value, made), any(found)

    def _object(self, value: Any, shown: str, wanted: Wanted, identity: int) -> tuple[Any, bool]:
        self._count += 1
        self._around[identity] = shown
        way = way_of(type(value))
        facts = Facts(type(value), {}, {}, value)
        if way is not None and way.take_apart is not None:
            found, beside = self.taken_apart(way.take_apart, value)
            items = [*found.items()]
            facts = replace(facts, put_together=way.put_together, beside=beside)
        else:
            items = [*own_attributes(value)]
        parts: dict[str, Any] = {}
        rest: dict[str, Any] = {}
        watched: list[str] = []
        for name, item in items:
            step: trees.Step = ("attribute", name)
            is_state = (type(value), name) in self._state
            inner = _inside([p for p in wanted if p] if is_state else wanted, step)
            is_part = facts.put_together is not None or (
                (way is None or name in way.names) and not _is_hidden(type(value), name)
            )
            if not (is_part and inner):
                rest[name] = item
                continue
            if facts.put_together is None:
                item = self.attribute(value, name, item)
            if self.identity(item) in self._around:
                rest[name] = item
                continue
            before, known = self._count, dict(self._numbers)
            made, has = self._opened(item, f"{shown}.{name}", inner)
            if has:
                parts[name] = made
            else:
                rest[name] = item
                watched.append(name)
                self._count, self._numbers = before, known
        del self._around[identity]
        names = () if facts.put_together else tuple(sorted(watched))
        return Fields(replace(facts, parts=parts, rest=rest, watched=names)), bool(parts)

    def has_objects(self, value: Any) -> bool:
        """True for an object that can be taken apart, and for a structure with one in it."""
        if self.is_object(value):
            return True
        return any(self.has_objects(part) for _, part in trees.children(value) or ())

    # --- what differs inside a program ---------------------------------------------------------

    def is_object(self, value: Any) -> bool:
        return is_object(value)

    def taken_apart(self, function: TakeApart, value: Any) -> tuple[Mapping[str, Any], Any]:
        """The parts of an object by a function for its class, and what else there is."""
        parts, beside = function(value)
        return parts, beside

    def attribute(self, owner: Any, name: str, value: Any) -> Any:
        """An attribute of an object as it is looked at."""
        return value

    def is_moving(self, value: Any) -> bool:
        """True for a leaf that there is a derivative by."""
        if isinstance(value, np.ndarray):
            return type(value) is np.ndarray and value.dtype.kind in "fc"
        return type(value) in (float, complex) or isinstance(value, np.inexact)

    def identity(self, value: Any) -> int:
        """A number for an object, or an array in one, that may be met again; 0 for others."""
        is_array = bool(self._around) and type(value) is np.ndarray
        return id(value) if is_array or self.is_object(value) else 0


def parts_of(value: Any) -> tuple[str, ...]:
    """The attributes of an object that hold floating-point arrays and numbers; none for a value
    that cannot be taken apart."""
    if not is_object(value):
        return tuple(str(key) for (kind, key), _ in trees.children(value) or () if kind != "item")
    made = Opening().opened("", value, WHOLE)
    return tuple(facts_of(made).parts)


def again_apart(facts: Facts) -> Mapping[str, Any]:
    """The arrays of an object that a function takes apart, by a further call of it; none for other
    objects."""
    way = way_of(facts.kind)
    if facts.put_together is None or way is None or way.take_apart is None:
        return {}
    found, _ = way.take_apart(facts.original)
    return {key: facts.parts.get(key) if not _is_array(x) else x for key, x in found.items()}


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def lack_parts(value: Any, names: Sequence[str]) -> bool:
    """True if no attribute of an object's own with one of these names holds floating-point
    numbers."""
    items = (own(value, name) for name in names)
    others = [item for item in items if type(item) not in WITHOUT_PARTS]
    return not any(Opening().moves(item) for item in others)


def _inside(wanted: Wanted, step: trees.Step) -> Wanted:
    """The paths that lead on from a part."""
    return [path[1:] if path else () for path in wanted if not path or path[0] == step]


def _is_hidden(cls: type, name: str) -> bool:
    """True if an attribute of an object's own is not what Python finds: the class has a property of
    that name."""
    found = find(cls, name)
    return found is not MISSING and slot_of(cls, name) is None and is_data(found)


# --- together again ------------------------------------------------------------------------------

Made: TypeAlias = Callable[[Facts, Mapping[str, Any]], Any]
Note: TypeAlias = Callable[[Any, Any], None]


def joined(values: Any, make: Made, note: Note = lambda old, new: None) -> Any:
    """Structures with objects for their `Fields`: ``make`` makes one of its facts and its parts.
    The structures are those of all arguments, in order. ``note`` is told of structures that are
    copied, with the copy."""
    return _Joining(make, note).joined(values)


class _Joining:
    def __init__(self, make: Made, note: Note) -> None:
        self.make = make
        self.note = note
        self.made: list[Any] = []  # objects and leaves, by their number

    def joined(self, value: Any) -> Any:
        if isinstance(value, Same):
            self.made.append(self.made[value.number])
            return self.made[-1]
        parts = trees.children(value)
        if parts is None:
            self.made.append(value)
            return value
        if not isinstance(value, Fields):
            made = [self.joined(part) for _, part in parts]
            same = all(new is part for new, (_, part) in zip(made, parts, strict=True))
            if same:
                return value
            copy = trees.with_children(value, made)
            self.note(value, copy)
            return copy
        at = len(self.made)
        self.made.append(None)
        facts = facts_of(value)
        self.made[at] = self.make(facts, {key: self.joined(part) for (_, key), part in parts})
        return self.made[at]


def restored(values: Any) -> Any:
    """Structures with new objects for their `Fields`, which have the same other attributes."""

    def make(facts: Facts, parts: Mapping[str, Any]) -> Any:
        held = {**facts.rest, **parts}
        if facts.put_together is not None:
            return facts.put_together(held, facts.beside)
        return trees.instance(facts.kind, held)

    return joined(values, make)


def originals(value: Any) -> Any:
    """A structure with the objects themselves for those of its `Fields` that have the very parts
    that these hold."""
    if isinstance(value, Fields):
        return facts_of(value).original if _is_as_held(value, facts_of(value).original) else value
    parts = trees.children(value)
    made = [originals(part) for _, part in parts or ()]
    if all(new is part for new, (_, part) in zip(made, parts or (), strict=True)):
        return value
    return trees.with_children(value, made)


def _is_as_held(value: Any, held: Any) -> bool:
    """True for a structure with `Fields` that was made of the structure ``held`` and not changed
    since."""
    if isinstance(value, Same):
        return True
    if not isinstance(value, Fields):
        pairs = zip(trees.children(value) or (), trees.children(held) or (), strict=False)
        has_parts = trees.children(value) is not None
        return all(_is_as_held(x, y) for (_, x), (_, y) in pairs) if has_parts else value is held
    facts = facts_of(value)
    if facts.put_together is not None or facts.original is not held:
        return False
    return all(_is_as_held(part, own(held, name)) for name, part in facts.parts.items())


def resolved(values: Any, note: Note = lambda old, new: None) -> Any:
    """Structures in which what is `Same` is the very object that it stands for."""
    return joined(values, lambda facts, parts: Fields(replace(facts, parts=dict(parts))), note)


def namespaces(values: Any) -> Any:
    """Structures with namespaces of their parts for objects."""
    return joined(values, lambda facts, parts: types.SimpleNamespace(**parts))


def outline(values: Any, inside: bool = False) -> Any:
    """Structures with True for the leaves that there are derivatives by, False for others."""
    parts = trees.children(values)
    if isinstance(values, Same):
        return values
    if parts is None:
        return not inside or Opening().is_moving(values)
    inner = inside or isinstance(values, Fields)
    return trees.with_children(values, [outline(part, inner) for _, part in parts])


def filled(outlined: Any, found: Iterator[Any]) -> Any:
    """An `outline` with the next of some derivatives for each leaf that there is one by, None for
    others, and namespaces for objects."""

    def leaf(path: trees.Path, value: Any) -> Any:
        return value if isinstance(value, Same) else next(found) if value else None

    return namespaces(trees.map_leaves(leaf, outlined))


def joined_places(values: Mapping[str, Any]) -> list[tuple[str, trees.Path]]:
    """The places of objects taken apart and of leaves, by their number (see `Same`)."""
    found: list[tuple[str, trees.Path]] = []

    def note(name: str, path: trees.Path, value: Any) -> None:
        parts = trees.children(value)
        if parts is None or isinstance(value, Fields):
            found.append((name, path))
        for step, part in parts or ():
            note(name, (*path, step), part)

    for name, value in values.items():
        note(name, (), value)
    return found


def objects_in(value: Any, path: trees.Path = ()) -> Iterator[tuple[trees.Path, Facts]]:
    """The objects taken apart in a structure, each with its path."""
    if isinstance(value, Fields):
        yield path, facts_of(value)
    for step, part in trees.children(value) or ():
        yield from objects_in(part, (*path, step))
