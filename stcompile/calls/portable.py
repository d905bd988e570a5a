"""Places, and the objects that they start from, in a form that another process can read.

A place is an expression over objects that this process holds: a function, a cell, the globals of a
module. Each object gets an *address*, which says how to find it from objects that every process
has: the transformed function itself, the arguments of the call, libraries, and values that an
earlier guard has read. `Unportable` is raised for objects without an address.
"""

from __future__ import annotations

import enum
import functools
import operator
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeAlias

from stcompile.base import trees
from stcompile.base.classes import MISSING, is_changeable
from stcompile.base.containers import GROWING, MAPPINGS
from stcompile.base.made_of import looked_up, parts
from stcompile.base.places import Bind, Place
from stcompile.calls.fingerprint import Untold

Address: TypeAlias = tuple[Any, ...]
Portable: TypeAlias = tuple[str, types.CodeType, tuple[Address, ...], str]
"""An expression as text and compiled, the addresses of its objects, and its description."""

_MARK = "\0"  # around the number of an object; text in an expression is quoted, and has none
_PLAIN = (str, int, float, bool, bytes, type(None))
_OWN = ("stcompile", "numpy", "scipy")
_MOST = 10_000  # objects that are followed


class Unportable(Untold):
    """An object that another process would not find."""


class Addresses:
    """The addresses of objects, noted from the outside in."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Any, Address]] = {}  # by identity; the object stays alive

    def note(self, value: Any, address: Address) -> None:
        """Note an object, and its parts."""
        waiting = [(value, address)]
        while waiting and len(self._found) < _MOST:
            value, address = waiting.pop()
            if type(value) in _PLAIN or id(value) in self._found:
                continue
            self._found[id(value)] = value, address
            waiting += [(part, ("part", address, *step)) for step, part in _parts(value)]

    def of(self, value: Any) -> Address:
        """The address of an object."""
        if type(value) in _PLAIN:
            return "plain", value
        if id(value) in self._found:
            return self._found[id(value)][1]
        found = _library_address(value)
        if found is not None:
            return found
        if type(value) is tuple:
            return "tuple", *map(self.of, value)
        if isinstance(value, enum.Enum):
            return "part", self.of(type(value)), "member", value.name
        if isinstance(value, functools.partial):
            fixed = self.of(value.args), self.of(tuple(value.keywords.items()))
            return "partial", self.of(value.func), *fixed
        if isinstance(value, operator.itemgetter):
            return "itemgetter", self.of(value.__reduce__()[1])
        raise Unportable(f"another process would not find {value!r:.200}")

    def portable(self, place: Place) -> Portable:
        """A place in a form for another process."""
        objects: list[Any] = []

        def bind(value: Any) -> str:
            objects.append(value)
            return f"{_MARK}{len(objects) - 1}{_MARK}"

        text = place.expression(bind)
        readable = "".join(_named(text.split(_MARK), lambda at: f"c{at}"))
        code = compile(readable, "<stcompile place>", "eval", dont_inherit=True)
        return text, code, tuple(map(self.of, objects)), place.description


def _named(parts: Sequence[str], name: Callable[[int], str]) -> Iterator[str]:
    """The pieces of an expression, with names for its objects."""
    for at, part in enumerate(parts):
        yield name(int(part)) if at % 2 else part


def _parts(value: Any) -> Iterator[tuple[tuple[str, Any], Any]]:
    """The parts of an object, each with the step that leads to it."""
    if isinstance(value, types.FunctionType):
        yield ("attribute", "__globals__"), value.__globals__
        for at, cell in enumerate(value.__closure__ or ()):
            yield ("cell", at), cell
        if "__wrapped__" in vars(value):
            yield ("attribute", "__wrapped__"), vars(value)["__wrapped__"]
    elif isinstance(value, type):
        for at, base in enumerate(value.__mro__):
            yield ("base", at), base
        if isinstance(value, enum.EnumMeta):
            members: Mapping[str, Any] = value.__members__
            yield from ((("member", name), part) for name, part in members.items())
    elif type(value) in MAPPINGS or (type(value) in GROWING and len(value) >= _MOST):
        return  # globals, whose values have addresses of their own, and long lists
    else:
        held = parts(value)
        if held is not None:
            yield from held
        elif is_changeable(type(value)):
            yield ("class", None), type(value)


def _library_address(value: Any) -> Address | None:
    """The address of a module, of its globals, or of an object that a module has under the object's
    own name."""
    if value is MISSING:
        return ("missing",)
    if value is sys.modules:
        return ("modules",)
    if isinstance(value, types.ModuleType):
        return ("module", value.__name__) if sys.modules.get(value.__name__) is value else None
    if type(value) is dict:
        name = value.get("__name__")
        module = sys.modules.get(name) if isinstance(name, str) else None
        return ("globals", name) if module is not None and vars(module) is value else None
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    return ("import", module, name) if looked_up(module, name) is value else None


# --- in the other process ------------------------------------------------------------------------


class Stale(Exception):
    """Raised when a cache entry names an object that is missing or different in this process."""


class Objects:
    """The objects of addresses in this process. ``roots`` are the objects that every process has;
    the values that guards have read are added as they are read."""

    def __init__(self, roots: Mapping[Address, Any]) -> None:
        self._roots = dict(roots)

    def note(self, value: Any, address: Address) -> None:
        self._roots[address] = value

    def at(self, address: Address) -> Any:
        kind, *rest = address
        if kind == "plain":
            return rest[0]
        if kind == "part":
            return _follow(self.at(rest[0]), (rest[1], rest[2]))
        if kind == "tuple":
            return tuple(map(self.at, rest))
        if kind == "partial":
            function, fixed, named = map(self.at, rest)
            return functools.partial(function, *fixed, **dict(named))
        if kind == "itemgetter":
            return operator.itemgetter(*self.at(rest[0]))
        if kind == "missing":
            return MISSING
        if kind == "modules":
            return sys.modules
        if kind in ("module", "globals", "import"):
            return _from_library(kind, *rest)
        try:
            return self._roots[address]
        except KeyError:
            raise Stale(f"{address} is not here") from None

    def place(self, portable: Portable) -> Place:
        """A place of another process, converted to this process."""
        text, code, addresses, description = portable
        objects = tuple(map(self.at, addresses))
        names = {f"c{at}": value for at, value in enumerate(objects)}

        def expression(bind: Bind) -> str:
            return "".join(_named(text.split(_MARK), lambda at: bind(objects[at])))

        key = ("portable", text, *map(id, objects))
        return Place(key, lambda: eval(code, dict(names)), expression, description)


def _from_library(kind: str, module: str, name: str = "") -> Any:
    """A module, an object in it, or its globals. The program's own modules are not imported
    here."""
    if module not in sys.modules:
        if module.split(".")[0] not in _OWN:
            raise Stale(f"{module} is not imported")
        import_module(module)
    if kind == "module":
        return sys.modules[module]
    if kind == "globals":
        return vars(sys.modules[module])
    found = looked_up(module, name)
    if found is None:
        raise Stale(f"{module} has no {name}")
    return found


def _follow(value: Any, step: trees.Step) -> Any:
    """The part that a step leads to: the way back through `_parts`."""
    for own, part in _parts(value):
        if own == step:
            return part
    raise Stale(f"{type(value).__name__} has no {step}")
