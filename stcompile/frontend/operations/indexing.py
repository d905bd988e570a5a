"""Subscripts: containers by their keys, arrays by slices (views) and by index arrays (copies)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from stcompile.base import trees
from stcompile.base.classes import MISSING
from stcompile.base.errors import TypingError
from stcompile.frontend.operations import masks
from stcompile.frontend.operations.overlapping import check_copy
from stcompile.frontend.operations.overloads import refuse_hash, special_method, subscript_of
from stcompile.frontend.state.known import known_value
from stcompile.frontend.state.rests import check_place
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import (
    Affine,
    Array,
    Flat,
    Masked,
    Scalar,
    Traced,
    describe,
    described,
    is_static,
    is_traced,
    same_number,
)
from stcompile.wengert.ir import Variable
from stcompile.wengert.types import is_number


@dataclass(frozen=True)
class Basic:
    """A subscript of integers, slices, None and ``...``: for each axis of the array the elements
    that are taken, the axes that integers remove, and the places of new axes (None) in the result.
    A start may depend on loop counters."""

    start: tuple[int | Affine, ...]
    length: tuple[int, ...]
    step: tuple[int, ...]
    drop: tuple[int, ...]
    new: tuple[int, ...]

    @property
    def params(self) -> dict[str, Any]:
        start = tuple(self._form(part) for part in self.start)
        return {"start": start, "length": self.length, "step": self.step, "drop": self.drop}

    @property
    def counters(self) -> tuple[Variable, ...]:
        """The loop counters that a start depends on."""
        parts = [part for part in self.start if isinstance(part, Affine)]
        return tuple(dict.fromkeys(counter for part in parts for counter, _ in part.terms))

    def _form(self, part: int | Affine) -> tuple[int, ...]:
        if not isinstance(part, Affine):
            return (part,)
        terms = dict(part.terms)
        return part.offset, *(terms.get(counter, 0) for counter in self.counters)

    def is_whole(self, dims: tuple[int, ...]) -> bool:
        """True if every element is taken, in order."""
        whole = all(s == 0 for s in self.start) and self.length == dims
        return whole and all(s == 1 for s in self.step) and not self.drop


_INDEXABLE = frozenset({list, tuple, dict, str, bytes, range})


def get_item(run: Run, container: Any, index: Any) -> Any:
    if isinstance(container, Array):
        return _get_array(run, container, subscript_of(run, index))
    if isinstance(container, Flat):
        return _get_flat(run, container.array, index)
    if isinstance(container, Masked):
        run.refuse_masked()
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
    if type(container) not in _INDEXABLE and not trees.is_namedtuple(container):
        run.refuse(f"indexing {described(container)} is not supported", "use a list or a dict")
    index = _known_index(run, index)
    index = index if isinstance(container, dict) else subscript_of(run, index)
    if not is_static(index):
        run.refuse(
            f"{described(container)} is indexed by a traced value",
            "stack the items into an array (`np.stack(items)[i]`), or use a static index: an int, "
            "or an item of an array that is passed as st.static(array)",
        )
    if isinstance(container, dict):
        refuse_hash(run, index)
    elif isinstance(container, list | tuple):
        check_place(run, container, index)
    try:
        item = container[index]
    except (LookupError, TypeError) as error:
        _refuse_item(run, container, error)
    if isinstance(index, slice) and isinstance(item, list):
        return run.own([run.checked(part) for part in item])
    return run.checked(item)


def _parametrised(run: Run, cls: type, index: Any) -> Any:
    """``Class[float]``: what its own ``__class_getitem__`` says, or a generic class with its
    parameters."""
    found = run.captures.lookup(cls, "__class_getitem__")
    own = getattr(found, "__func__", found)
    if isinstance(own, FunctionType) and own.__module__ != "typing":
        return run.call(own, [cls, index], {})
    if found is MISSING or not is_static(index):
        run.refuse(f"the class `{cls.__name__}` is indexed, which is not generic", "", TypingError)
    try:
        return cls[index]  # type: ignore[index]
    except TypeError as error:
        return run.raises(error, reason=str(error))


def _known_index(run: Run, index: Any) -> Any:
    """A traced integer as an int, if it is an item of an array that is known."""
    if (
        not isinstance(index, Array | Scalar)
        or index.type.dims
        or index.type.dtype.kind not in "iu"
    ):
        return index
    known = None if isinstance(index, Affine) else known_value(run, run.atom(index))
    return index if known is None else int(known)


def _refuse_item(run: Run, container: Any, error: Exception) -> NoReturn:
    """Refuse an index that Python refuses."""
    run.raises(error)


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
    if isinstance(container, Masked):
        run.refuse("what a mask selects is a copy: nobody sees what is written to it", "")
    if not isinstance(container, list | dict):
        run.refuse(f"{described(container)} cannot be assigned into", "", TypingError)
    if not run.owns(container):
        run.refuse(
            f"this changes {described(container)} {run.owner(container)}",
            f"make a copy: `{type(container).__name__}(...)`",
        )
    index = index if isinstance(container, dict) else subscript_of(run, index)
    if not is_static(index):
        run.refuse("the index is a traced value", "use a static index")
    if isinstance(container, dict):
        refuse_hash(run, index)
    else:
        check_place(run, container, index)
        if isinstance(index, slice):
            value = run.call(list, [value], {})
    run.note_contents(container)
    try:
        container[index] = value
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
    if place is None:
        run.refuse(
            "`.flat` is written at a static integer alone",
            "write to `x.reshape(-1)` if x is contiguous, or to the array itself",
        )
    if is_traced(value) and value.type.dims:
        run.refuse("an array is written to one element of `.flat`", "", TypingError)
    _set_array(run, array, place, value)


def _place_in(run: Run, array: Array, index: Any) -> tuple[Any, ...] | None:
    """The subscript of a flat index; None if it has to be found by flattening the array."""
    if array.type.ndim == 1 and isinstance(index, Affine):
        return (index,)
    if not isinstance(index, int | np.integer) or isinstance(index, bool):
        return None
    size = array.type.size
    if not -size <= index < size:
        run.refuse(f"index {index} is out of bounds for size {size}", "", TypingError)
    return tuple(int(at) for at in np.unravel_index(int(index) % size, array.type.dims))


def entries_of(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _is_basic(entries: tuple[Any, ...]) -> bool:
    return all(
        entry is None
        or entry is Ellipsis
        or isinstance(entry, slice | Affine)
        or (isinstance(entry, int | np.integer) and not isinstance(entry, bool))
        for entry in entries
    )


def _expand(run: Run, array: Array, entries: tuple[Any, ...]) -> list[Any]:
    """The entries with ``...`` written out as full slices."""
    taken = sum(entry is not None and entry is not Ellipsis for entry in entries)
    ndim = array.type.ndim
    if taken > ndim:
        run.refuse(
            f"{taken} indices for an array of {ndim} dimensions, shape {array.type.dims}",
            "",
            TypingError,
        )
    if sum(entry is Ellipsis for entry in entries) > 1:
        run.refuse("a subscript has at most one `...`", "", TypingError)
    rest = [slice(None)] * (ndim - taken)
    if not any(entry is Ellipsis for entry in entries):
        return [*entries, *rest]
    at = next(i for i, entry in enumerate(entries) if entry is Ellipsis)
    return [*entries[:at], *rest, *entries[at + 1 :]]


def parse_basic(run: Run, array: Array, entries: tuple[Any, ...]) -> Basic:
    """A basic subscript against an array's dims; out of range is refused with both."""
    start: list[int | Affine] = []
    length, step, drop, new = [], [], [], []
    axis = position = 0
    for entry in _expand(run, array, entries):
        if entry is None:
            new.append(position)
            position += 1
            continue
        dim = array.type.dims[axis]
        first: int | Affine
        if isinstance(entry, slice):
            first, count, stride = _take_slice(run, entry, dim)
            position += 1
        elif isinstance(entry, Affine):
            first, count, stride = entry, 1, 1
            drop.append(axis)
        else:
            first, count, stride = int(entry), 1, 1
            if not -dim <= first < dim:
                run.refuse(
                    f"index {first} is out of range for axis {axis} of size {dim}, shape "
                    f"{array.type.dims}",
                    "",
                    TypingError,
                )
            first %= dim
            drop.append(axis)
        start.append(first)
        length.append(count)
        step.append(stride)
        axis += 1
    return Basic(tuple(start), tuple(length), tuple(step), tuple(drop), tuple(new))


