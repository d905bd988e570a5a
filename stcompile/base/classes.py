"""Python's data model of classes and instances, read without running the user's code.

`find` is the look-up that the other functions start from: the first class of the method resolution
order that has a name in its own dict. The object found is returned unbound.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Collection, Iterator
from typing import Any, Final

import numpy as np

_HEAP, _IMMUTABLE = 1 << 9, 1 << 8  # flags of types: made by a class statement; not to be changed
_OWN = ("numpy", "scipy", "stcompile")  # modules whose classes nobody changes


class Missing:
    """The value of a name or an attribute that has none."""


MISSING: Final = Missing()


def find(cls: type, name: str, after: type | None = None) -> Any:
    """Look up a name in the dicts of the classes of the method resolution order of ``cls``, or of
    the classes that come after ``after`` in it; `MISSING` if none of them has the name."""
    order = cls.__mro__
    if after is not None:
        order = order[order.index(after) + 1 :]
    for owner in order:
        names = owner.__dict__
        if name in names:
            return names[name]
    return MISSING


def owner_of(cls: type, name: str, after: type | None = None) -> type | None:
    """The class that `find` finds a name in."""
    order = cls.__mro__[cls.__mro__.index(after) + 1 :] if after is not None else cls.__mro__
    return next((owner for owner in order if name in owner.__dict__), None)


def is_data(found: Any) -> bool:
    """True for data descriptors, such as properties, which come before the instance's own
    attributes."""
    kind = type(found)
    return find(kind, "__set__") is not MISSING or find(kind, "__delete__") is not MISSING


def runs_when_set(instance: Any, name: str) -> bool:
    """True if setting an attribute does something other than keep the value."""
    cls = type(instance)
    found = find(cls, name)
    is_slot = isinstance(found, types.MemberDescriptorType)
    return find(cls, "__setattr__") is not object.__setattr__ or (is_data(found) and not is_slot)


def is_changeable(cls: type) -> bool:
    """True if the attributes of a class may change: it is not built in and not of a known
    library."""
    if not cls.__flags__ & _HEAP or cls.__flags__ & _IMMUTABLE:
        return False
    return str(cls.__module__).split(".")[0] not in _OWN or is_written_elsewhere(cls)


def is_written_elsewhere(cls: type) -> bool:
    """True for a class that names another module than its methods come from, as the copy of a
    class does."""
    module = str(cls.__module__).split(".")[0]
    texts = [defined_in(f) for f in vars(cls).values() if isinstance(f, types.FunctionType)]
    return bool(texts) and all(text.split(".")[0] != module for text in texts)


def defined_in(function: Any) -> str:
    """The name of the module whose globals a Python function reads. It is the module that the text
    was written in: ``__module__`` may have been set, and code loses its file as it travels."""
    return str(function.__globals__.get("__name__", ""))


def is_plain_value(value: Any) -> bool:
    """True for immutable values that cannot be told apart from equal values of their class. Objects
    of the user's subclasses of `str` and `int` do not count, since they may have attributes."""
    if type(value) in (int, bool, str, bytes, complex, type(None)):
        return True
    return isinstance(value, np.dtype | np.generic) and not is_changeable(type(value))


# --- attributes of the instance ------------------------------------------------------------------


def names_of(instance: Any) -> dict[str, Any] | None:
    """The dict of an instance; None if it has slots only."""
    try:
        names = object.__getattribute__(instance, "__dict__")
    except AttributeError:
        return None
    return names if isinstance(names, dict) else None


def slot_of(cls: type, name: str) -> types.MemberDescriptorType | None:
    """The slot that instances have for an attribute. A namespace has its dict in one."""
    found = find(cls, name) if name != "__dict__" else None
    return found if isinstance(found, types.MemberDescriptorType) else None


def own(instance: Any, name: str) -> Any:
    """An attribute that an instance has in its dict or in a slot; `MISSING` if it has none."""
    slot = slot_of(type(instance), name)
    if slot is not None:
        try:
            return slot.__get__(instance, type(instance))
        except AttributeError:
            return MISSING
    names = names_of(instance)
    return MISSING if names is None else names.get(name, MISSING)


def has_own(instance: Any, name: str) -> bool:
    """True if an instance has an attribute in its dict or in a slot."""
    return own(instance, name) is not MISSING


def finds_attributes_itself(cls: type) -> bool:
    """True for compiled classes that may look up attributes of their instances by other rules than
    `object`: an object of `threading.local` has other attributes in each thread, and a proxy has
    the attributes of another object. Python's built-in classes follow the rules of `object`."""
    found = find(cls, "__getattribute__")
    if not isinstance(found, types.WrapperDescriptorType):
        return False
    return found.__objclass__.__module__ not in (object.__module__, types.__name__)


def set_own(instance: Any, name: str, value: Any) -> None:
    """Set an attribute of an instance, or delete it (`MISSING`), without calling any descriptor."""
    slot, names = slot_of(type(instance), name), names_of(instance)
    if slot is not None:
        if value is not MISSING:
            slot.__set__(instance, value)
        elif own(instance, name) is not MISSING:
            slot.__delete__(instance)
    elif names is not None:
        if value is not MISSING:
            names[name] = value
        else:
            names.pop(name, None)


def own_attributes(instance: Any) -> Iterator[tuple[str, Any]]:
    """The attributes that an instance has itself: its slots, then its dict."""
    cls = type(instance)
    for owner in reversed(cls.__mro__):
        for name, found in owner.__dict__.items():
            if isinstance(found, types.MemberDescriptorType) and slot_of(cls, name) is found:
                value = own(instance, name)
                if value is not MISSING:
                    yield name, value
    yield from (names_of(instance) or {}).items()


def other_names(instance: Any, fields: Collection[str]) -> tuple[str, ...]:
    """The attributes that an instance has itself besides its fields, sorted."""
    return tuple(sorted(name for name, _ in own_attributes(instance) if name not in fields))


def has_slots_beside(cls: type, fields: Collection[str]) -> bool:
    """True if instances of ``cls`` have slots for attributes that are not in ``fields``."""
    held = [(name, f) for owner in cls.__mro__ for name, f in owner.__dict__.items()]
    beside = {*fields, "__dict__"}
    return any(isinstance(f, types.MemberDescriptorType) and n not in beside for n, f in held)


def is_record(cls: type) -> bool:
    """True for dataclasses whose fields are plain attributes: no field is a property, and no method
    of the class is called for reading fields."""
    fields = getattr(cls, "__dataclass_fields__", None)
    if fields is None or find(cls, "__getattribute__") is not object.__getattribute__:
        return False
    found = [find(cls, field.name) for field in dataclasses.fields(cls)]
    return not any(is_data(f) for f in found if not isinstance(f, types.MemberDescriptorType))
