"""Reading and writing by subscripts: items of containers, slices of arrays (views), and elements
that index arrays select (copies)."""

from __future__ import annotations

import operator
from collections import deque
from dataclasses import replace
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from stcompile.base import trees
from stcompile.base.classes import MISSING
from stcompile.base.containers import CONTAINERS, GROWING, built_in, is_derived, item_at
from stcompile.base.containers import contents as contents_held
from stcompile.base.errors import TypingError
from stcompile.frontend.operations import masks
from stcompile.frontend.operations.by_counter import item_at_counter, place_of, refuse_index
from stcompile.frontend.operations.contents import contents_of, has_contents, has_key
from stcompile.frontend.operations.known_arrays import is_known_array, item_of
from stcompile.frontend.operations.overlapping import check_copy
from stcompile.frontend.operations.overloads import refuse_hash, special_method, subscript_of
from stcompile.frontend.operations.refusals import judged
from stcompile.frontend.operations.subscripts import (
    Basic,
    counted_entries,
    entries_of,
    is_basic,
    parse_advanced,
    parse_basic,
)
from stcompile.frontend.state.asking import ask_for_grid
from stcompile.frontend.state.known import known_value
from stcompile.frontend.state.rests import arrays_in, check_place
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import (
    LISTED,
    Affine,
    Array,
    Flat,
    Scalar,
    Traced,
    describe,
    described,
    is_static,
    is_traced,
    is_whole,
    same_number,
)
from stcompile.wengert.ir import Variable
from stcompile.wengert.types import is_number

_INDEXABLE = frozenset({list, tuple, dict, str, bytes, range})


def get_item(run: Run, container: Any, index: Any) -> Any:
    return run.checked(part_of(run, container, index))


@judged(lambda container, index: container[index])
def part_of(run: Run, container: Any, index: Any) -> Any:
    """An item, or a row of a list that a loop keeps as an array; the row may only be indexed."""
    if isinstance(container, Array):
        return _get_array(run, container, subscript_of(run, index))
    if isinstance(container, Flat):
        return _get_flat(run, container.array, index)
    if isinstance(container, Scalar):
        if container.type.kind == "python":
            run.refuse("a number cannot be indexed", "index an array", TypingError)
        if index == ():
            return same_number(container)
        return _get_array(run, run.as_array(container), index)
    method = special_method(run, container, "__getitem__")
    if method is not None:
        return run.call(method, [index], {})
    if isinstance(container, type):
        return _parametrised(run, container, index)
    if is_known_array(container):
        if isinstance(index, Affine):
            refuse_index(run, container)
        return item_of(run, container, subscript_of(run, index))
    return item_of_container(run, container, index)


def item_of_container(run: Run, container: Any, index: Any) -> Any:
    """An item of a list, a dict or the like, whatever its class overrides."""
    held = arrays_in(container)
    if held is not None:
        return held.item(run, container, _known_index(run, subscript_of(run, index)))
    contents = contents_of(run, container)
    if contents is not None and has_key(container, contents, index):
        container = contents
    is_known = type(container) in _INDEXABLE or trees.is_namedtuple(container)
    if not is_known and not has_contents(run, container):
        run.refuse(f"indexing {described(container)} is not supported", "use a list or a dict")
    index = _known_index(run, index)
    index = index if isinstance(container, dict) else subscript_of(run, index)
    if isinstance(index, Affine) and isinstance(container, list | deque | tuple):
        items = contents_held(container) if is_derived(container) else container
        index = place_of(run, items, index)
        if isinstance(index, Affine):
            return item_at_counter(run, items, index, get_item)
    if not is_static(index):
        refuse_index(run, container)
    if isinstance(container, dict):
        refuse_hash(run, index)
        if is_derived(container) and not dict.__contains__(container, index):
            missing = run.relied.lookup(type(container), "__missing__")
            if missing is not MISSING:
                return run.call(missing, [container, index], {})
    elif type(container) in GROWING or isinstance(container, tuple):
        check_place(run, [*container], index)
    try:
        item = item_at(container, index)
    except (LookupError, TypeError) as error:
        _refuse_item(run, container, error)
    if isinstance(index, slice) and isinstance(item, list):
        return run.own([run.checked(part) for part in item])
    return run.checked(item)


