"""Methods of ufuncs: ``np.add.reduce``, ``np.multiply.outer``, ``np.add.at`` and their like."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.frontend.functions.library import inlined
from stcompile.frontend.operations.indexing import accumulate_at
from stcompile.frontend.operations.out import Callee, write_out
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


# Other functions of which NumPy takes several axes: their order does not matter.
_REORDERED = frozenset({np.fmax, np.fmin, np.hypot, np.logaddexp, np.logaddexp2})


def at_chosen(run: Run, *arguments: Any) -> Any:
    """A call of a ufunc with ``where``."""
    return run.call(ufuncs.at_chosen, arguments, {})


def method_of(run: Run, ufunc: np.ufunc, name: str, is_known: bool) -> Lowering:
    """The lowering of a method; ``is_known`` says whether the ufunc itself has a lowering."""
    makers: dict[str, Lowering] = {
        "reduce": _reduce,
        "reduceat": _reduceat,
        "accumulate": _accumulate,
        "outer": _outer,
        "at": _at,
    }
    if not is_known or name not in makers:
        run.refuse(
            f"`{ufunc.__name__}.{name}` is not supported",
            "use `reduce`, `reduceat`, `accumulate`, `outer` or `at` of a ufunc that the page "
            "`NumPy functions` of the documentation lists",
        )
    is_at_one = name == "at" and ufunc.nin == 1
    if (ufunc.nin != 2 and not is_at_one) or ufunc.nout != 1:
        run.refuse(f"`{ufunc.__name__}` does not make one number of two", "", TypingError)
    return functools.partial(makers[name], ufunc)


def _reduce(
    ufunc: np.ufunc,
    run: Run,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    function = _REDUCTIONS.get(ufunc)
    x = _in_dtype(run, array, dtype)
    if function is None:
        given = [ufunc, x, axis, bool(keepdims), initial, where]
        is_one = isinstance(axis, int | np.integer) or ufunc not in _REORDERED
        result = inlined(ufuncs.folded if is_one else ufuncs.folded_along)(run, *given)
    else:
        if isinstance(x, Array) and not x.type.ndim and axis in (0, -1):
            axis = None  # NumPy accepts these axes for a number
        named = {"axis": axis, "keepdims": bool(keepdims), "where": where}
        if initial is not None:
            named["initial"] = initial
        result = run.call(function, [x], named)
    return _written(run, f"np.{ufunc.__name__}.reduce", result, out)


def _in_dtype(run: Run, array: Any, dtype: Any) -> Array:
    """The operand of a method as an array of the dtype to compute in."""
    return run.as_array(array if dtype is None else run.call(np.asarray, [array, dtype], {}))


def _written(run: Run, name: str, result: Any, out: Any) -> Any:
    """The result of a method, written into ``out`` if there is any."""
    (target,) = out if isinstance(out, tuple) else (out,)
    return result if target is None else write_out(run, Callee(name), result, target)


def _accumulate(
    ufunc: np.ufunc, run: Run, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    function = _RUNNING.get(ufunc)
    x = _in_dtype(run, array, dtype)
    if function is None:
        result = inlined(ufuncs.running)(run, ufunc, x, axis)
    else:
        if not x.type.ndim or axis is None:
            run.refuse(f"np.{ufunc.__name__}.accumulate goes along one axis", "", TypingError)
        result = run.call(function, [x], {"axis": axis})
    return _written(run, f"np.{ufunc.__name__}.accumulate", result, out)


def _reduceat(
    ufunc: np.ufunc,
    run: Run,
    array: Any,
    indices: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    x = _in_dtype(run, array, dtype)
    result = inlined(ufuncs.reduced_at)(run, ufunc, x, indices, axis)
    return _written(run, f"np.{ufunc.__name__}.reduceat", result, out)


def _outer(ufunc: np.ufunc, run: Run, A: Any, B: Any) -> Any:
    return inlined(ufuncs.outer)(run, ufunc, A, B)


def _at(ufunc: np.ufunc, run: Run, a: Any, indices: Any, b: Any = None) -> None:
    if not isinstance(a, Array):
        run.refuse(f"{described(a)} cannot be written to", "give an array", TypingError)
    if ufunc.nin == 1:
        run.check_writeable(a)
        inlined(ufuncs.applied_at_one)(run, ufunc, a, indices)
        return
    value: Any = run.as_array(b) if isinstance(b, LISTED) else b
    if not (is_traced(value) or is_number(value)):
        run.refuse(
            f"{described(value)} is no operand of np.{ufunc.__name__}.at",
            "give numbers",
            TypingError,
        )
    if a.type.dtype.kind == "b":
        run.refuse(f"np.{ufunc.__name__}.at of booleans is not supported", "use integers")
    if ufunc not in (np.add, np.subtract):
        run.check_writeable(a)
        inlined(ufuncs.applied_at)(run, ufunc, a, indices, value)
        return
    if ufunc is np.subtract:
        if is_traced(value) and value.type.dtype.kind in "bu":
            run.refuse(f"np.subtract.at of {describe(value)} is not supported", "cast it first")
        value = run.call(np.negative, [value], {}) if is_traced(value) else -value
    _add_at(run, a, indices, value)


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
