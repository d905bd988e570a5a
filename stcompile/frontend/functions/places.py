"""Functions whose results have lengths that the data decide."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.codegen_templates.derivatives import axes
from stcompile.frontend.functions.creation import constant
from stcompile.frontend.functions.elementwise import where
from stcompile.frontend.functions.library import named_in
from stcompile.frontend.functions.reductions import axis_of
from stcompile.frontend.functions.shapes import lengthened, ravel, repeat
from stcompile.frontend.operations.indexing import get_item
from stcompile.frontend.operations.masks import selected
from stcompile.frontend.state.known import LARGEST, known_value
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Scalar, is_traced
from stcompile.library import distinct, selection
from stcompile.wengert.dims import Size, Symbol
from stcompile.wengert.ir import as_variable
from stcompile.wengert.types import is_number


def nonzero(run: Run, a: Any) -> tuple[Any, ...]:
    """np.nonzero: an array of places along each axis."""
    x = run.as_array(a)
    if not x.type.ndim:
        run.refuse("np.nonzero of a number", "write np.atleast_1d(x).nonzero()", TypingError)
    known = known_value(run, run.read(x)) if x.type.size <= LARGEST else None
    if known is not None:
        return tuple(constant(run, places) for places in np.nonzero(known))
    mask = x if x.type.dtype.kind == "b" else run.record("not_equal", x, 0)
    size = selected(run, run.read(mask))
    return tuple(run.record("nonzero", mask, axis=i, size=size) for i in range(x.type.ndim))


def flatnonzero(run: Run, a: Any) -> Any:
    return nonzero(run, ravel(run, run.as_array(a)))[0]


def argwhere(run: Run, a: Any) -> Any:
    return run.call(np.stack, [list(nonzero(run, a))], {"axis": 1})


def where_or_nonzero(run: Run, condition: Any, x: Any = None, y: Any = None) -> Any:
    """np.where; with a condition alone it is np.nonzero."""
    if x is None and y is None:
        return nonzero(run, condition)
    return where(run, condition, x, y)


def distinct_values(
    run: Run,
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """np.unique: at compile time, if the values are known; always in order."""
    x = run.as_array(ar)
    flags = bool(return_index), bool(return_inverse), bool(return_counts)
    values, of_values = known_value(run, run.read(x)), cast(Any, np.unique)
    if values is not None:
        try:
            found = of_values(values, *flags, axis, equal_nan=bool(equal_nan))
        except (TypeError, ValueError) as error:
            run.refuse(f"np.unique: {error}", "", TypingError)
        many = isinstance(found, tuple)
        return tuple(constant(run, part) for part in found) if many else constant(run, found)
    if axis is not None and not (x.type.ndim == 1 and axis in (0, -1)):
        run.refuse(
            "np.unique of rows that are known only at run time is not supported",
            "find the distinct values of a vector",
        )
    return run.call(distinct.unique, [x, *flags, bool(equal_nan)], {})


def repeated(run: Run, a: Any, repeats: Any, axis: Any = None) -> Any:
    """np.repeat: by a count for each element that the data decide, too."""
    counts = run.as_array(repeats) if is_traced(repeats) else None
    if counts is None or not counts.type.ndim:
        return repeat(run, a, repeats, axis)
    return run.call(distinct.repeat, [run.as_array(a), counts, axis], {})


def compress(run: Run, condition: Any, a: Any, axis: Any = None) -> Any:
    """np.compress: the parts along an axis where a condition holds."""
    if not is_traced(condition):
        return run.call(selection.compress, [condition, a], {"axis": axis})
    x = ravel(run, run.as_array(a)) if axis is None else run.as_array(a)
    at = axis_of(run, x.type.ndim, 0 if axis is None else axis)
    mask = run.as_array(condition, np.dtype(bool))
    if mask.type.ndim != 1:
        run.refuse("np.compress takes a vector of conditions", "", TypingError)
    before = [slice(None)] * at
    part = get_item(run, x, (*before, slice(0, run.integer(mask.type.dims[0]))))
    return get_item(run, part, (*before, mask))


def extract(run: Run, condition: Any, arr: Any) -> Any:
    if not is_traced(condition):
        return run.call(selection.extract, [condition, arr], {})
    return compress(run, ravel(run, run.as_array(condition)), ravel(run, run.as_array(arr)))


def counted(run: Run, total: Any) -> Any:
    """See `stcompile.library.distinct.counted`."""
    number = as_variable(run.atom(total))
    like = Symbol("n", 0, None)
    size: Size = run.measured("to_python", (number,), {"dtype": np.dtype(np.int64)}, like)
    return run.integer(size)


def one_to_divide(run: Run, out: Any, divisor: Any) -> Any:
    """See `stcompile.codegen_templates.derivatives.axes`."""
    is_python = isinstance(divisor, Scalar) and divisor.type.kind == "python"
    may_be_zero = is_python or (is_number(divisor) and divisor == 0)
    by_numpy = is_traced(out) and out.type.kind != "python"
    return out.type.dtype.type(1) if may_be_zero and by_numpy else 1


PLACES: dict[Any, Any] = {
    **named_in(np, distinct),
    np.nonzero: nonzero,
    np.flatnonzero: flatnonzero,
    np.argwhere: argwhere,
    np.where: where_or_nonzero,
    np.unique: distinct_values,
    np.repeat: repeated,
    np.compress: compress,
    np.extract: extract,
}

LENGTHS: dict[Any, Any] = {
    distinct.counted: counted,
    axes.lengthened: lengthened,
    axes.one_to_divide: one_to_divide,
}
"""Functions of the library and of derivative rules that only the compiler has."""
