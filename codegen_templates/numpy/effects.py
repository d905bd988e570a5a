"""How effects are written. Each of the ``parts`` of a print is one argument of `print`."""

from __future__ import annotations

from typing import Any

from ..marks import effect
from .subscripts import error_of, filled


@effect
def print_(xs: Any, *, parts: Any, sep: str = " ", end: str = "\n") -> None:
    print(*filled(parts, xs), sep=sep, end=end)


@effect
def assert_(cond: Any, *, message: Any = None) -> None:
    if message is None:
        assert cond
    else:
        assert cond, message


@effect
def raise_(*, error: str, arguments: Any) -> None:
    raise error_of(error)(*arguments)


@effect
def store(target: Any, v: Any) -> None:
    target[...] = v
