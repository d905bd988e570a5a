"""Functions whose modules are loaded by the first call, since only some programs need them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def deferred(module: str, name: str) -> Callable[..., Any]:
    """A function of a module, which is loaded by the first call.

    >>> deferred("math", "sqrt")(4.0)
    2.0
    """

    def call(*arguments: Any, **keywords: Any) -> Any:
        return getattr(import_module(module), name)(*arguments, **keywords)

    call.__name__, call.__module__ = name, module
    return call
