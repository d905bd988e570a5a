"""Methods and operators of lists whose number of items the data decide."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.frontend.operations.filled import (
    as_array,
    bounds_of,
    extended,
    fill,
    item_at,
    joined,
    part_of,
    place_in,
    with_inserted,
    with_item,
    with_rows,
    without,
)
from stcompile.frontend.operations.indexing import get_item
from stcompile.frontend.operations.item_layouts import common_layout
from stcompile.frontend.operations.operators import BINARY, binary
from stcompile.frontend.state.rests import FILLED, FILLED_HINT, filled_in, rest_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Filled, Scalar, Structure, described, is_traced
from stcompile.library import lists
from stcompile.wengert.types import Type


def method_of_filled(
    run: Run, items: list[Any], name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> Any:
    """A call of ``items.append`` and the like."""
    method = METHODS.get(name)
    if method is None or keywords:
        run.refuse(f"`list.{name}` is not supported here: {FILLED}", FILLED_HINT)
    return method(run, items, *arguments)


def item_of(run: Run, filled: Filled, index: Any) -> Any:
    """An item of a list whose length the data decide."""
    if isinstance(index, slice):
        return run.own([part_of(run, filled, index)])
    return item_at(run, filled, place_in(run, filled, _checked_place(run, index)))


def _checked_place(run: Run, index: Any) -> Any:
    """An index of a list as an integer."""
    is_traced_integer = isinstance(index, Scalar) and index.type.dtype.kind in "iu"
    if not (is_traced_integer or isinstance(index, int | np.integer)):
        run.refuse(
            f"a list whose length the data decide is indexed by {described(index)}",
            "make an array of it first: `np.array(items)[1:]`",
        )
    return index


def set_item_of(run: Run, filled: Filled, index: Any, item: Any) -> Filled:
    """Replace an item of a list whose length the data decide."""
    text = "list assignment index out of range"
    return with_item(run, filled, place_in(run, filled, _checked_place(run, index), text), item)


def _present(run: Run, items: list[Any]) -> Filled:
    filled = filled_in(items)
    if filled is None:
        _check_known(run, items)
        layout = common_layout(run, items) or Structure(tuple, ())
        filled = fill(run, items, layout, bounds_of(items)[1])
    return filled


def _check_known(run: Run, items: list[Any]) -> None:
    """Refuse a list to which a loop appends if it is not kept as rows of arrays."""
    rest = rest_in(items)
    if rest is not None:
        run.refuse(rest.reason, rest.hint)


def _set(run: Run, items: list[Any], filled: Filled) -> None:
    run.note_contents(items)
    items[:] = [filled]


def _append(run: Run, items: list[Any], item: Any) -> None:
    _set(run, items, extended(run, _present(run, items), [item]))


def _pop(run: Run, items: list[Any], index: Any = -1) -> Any:
    filled = _present(run, items)
    is_last = not is_traced(index) and index == -1
    message = "pop from empty list" if is_last else "pop index out of range"
    place = place_in(run, filled, index, message)
    item = item_at(run, filled, place)
    _set(run, items, without(run, filled, place, is_last))
    return item


def _insert(run: Run, items: list[Any], index: Any, item: Any) -> None:
    _set(run, items, with_inserted(run, _present(run, items), index, item))


def _reverse(run: Run, items: list[Any]) -> None:
    _set(run, items, part_of(run, _present(run, items), slice(None, None, -1)))


def _clear(run: Run, items: list[Any]) -> None:
    run.note_contents(items)
    items.clear()


def _copy(run: Run, items: list[Any]) -> list[Any]:
    made: list[Any] = run.own([*items])
    return made


def unpacked(run: Run, filled: Filled, first: int, last: int | None) -> list[Any]:
    """The items that an unpacking assigns: the ``first`` items, and if ``last`` is not None, a list
    of the items in the middle, and the ``last`` items."""
    needed, is_least = first + (last or 0), last is not None
    if filled.low < needed or not is_least:
        run.call(lists.require_items, [filled.count, needed, is_least], {})
    found = [item_at(run, filled, place) for place in range(first)]
    if last is None:
        return found
    end = binary(run, BINARY[ast.Sub], filled.count, last)
    found.append(run.own([part_of(run, filled, slice(first, end))]))
    places = (binary(run, BINARY[ast.Add], end, at) for at in range(last))
    return [*found, *(item_at(run, filled, place) for place in places)]


def extend(run: Run, items: list[Any], more: list[Any]) -> None:
    """``items.extend(more)``."""
    filled, other = _present(run, items), filled_in(more)
    if other is None:
        _check_known(run, more)
    found = extended(run, filled, more) if other is None else joined(run, filled, other)
    _set(run, items, found)


def operator_of_filled(run: Run, python: Any, left: Any, right: Any) -> list[Any]:
    """``items + more``."""
    items, times = (left, right) if isinstance(left, list) else (right, left)
    if python is operator.mul and isinstance(times, int):
        made: list[Any] = run.own([])
        for _ in range(times):
            extend(run, made, items)
        return made
    if python is not operator.add or not (type(left) is type(right) is list):
        run.refuse(f"this operator of a list: {FILLED}", FILLED_HINT)
    made = run.own([*left])
    extend(run, made, right)
    return made


def sort(run: Run, items: list[Any], reverse: bool) -> None:
    """``items.sort()`` of numbers."""
    filled = _present(run, items)
    if not isinstance(filled.layout, Type):
        run.refuse("the items of this list are no numbers: they have no order", FILLED_HINT)
    array = run.call(np.sort, [as_array(run, filled)], {})
    if reverse:
        array = get_item(run, array, slice(None, None, -1))
    _set(run, items, with_rows(run, filled, [run.read(array)]))


METHODS: dict[str, Callable[..., Any]] = {
    "append": _append,
    "pop": _pop,
    "clear": _clear,
    "copy": _copy,
    "extend": extend,
    "insert": _insert,
    "reverse": _reverse,
}
