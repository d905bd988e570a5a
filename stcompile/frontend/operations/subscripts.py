"""Subscripts of an array: slices of its axes, or index arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.frontend.operations.masks import axes_of_entry, is_mask, selected
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import LISTED, Affine, Array, Scalar, described, is_traced
from stcompile.wengert.bounds import greatest, least, maximum, minimum
from stcompile.wengert.dims import Dim, Size, Sizes, Symbol
from stcompile.wengert.ir import Variable, as_variable


@dataclass(frozen=True)
class Basic:
    """A subscript of integers, slices, None and ``...``: the elements that are taken along each
    axis of the array, the axes that integers remove, and the positions of new axes (None) in the
    result. A start may depend on loop counters; if the length does, too, it is a size."""

    start: tuple[int | Affine | Dim, ...]
    length: Sizes
    step: tuple[int, ...]
    drop: tuple[int, ...]
    new: tuple[int, ...]

    @property
    def params(self) -> dict[str, Any]:
        start = tuple(map(self._form, self.start, self.length))
        return {"start": start, "length": self.length, "step": self.step, "drop": self.drop}

    @property
    def counters(self) -> tuple[Variable, ...]:
        """The loop counters that a start depends on."""
        parts = [part for part in self.start if isinstance(part, Affine)]
        return tuple(dict.fromkeys(counter for part in parts for counter, _ in part.terms))

    def _form(self, part: int | Affine | Dim, length: Size) -> tuple[Any, ...]:
        if isinstance(length, Dim) or not isinstance(part, Affine):
            return (part,)
        terms = dict(part.terms)
        return part.offset, *(terms.get(counter, 0) for counter in self.counters)

    def is_whole(self, dims: Sizes) -> bool:
        """True if every element is taken, in order."""
        whole = all(s == 0 for s in self.start) and self.length == dims
        return whole and all(s == 1 for s in self.step) and not self.drop


def entries_of(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def is_basic(entries: tuple[Any, ...]) -> bool:
    return all(
        entry is None
        or entry is Ellipsis
        or isinstance(entry, slice | Affine)
        or (isinstance(entry, int | np.integer) and not isinstance(entry, bool))
        for entry in entries
    )


def _expand(run: Run, array: Array, entries: tuple[Any, ...]) -> list[Any]:
    """The entries with ``...`` written out as full slices."""
    taken = sum(map(axes_of_entry, entries))
    ndim = array.type.ndim
    if taken > ndim:
        run.refuse(
            f"too many indices: {taken} for an array of {ndim} dimensions, shape {array.type.dims}",
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
    start: list[int | Affine | Dim] = []
    length, step, drop, new = [], [], [], []
    axis = position = 0
    for entry in _expand(run, array, entries):
        if entry is None:
            new.append(position)
            position += 1
            continue
        dim = array.type.dims[axis]
        first: int | Affine | Dim
        count: Size
        if isinstance(entry, slice):
            first, count, stride = _take_slice(run, entry, dim)
            position += 1
        elif isinstance(entry, Affine):
            first, count, stride = entry, 1, 1
            drop.append(axis)
        else:
            first, count, stride = int(entry), 1, 1
            if not isinstance(dim, Dim) and not -dim <= first < dim:
                run.refuse(
                    f"index {first} is out of range for axis {axis} of size {dim}, shape "
                    f"{array.type.dims}",
                    "",
                    TypingError,
                )
            first = first if isinstance(dim, Dim) else first % dim  # see `place_on_axis`
            drop.append(axis)
        start.append(first)
        length.append(count)
        step.append(stride)
        axis += 1
    return Basic(tuple(start), tuple(length), tuple(step), tuple(drop), tuple(new))


def counted_entries(run: Run, array: Array, entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """The entries, with integers that are known only at run time as affine integers. An integer
    that may be out of range, or negative on some steps only, becomes a number first: NumPy checks
    it at run time."""
    entries = tuple(_integer_entry(run, entry) for entry in entries)
    if not (any(isinstance(entry, Affine) for entry in entries) or array.type.is_named):
        return entries
    found: list[Any] = []
    axis = 0
    for entry in _expand(run, array, entries):
        if entry is None or is_mask(entry):
            found.append(entry)
            axis += axes_of_entry(entry)
            continue
        dim = array.type.dims[axis]
        place = run.size_of(entry)
        if isinstance(dim, Dim) and place is not None:
            entry = place_on_axis(run, place, dim)
        elif isinstance(entry, Affine):
            if place is not None:  # the bounds of its counters may depend on each other
                entry = replace(entry, low=least(place), high=greatest(place))
            if not isinstance(dim, Dim) and -dim <= entry.low and entry.high < 0:
                entry = entry.scaled(1, dim)
            if not (entry.low >= 0 and entry.high < least(dim)):
                number = as_variable(run.atom(entry))
                entry = Affine.unbounded(number)
        found.append(entry)
        axis += 1
    return tuple(found)


def place_on_axis(run: Run, place: Size, dim: Size) -> Affine | int:
    """An integer as an index of an axis: counted from the start if it is known to be within the
    axis, else an index without known bounds."""
    found = place + dim if greatest(place) < 0 else place
    if least(found) >= 0 and least(dim - found) > 0:
        return run.integer(found)
    (number,) = run.record_atoms("size", (), {"of": place})
    return Affine.unbounded(number)


def _integer_entry(run: Run, entry: Any) -> Any:
    """A traced integer as an index without known bounds. An array, even without dimensions, is not
    an integer: it selects a copy."""
    if isinstance(entry, Affine) or not isinstance(entry, Scalar):
        return entry
    if entry.type.dtype.kind not in "iu":
        return entry
    number = as_variable(run.atom(entry))
    return Affine.unbounded(number)


_Taken = tuple[int | Affine | Dim, Size, int]


def _take_counted_slice(run: Run, entry: slice, dim: Size) -> _Taken:
    """A slice with bounds that depend on counters."""
    stride = 1 if entry.step is None else entry.step
    if not isinstance(stride, int | np.integer) or not stride:
        run.refuse(
            "the step of this slice has to be a number known at compile time, and not 0",
            "use a step that is known at compile time",
        )
    stride = int(stride)
    if stride < 0:
        return _reversed(run, entry, dim, stride)
    ends = (0 if entry.start is None else entry.start, dim if entry.stop is None else entry.stop)
    if not isinstance(dim, Dim):
        first, stop = (_within(end, dim) for end in ends)
        if isinstance(first, Affine) and isinstance(stop, Affine):
            length = stop.plus(first.scaled(-1, 0))
            if isinstance(length, int):
                return first, len(range(0, length, stride)), stride
    low, high = map(run.size_of, ends)
    if any(least(end) < 0 <= greatest(end) and run.is_measured(end) for end in (low, high)):
        return _measured(run, entry, dim)
    if low is None or high is None:
        _refuse_length(run, "use bounds that are sums of loop counters")
    low, high = _clipped(run, low, dim), _clipped(run, high, dim)
    return _spanned(run, low, maximum(0, high - low), stride)


def _refuse_length(run: Run, hint: str) -> NoReturn:
    run.refuse("the length of this slice depends on the step of the loop", hint)


def _clipped(run: Run, end: Size, dim: Size, first: int = 0) -> Any:
    """An end of a slice, clipped to the axis as Python does; the ``first`` index that it may be is
    -1 for a slice that runs backwards."""
    if greatest(end) < 0:
        return maximum(first, end + dim)
    if least(end) < 0:
        run.refuse(
            f"this end of a slice may be negative in some steps ({end} is at least {least(end)}), "
            "where it counts from the end of the axis",
            "write `max(0, ...)`, or slice with bounds that are never negative",
        )
    return minimum(end, dim + first)


def _reversed(run: Run, entry: slice, dim: Size, stride: int) -> _Taken:
    """A slice that runs backwards."""
    high = dim - 1 if entry.start is None else run.size_of(entry.start)
    low = -1 if entry.stop is None else run.size_of(entry.stop)
    if high is None or low is None:
        _refuse_length(run, "use bounds that are sums of loop counters")
    if entry.start is not None:
        high = _clipped(run, high, dim, -1)
    if entry.stop is not None:
        low = _clipped(run, low, dim, -1)
    return _spanned(run, high, maximum(0, high - low), stride)


def _spanned(run: Run, start: Size, extent: Size, step: int) -> _Taken:
    """A slice from ``start`` over ``extent`` elements by ``step``."""
    length: Any = extent if step in (1, -1) else (extent + (abs(step) - 1)) // abs(step)
    if isinstance(length, Dim):
        return start, length, step
    return (run.integer(start) if length else 0), length, step


def _within(end: Any, dim: int) -> Affine | None:
    """An end of a slice, None if it may need clipping. A negative end counts from the end of the
    axis."""
    if not isinstance(end, Affine):
        return None
    if -dim <= end.low and end.high < 0:
        end = end.scaled(1, dim)
    return end if end.low >= 0 and end.high <= dim else None


def _take_slice(run: Run, entry: slice, dim: Size) -> _Taken:
    parts = (entry.start, entry.stop)
    if any(is_traced(part) and run.size_of(part) is None for part in parts):
        return _measured(run, entry, dim)
    if any(isinstance(part, Affine) for part in parts) or isinstance(dim, Dim):
        if entry.step in (None, 1) and parts in ((None, None), (0, None)):
            return 0, dim, 1
        return _take_counted_slice(run, entry, dim)
    if is_traced(entry.step):
        run.refuse(
            "the step of this slice is known only at run time",
            "use a step that is known at compile time",
        )
    try:
        first, stop, stride = entry.indices(dim)
    except (TypeError, ValueError) as error:
        run.refuse(str(error), "", TypingError)
    count = len(range(first, stop, stride))
    return (first if count else 0), count, stride


def _measured(run: Run, entry: slice, dim: Size) -> _Taken:
    """A slice with bounds that the data decide."""
    step = 1 if entry.step is None else entry.step
    if is_traced(step) or step < 1:
        run.refuse(
            "the bounds of this slice that runs backwards are known only at run time",
            "take the elements first, then turn them round: x[a:b][::-1]",
        )
    low = _end(run, entry.start, dim, "lo", 0, 0)
    high = _end(run, entry.stop, dim, "hi", low, dim)
    return _spanned(run, low, high - low, step)


def _end(run: Run, end: Any, dim: Size, hint: str, low: Size, otherwise: Size) -> Any:
    """An end of a slice, clipped to the axis, not before ``low``."""
    if end is None:
        return otherwise
    size = run.size_of(end)
    if size is not None and greatest(size) < 0:
        return maximum(low, size + dim)
    if size is not None and least(size) >= 0:
        return maximum(low, minimum(size, dim))
    number = run.atom(end)
    if number.type.dims or number.type.dtype.kind not in "iu":
        run.refuse(f"the end of a slice is {described(end)}", "use integers", TypingError)
    return run.measured("slice_end", (number,), {"of": dim, "low": low}, Symbol(hint, low, dim))


def parse_advanced(
    run: Run, array: Array, entries: tuple[Any, ...], counts: bool = True
) -> tuple[tuple[Any, ...], list[Any]]:
    """A subscript with index arrays as ``at`` and the index operands (see the primitive). Unless
    ``counts``, the number of elements that a mask selects gets no name."""
    if _is_torn(array, entries):
        run.refuse(
            "this `...` stands for no axis, but NumPy puts the axes of indices on both sides of it "
            "first, as if there were one",
            "leave the `...` out, or move the axes with np.moveaxis",
        )
    at: list[Any] = []
    indices: list[Any] = []
    axis = 0
    for entry in _expand(run, array, entries):
        if entry is None:
            at.append("new")
            continue
        if is_mask(entry):
            size = selected(run, run.read(entry)) if counts else None
            at.append(("mask", size, entry.type.ndim))
            indices.append(entry)
            axis += entry.type.ndim
            continue
        dim = array.type.dims[axis]
        if isinstance(entry, slice):
            taken = _take_slice(run, entry, dim)
            if isinstance(taken[0], Affine) or (isinstance(taken[1], Dim) and taken != (0, dim, 1)):
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


def _is_torn(array: Array, entries: tuple[Any, ...]) -> bool:
    """True if a `...` for no axis is in the only row of indices, and that row is not the first."""
    places = [at for at, entry in enumerate(entries) if entry is Ellipsis]
    if len(places) != 1 or sum(map(axes_of_entry, entries)) < array.type.ndim:
        return False
    (at,) = places
    picks = [not (entry is None or isinstance(entry, slice)) for entry in entries]
    before, after = picks[:at], picks[at + 1 :]
    row = "".join("x" if pick else " " for pick in picks).rstrip()
    return any(before) and any(after) and row[0] == " " and " " not in row.lstrip()


def _index_operand(run: Run, entry: Any, axis: int, dim: int) -> Any:
    if isinstance(entry, bool | np.bool_):
        run.refuse("a boolean is no index here", "use np.where")
    if isinstance(entry, LISTED):
        entry = run.as_array(entry, None if len(entry) else np.dtype(np.intp))
    if isinstance(entry, Affine):
        number = as_variable(run.atom(entry))
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
    if kind not in "iu":
        run.refuse(f"an index has dtype {entry.type.dtype}", "index with integers", TypingError)
    return entry
