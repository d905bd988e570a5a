"""Iterating over a value at compile time."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import stcompile.trees as trees
from stcompile.errors import TypingError
from stcompile.frontend import indexing
from stcompile.frontend.run import Run
from stcompile.frontend.values import Array, Iterator, Scalar, describe

_EMPTY: dict[Any, Any] = {}
_VIEWS = tuple(type(view) for view in (_EMPTY.keys(), _EMPTY.values(), _EMPTY.items()))
ITERABLE = frozenset({range, list, tuple, dict, set, frozenset, str, bytes, *_VIEWS})


def items_of(run: Run, value: Any) -> list[Any]:
    """The items that a loop over ``value`` sees: those of a static container, the rows of an
    array."""
    if isinstance(value, Scalar) or (isinstance(value, Array) and not value.type.ndim):
        run.refuse(f"a number ({describe(value)}) cannot be iterated over", "", TypingError)
    if isinstance(value, Array):
        return [indexing.get_item(run, value, index) for index in range(value.type.dims[0])]
    if isinstance(value, Iterator):
        return value.take()
    if not isinstance(value, Iterable):
        run.refuse(f"a {describe(value)} cannot be iterated over", "", TypingError)
    if type(value) in ITERABLE or trees.is_namedtuple(value):
        return list(value)
    return run.refuse(
        f"iterating over a {describe(value)} is not supported",
        "loop over a range, a list, a tuple, a dict or an array",
    )


def iteration_note(target: ast.expr, item: Any) -> str:
    """``t = 1``: tells the copies of an unrolled line apart."""
    if isinstance(target, ast.Name) and isinstance(item, int | str):
        return f"{target.id} = {item!r}"
    if isinstance(target, ast.Tuple) and isinstance(item, tuple) and item:
        return iteration_note(target.elts[0], item[0])
    return ""
