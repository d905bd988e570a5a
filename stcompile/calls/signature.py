"""The signature of a call: the facts about its arguments that a compiled function depends on.

Every argument has a *key*, a tuple that describes it:

- ``("array", dtype, shape, layout)``, where the layout is True for C-contiguous arrays, else their
  strides (see `stcompile.base.strides`);
- ``("number", type)`` for floats, complex numbers and random generators, which are traced;
- ``("static", type, value)`` for other plain values;
- ``("object", identity)`` for functions and other objects;
- ``("structure", type, keys, spellings, parts)`` for dicts, lists, tuples, namedtuples and
  dataclasses, and for objects taken apart; the spellings tell keys apart that are equal (1, 1.0 and
  True), and name the attributes that an object has besides its fields; of an object taken apart a
  sixth item names those that would be parts if they held floating-point numbers;
- ``("kind", type)`` for an attribute beside the parts, whose value calls change, and
  ``("keys", type, keys, settings)`` for a container there whose items calls change;
- ``("same", number)`` for an object or an array in an object that was met before.

>>> key_of(np.zeros((2, 3)))
('array', dtype('float64'), (2, 3), True)
>>> key_of(0.5), key_of(3)
(('number', <class 'float'>), ('static', <class 'int'>, 3))
"""

from __future__ import annotations

import functools
from collections import deque
from typing import Any, NoReturn

import numpy as np

from stcompile.base import trees
from stcompile.base.classes import is_plain_value, other_names
from stcompile.base.containers import ITEMIZED, MAPPINGS, SEQUENCES, settings_of
from stcompile.base.errors import ArgumentsError
from stcompile.base.fields import Fields, Same, facts_of
from stcompile.base.static import StaticArray
from stcompile.base.strides import layout_of
from stcompile.base.wording import an
from stcompile.wengert.types import NATIVE_BYTES, OTHER_BYTES, is_input


def key_of(value: Any, name: str = "argument", path: trees.Path = ()) -> Any:
    """The key of an argument, or of the part of it at a path; `ArgumentsError` for values that
    cannot be compiled."""
    if type(value) is np.ndarray and value.dtype.kind in "fiubc" and value.dtype.isnative:
        return "array", value.dtype, value.shape, layout_of(value)
    if is_input(value) and not isinstance(value, np.ndarray):
        return "number", type(value)

    parts = trees.children(value)
    if parts is None:
        return _key_of_leaf(value, name, path)
    if type(value) in MAPPINGS and not all(map(trees.is_plain_key, value)):
        refuse = functools.partial(_refuse, name, path)
        refuse("has keys that cannot be written as literals", "use strings or numbers as keys")
    inner = tuple([key_of(part, name, (*path, step)) for step, part in parts])
    keys = tuple([key for (_, key), _ in parts])
    if isinstance(value, Fields):
        return _key_of_fields(value, keys, inner, name, path)
    spellings: tuple[Any, ...] = ()
    if type(value) in ITEMIZED:
        is_told = type(value) in SEQUENCES or all(type(key) is str for key in keys)
        settings = map(Identity, settings_of(value))
        spellings = (*settings, *(() if is_told else map(repr, keys)))
    else:
        spellings = other_names(value, keys)
    return "structure", type(value), keys, spellings, inner


def _key_of_leaf(value: Any, name: str, path: trees.Path) -> Any:
    if isinstance(value, StaticArray):
        return "object", Identity(value)
    if isinstance(value, Same):
        return "same", value.number
    own, refuse = an(type(value).__name__), functools.partial(_refuse, name, path)
    if isinstance(value, np.ndarray) and not value.dtype.isnative:
        refuse(f"is an array of {value.dtype.str}: {OTHER_BYTES}", NATIVE_BYTES)
    if isinstance(value, np.ndarray):
        refuse(
            f"is {own} of {value.dtype}, which is not compiled",
            "pass a plain numpy.ndarray of numbers",
        )
    if isinstance(value, dict | list | tuple | set | deque):
        refuse(
            f"is {own}, whose contents are not read",
            "pass a plain dict, list or tuple, a namedtuple or a dataclass",
        )
    if is_plain_value(value):
        return "static", type(value), value
    return "object", Identity(value)


def _refuse(name: str, path: trees.Path, reason: str, hint: str) -> NoReturn:
    raise ArgumentsError(f"{trees.show_path(name, path)} {reason}", hint=hint)


def _key_of_fields(
    value: Fields, keys: tuple[Any, ...], inner: tuple[Any, ...], name: str, path: trees.Path
) -> Any:
    """The key of an object that was taken apart, with what is beside its parts."""
    facts = facts_of(value)
    others = tuple(sorted(facts.rest))
    if facts.put_together is None:
        return "structure", facts.kind, keys, others, inner, facts.watched
    beside = key_of(facts.beside, name, path)
    at = {key: (*path, ("attribute", key)) for key in facts.rest}
    rest = tuple(key_of(part, name, at[key]) for key, part in facts.rest.items())
    return "structure", facts.kind, keys, others, inner, (), (beside, rest)


def kind_of(value: Any) -> Any:
    """A key of the class of a value alone."""
    return "kind", type(value)


def keys_of(value: Any) -> Any:
    """A key of the class and the keys of a container, whatever the items are."""
    keys = (key for (_, key), _ in trees.children(value) or ())
    told = tuple(repr(key) if trees.is_plain_key(key) else Identity(key) for key in keys)
    return "keys", type(value), told, tuple(map(Identity, settings_of(value)))


class Identity:
    """An object, compared by its identity, and kept alive."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def same_key(one: Any, other: Any) -> bool:
    """True for equal keys of dicts; unlike in Python, 1, 1.0 and True are different."""
    return type(one) is type(other) and bool(one == other) and repr(one) == repr(other)
