"""Reductions: sums, products, extrema, moments."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import as_entries, is_static, is_traced, is_whole
from stcompile.frontend.state.walking import PYTHON_INT
from stcompile.library import statistics


def axes_of(run: Run, ndim: int, axis: Any) -> tuple[int, ...]:
    """An axis argument as a sorted tuple of non-negative axes; None is all of them."""
    return tuple(sorted(axes_in_order(run, ndim, axis)))


def axes_in_order(run: Run, ndim: int, axis: Any) -> tuple[int, ...]:
    """An axis argument as a tuple of non-negative axes; None is all of them."""
    if not is_static(axis):
        run.refuse(
            "the axis is known only at run time", "use an axis that is known at compile time"
        )
    if axis is None:
        return tuple(range(ndim))
    given = as_entries(axis)
    found = []
    for one in given:
        if not is_whole(one) or not -ndim <= one < ndim:
            run.refuse(f"axis {one} is out of range for {ndim} dimensions", "", TypingError)
        found.append(int(one) % ndim)
    if len(set(found)) != len(found):
        run.refuse(f"the axes {tuple(given)} repeat", "", TypingError)
    return tuple(found)


def axis_of(run: Run, ndim: int, axis: Any) -> int:
    """A single axis as a non-negative integer."""
    if not is_whole(axis):
        run.refuse("the axis is not one integer that is known at compile time", PYTHON_INT)
    return axes_of(run, ndim, int(axis))[0]


def _only_axis(ndim: int, axis: Any) -> bool:
    """True for the axes 0 and -1 of an array without axes, which NumPy takes for all axes in every
    reduction but moments."""
    return not ndim and is_whole(axis) and axis in (0, -1)


def reduced(primitive: str, run: Run, a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The result of a reduction."""
    if primitive not in ("any", "all") and not is_traced(a) and is_static(a):
        try:  # of a shape, say: at compile time
            return getattr(np, primitive)(a, axis=axis, keepdims=keepdims)
        except (TypeError, ValueError) as error:
            run.refuse(f"np.{primitive}: {error}", "", TypingError)
    x = run.as_array(a)
    is_all = primitive != "mean" and _only_axis(x.type.ndim, axis)
    axes = () if is_all else axes_of(run, x.type.ndim, axis)
    if primitive in ("max", "min") and any(x.type.dims[i] == 0 for i in axes):
        run.refuse(f"np.{primitive} of no elements, shape {x.type.dims}", "", TypingError)
    return run.record(primitive, x, axis=axes, keepdims=bool(keepdims))


def chosen(run: Run, a: Any, where: Any, neutral: Any) -> Any:
    """The operand of a reduction with ``where``: a number that changes nothing in place of the
    elements that are left out."""
    if where is True:
        return a
    x = run.as_array(a)
    made = run.as_array(run.call(np.where, [where, x, neutral], {}))
    if made.type.dims != x.type.dims:
        run.refuse(f"`where` does not fit an array of shape {x.type.dims}", "", TypingError)
    return made


