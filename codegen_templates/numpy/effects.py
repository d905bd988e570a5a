"""Spellings of effects. A printed line, the message of an assert and the arguments of an error
consist of parts: see `filled`.

PYTEST_DONT_REWRITE: pytest would add to the messages of asserts, which are the user's."""

from __future__ import annotations

from typing import Any

from ..marks import effect
from .subscripts import error_of, filled, single


@effect
def print_(xs: Any, *, parts: Any, sep: str = " ", end: str = "\n") -> None:
    print(*filled(parts, xs), sep=sep, end=end)


@effect
def assert_(cond: Any, xs: Any, *, message: Any = ()) -> None:
    if message:
        assert cond, single(filled(message, xs))
    else:
        assert cond


@effect
def raise_(xs: Any, *, error: str, arguments: Any) -> None:
    raise error_of(error)(*filled(arguments, xs))


@effect
def store(target: Any, v: Any) -> None:
    target[...] = v