def _parametrised(run: Run, cls: type, index: Any) -> Any:
    """``Class[float]``: the result of the class's own ``__class_getitem__``, or a generic class
    with its parameters."""
    found = run.relied.lookup(cls, "__class_getitem__")
    own = getattr(found, "__func__", found)
    if isinstance(own, FunctionType) and own.__module__ != "typing":
        return run.call(own, [cls, index], {})
    if found is MISSING or not is_static(index):
        run.refuse(f"the class `{cls.__name__}` is indexed, which is not generic", "", TypingError)
    return run.computed(operator.getitem, cls, index)


def _known_index(run: Run, index: Any) -> Any:
    """A traced integer as an int, if it is an item of a known array."""
    if not is_traced(index) or index.type.dims or index.type.dtype.kind not in "iu":
        return index
    known = None if isinstance(index, Affine) else known_value(run, run.atom(index))
    return index if known is None else int(known)


def _refuse_item(run: Run, container: Any, error: Exception) -> NoReturn:
    """Refuse an index that Python refuses."""
    run.raises(error)


@judged(operator.setitem)
def set_item(run: Run, container: Any, index: Any, value: Any) -> None:
    if isinstance(container, Array):
        _set_array(run, container, subscript_of(run, index), value)
        return
    method = special_method(run, container, "__setitem__")
    if method is not None:
        run.call(method, [index, value], {})
        return
    if isinstance(container, Flat):
        _set_flat(run, container.array, index, value)
        return
    if is_known_array(container):
        run.refuse(
            f"this writes into {described(container)}, which is known at compile time and stays",
            "make a list of its items: `items = names.tolist()`",
        )
    set_item_of_container(run, container, index, value)


def set_item_of_container(run: Run, container: Any, index: Any, value: Any) -> None:
    """``container[index] = value`` of a list, a dict or a deque, whatever its class overrides."""
    held = arrays_in(container)
    if held is not None and held.is_lent:
        held.set_item(run, container, _known_index(run, subscript_of(run, index)), value)
        return
    if not isinstance(container, CONTAINERS):
        run.refuse(f"{described(container)} cannot be assigned into", "", TypingError)
    check_change(run, container)
    index = index if isinstance(container, dict) else subscript_of(run, index)
    if not run.owns(container):
        run.captures.vary_item(container, index)
    if held is not None:
        held.set_item(run, container, index, value)
        return
    if not is_static(index):
        ask_for_grid(run, container)
        run.refuse(
            f"{described(container)} is written to at a value known only at run time",
            "use a key that is known at compile time"
            if isinstance(container, dict)
            else "write to an array: `items = np.stack(items)`, then `items[i] = ...`; or use an "
            "index that is known at compile time",
        )
    if isinstance(container, dict):
        refuse_hash(run, index)
    else:
        if type(container) in GROWING:
            check_place(run, [*container], index)
        if isinstance(index, slice) and isinstance(container, list):
            value = run.call(list, [value], {})
    run.note_contents(container)
    try:
        built_in(container, "__setitem__")(index, value)
    except (LookupError, TypeError) as error:
        _refuse_item(run, container, error)


def check_change(run: Run, container: Any) -> None:
    """Refuse to change a container of the caller that must stay as it is."""
    if not run.may_change(container):
        run.refuse(
            f"this changes {described(container)} {run.owner(container)}",
            f"make a copy: `{type(container).__name__}(...)`",
        )


def delete_item(run: Run, container: Any, index: Any) -> None:
    """``del container[index]``."""
    method = special_method(run, container, "__delitem__")
    if method is not None:
        run.call(method, [index], {})
    else:
        delete_item_of_container(run, container, index)


def delete_item_of_container(run: Run, container: Any, index: Any) -> None:
    """``del container[index]`` of a list, a dict or a deque, whatever its class overrides."""
    if not isinstance(container, CONTAINERS):
        run.refuse("`del` of this is not supported", "build a new object without it")
    if isinstance(index, slice):
        run.refuse("`del` of a slice is not supported", "build a new list without it")
    if not is_derived(container):
        run.call(container.pop, [index], {})
        return
    check_change(run, container)
    if not is_static(index):
        run.refuse("an item of this is deleted that is known only at run time", "")
    refuse_hash(run, index)
    run.note_contents(container)
    try:
        built_in(container, "__delitem__")(index)
    except (LookupError, TypeError) as error:
        _refuse_item(run, container, error)


