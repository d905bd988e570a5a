"""The meaning of library functions: a table from the function object to its lowering.

A lowering takes the run, then the arguments of the library function, by NumPy's names; an argument
that it does not name is refused. Functions of the codegen templates record the primitive of their
name, so that derivative rules can use primitives NumPy has no name for.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from stcompile.codegen_templates.numpy import WRITTEN
from stcompile.frontend.functions import creation, shapes
from stcompile.frontend.functions.caches import CACHES
from stcompile.frontend.functions.containers import CONTAINERS, HEAPS
from stcompile.frontend.functions.contexts import CONTEXTS
from stcompile.frontend.functions.copies import COPIES
from stcompile.frontend.functions.creation import CREATION, SUBSCRIPTED
from stcompile.frontend.functions.effects import EFFECTS
from stcompile.frontend.functions.elementwise import ELEMENTWISE
from stcompile.frontend.functions.evaluated import EVALUATED
from stcompile.frontend.functions.fourier import FOURIER
from stcompile.frontend.functions.indices import INDICES
from stcompile.frontend.functions.itertools import ITERTOOLS
from stcompile.frontend.functions.joining import JOINING
from stcompile.frontend.functions.library import (
    ARRANGEMENT,
    CALCULUS,
    MATRICES,
    SHARED,
    STATISTICS,
    WINDOWS,
)
from stcompile.frontend.functions.library import ELEMENTWISE as COMPOSED
from stcompile.frontend.functions.linalg import LINALG
from stcompile.frontend.functions.linear import LINEAR, dot
from stcompile.frontend.functions.objects import DATA_MODEL, OBJECTS, converted
from stcompile.frontend.functions.of_numpy import OWN
from stcompile.frontend.functions.padding import PADDING
from stcompile.frontend.functions.places import LENGTHS, PLACES
from stcompile.frontend.functions.poly1d import POLY1D
from stcompile.frontend.functions.python import PYTHON, STATIC
from stcompile.frontend.functions.random import RANDOM
from stcompile.frontend.functions.reductions import REDUCTIONS
from stcompile.frontend.functions.shapes import SHAPES
from stcompile.frontend.functions.sorting import SORTING
from stcompile.frontend.functions.stats import FROZEN
from stcompile.frontend.functions.vectorized import VECTORIZED
from stcompile.frontend.operations.indexing import set_item
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Affine, Array, has_axes, same_number
from stcompile.wengert.types import Type


def _reshape_method(run: Run, x: Any, *shape: Any, order: str = "C") -> Any:
    dims = shape[0] if len(shape) == 1 else shape
    return shapes.reshape(run, x, dims, order)


def _transpose_method(run: Run, x: Any, *axes: Any) -> Any:
    given = axes[0] if len(axes) == 1 else axes
    return shapes.transpose(run, x, given or None)


def _fill(run: Run, x: Any, value: Any) -> None:
    if has_axes(value):
        run.raises(ValueError("setting an array element with a sequence"))
    set_item(run, x, Ellipsis, value)


def _sort(
    run: Run,
    x: Any,
    axis: int = -1,
    kind: str | None = None,
    *,
    stable: Any = None,
    descending: Any = None,
) -> None:
    ordered = SORTING[np.sort](run, x, axis, kind, stable=stable, descending=descending)
    set_item(run, x, Ellipsis, ordered)


def _partition(run: Run, x: Any, kth: Any, axis: int = -1, kind: str = "introselect") -> None:
    set_item(run, x, Ellipsis, SORTING[np.partition](run, x, kth, axis, kind))


def _astype(run: Run, x: Any, dtype: Any, order: str = "K", copy: bool = True) -> Any:
    kind = creation.dtype_of(run, dtype)
    if order == "K" or not isinstance(x, Array):
        is_same = kind == x.type.dtype and not copy
        return x if is_same else run.record("cast", x, dtype=kind)
    order = "F" if shapes.is_fortran(run, x, order) else "C"
    if kind != x.type.dtype:
        return shapes.laid(run, run.record("cast", x, dtype=kind), order)
    return shapes.copy(run, x, order) if copy else shapes.laid(run, x, order)


def _array(run: Run, x: Any, dtype: Any = None, *, copy: Any = None) -> Any:
    """``x.__array__()``: the array itself, unless another dtype or a copy is asked for; of a scalar
    of NumPy an array of shape ()."""
    x = run.as_array(x)
    return _astype(run, x, x.type.dtype if dtype is None else dtype, copy=bool(copy))


def _compress(run: Run, x: Any, condition: Any, axis: Any = None) -> Any:
    return PLACES[np.compress](run, condition, x, axis)


def _conjugate(run: Run, x: Any) -> Any:
    """``x.conj()``: of real numbers the array itself."""
    if x.type.dtype.kind == "c":
        result = run.record("conjugate", x)
        is_python = x.type.kind == "python"
        return run.record("to_python", result, dtype=x.type.dtype) if is_python else result
    if x.type == Type.python(bool):
        return run.record("to_python", x, dtype=np.dtype(int))
    return same_number(x) if x.type.kind == "scalar" else x


def _copy(run: Run, x: Any, order: str = "C") -> Any:
    return shapes.copy(run, x, order) if isinstance(x, Array) else same_number(x)


def template_lowering(primitive: str, /, run: Run, *inputs: Any, **params: Any) -> Any:
    """The lowering of a codegen template in a derivative rule: it records the primitive itself."""
    flat = list(inputs)
    if flat and isinstance(flat[-1], tuple):
        flat[-1:] = flat[-1]
    sizes = {name: _with_sizes(run, value) for name, value in params.items()}
    return run.record(primitive, *flat, **sizes)


def _with_sizes(run: Run, static: Any) -> Any:
    """A param of the rule with its lengths as sizes."""
    if isinstance(static, tuple | list):
        return tuple(_with_sizes(run, item) for item in static)
    size = run.size_of(static) if isinstance(static, Affine) else None
    return static if size is None else size


METHODS: dict[str, Any] = {
    "sum": REDUCTIONS[np.sum],
    "prod": REDUCTIONS[np.prod],
    "mean": REDUCTIONS[np.mean],
    "max": REDUCTIONS[np.max],
    "min": REDUCTIONS[np.min],
    "any": REDUCTIONS[np.any],
    "all": REDUCTIONS[np.all],
    "var": REDUCTIONS[np.var],
    "std": REDUCTIONS[np.std],
    "argmax": REDUCTIONS[np.argmax],
    "argmin": REDUCTIONS[np.argmin],
    "cumsum": REDUCTIONS[np.cumsum],
    "cumprod": REDUCTIONS[np.cumprod],
    "diagonal": shapes.diagonal,
    "trace": MATRICES[np.trace],
    "take": SORTING[np.take],
    "argsort": SORTING[np.argsort],
    "argpartition": SORTING[np.argpartition],
    "searchsorted": SORTING[np.searchsorted],
    "choose": SORTING[np.choose],
    "compress": _compress,
    "conj": _conjugate,
    "conjugate": _conjugate,
    "clip": ELEMENTWISE[np.clip],
    "round": ELEMENTWISE[np.round],
    "dot": dot,
    "reshape": _reshape_method,
    "transpose": _transpose_method,
    "ravel": shapes.ravel,
    "flatten": shapes.flatten,
    "squeeze": shapes.squeeze,
    "swapaxes": shapes.swapaxes,
    "view": shapes.seen_as,
    "repeat": PLACES[np.repeat],
    "astype": _astype,
    "__array__": _array,
    "copy": _copy,
    "item": creation.item,
    "tolist": creation.tolist,
    "fill": _fill,
    "nonzero": PLACES[np.nonzero],
    "sort": _sort,
    "partition": _partition,
    "put": SORTING[np.put],
}

FUNCTIONS: dict[Any, Any] = {
    **ELEMENTWISE,
    **REDUCTIONS,
    **SHAPES,
    **JOINING,
    **PADDING,
    **CREATION,
    **SUBSCRIPTED,
    **LINEAR,
    **LINALG,
    **FOURIER,
    **SHARED,
    **COMPOSED,
    **CALCULUS,
    **STATISTICS,
    **MATRICES,
    **ARRANGEMENT,
    **WINDOWS,
    **SORTING,
    **PLACES,
    **LENGTHS,
    **INDICES,
    **PYTHON,
    **EFFECTS,
    **EVALUATED,
    **OBJECTS,
    **DATA_MODEL,
    **{kind: converted(kind, CREATION[kind]) for kind in (float, int, bool, complex)},
    **ITERTOOLS,
    **CONTAINERS,
    **HEAPS,
    **CONTEXTS,
    **FROZEN,
    **CACHES,
    **COPIES,
    **OWN,
    **POLY1D,
    **VECTORIZED,
    **RANDOM,
    **{template: functools.partial(template_lowering, name) for name, template in WRITTEN.items()},
}

__all__ = ["FUNCTIONS", "METHODS", "STATIC"]
