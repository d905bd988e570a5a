"""Copy and pickle transformed functions as plain functions are.

A transformed function is made of other functions and of plain values, and a function made of the
same parts is equivalent: it compiles itself where it is needed. So it is pickled as the arguments
that it was made with.

- By name. A module holds a decorated function under the name of the function that was decorated.
  `pickle` takes functions by reference, and so it takes a transformed function: unpickling gives
  the object that the module has.
- By value. cloudpickle (and with it joblib, Dask and Ray) takes functions of ``__main__`` and of
  notebooks by value. Only the pickler knows which of the two is right, and it decides by a
  function's name. Therefore the pickle refers to a function that makes the transformed one anew,
  the *maker*. The maker has the name under which the transformed function can be found, and its
  closure has the parts to make it from where it cannot.
- With its source. A function pickled by value is compiled in another process, which does not have
  the cells of the notebook. Their text travels along, and is registered with `linecache`.
"""

from __future__ import annotations

import copy
import functools
import importlib
import linecache
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from stcompile.base.errors import SourceError
from stcompile.base.made_of import Made, looked_up, parts
from stcompile.base.options import Options
from stcompile.calls.arrivals import ARRIVALS
from stcompile.parse.source import function_source

T = TypeVar("T", bound="Travels")


class Travels(Made):
    """A transformed function, which is pickled and copied as the arguments that it was made
    with."""

    __slots__ = ("_kept",)

    _kept: Callable[[], Any]

    def __reduce_ex__(self, protocol: Any) -> Any:
        name = name_of(self)
        if name is not None and protocol < 4:  # has no names of an object's attributes
            return _imported, (innermost(self).__module__, name)
        if name is not None:
            return _arrived, (self._maker, type(self))
        arguments, keywords = self._made_with
        carried = tuple(map(_by_wrapper, arguments))
        named = {key: _by_wrapper(value) for key, value in keywords.items()}
        return _made, (type(self), carried, named, _Sources((*arguments, *keywords.values())))

    def __copy__(self: T) -> T:
        return self

    def __deepcopy__(self: T, memo: dict[int, Any]) -> T:
        """The function itself, as for any function, unless one of its parts has to be copied: a
        method of an object, or an optimiser."""
        before = *self._made_with[0], *self._made_with[1].values()
        arguments, keywords = copy.deepcopy(self._made_with, memo)
        if all(map(_same, (*arguments, *keywords.values()), before)):
            return self
        return type(self)(*arguments, **keywords)

    @property
    def _maker(self) -> Callable[[], Any]:
        """A function that returns the parts for making this function anew. Its qualified name is
        that of this function with this attribute, where pickle finds it."""
        if not hasattr(self, "_kept"):
            function, cls, made_with = innermost(self), type(self), self._made_with
            sources = _Sources((self,))

            def maker() -> tuple[Any, ...]:
                return cls, made_with, sources

            maker.__module__ = function.__module__
            maker.__qualname__ = f"{name_of(self)}._maker"
            self._kept = maker
        return self._kept


def _same(one: Any, other: Any) -> bool:
    """True for a copy that is equivalent to the original."""
    return one is other or (_is_plain(other) and bool(one == other))


def _is_plain(value: Any) -> bool:
    """True for values that never change."""
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return isinstance(value, int | float | str | Options | type(None))


# --- by name -------------------------------------------------------------------------------------


def innermost(value: Any) -> Any:
    """The plain function that was transformed or wrapped, if there is any."""
    return list(_chain(value))[-1]


def _chain(value: Any) -> Iterator[Any]:
    """A function, the function that it wraps, and so on."""
    seen: list[Any] = []
    while not any(value is other for other in seen):
        seen.append(value)
        yield value
        names = ("__wrapped__", "function", "forward")[: 3 if isinstance(value, Travels) else 1]
        inner = (getattr(value, name, None) for name in names)
        value = next((part for part in inner if callable(part)), value)


def name_of(value: Any) -> str | None:
    """The name under which the module of a function holds the object that was made from it: for the
    result of a decorator, the function's own name. In a module that is imported, and so is the same
    in every process, the name of a variable will do as well: ``loss_grad = st.grad(loss)``."""
    function = innermost(value)
    if not isinstance(function, types.FunctionType):
        return None
    names = [function.__qualname__]
    if function.__module__ != "__main__":
        names.append(str(getattr(value, "__name__", "")))
    return next((n for n in names if looked_up(function.__module__, n) is value), None)


def _imported(module: str, name: str) -> Any:
    """The object that a module has under a name, in a process that may not have imported the module
    yet."""
    importlib.import_module(module)
    found = looked_up(module, name)
    if found is None:
        raise AttributeError(f"the module {module!r} has no {name!r}")
    return found