def _get_flat(run: Run, array: Array, index: Any) -> Any:
    """``array.flat[index]``: a number, or a copy."""
    place = _place_in(run, array, index)
    if place is not None:
        return _get_array(run, array, place)
    vector = run.call(np.ravel, [array], {})
    if not isinstance(vector, Array) or index is Ellipsis or isinstance(index, tuple):
        run.refuse("`.flat` takes an integer, a slice or integers in a list", "", TypingError)
    found = _get_array(run, vector, index)
    is_slice = isinstance(index, slice)
    return run.record("copy", found) if is_slice and isinstance(found, Array) else found


def _set_flat(run: Run, array: Array, index: Any, value: Any) -> None:
    place = _place_in(run, array, index)
    if place is None and isinstance(index, LISTED) and is_static(index):
        place = tuple(run.call(np.unravel_index, [index, array.type.dims], {}))
        _set_array(run, array, place, value)
        return
    if place is None:
        run.refuse(
            "`.flat` is written at integers known at compile time alone",
            "write to `x.reshape(-1)` if x is contiguous, or to the array itself",
        )
    if is_traced(value) and value.type.dims:
        run.refuse("an array is written to one element of `.flat`", "", TypingError)
    _set_array(run, array, place, value)


def _place_in(run: Run, array: Array, index: Any) -> tuple[Any, ...] | None:
    """The subscript of a flat index; None if it has to be found by flattening the array."""
    if array.type.ndim == 1 and isinstance(index, Affine):
        return (index,)
    if not is_whole(index) or isinstance(index, bool):
        return None
    size = array.type.count
    if not -size <= index < size:
        run.refuse(f"index {index} is out of bounds for size {size}", "", TypingError)
    return tuple(int(at) for at in np.unravel_index(int(index) % size, array.type.dims))


def _get_array(run: Run, array: Array, index: Any) -> Any:
    given = masks.with_masks(run, array, entries_of(index))
    keeps_array = any(entry is Ellipsis for entry in given)
    entries = counted_entries(run, array, given)
    if not entries and not array.type.ndim:
        return run.record("to_scalar", array)  # x[()] of a 0-d array: a NumPy scalar
    if not is_basic(entries):
        at, indices = parse_advanced(run, array, entries)
        result = run.record("index", array, *indices, at=at)
        is_number = isinstance(result, Scalar) and keeps_array  # with `...` NumPy gives an array
        return run.record("asarray", result) if is_number else result
    basic = parse_basic(run, array, entries)
    result = array
    if not basic.is_whole(array.type.dims):
        if len(basic.drop) == array.type.ndim and basic.new and basic.counters:  # x[k, None]
            return _view_of_element(run, array, basic)
        if len(basic.drop) == array.type.ndim and basic.new:  # x[0, None]: a view of an element
            part = run.view(array, "slice", basic.counters, **replace(basic, drop=()).params)
            return run.view(part, "reshape", shape=(1,) * len(basic.new))
        if len(basic.drop) == array.type.ndim and not keeps_array:
            operands = (array, *basic.counters)
            return run.record("slice", *operands, **basic.params)  # a NumPy scalar: a copy
        if len(basic.drop) == array.type.ndim and basic.counters:  # x[..., i]: a part, not a view
            why = "a part of it was taken at an index that is known only at run time"
            array.cell.frozen = array.cell.frozen or why
            number = run.record("slice", array, *basic.counters, **basic.params)
            part = run.record("asarray", number)
            part.cell.frozen = "it is a part of another array, at an index known only at run time"
            return part
        if len(basic.drop) == array.type.ndim:  # x[..., 0]: a view without dimensions
            part = run.view(array, "slice", basic.counters, **replace(basic, drop=()).params)
            result = run.view(part, "reshape", shape=())
        else:
            result = run.view(array, "slice", basic.counters, **basic.params)
    elif not basic.new:
        return Array(array.cell, array.type, array.path)  # a new view of the whole
    return run.view(result, "expand_dims", axis=basic.new) if basic.new else result


def _view_of_element(run: Run, array: Array, basic: Basic) -> Any:
    """``x[k, None]`` as ``x[:, None][k]``, since the start of a slice cannot be a negative integer
    of the data."""
    ndim, more = array.type.ndim, len(basic.new)
    wide = run.view(array, "expand_dims", axis=tuple(range(ndim, ndim + more)))
    part = replace(
        basic,
        start=(*basic.start, *(0,) * more),
        length=(*basic.length, *(1,) * more),
        step=(*basic.step, *(1,) * more),
    )
    return run.view(wide, "slice", part.counters, **part.params)


