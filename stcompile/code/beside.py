"""Functions that are printed beside the code that calls them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Helpers = Mapping[str, Callable[..., Any]]


def called_in(text: str, helpers: Helpers) -> Iterator[str]:
    """The helpers that some code calls, directly or indirectly, in the order of their table."""
    called = _called(text, helpers)
    return (own for own in helpers if own in called)


def _called(text: str, helpers: Helpers) -> set[str]:
    found = {own for own in helpers if re.search(rf"\b{own}\(", text)}
    return found.union(*(_called(_body(helpers[own]), helpers) for own in found))


def _body(function: Callable[..., Any]) -> str:
    """The text of a helper behind the line with its name."""
    return inspect.getsource(function).partition(") -> ")[2]


def text_of(function: Callable[..., Any]) -> list[str]:
    """The lines of a helper, without its decorator and its type hints."""
    source = inspect.getsource(function).splitlines()
    start = next(at for at, line in enumerate(source) if line.startswith("def "))
    signature = source[start].replace(": Any", "").replace(" -> Any", "")
    return [signature, *source[start + 1 :]]
