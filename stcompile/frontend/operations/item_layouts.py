"""The common layout of the items of a list that is to be kept in rows of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any

from stcompile.frontend.operations.numbers import common_number, reads_as_number
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Filled, Layout, Scalar, Structure
from stcompile.wengert.dims import symbols_in
from stcompile.wengert.ir import Variable
from stcompile.wengert.types import Type, is_number, type_of

NOTHING = Structure(tuple, ())  # the layout of a list that never had an item


def _is_nothing(item: Any) -> bool:
    return isinstance(item, Filled) and item.layout == NOTHING


class _UnlikeError(Exception):
    """Items are of types that no row can hold."""


def common_layout(run: Run, *lists: Iterable[Any]) -> Layout | None:
    """The layout that all items of some lists fit in; None if there is none."""
    try:
        items = [item for items in lists for item in items if not _is_nothing(item)]
        found = [_example(run, item) for item in items]
        return _layout_of(reduce(_joined, found)) if found else NOTHING
    except _UnlikeError:
        return None


def types_in(layout: Layout) -> Iterator[Type]:
    """The types of the numbers and arrays of an item."""
    if isinstance(layout, Type):
        yield layout
    else:
        for part in layout.parts:
            yield from types_in(part)


def leaves_of(item: Any, layout: Layout) -> Iterator[Any]:
    """The numbers and arrays of an item."""
    if isinstance(layout, Type):
        yield item
    else:
        for part, inner in zip(item, layout.parts, strict=True):
            yield from leaves_of(part, inner)


def item_of(leaves: Iterator[Any], layout: Layout) -> Any:
    """The item made of the given numbers and arrays."""
    if isinstance(layout, Type):
        return next(leaves)
    made: Any = layout.kind(item_of(leaves, part) for part in layout.parts)
    return made


# An example of an item stands for all that are like it: numbers are themselves, or a variable of
# their type, and arrays are their type.


def _example(run: Run, item: Any) -> Any:
    if isinstance(item, Filled):
        return _example_of(item.layout)
    if isinstance(item, Array) and item.type.ndim:
        if not all(_lasts(run, symbol) for symbol in symbols_in(item.type.dims)):
            raise _UnlikeError
        return item.type
    if reads_as_number(item):
        scalar = Type.scalar(item.type.dtype) if isinstance(item, Array) else None
        return item if scalar is None else _number(scalar)
    if type(item) in (tuple, list) and item:
        return type(item)(_example(run, part) for part in item)
    raise _UnlikeError


def _lasts(run: Run, symbol: Any) -> bool:
    """True for a length that has the same value wherever the list is used."""
    return symbol.typical is not None or ("bound", symbol) in run.made


def _number(type: Type) -> Scalar:
    return Scalar(Variable("item", type))


def _example_of(layout: Layout) -> Any:
    if isinstance(layout, Type):
        return layout if layout.kind == "array" else _number(layout)
    made: Any = layout.kind(map(_example_of, layout.parts))
    return made


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
    return _number(found)


def _layout_of(example: Any) -> Layout:
    if isinstance(example, tuple | list):
        return Structure(type(example), tuple(map(_layout_of, example)))
    if is_number(example):
        return type_of(example)
    return example if isinstance(example, Type) else example.type