def _set_array(run: Run, array: Array, index: Any, value: Any) -> None:
    entries = counted_entries(run, array, masks.with_masks(run, array, entries_of(index)))
    is_sequence = isinstance(value, LISTED)
    if is_sequence:
        value = run.as_array(value)
    if not (is_traced(value) or is_number(value)):
        run.refuse(f"{described(value)} cannot be stored in an array", "store numbers", TypingError)
    if not is_basic(entries):
        is_whole = is_traced(value) and value.type.ndim > 0
        at, indices = parse_advanced(run, array, entries, counts=is_whole)

        def scatter(present: Variable) -> Traced:
            result: Traced = run.record("index_update", present, value, *indices, at=at)
            return result

        run.write(array, scatter)
        return
    basic = parse_basic(run, array, entries)
    is_element = is_sequence or not any(entry is Ellipsis for entry in entries)
    stored = _without_leading_axes(run, _fit(run, value, basic), basic, is_element)
    check_copy(run, array, basic, stored)

    def update(present: Variable) -> Traced:
        result: Traced = run.record("update", present, stored, *basic.counters, **basic.params)
        return result

    run.write(array, update)


def _fit(run: Run, value: Any, basic: Basic) -> Any:
    """Remove the axes of the value that None adds to the part where it is stored."""
    if not basic.new or not isinstance(value, Array):
        return value
    kept = len(basic.length) - len(basic.drop) + len(basic.new)
    missing = kept - value.type.ndim
    axes = tuple(axis - missing for axis in basic.new if axis - missing >= 0)
    return run.view(value, "squeeze", axis=axes) if axes else value


def _without_leading_axes(run: Run, value: Any, basic: Basic, is_element: bool) -> Any:
    """Remove leading axes of length 1 that the part where the value is stored does not have, as
    NumPy does; but not if the part is a single element, rather than an array without axes."""
    if not isinstance(value, Array):
        return value
    kept = len(basic.length) - len(basic.drop)
    extra = value.type.ndim - kept
    if extra > 0 and kept == 0 and is_element:
        run.refuse(
            f"setting an array element with a sequence of shape {value.type.dims}",
            "store a number",
            TypingError,
        )
    if extra <= 0 or any(length != 1 for length in value.type.dims[:extra]):
        return value
    return run.view(value, "squeeze", axis=tuple(range(extra)))


def _added(array: Any, index: Any, value: Any) -> None:
    array[index] += value


@judged(_added)
def add_item(run: Run, array: Array, index: Any, value: Any) -> bool:
    """Record ``array[index] += value`` as an accumulation, if possible. False if not (index arrays,
    casts): then the part is read, added to and written back."""
    entries = counted_entries(run, array, masks.with_masks(run, array, entries_of(index)))
    if not is_basic(entries) or any(entry is None for entry in entries):
        return False
    atom = run.atom(value)
    weak = atom.type.kind == "python" and atom.type.dtype.kind != "c"
    if not array.type.inexact or not (weak or atom.type.dtype == array.type.dtype):
        return False
    basic = parse_basic(run, array, entries)

    def accumulate(present: Variable) -> Traced:
        operands = (present, atom, *basic.counters)
        result: Traced = run.record("accumulate", *operands, op="slice", **basic.params)
        return result

    run.write(array, accumulate)
    return True


def accumulate_at(run: Run, array: Array, index: Any, value: Any) -> None:
    """``np.add.at(array, index, value)`` of an array or a number: an element that is indexed twice
    is added to twice."""
    if isinstance(index, list):
        index = run.as_array(index)
    counted = counted_entries(run, array, masks.with_masks(run, array, entries_of(index)))
    if is_basic(counted):
        total = run.call(np.add, [get_item(run, array, index), value], {})
        if not np.can_cast(total.type.dtype, array.type.dtype, "same_kind"):
            run.refuse(f"{described(value)} does not add to {describe(array)}", "cast it first")
        set_item(run, array, index, total)
        return
    at, indices = parse_advanced(run, array, counted)

    def scatter(present: Variable) -> Traced:
        result: Traced = run.record("accumulate", present, value, *indices, op="index", at=at)
        return result

    run.write(array, scatter)
