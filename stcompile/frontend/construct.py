"""Instances that the program makes: dataclasses, namedtuples, and objects with ``__init__``."""

from __future__ import annotations

import collections
import dataclasses
import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Any

from stcompile.frontend.binding import bind_arguments
from stcompile.frontend.run import Run

_CONTAINERS = (list, dict, set, tuple, collections.deque)


def construct(run: Run, cls: type, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """An instance of a user's class: dataclasses and namedtuples by their fields, others by
    staging ``__init__``. The new object is the program's own."""
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        bound = bind_arguments(run, cls.__name__, inspect.signature(cls), arguments, keywords)
        defaults = getattr(cls, "_field_defaults", {})
        values = {**defaults, **bound}
        return tuple.__new__(cls, [values[name] for name in cls._fields])
    if any("__new__" in vars(base) for base in cls.__mro__[:-1]):
        hint = "use a list or a dict" if issubclass(cls, _CONTAINERS) else "make it outside"
        run.refuse(f"an instance of `{cls.__name__}` cannot be made here", hint)
    instance = run.own(object.__new__(cls))
    if dataclasses.is_dataclass(cls) and "__init__" not in _written_methods(cls):
        bound = bind_arguments(run, cls.__name__, inspect.signature(cls), arguments, keywords)
        for field in dataclasses.fields(cls):
            if field.name in bound:
                value = bound[field.name]
            elif field.default_factory is not dataclasses.MISSING:
                value = run.call(field.default_factory, [], {})
            else:
                value = field.default
            object.__setattr__(instance, field.name, value)
        if hasattr(cls, "__post_init__"):
            run.call(cls.__post_init__, [instance], {})
        return instance
    initialise = inspect.getattr_static(cls, "__init__", None)
    if initialise is object.__init__ and not arguments and not keywords:
        return instance
    if not isinstance(initialise, types.FunctionType):
        return run.refuse(f"an instance of `{cls.__name__}` cannot be made here", "make it outside")
    run.call(initialise, [instance, *arguments], keywords)
    return instance


def _written_methods(cls: type) -> set[str]:
    """Methods of a class that stand in its source (generated ones have none)."""
    found = set()
    for name, value in vars(cls).items():
        if isinstance(value, types.FunctionType) and not value.__code__.co_filename.startswith("<"):
            found.add(name)
    return found
