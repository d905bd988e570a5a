"""The parts that functions and other values are made of: what code reads from outside, what a
wrapper wraps, what a container holds.

There is one list of parts. Four walks follow it: whether two functions are the same in this process
(`stcompile.calls.arrivals`) or in another (`fingerprint`), how another process finds an object
(`portable`), and what has to travel along with a function (`travel`).
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterator
from typing import Any, TypeVar

from stcompile.base.containers import ITEMIZED, MAPPINGS, settings_of
from stcompile.base.foreign import written_as
from stcompile.base.trees import Step

M = TypeVar("M", bound="Made")

_WRAPPERS: dict[Any, tuple[str, ...]] = {
    types.MethodType: ("__func__", "__self__"),
    staticmethod | classmethod: ("__func__",),
    property: ("fget", "fset", "fdel"),
    functools.partial: ("func", "args", "keywords"),
    functools._lru_cache_wrapper: ("__wrapped__",),
}


class Made:
    """A value that is equivalent to another one of its class made with the same arguments."""

    __slots__ = ("_made_with",)  # not in the dict, which `functools.update_wrapper` fills

    _made_with: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls: type[M], *arguments: Any, **keywords: Any) -> M:
        made = super().__new__(cls)
        made._made_with = arguments, keywords
        return made


def parts(value: Any) -> Iterator[tuple[Step, Any]] | None:
    """The parts of a value that is nothing but its parts, each with the step that leads to it; None
    for any other value. A function is its code beside these parts."""
    if isinstance(value, types.FunctionType):
        return _read_by(value)
    if type(value) in ITEMIZED:
        return _contents(value)
    if isinstance(value, Made):
        return _arguments(*value._made_with)
    written = written_as(value)
    if written is not value:
        return iter([(("written", None), written)])
    names = next((names for kind, names in _WRAPPERS.items() if isinstance(value, kind)), None)
    return None if names is None else ((("attribute", n), getattr(value, n)) for n in names)


def _read_by(function: types.FunctionType) -> Iterator[tuple[Step, Any]]:
    for name in ("__defaults__", "__kwdefaults__", "__dict__"):
        yield ("attribute", name), getattr(function, name)
    for at, cell in enumerate(function.__closure__ or ()):
        yield ("cell", at), _content(cell)
    space = function.__globals__
    for code in codes(function.__code__):
        for name in code.co_names:
            if name in space:
                yield ("global", name), space[name]


def _content(cell: types.CellType) -> Any:
    """The content of a cell; an empty cell itself."""
    try:
        return cell.cell_contents
    except ValueError:
        return cell


def _contents(container: Any) -> Iterator[tuple[Step, Any]]:
    for at, part in enumerate(settings_of(container)):
        yield ("setting", at), part
    items = container.items() if type(container) in MAPPINGS else enumerate(container)
    for key, part in items:
        yield ("item", key), part


def _arguments(given: tuple[Any, ...], named: dict[str, Any]) -> Iterator[tuple[Step, Any]]:
    for at, part in enumerate(given):
        yield ("given", at), part
    for name, part in named.items():
        yield ("named", name), part


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object, and those of the functions inside it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from codes(part)


def looked_up(module: str, name: str) -> Any:
    """The object that a module has under a qualified name; None if it has none, or if the module is
    not imported."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found
