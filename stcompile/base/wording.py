"""Wording of messages: articles, the users' names of the classes of Python, and tables."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

_PLAIN: dict[type, str] = {
    types.FunctionType: "function",
    types.BuiltinFunctionType: "built-in function",
    types.MethodType: "method",
    types.ModuleType: "module",
    types.GeneratorType: "generator",
    type(None): "None",
    type: "class",
}
_BARE = ("None", "text", "what", "`")  # the beginnings of nouns that take no article


def an(noun: str) -> str:
    """A noun with its article.

    >>> an("int"), an("list"), an("ndarray"), an("f64[3]"), an("u8[2]"), an("ufunc"), an("None")
    ('an int', 'a list', 'an ndarray', 'an f64[3]', 'a u8[2]', 'a ufunc', 'None')
    """
    if noun.startswith(_BARE):
        return noun
    first, second = noun[:1].lower(), noun[1:2]
    spelt = (first == "f" and second.isdigit()) or noun.startswith(("ndarray", "nd"))
    like_you = first == "u" and (second.isdigit() or noun[:3] in ("ufu", "uni", "use"))
    is_vowel = first in "aeiou" and not like_you and not noun.startswith("one")
    return f"an {noun}" if is_vowel or spelt else f"a {noun}"


def noun_of(value: Any) -> str:
    """The noun that users have for the class of a Python object."""
    if isinstance(value, type):
        return "class"
    return _PLAIN.get(type(value)) or type(value).__name__


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Write rows in columns; the first row is the head.

    >>> print(table([("x", "value"), ("one", "1")]))
    x    value
    ───  ─────
    one  1
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join(cells).rstrip())
    return "\n".join([lines[0], "  ".join("─" * width for width in widths), *lines[1:]])