def accumulating(
    primitive: str,
    run: Run,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The lowering of sum and prod, with a ``dtype`` to compute in, and an ``initial`` number."""
    ufunc, neutral = (np.add, 0) if primitive == "sum" else (np.multiply, 1)
    part = chosen(run, _in_dtype(run, a, dtype), where, neutral)
    found = reduced(primitive, run, part, axis, keepdims)
    return found if initial is None else _begun(run, ufunc, found, initial)


def holding(
    primitive: str, run: Run, a: Any, axis: Any = None, *, keepdims: bool = False, where: Any = True
) -> Any:
    """The lowering of any and all."""
    if a is None:
        return None  # as NumPy, for which None is an object
    return reduced(primitive, run, chosen(run, a, where, primitive == "all"), axis, keepdims)


def extremal(
    primitive: str,
    run: Run,
    a: Any,
    axis: Any = None,
    *,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The lowering of max and min, with an ``initial`` number that is among the elements."""
    if initial is None and where is not True:
        run.refuse(f"np.{primitive} with `where` needs an `initial`", "", TypingError)
    if initial is None:
        return reduced(primitive, run, a, axis, keepdims)
    x = chosen(run, run.as_array(a), where, initial)
    if 0 in x.type.dims:
        none = run.call(np.sum, [x], {"axis": axis, "keepdims": keepdims})
        return run.call(np.full_like, [none, initial], {})
    ufunc = np.maximum if primitive == "max" else np.minimum
    return _begun(run, ufunc, reduced(primitive, run, x, axis, keepdims), initial)


def mean(
    run: Run,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: bool = False,
    where: Any = True,
) -> Any:
    x = _in_dtype(run, a, dtype)
    if where is not True:
        return run.call(statistics.mean_where, [run.as_array(x), axis, bool(keepdims), where], {})
    return reduced("mean", run, x, axis, keepdims)


def _in_dtype(run: Run, a: Any, dtype: Any) -> Any:
    """The argument of a reduction as an array of the dtype to compute in."""
    if dtype is None:
        return a
    return run.call(np.asarray, [a], {"dtype": dtype})


def _begun(run: Run, ufunc: Any, found: Any, initial: Any) -> Any:
    """A reduction that begins with a number."""
    result = run.call(ufunc, [found, initial], {})
    if is_traced(found) and result.type.dtype != found.type.dtype:
        run.refuse(
            f"`initial` makes {result.type.dtype} of {found.type.dtype}",
            "give a number of the dtype of the array",
        )
    return result


def moment(
    primitive: str,
    run: Run,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    ddof: Any = 0,
    *,
    keepdims: bool = False,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """The lowering of var and std. The primitives are those of all elements about their own mean;
    others are written with sums."""
    x = run.as_array(_in_dtype(run, a, dtype))
    if correction is not None and ddof != 0:
        run.fails(ValueError("ddof and correction can't be provided simultaneously."))
    free = ddof if correction is None else correction
    if not is_static(free):
        run.refuse(
            "`ddof` is not known at compile time",
            "give a Python number: its value is known at compile time",
        )
    if where is True and mean is None and isinstance(free, int):
        axes = axes_of(run, x.type.ndim, axis)
        return run.record(primitive, x, axis=axes, keepdims=bool(keepdims), ddof=free)
    written = statistics.var_where if primitive == "var" else statistics.std_where
    return run.call(written, [x, axis, free, bool(keepdims), where, mean], {})


def position(primitive: str, run: Run, a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The lowering of argmax and argmin."""
    x = run.as_array(a)
    is_all = axis is None or _only_axis(x.type.ndim, axis)
    one = None if is_all else axis_of(run, x.type.ndim, axis)
    return run.record(primitive, x, axis=one, keepdims=bool(keepdims))


def running(primitive: str, run: Run, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """The lowering of cumsum and cumprod."""
    x = run.as_array(_in_dtype(run, a, dtype))
    if (axis is None and x.type.ndim != 1) or _only_axis(x.type.ndim, axis):
        x = run.call(np.ravel, [x], {})
    return run.record(primitive, x, axis=axis_of(run, x.type.ndim, 0 if axis is None else axis))


REDUCTIONS: dict[Any, Any] = {
    np.sum: functools.partial(accumulating, "sum"),
    np.prod: functools.partial(accumulating, "prod"),
    np.mean: mean,
    np.max: functools.partial(extremal, "max"),
    np.min: functools.partial(extremal, "min"),
    np.amax: functools.partial(extremal, "max"),
    np.amin: functools.partial(extremal, "min"),
    np.any: functools.partial(holding, "any"),
    np.all: functools.partial(holding, "all"),
    np.var: functools.partial(moment, "var"),
    np.std: functools.partial(moment, "std"),
    np.argmax: functools.partial(position, "argmax"),
    np.argmin: functools.partial(position, "argmin"),
    np.cumsum: functools.partial(running, "cumsum"),
    np.cumprod: functools.partial(running, "cumprod"),
}
