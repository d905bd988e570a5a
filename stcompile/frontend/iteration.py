"""Iterating over a value at compile time."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import stcompile.trees as trees
from stcompile.errors import TypingError
from stcompile.frontend import indexing
from stcompile.frontend.run import Run
from stcompile.frontend.state import PositionSite
from stcompile.frontend.values import (
    Affine,
    Array,
    Counted,
    Iterator,
    Masked,
    Scalar,
    Sequence,
    describe,
)

_EMPTY: dict[Any, Any] = {}
_VIEWS = tuple(type(view) for view in (_EMPTY.keys(), _EMPTY.values(), _EMPTY.items()))
ITERABLE = frozenset({range, list, tuple, dict, set, frozenset, str, bytes, *_VIEWS})


def items_of(run: Run, value: Any) -> list[Any]:
    """The items that a loop over ``value`` sees: those of a static container, the rows of an
    array. An iterator is used up."""
    found = sequence_of(run, value)
    if isinstance(found, Sequence):
        return [found.item(index) for index in range(found.length)]
    return found


def sequence_of(run: Run, value: Any) -> Sequence | list[Any]:
    """The items of ``value``, made when they are asked for where that is possible."""
    if isinstance(value, Scalar) or (isinstance(value, Array) and not value.type.ndim):
        run.refuse(f"a number ({describe(value)}) cannot be iterated over", "", TypingError)
    if isinstance(value, Masked):
        run.refuse_masked()
    if isinstance(value, Array):
        rows = value.type.dims[0]
        return Sequence(rows, lambda index: indexing.get_item(run, value, index), (value,))
    if isinstance(value, Iterator):
        return rest_of(run, value)
    if isinstance(value, range):
        return Sequence(len(value), lambda index: of_range(value, index))
    if isinstance(value, Counted):
        run.refuse(
            "the number of items of this range is known only at run time",
            "only a `for` loop can go through it",
        )
    if not isinstance(value, Iterable):
        run.refuse(f"a {describe(value)} cannot be iterated over", "", TypingError)
    if type(value) in ITERABLE or trees.is_namedtuple(value):
        return [run.checked(item) for item in value]
    return run.refuse(
        f"iterating over a {describe(value)} is not supported",
        "loop over a range, a list, a tuple, a dict or an array",
    )


def of_range(values: range, index: Any) -> Any:
    if isinstance(index, Affine):
        return index.scaled(values.step, values.start)
    return values[index]


def rest_of(run: Run, iterator: Iterator) -> Sequence | list[Any]:
    """What an iterator has left; it is used up."""
    start, items = iterator.position, iterator.items
    run.set(PositionSite(iterator), iterator.length)
    if not isinstance(items, Sequence):
        return items[start:]

    def item(index: Any) -> Any:
        return items.item(index.scaled(1, start) if isinstance(index, Affine) else index + start)

    return Sequence(items.length - start, item, items.sources)


def next_of(run: Run, iterator: Iterator) -> Any:
    """The next item of an iterator that has one."""
    item = iterator.peek()
    run.set(PositionSite(iterator), iterator.position + 1)
    return run.checked(item)


def iterator_over(run: Run, items: Any) -> Iterator:
    return Iterator(items, born=run.age())


def iteration_note(target: ast.expr, item: Any) -> str:
    """``t = 1``: tells the copies of an unrolled line apart."""
    if isinstance(target, ast.Name) and isinstance(item, int | str):
        return f"{target.id} = {item!r}"
    if isinstance(target, ast.Tuple) and isinstance(item, tuple) and item:
        return iteration_note(target.elts[0], item[0])
    return ""
