"""Reductions: sums, products, extrema, moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import is_static, is_traced


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
    given = axis if isinstance(axis, tuple | list) else (axis,)
    found = []
    for one in given:
        if not isinstance(one, int | np.integer) or not -ndim <= one < ndim:
            run.refuse(f"axis {one} is out of range for {ndim} dimensions", "", TypingError)
        found.append(int(one) % ndim)
    if len(set(found)) != len(found):
        run.refuse(f"the axes {tuple(given)} repeat", "", TypingError)
    return tuple(found)


def axis_of(run: Run, ndim: int, axis: Any) -> int:
    """A single axis as a non-negative integer."""
    if not isinstance(axis, int | np.integer):
        run.refuse(
            "the axis is not one integer that is known at compile time",
            "give a Python int: its value is known at compile time",
        )
    return axes_of(run, ndim, int(axis))[0]


def _only_axis(ndim: int, axis: Any) -> bool:
    """True for the axes 0 and -1 of an array without axes, which NumPy takes for all axes in every
    reduction but moments."""
    return not ndim and isinstance(axis, int | np.integer) and axis in (0, -1)


def reduction(primitive: str, function: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """The lowering of a reduction with ``axis`` and ``keepdims``."""

    def lowering(run: Run, a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        if function is not None and not is_traced(a) and is_static(a):
            try:
                return function(a, axis=axis, keepdims=keepdims)  # of a shape, say: at compile time
            except (TypeError, ValueError) as error:
                run.refuse(f"np.{primitive}: {error}", "", TypingError)
        x = run.as_array(a)
        is_all = primitive != "mean" and _only_axis(x.type.ndim, axis)
        axes = () if is_all else axes_of(run, x.type.ndim, axis)
        if primitive in ("max", "min") and any(x.type.dims[i] == 0 for i in axes):
            run.refuse(f"np.{primitive} of no elements, shape {x.type.dims}", "", TypingError)
        return run.record(primitive, x, axis=axes, keepdims=bool(keepdims))

    return lowering


def moment(primitive: str) -> Callable[..., Any]:
    """The lowering of var and std."""

    def lowering(
        run: Run, a: Any, axis: Any = None, ddof: int = 0, *, keepdims: bool = False
    ) -> Any:
        x = run.as_array(a)
        axes = axes_of(run, x.type.ndim, axis)
        if not isinstance(ddof, int):
            run.refuse(
                "`ddof` is not an integer that is known at compile time",
                "give a Python int: its value is known at compile time",
            )
        return run.record(primitive, x, axis=axes, keepdims=bool(keepdims), ddof=ddof)

    return lowering


def position(primitive: str) -> Callable[..., Any]:
    """The lowering of argmax and argmin."""

    def lowering(run: Run, a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        x = run.as_array(a)
        is_all = axis is None or _only_axis(x.type.ndim, axis)
        one = None if is_all else axis_of(run, x.type.ndim, axis)
        return run.record(primitive, x, axis=one, keepdims=bool(keepdims))

    return lowering


def running(primitive: str) -> Callable[..., Any]:
    """The lowering of cumsum and cumprod."""

    def lowering(run: Run, a: Any, axis: Any = None) -> Any:
        x = run.as_array(a)
        if (axis is None and x.type.ndim != 1) or _only_axis(x.type.ndim, axis):
            x = run.call(np.ravel, [x], {})
        return run.record(primitive, x, axis=axis_of(run, x.type.ndim, 0 if axis is None else axis))

    return lowering


REDUCTIONS: dict[Any, Any] = {
    np.sum: reduction("sum", np.sum),
    np.prod: reduction("prod", np.prod),
    np.mean: reduction("mean", np.mean),
    np.max: reduction("max", np.max),
    np.min: reduction("min", np.min),
    np.amax: reduction("max", np.max),
    np.amin: reduction("min", np.min),
    np.any: reduction("any"),
    np.all: reduction("all"),
    np.var: moment("var"),
    np.std: moment("std"),
    np.argmax: position("argmax"),
    np.argmin: position("argmin"),
    np.cumsum: running("cumsum"),
    np.cumprod: running("cumprod"),
}
