"""Sorting, searching, and look-ups in sorted arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.wengert.bounds import least
from stcompile.wengert.primitives.base import (
    OperandError,
    Primitive,
    Types,
    UnsupportedOperandError,
    array_or_scalar,
    require_array,
    require_axes,
    require_count,
    shapes,
)
from stcompile.wengert.primitives.reductions import INDEX
from stcompile.wengert.types import Type


def _sortable(name: str, types: Types, params: Any) -> Type:
    require_count(name, types, 1)
    x = require_array(name, types[0])
    if not x.dims:
        raise OperandError(f"{name}: takes an array with an axis")
    require_axes(name, (params["axis"],), x.dims)
    kth = params.get("kth", ())
    for k in kth if isinstance(kth, tuple) else (kth,):
        if not 0 <= k < least(x.dims[params["axis"]]):
            raise OperandError(
                f"{name}: {k} is out of bounds for axis {params['axis']} of shape {x.dims}"
            )
    return x


def _sort(types: Types, params: Any) -> Types:
    return (_sortable("sort", types, params),)


def _argsort(types: Types, params: Any) -> Types:
    return (_sortable("argsort", types, params).with_dtype(INDEX),)


def _partition(types: Types, params: Any) -> Types:
    return (_sortable("partition", types, params),)


def _argpartition(types: Types, params: Any) -> Types:
    return (_sortable("argpartition", types, params).with_dtype(INDEX),)


def _lexsort(types: Types, params: Any) -> Types:
    if not types:
        raise OperandError("lexsort: takes at least one key")
    for t in types:
        require_array("lexsort", t)
        if t.dims != types[0].dims:
            raise OperandError(f"lexsort: {shapes(types[0].dims, t.dims)} differ")
    require_axes("lexsort", (params["axis"],), types[0].dims)
    return (types[0].with_dtype(INDEX),)


def _searchsorted(types: Types, params: Any) -> Types:
    require_count("searchsorted", types, 2)
    if require_array("searchsorted", types[0]).ndim != 1:
        raise OperandError(f"searchsorted: takes a vector, not shape {types[0].dims}")
    return (array_or_scalar(INDEX, types[1].dims),)


def _digitize(types: Types, params: Any) -> Types:
    require_count("digitize", types, 2)
    if require_array("digitize", types[1]).ndim != 1:
        raise OperandError(f"digitize: bins are a vector, not shape {types[1].dims}")
    if types[0].dtype.kind == "c":
        raise OperandError("digitize: complex numbers have no order")
    return (array_or_scalar(INDEX, types[0].dims),)


def _histogram(types: Types, params: Any) -> Types:
    require_count("histogram", types, 2)
    x, edges = types
    if require_array("histogram", edges).ndim != 1 or least(edges.dims[0]) < 2:
        raise OperandError(f"histogram: edges are a vector of two or more, not {edges.dims}")
    if "c" in (x.dtype.kind, edges.dtype.kind):
        raise OperandError("histogram: complex numbers have no order")
    return (Type.array(INDEX, (edges.dims[0] - 1,)),)


def _interp(types: Types, params: Any) -> Types:
    require_count("interp", types, 3)
    x, xp, fp = types
    for t in (xp, fp):
        require_array("interp", t)
    if xp.ndim != 1 or xp.dims != fp.dims:
        raise OperandError(f"interp: {shapes(xp.dims, fp.dims)} of the points differ")
    if not xp.size:
        raise OperandError("interp: no points to interpolate")
    if any(t.dtype.kind == "c" for t in types):
        raise UnsupportedOperandError("interp: takes real numbers")
    return (array_or_scalar(np.dtype(np.float64), x.dims),)


SORTING: tuple[Primitive, ...] = (
    Primitive("sort", _sort),
    Primitive("argsort", _argsort),
    Primitive("partition", _partition),
    Primitive("argpartition", _argpartition),
    Primitive("lexsort", _lexsort),
    Primitive("searchsorted", _searchsorted),
    Primitive("digitize", _digitize),
    Primitive("histogram", _histogram),
    Primitive("interp", _interp),
)
