"""Structured values: dicts, lists, tuples, the dicts and deques of `collections`, namedtuples,
dataclasses and namespaces of arrays, and objects taken apart (`stcompile.base.fields`).

A *path* leads from a structure to one of its leaves and is written as the user would write it:

>>> [(show_path("params", path), leaf) for path, leaf in leaves({"W": 1.0, "layers": [2.0, 3.0]})]
[('params["W"]', 1.0), ('params["layers"][0]', 2.0), ('params["layers"][1]', 3.0)]
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stcompile.base.classes import find, is_record, own, own_attributes, set_own
from stcompile.base.containers import ITEMIZED, MAPPINGS, SEQUENCES, filled_like
from stcompile.base.fields import Fields, facts_of

Step = tuple[str, Any]
Path = tuple[Step, ...]


def children(value: Any) -> list[tuple[Step, Any]] | None:
    """The parts of a structure, each with the step that leads to it; None for a leaf."""
    if is_namedtuple(value):
        return [(("attribute", name), getattr(value, name)) for name in value._fields]
    if type(value) in SEQUENCES:
        return [(("item", index), item) for index, item in enumerate(value)]
    if type(value) in MAPPINGS:
        return [(("item", key), item) for key, item in value.items()]
    if is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return [(("attribute", name), getattr(value, name)) for name in names]
    if type(value) is types.SimpleNamespace:
        return [(("attribute", name), part) for name, part in vars(value).items()]
    if type(value) is Fields:
        return [(("attribute", name), part) for name, part in facts_of(value).parts.items()]
    return None


def is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


def is_dataclass(value: Any) -> bool:
    """True for instances of the user's dataclasses, except instances that are leaves: those whose
    class says ``tree_leaf = True``, and those whose class computes its fields."""
    if isinstance(value, type) or not is_record(type(value)):
        return False
    return not (own(value, "tree_leaf") is True or find(type(value), "tree_leaf") is True)


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every leaf with its path, in the order of the structure."""
    parts = children(value)
    if parts is None:
        yield path, value
        return
    for step, part in parts:
        yield from leaves(part, (*path, step))


def is_endless(value: Any, around: tuple[Any, ...] = ()) -> bool:
    """True for a structure that contains itself."""
    if any(one is value for one in around):
        return True
    return any(is_endless(part, (*around, value)) for _, part in children(value) or ())


def is_plain_key(key: Any) -> bool:
    """True for dict keys that can be written as a literal."""
    if isinstance(key, tuple):
        return all(map(is_plain_key, key))
    return type(key) in (str, int, float, bool, bytes, type(None))


def map_leaves(function: Callable[[Path, Any], Any], value: Any, path: Path = ()) -> Any:
    """Replace each leaf of a structure by ``function(path, leaf)``."""
    parts = children(value)
    if parts is None:
        return function(path, value)
    mapped = [map_leaves(function, part, (*path, step)) for step, part in parts]
    return with_children(value, mapped)


def with_children(value: Any, parts: list[Any]) -> Any:
    """Copy the structure ``value`` with other ``parts``; instances of user classes are not
    constructed anew but copied, so that no user code runs."""
    if is_namedtuple(value):
        made = tuple.__new__(type(value), parts)
        for name, part in own_attributes(value):
            set_own(made, name, part)
        return made
    if type(value) in (list, tuple):
        return type(value)(parts)
    if type(value) in ITEMIZED:
        return filled_like(value, parts)
    if type(value) is types.SimpleNamespace:
        return types.SimpleNamespace(**dict(zip(vars(value), parts, strict=True)))
    if type(value) is Fields:
        facts = facts_of(value)
        changed = dict(zip(facts.parts, parts, strict=True))
        return Fields(dataclasses.replace(facts, parts=changed))
    fields = [field.name for field in dataclasses.fields(value)]
    changed = dict(zip(fields, parts, strict=True))
    return instance(type(value), {**dict(own_attributes(value)), **changed})


def instance(cls: type, attributes: Mapping[str, Any]) -> Any:
    """An object of a class with these attributes of its own; no code of the class runs."""
    made: Any = object.__new__(cls)
    for name, part in attributes.items():
        set_own(made, name, part)
    return made


def follow(value: Any, path: Path) -> Any:
    """The part of a structure at a path."""
    for kind, key in path:
        value = getattr(value, key) if kind == "attribute" else value[key]
    return value


def show_path(root: str, path: Path) -> str:
    """Write the path as Python does: ``params["layers"][0].W``."""
    import json

    for kind, key in path:
        if kind == "attribute":
            root += f".{key}"
        else:
            root += f"[{json.dumps(key) if isinstance(key, str) else repr(key)}]"
    return root


def path_name(root: str, path: Path) -> str:
    """A variable name for a leaf: ``W`` for ``params["W"]``, ``params_0`` for ``params[0]``, and
    ``W_dot`` for ``params_dot["W"]``, a tangent."""
    name = root
    for _, key in path:
        text = str(key)
        name = text if text.isidentifier() else f"{name}_{text}"
    if root.endswith("_dot") and not name.startswith(root):
        name += "_dot"
    return name if name.isidentifier() else "".join(c if c.isalnum() else "_" for c in name)
