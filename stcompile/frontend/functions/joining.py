"""Functions that join arrays, and those that split them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.frontend.functions.reductions import axis_of
from stcompile.frontend.functions.shapes import atleast, ravel, reshape, shape_of
from stcompile.frontend.operations.indexing import get_item
from stcompile.frontend.operations.iteration import items_of
from stcompile.frontend.operations.layout import is_in_c_order
from stcompile.frontend.operations.nested import stacked_rows
from stcompile.frontend.state.rests import filled_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Scalar
from stcompile.library.counted import require_items
from stcompile.library.lengths import require_parts
from stcompile.wengert.dims import Dim, UnknownSizeError


def _rows_of(run: Run, arrays: Any, use: str) -> Array | None:
    """Stack the items of a list whose length the data decide; None for other lists. The check that
    there are any items to ``use`` is made at run time."""
    filled = filled_in(arrays)
    if filled is None:
        return None
    if filled.low < 1:
        run.call(require_items, [filled.count, f"need at least one array to {use}"], {})
    return run.as_array(arrays)


def _along(
    join: Callable[[Run, Any, Any], Any], run: Run, arrays: Any, axis: Any = 0, *, dtype: Any = None
) -> Any:
    return _in_dtype(run, join(run, arrays, axis), dtype)


def _in_dtype(run: Run, made: Any, dtype: Any) -> Any:
    """The joined array in a dtype that NumPy casts to by the rule "same kind"."""
    if dtype is None or np.dtype(dtype) == made.type.dtype:
        return made
    kind = np.dtype(dtype)
    if not np.can_cast(made.type.dtype, kind, "same_kind"):
        run.fails(TypeError(f"Cannot cast array data from {made.type.dtype!r} to {kind!r}"))
    return run.record("cast", made, dtype=kind)


def concatenated(run: Run, arrays: Any, axis: Any) -> Any:
    rows = _rows_of(run, arrays, "concatenate")
    if rows is not None and rows.type.ndim > 1 and axis is not None:
        return _joined(run, rows, axis)
    items = items_of(run, arrays)
    dimensions = {item.type.ndim for item in items if isinstance(item, Array)}
    rows = _stacked(run, items) if axis == 0 and 0 not in dimensions else None
    if rows is not None and rows.type.ndim > 1:
        _, rows_each, *rest = rows.type.dims
        return run.view(rows, "reshape", shape=(len(items) * rows_each, *rest))
    parts = [run.as_array(part) for part in items]
    if not parts:
        run.refuse("np.concatenate needs at least one array", "", TypingError)
    if axis is None:
        return run.record("concatenate", *(ravel(run, part) for part in parts), axis=0)
    return run.record("concatenate", *parts, axis=axis_of(run, parts[0].type.ndim, axis))


def _joined(run: Run, rows: Array, axis: Any) -> Any:
    """The rows of an array, arrays themselves, concatenated."""
    count, *row = rows.type.dims
    at = axis_of(run, len(row), axis)
    moved = rows if at == 0 else run.call(np.moveaxis, [rows, 0, at], {})
    return reshape(run, moved, (*row[:at], count * row[at], *row[at + 1 :]))


def _stacked(run: Run, items: Sequence[Any]) -> Array | None:
    """Items as rows of an array, if NumPy joins them in C order, as it does if all are in C order
    themselves."""
    laid = all(
        is_in_c_order(run, item) for item in items if isinstance(item, Array) and item.type.ndim > 1
    )
    return stacked_rows(run, items) if laid else None


def _stacked_along(run: Run, arrays: Any, axis: int) -> Any:
    found = _rows_of(run, arrays, "stack")
    if found is not None:
        at = axis_of(run, found.type.ndim, axis)
        return found if at == 0 else run.call(np.moveaxis, [found, 0, at], {})
    items = items_of(run, arrays)
    rows = _stacked(run, items) if axis == 0 else None
    if rows is not None:
        return rows
    parts = [run.as_array(part) for part in items]
    if not parts:
        run.refuse("np.stack needs at least one array", "", TypingError)
    return run.record("stack", *parts, axis=axis_of(run, parts[0].type.ndim + 1, axis))


def _in_one(join: Callable[[Run, Any], Any], run: Run, tup: Any, *, dtype: Any = None) -> Any:
    return _in_dtype(run, join(run, tup), dtype)


def _below(run: Run, tup: Any) -> Any:
    rows = _rows_of(run, tup, "concatenate")
    if rows is not None and rows.type.ndim < 3:
        return rows if rows.type.ndim > 1 else run.view(rows, "expand_dims", axis=(1,))
    if rows is not None:
        return _joined(run, rows, 0)
    return concatenated(run, [atleast(run, part, 2) for part in items_of(run, tup)], 0)


def _beside(run: Run, tup: Any) -> Any:
    rows = _rows_of(run, tup, "concatenate")
    if rows is not None:
        return rows if rows.type.ndim == 1 else _joined(run, rows, int(rows.type.ndim > 2))
    parts = [atleast(run, part, 1) for part in items_of(run, tup)]
    return concatenated(run, parts, 0 if parts and parts[0].type.ndim == 1 else 1)


def split(run: Run, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    x = run.as_array(ary)
    at = axis_of(run, x.type.ndim, axis)
    size = x.type.dims[at]
    _refuse_many_parts(run, indices_or_sections)
    if isinstance(indices_or_sections, int):
        width = size // indices_or_sections if indices_or_sections > 0 else 0
        whole = width * indices_or_sections
        if indices_or_sections <= 0 or not (whole == size or run.may_be_equal(whole, size)):
            run.refuse(
                f"an axis of {size} does not split into {indices_or_sections} equal parts",
                "use np.array_split",
                TypingError,
            )
        if whole != size:
            run.require(require_parts, size, whole, "array split does not result in")
            shape = (*x.type.dims[:at], whole, *x.type.dims[at + 1 :])
            x = run.view(x, "as_shape", shape=shape)
        cuts = [width * i for i in range(1, indices_or_sections)]
    else:
        cuts = list(shape_of(run, indices_or_sections))
    return _parts(run, x, at, cuts)


def _refuse_many_parts(run: Run, sections: Any) -> None:
    """Refuse a number of parts that is known only at run time: the parts are a list."""
    if isinstance(sections, Scalar):
        size = run.size_of(sections)
        if isinstance(size, Dim):
            raise UnknownSizeError(f"the length {size} of an axis", size)
        run.refuse(
            "np.split into a number of parts known only at run time",
            "use a number that is known at compile time",
        )


def array_split(run: Run, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    _refuse_many_parts(run, indices_or_sections)
    if not isinstance(indices_or_sections, int):
        return split(run, ary, indices_or_sections, axis)
    x = run.as_array(ary)
    at = axis_of(run, x.type.ndim, axis)
    if indices_or_sections <= 0:
        run.refuse("number sections must be larger than 0", "", TypingError)
    rest = range(indices_or_sections - 1, 0, -1)  # the first parts are longer by one
    cuts = [*accumulate((x.type.dims[at] + more) // indices_or_sections for more in rest)]
    return _parts(run, x, at, cuts)


def _parts(run: Run, x: Array, axis: int, cuts: list[Any]) -> list[Array]:
    cuts = [*map(run.integer, cuts)]
    bounds = zip([0, *cuts], [*cuts, run.integer(x.type.dims[axis])], strict=True)
    before: tuple[Any, ...] = (slice(None),) * axis
    parts: list[Array] = run.own(
        [get_item(run, x, (*before, slice(start, stop))) for start, stop in bounds]
    )
    return parts


JOINING: dict[Any, Any] = {
    np.concatenate: partial(_along, concatenated),
    np.stack: partial(_along, _stacked_along),
    np.vstack: partial(_in_one, _below),
    np.hstack: partial(_in_one, _beside),
    np.split: split,
    np.array_split: array_split,
}