def _counted_entries(run: Run, array: Array, entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """The entries, with integers that are known only at run time as affine integers. An integer
    that may be out of range, or negative on some steps only, becomes a number first: NumPy checks
    it at run time."""
    entries = tuple(_integer_entry(run, entry) for entry in entries)
    if not any(isinstance(entry, Affine) for entry in entries):
        return entries
    found: list[Any] = []
    axis = 0
    for entry in _expand(run, array, entries):
        if entry is None:
            found.append(entry)
            continue
        dim = array.type.dims[axis]
        if isinstance(entry, Affine):
            if -dim <= entry.low and entry.high < 0:
                entry = entry.scaled(1, dim)
            if not (entry.low >= 0 and entry.high < dim):
                number = run.atom(entry)
                assert isinstance(number, Variable)
                entry = Affine.unbounded(number)
        found.append(entry)
        axis += 1
    return tuple(found)


def _integer_entry(run: Run, entry: Any) -> Any:
    """A traced integer as an index of which nothing is known. (An array, even one without
    dimensions, is not an integer: it selects a copy.)"""
    if isinstance(entry, Affine) or not isinstance(entry, Scalar):
        return entry
    if entry.type.dtype.kind not in "iu":
        return entry
    number = run.atom(entry)
    assert isinstance(number, Variable)
    return Affine.unbounded(number)


def _take_counted_slice(run: Run, entry: slice, dim: int) -> tuple[int | Affine, int, int]:
    """A slice with bounds that depend on counters, whose length does not."""
    stride = 1 if entry.step is None else entry.step
    ends = (0 if entry.start is None else entry.start, dim if entry.stop is None else entry.stop)
    if is_static(stride) and stride > 0:
        first, stop = (_within(end, dim) for end in ends)
        if isinstance(first, Affine) and isinstance(stop, Affine):
            length = stop.plus(first.scaled(-1, 0))
            if isinstance(length, int):
                return first, len(range(0, length, stride)), stride
    return run.refuse(
        "the length of this slice depends on the step of the loop",
        "use slices of one length, or select with np.where",
    )


def _within(end: Any, dim: int) -> Affine | None:
    """An end of a slice, None if it may need clipping. A negative one counts from the end."""
    if not isinstance(end, Affine):
        return None
    if -dim <= end.low and end.high < 0:
        end = end.scaled(1, dim)
    return end if end.low >= 0 and end.high <= dim else None


def _take_slice(run: Run, entry: slice, dim: int) -> tuple[int | Affine, int, int]:
    if any(isinstance(part, Affine) for part in (entry.start, entry.stop)):
        return _take_counted_slice(run, entry, dim)
    for part in (entry.start, entry.stop, entry.step):
        if is_traced(part):
            run.refuse(
                "a slice bound is a traced value, so that the length is not known",
                "use static bounds, or select with np.where",
            )
    try:
        first, stop, stride = entry.indices(dim)
    except (TypeError, ValueError) as error:
        run.refuse(str(error), "", TypingError)
    count = len(range(first, stop, stride))
    return (first if count else 0), count, stride


def _get_array(run: Run, array: Array, index: Any) -> Any:
    mask = masks.mask_of(run, array, index)
    if mask is not None:
        return masks.selected(run, array, mask)
    given = masks.without_masks(run, array, entries_of(index))
    keeps_array = any(entry is Ellipsis for entry in given)
    entries = _counted_entries(run, array, given)
    if not entries and not array.type.ndim:
        return run.record("to_scalar", array)  # x[()] of a 0-d array: a NumPy scalar
    if not _is_basic(entries):
        at, indices = parse_advanced(run, array, entries)
        result = run.record("index", array, *indices, at=at)
        is_number = isinstance(result, Scalar) and keeps_array  # with `...` NumPy gives an array
        return run.record("asarray", result) if is_number else result
    basic = parse_basic(run, array, entries)
    result = array
    if not basic.is_whole(array.type.dims):
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


def _set_array(run: Run, array: Array, index: Any, value: Any) -> None:
    mask = masks.mask_of(run, array, index)
    entries = _counted_entries(run, array, masks.without_masks(run, array, entries_of(index)))
    is_sequence = isinstance(value, list | tuple)
    if is_sequence:
        value = run.as_array(value)
    if mask is not None and (isinstance(value, Masked) or is_traced(value) or is_number(value)):
        masks.write(run, array, mask, value)
        return
    if isinstance(value, Masked):
        run.refuse_masked()
    if not (is_traced(value) or is_number(value)):
        run.refuse(f"{described(value)} cannot be stored in an array", "store numbers", TypingError)
    if not _is_basic(entries):
        at, indices = parse_advanced(run, array, entries)

        def scatter(present: Variable) -> Traced:
            result: Traced = run.record("index_update", present, value, *indices, at=at)
            return result

        run.write(array, scatter)
        return
    basic = parse_basic(run, array, entries)
    is_element = is_sequence or not any(entry is Ellipsis for entry in entries)
    stored = _without_leading_axes(run, _fit(run, value, basic), basic, is_element)
    check_copy(run, array, basic.params, stored)

    def update(present: Variable) -> Traced:
        result: Traced = run.record("update", present, stored, *basic.counters, **basic.params)
        return result

    run.write(array, update)


def _fit(run: Run, value: Any, basic: Basic) -> Any:
    """The value without the axes that None adds to the place it is stored in."""
    if not basic.new or not isinstance(value, Array):
        return value
    kept = len(basic.length) - len(basic.drop) + len(basic.new)
    missing = kept - value.type.ndim
    axes = tuple(axis - missing for axis in basic.new if axis - missing >= 0)
    return run.view(value, "squeeze", axis=axes) if axes else value


def _without_leading_axes(run: Run, value: Any, basic: Basic, is_element: bool) -> Any:
    """The value without leading axes of length 1, of which NumPy allows more than the place where
    it is stored has; but not if the place is a single element, rather than an array without
    axes."""
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


def add_item(run: Run, array: Array, index: Any, value: Any) -> bool:
    """Record ``array[index] += value`` as one accumulation, if it is one. False if it is not (index
    arrays, casts): then the part is read, added to and written back."""
    entries = _counted_entries(run, array, entries_of(index))
    if not _is_basic(entries) or any(entry is None for entry in entries):
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
    entries = entries_of(index)
    if isinstance(value, Masked) or any(masks.as_mask(run, entry) is not None for entry in entries):
        run.refuse("adding where a mask holds is not supported here", "`x[mask] += v`")
    counted = _counted_entries(run, array, entries)
    if _is_basic(counted):
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


def parse_advanced(
    run: Run, array: Array, entries: tuple[Any, ...]
) -> tuple[tuple[Any, ...], list[Any]]:
    """A subscript with index arrays as ``at`` and the index operands (see the primitive)."""
    at: list[Any] = []
    indices: list[Any] = []
    axis = 0
    for entry in _expand(run, array, entries):
        if entry is None:
            at.append("new")
            continue
        dim = array.type.dims[axis]
        if isinstance(entry, slice):
            taken = _take_slice(run, entry, dim)
            if isinstance(taken[0], Affine):
                run.refuse(
                    "a slice that moves with the loop stands beside index arrays",
                    "take the slice first",
                )
            at.append(taken)
        else:
            at.append("index")
            indices.append(_index_operand(run, entry, axis, dim))
        axis += 1
    return tuple(at), indices


def _index_operand(run: Run, entry: Any, axis: int, dim: int) -> Any:
    if isinstance(entry, bool | np.bool_):
        run.refuse("a boolean is no index here", "use np.where")
    if isinstance(entry, list | tuple):
        entry = run.as_array(entry)
    if isinstance(entry, Affine):
        number = run.atom(entry)
        assert isinstance(number, Variable)
        return Scalar(number)
    if isinstance(entry, int | np.integer):
        if not -dim <= int(entry) < dim:
            run.refuse(
                f"index {entry} is out of range for axis {axis} of size {dim}", "", TypingError
            )
        return entry
    if not is_traced(entry):
        run.refuse(
            f"{described(entry)} is no index", "use integers, slices or index arrays", TypingError
        )
    kind = entry.type.dtype.kind
    if kind == "b":
        run.refuse(
            "a boolean mask selects a number of elements that is known only at run time",
            "keep the shape: np.where(mask, x, 0)",
        )
    if kind not in "iu":
        run.refuse(f"an index has dtype {entry.type.dtype}", "index with integers", TypingError)
    return entry
