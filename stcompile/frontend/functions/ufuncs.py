"""Methods of ufuncs: ``np.add.reduce``, ``np.multiply.outer``, ``np.add.at`` and their like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.frontend.functions.library import inlined
from stcompile.frontend.operations.indexing import accumulate_at
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import LISTED, Array, Scalar, describe, described, is_traced
from stcompile.library import ufuncs
from stcompile.wengert.types import is_number

Lowering = Callable[..., Any]

# Functions that do what a ufunc's `reduce` does, but along all axes by default, not axis 0.
_REDUCTIONS: Mapping[np.ufunc, Any] = MappingProxyType(
    {
        np.add: np.sum,
        np.multiply: np.prod,
        np.maximum: np.max,
        np.minimum: np.min,
        np.logical_and: np.all,
        np.logical_or: np.any,
    }
)
_RUNNING: Mapping[np.ufunc, Any] = MappingProxyType({np.add: np.cumsum, np.multiply: np.cumprod})


def at_chosen(run: Run, *arguments: Any) -> Any:
    """A call of a ufunc with ``where``."""
    return run.call(ufuncs.at_chosen, arguments, {})


def method_of(run: Run, ufunc: np.ufunc, name: str, is_known: bool) -> Lowering:
    """The lowering of a method; ``is_known`` says whether the ufunc itself has a lowering."""
    makers = {"reduce": _reduce, "accumulate": _accumulate, "outer": _outer, "at": _at}
    if not is_known or name not in makers:
        run.refuse(
            f"`{ufunc.__name__}.{name}` is not supported",
            "use `reduce`, `accumulate`, `outer` or `at` of a ufunc that the page `NumPy "
            "functions` of the documentation lists",
        )
    if ufunc.nin != 2 or ufunc.nout != 1:
        run.refuse(f"`{ufunc.__name__}` does not make one number of two", "", TypingError)
    return makers[name](ufunc)


def _reduce(ufunc: np.ufunc) -> Lowering:
    def lowering(run: Run, array: Any, axis: Any = 0, *, keepdims: bool = False) -> Any:
        function = _REDUCTIONS.get(ufunc)
        if function is None:
            return inlined(ufuncs.folded)(run, ufunc, array, axis, bool(keepdims))
        x = run.as_array(array)
        if isinstance(x, Array) and not x.type.ndim and axis in (0, -1):
            axis = None  # NumPy accepts these axes for a number
        return run.call(function, [x], {"axis": axis, "keepdims": keepdims})

    return lowering


def _accumulate(ufunc: np.ufunc) -> Lowering:
    def lowering(run: Run, array: Any, axis: Any = 0) -> Any:
        function = _RUNNING.get(ufunc)
        if function is None:
            return inlined(ufuncs.running)(run, ufunc, array, axis)
        x = run.as_array(array)
        if not x.type.ndim or axis is None:
            run.refuse(f"np.{ufunc.__name__}.accumulate goes along one axis", "", TypingError)
        return run.call(function, [x], {"axis": axis})

    return lowering


def _outer(ufunc: np.ufunc) -> Lowering:
    def lowering(run: Run, A: Any, B: Any) -> Any:
        return inlined(ufuncs.outer)(run, ufunc, A, B)

    return lowering


def _at(ufunc: np.ufunc) -> Lowering:
    def lowering(run: Run, a: Any, indices: Any, b: Any) -> None:
        if ufunc not in (np.add, np.subtract):
            run.refuse(
                f"np.{ufunc.__name__}.at is not supported",
                "use np.add.at or np.subtract.at",
            )
        if not isinstance(a, Array):
            run.refuse(f"{described(a)} cannot be added to", "give an array", TypingError)
        value: Any = run.as_array(b) if isinstance(b, LISTED) else b
        if not (is_traced(value) or is_number(value)):
            run.refuse(
                f"{described(value)} cannot be added to an array", "add numbers", TypingError
            )
        if a.type.dtype.kind == "b":
            run.refuse(f"np.{ufunc.__name__}.at of booleans is not supported", "use integers")
        if ufunc is np.subtract:
            if is_traced(value) and value.type.dtype.kind in "bu":
                run.refuse(f"np.subtract.at of {describe(value)} is not supported", "cast it first")
            value = run.call(np.negative, [value], {}) if is_traced(value) else -value
        _add_at(run, a, indices, value)

    return lowering


_PLACES = (Array, Scalar, list, int, np.integer)


def _add_at(run: Run, a: Array, indices: Any, value: Any) -> None:
    """``np.add.at``: the sums have the dtype of ``a``, whatever is added, as in NumPy."""
    given = value.type.dtype if is_traced(value) else np.asarray(value).dtype
    if a.type.dtype.kind not in "iu" or given == a.type.dtype:
        accumulate_at(run, a, indices, value)
    elif given.kind in "iub":
        whole = run.as_array(value)
        accumulate_at(run, a, indices, run.cast(whole, a.type.dtype))
    elif given.kind == "f" and a.type.ndim == 1 and isinstance(indices, _PLACES):
        places = run.as_array(indices)
        if places.type.dtype.kind == "b":
            (places,) = run.call(np.nonzero, [places], {})
        run.call(ufuncs.add_in_turn, [a, places, value], {})
    else:
        run.refuse(
            f"adding {described(value)} to {describe(a)} at places is not supported",
            "add to an array of floats, and convert it afterwards",
        )