def _by_wrapper(value: Any) -> Any:
    """Replace a function that a decorator has replaced under its name by the replacement and the
    way back to the function; any other value stays unchanged."""
    if isinstance(value, types.MethodType):
        inner = _by_wrapper(value.__func__)
        return value if inner is value.__func__ else _Reduced(_bound, inner, value.__self__)
    function = innermost(value)
    if not isinstance(function, types.FunctionType):
        return value
    wrapper = looked_up(function.__module__, function.__qualname__)
    steps = [at for at, part in enumerate(_chain(wrapper)) if part is value] if wrapper else []
    return _Reduced(_unwrapped, wrapper, steps[0]) if steps and steps[0] else value


class _Reduced:
    """A stand-in, in a pickle, for the result of a call."""

    def __init__(self, call: Callable[..., Any], *arguments: Any) -> None:
        self.parts = call, arguments

    def __reduce__(self) -> Any:
        return self.parts


def _unwrapped(wrapper: Any, steps: int) -> Any:
    return list(_chain(wrapper))[steps]


def _bound(function: Callable[..., Any], owner: Any) -> Any:
    return types.MethodType(function, owner)


def _arrived(maker: Any, cls: type[Travels]) -> Any:
    """The transformed function that a maker stands for: the function that its module holds or, if
    it came by value, a new function.

    A function that calls itself arrives before its maker is complete. It gets an empty object then,
    which is filled in when this is called again.
    """
    owner = looked_up(maker.__module__, maker.__qualname__.rpartition(".")[0])
    if isinstance(owner, Travels) and owner._maker is maker:
        return owner
    if "taken" in maker.__dict__:
        return maker.__dict__["taken"]
    blank, is_filled = maker.__dict__.setdefault("made", [cls.__new__(cls), False])
    if not is_filled:
        try:
            _, blank._made_with, _ = maker()
        except NameError:
            return blank
        arguments, keywords = blank._made_with
        maker.__dict__["made"][1] = True
        blank.__init__(*arguments, **keywords)
        if name_of(blank) is None:
            maker.__dict__["taken"] = taken = _earlier(blank)
            return taken
    return blank


# --- by value ------------------------------------------------------------------------------------


def _made(cls: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], sources: None) -> Any:
    """A transformed function made with these arguments. If all of them are found by name in this
    process, all equal requests get the same function: a worker compiles it once, not for every
    task."""
    if all(map(_is_known, (*arguments, *keywords.values()))):
        return _shared(cls, arguments, *keywords.items())
    return _earlier(cls(*arguments, **keywords))


def _earlier(arrived: Any) -> Any:
    """An equivalent function that arrived earlier, if there is one."""
    return ARRIVALS.earlier(arrived)


def _is_known(value: Any) -> bool:
    if not isinstance(value, types.FunctionType | Travels):
        return _is_plain(value)
    return _is_named(value, innermost(value))


@functools.lru_cache(maxsize=64, typed=True)
def _shared(cls: Any, arguments: Any, *keywords: Any) -> Any:
    return cls(*arguments, **dict(keywords))


def _is_imported(value: types.FunctionType | type) -> bool:
    """True for a function or a class that every process imports."""
    return value.__module__ != "__main__" and _is_named(value, value)


def _is_named(value: Any, function: types.FunctionType | type) -> bool:
    """True for a value that is found in this process under the name of a function."""
    named = looked_up(function.__module__, function.__qualname__)
    return any(part is value for part in _chain(named))


# --- sources -------------------------------------------------------------------------------------


class _Sources:
    """A stand-in, in a pickle, for the texts of the functions that some values are made of."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self.roots = tuple(roots)

    def __reduce__(self) -> Any:
        return _registered, (_texts(self.roots),)


def _registered(texts: Mapping[str, tuple[str, ...]]) -> None:
    """Register texts where tracebacks and `stcompile.parse.source` look for them."""
    for file, lines in texts.items():
        if not linecache.getlines(file):
            linecache.cache[file] = sum(map(len, lines)), None, list(lines), file


def _texts(roots: Iterable[Any]) -> dict[str, tuple[str, ...]]:
    """The texts, by file, of all functions that are pickled by value."""
    texts: dict[str, tuple[str, ...]] = {}
    waiting, seen = list(roots), {}
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if isinstance(value, types.FunctionType) and not _is_in_a_module(value):
            try:
                source = function_source(value)
            except SourceError:
                continue
            texts[source.file] = source.lines
        waiting += _parts(value)
    return texts


def _is_in_a_module(function: types.FunctionType) -> bool:
    """True for code of a module that other processes import as well."""
    file = getattr(sys.modules.get(function.__module__), "__file__", None)
    return function.__module__ != "__main__" and file == function.__code__.co_filename


def _parts(value: Any) -> list[Any]:
    """The values that a value is made of when it is pickled by value."""
    if isinstance(value, types.FunctionType | type) and _is_imported(value):
        return []
    if isinstance(value, types.ModuleType | types.CellType):
        return []
    held = parts(value)
    if held is not None:
        return [part for _, part in held]
    if isinstance(value, type):
        return [*vars(value).values(), *value.__bases__]
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list | tuple | set | frozenset | deque):
        return list(value)
    return [type(value), *getattr(value, "__dict__", {}).values()]
