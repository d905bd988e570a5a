"""Functions that keep their results: the meaning of `functools.cache` and `functools.lru_cache`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def keeping(function: Callable[..., Any], typed: bool) -> Callable[..., Any]:
    """A function that gives back, for arguments that it was given before, the very object that it
    gave then. None is ever dropped. ``typed``: 1 and 1.0 are two arguments."""
    kept: dict[Any, Any] = {}

    def found(*arguments: Any, **keywords: Any) -> Any:
        types = tuple(map(type, (*arguments, *keywords.values()))) if typed else ()
        key = (arguments, tuple(keywords.items()), types)
        if key not in kept:
            kept[key] = function(*arguments, **keywords)
        return kept[key]

    return found
