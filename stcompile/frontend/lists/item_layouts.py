"""The common layout of the items of a list that is to be kept in rows of arrays.

A layout is an item, which is a number, an array, or a tuple or a list of items, with types in place
of the numbers and arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

from stcompile.base import trees
from stcompile.frontend.operations.numbers import common_number, reads_as_number
from stcompile.frontend.state.rests import is_filled
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Scalar, has_axes
from stcompile.wengert.dims import symbols_in
from stcompile.wengert.ir import Variable
from stcompile.wengert.types import Type, is_number, type_of

Layout: TypeAlias = Any
NOTHING: Layout = ()  # the layout of a list that never had an item


@dataclass(frozen=True)
class Rows:
    """The items of a list in the structure of a result: an array for each leaf of an item, by its
    path in the item."""

    layout: Layout
    columns: dict[trees.Path, Any]


class _UnlikeError(Exception):
    """Items are of types that no row can hold."""


def common_layout(run: Run, *lists: Iterable[Any]) -> Layout | None:
    """The layout that all items of some lists fit in; None if there is none."""
    try:
        found = [_example(run, item) for items in lists for item in items]
        found = [one for one in found if not isinstance(one, tuple) or one != NOTHING]
        return trees.map_leaves(_type_of, reduce(_joined, found)) if found else NOTHING
    except _UnlikeError:
        return None


def leaves_of(item: Any) -> Iterator[Any]:
    """The numbers and arrays of an item, or their types of a layout."""
    return (leaf for _, leaf in trees.leaves(item))


# An example of an item stands for all that are like it: numbers are themselves, or a variable of
# their type, and arrays are their type.


def _example(run: Run, item: Any) -> Any:
    if is_filled(item):
        return trees.map_leaves(_example_of, item.layout)
    if has_axes(item):
        if not all(_lasts(run, symbol) for symbol in symbols_in(item.type.dims)):
            raise _UnlikeError
        return item.type
    if reads_as_number(item):
        scalar = Type.scalar(item.type.dtype) if isinstance(item, Array) else None
        return item if scalar is None else number_of(scalar)
    if type(item) in (tuple, list) and item:
        return type(item)(_example(run, part) for part in item)
    raise _UnlikeError


def _lasts(run: Run, symbol: Any) -> bool:
    """True for a length that has the same value wherever the list is used."""
    return symbol.typical is not None or ("bound", symbol) in run.made


def number_of(type: Type) -> Scalar:
    """A number that stands for all of its type."""
    return Scalar(Variable("item", type))


def _example_of(path: trees.Path, type: Type) -> Any:
    return type if type.kind == "array" else number_of(type)


def _joined(one: Any, other: Any) -> Any:
    if isinstance(one, tuple | list) and type(one) is type(other) and len(one) == len(other):
        return type(one)(map(_joined, one, other))
    if isinstance(one, Type) and one == other:
        return one
    if not (reads_as_number(one) and reads_as_number(other)):
        raise _UnlikeError
    found = common_number(one, other)
    if found is None:
        raise _UnlikeError
    return number_of(found)


def _type_of(path: trees.Path, example: Any) -> Type:
    if is_number(example):
        return type_of(example)
    return example if isinstance(example, Type) else example.type
