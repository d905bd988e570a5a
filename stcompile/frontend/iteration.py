"""Iterating over a value at compile time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stcompile.errors import TypingError
from stcompile.frontend import indexing
from stcompile.frontend.run import Run
from stcompile.frontend.values import Array, Scalar, describe


def items_of(run: Run, value: Any) -> list[Any]:
    """The items that a loop over ``value`` sees: those of a static container, the rows of an
    array."""
    if isinstance(value, Scalar) or (isinstance(value, Array) and not value.type.ndim):
        run.refuse(f"a number ({describe(value)}) cannot be iterated over", "", TypingError)
    if isinstance(value, Array):
        return [indexing.get_item(run, value, index) for index in range(value.type.dims[0])]
    if not isinstance(value, Iterable):
        run.refuse(f"a {describe(value)} cannot be iterated over", "", TypingError)
    if isinstance(value, range | list | tuple | dict | set | frozenset | str) or (
        type(value).__name__ in ("dict_keys", "dict_values", "dict_items")
    ):
        return list(value)
    return run.refuse(
        f"iterating over a {describe(value)} is not supported",
        "loop over a range, a list, a tuple, a dict or an array",
    )
