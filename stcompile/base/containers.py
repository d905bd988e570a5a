"""Containers: lists, dicts and deques, and objects of the classes that derive from them.

Such an object has contents beside its attributes. The functions of this module read and fill
contents by the methods of the built-in class, whatever a derived class overrides: no code of the
user's runs.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from stcompile.base.classes import own_attributes, set_own

SEQUENCES: tuple[type, ...] = (list, tuple, deque)
MAPPINGS: tuple[type, ...] = (dict, OrderedDict, defaultdict, Counter)
SETTINGS: Mapping[type, str] = MappingProxyType({deque: "maxlen", defaultdict: "default_factory"})
ITEMIZED = (*SEQUENCES, *MAPPINGS)  # classes whose parts are items, and not attributes
GROWING: tuple[type, ...] = (list, deque)
CHANGEABLE = (*GROWING, *MAPPINGS)  # those whose objects are mirrored, and changed as mirrors
CONTAINERS = (list, dict, deque)  # what has contents that can be changed; sets have an order, too
OF_COLLECTIONS = ("deque", "OrderedDict", "defaultdict", "Counter")
_BASES = (OrderedDict, list, dict, deque)  # classes with methods of their own to read contents


def is_derived(value: Any) -> bool:
    """True for a deque, and for an object of a class that derives from list, dict or deque."""
    return isinstance(value, CONTAINERS) and type(value) not in (list, dict)


def _base_of(cls: type) -> Any:
    return next(base for base in cls.__mro__ if base in _BASES)


def built_in(container: Any, name: str) -> Any:
    """The method of a container as its built-in class has it."""
    return getattr(_base_of(type(container)), name).__get__(container)


def item_at(container: Any, index: Any) -> Any:
    """``container[index]``, whatever the class of a derived container overrides."""
    is_other = is_derived(container) and type(container) not in ITEMIZED
    return built_in(container, "__getitem__")(index) if is_other else container[index]


def contents(container: Any) -> Any:
    """A list or a dict of what a container holds.

    >>> contents(deque([1, 2], maxlen=2)), contents(Counter("aab"))
    ([1, 2], {'a': 2, 'b': 1})
    """
    base = _base_of(type(container))
    return dict(base.items(container)) if issubclass(base, dict) else [*base.__iter__(container)]


def items_held(container: Any) -> list[Any]:
    """The items of a list or a deque, the values of a dict."""
    found = contents(container)
    return [*found.values()] if isinstance(found, dict) else found


def settings_of(container: Any) -> tuple[Any, ...]:
    """The setting of a container beside its contents: the greatest length of a deque, the factory
    of a `collections.defaultdict`."""
    name = SETTINGS.get(type(container))
    return () if name is None else (getattr(container, name),)


def refill(container: Any, found: Any) -> None:
    """Replace the contents of a container: by the items of a dict, or by those of an iterable.

    >>> last = deque([1, 2], maxlen=2)
    >>> refill(last, [3])
    >>> last
    deque([3], maxlen=2)
    """
    base = _base_of(type(container))
    base.clear(container)
    if issubclass(base, dict):
        for key, value in found.items():
            base.__setitem__(container, key, value)
    else:
        base.extend(container, found)


def empty(cls: type, maxlen: int | None = None) -> Any:
    """A container of a class without contents and attributes, made without code of the class."""
    base = _base_of(cls)
    made = base.__new__(cls)
    if base is deque:
        deque.__init__(made, (), maxlen)
    return made


def made_like(container: Any) -> Any:
    """A container of the same class, empty and without attributes."""
    return empty(type(container), getattr(container, "maxlen", None))


def filled_like(container: Any, found: Iterable[Any]) -> Any:
    """A container of the same class with other contents: values for the keys of a dict, or items.
    It has the attributes of the first: the factory of a `collections.defaultdict`."""
    made = made_like(container)
    if isinstance(container, defaultdict):
        set_own(made, "default_factory", container.default_factory)
    keyed = isinstance(container, dict)
    refill(made, dict(zip(contents(container), found, strict=True)) if keyed else found)
    return made


def parts_of(container: Any) -> list[tuple[Any, Any]]:
    """The parts of a container, each with a key: its items, then its attributes."""
    found = contents(container)
    items = found.items() if isinstance(found, dict) else enumerate(found)
    parts: list[tuple[Any, Any]] = [(("item", key), item) for key, item in items]
    return parts + [(("attribute", name), part) for name, part in own_attributes(container)]


def set_parts(made: Any, like: Any, parts: Iterable[Any]) -> None:
    """Give a container other ``parts`` in the places of those of ``like``."""
    steps = [step for step, _ in parts_of(like)]
    pairs = [*zip(steps, parts, strict=True)]
    items = {key: part for (kind, key), part in pairs if kind == "item"}
    refill(made, items if isinstance(made, dict) else [*items.values()])
    for (kind, name), part in pairs:
        if kind == "attribute":
            set_own(made, name, part)
