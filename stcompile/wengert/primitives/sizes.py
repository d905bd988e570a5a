"""Integers that stand for lengths of axes.

``named(n; binds)`` is the number itself. From the equation on, to the end of its program, the
symbol that it binds stands for the number in types and params. An equation that mentions the symbol
does not read the number, so that binding is an effect: no pass moves it away from the equations
that mention the symbol.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.wengert.dims import Symbol
from stcompile.wengert.primitives.base import (
    OperandError,
    Primitive,
    Types,
    require_array,
    require_axes,
    require_count,
    require_integer,
)
from stcompile.wengert.types import Type

COUNT = Type.python(int)


def _size(types: Types, params: Any) -> Types:
    require_count("size", types, 0)
    return (COUNT,)


def _named(types: Types, params: Any) -> Types:
    require_count("named", types, 1)
    if types != (COUNT,) or not isinstance(params["binds"], Symbol):
        raise OperandError(f"named: binds a symbol to an int, not to {types[0]}")
    return (COUNT,)


def _count_nonzero(types: Types, params: Any) -> Types:
    require_count("count_nonzero", types, 1)
    require_array("count_nonzero", types[0])
    return (COUNT,)


def _nonzero(types: Types, params: Any) -> Types:
    """The indices along an axis of the elements that a mask selects, ``size`` of them."""
    require_count("nonzero", types, 1)
    if require_array("nonzero", types[0]).dtype.kind != "b":
        raise OperandError(f"nonzero: a mask is an array of booleans, not {types[0]}")
    require_axes("nonzero", (params["axis"],), types[0].dims)
    return (Type.array(np.dtype(np.int64), (params["size"],)),)


def _slice_end(types: Types, params: Any) -> Types:
    """The position on an axis, of length ``of``, that the end of a slice stands for: a negative end
    counts from the end of the axis, and the position is not before ``low``, the start of the
    slice."""
    require_count("slice_end", types, 1)
    if types[0].dims:
        raise OperandError(f"slice_end: the end of a slice is one integer, not {types[0]}")
    require_integer("slice_end", types[0])
    return (COUNT,)


def _within(types: Types, params: Any) -> Types:
    """The integer itself, checked to be an index of an ``axis`` of length ``of``."""
    require_count("within", types, 1)
    if types[0].dims:
        raise OperandError(f"within: an index is one integer, not {types[0]}")
    require_integer("within", types[0])
    return (COUNT,)


def _as_shape(types: Types, params: Any) -> Types:
    """The array itself: its lengths were checked to be those of ``shape``."""
    require_count("as_shape", types, 1)
    dims = require_array("as_shape", types[0]).dims
    if len(dims) != len(params["shape"]):
        raise OperandError(f"as_shape: {types[0]} does not have the shape {params['shape']}")
    return (Type.array(types[0].dtype, params["shape"]),)


SIZES: tuple[Primitive, ...] = (
    Primitive("size", _size),  # the number that a size is
    Primitive("count_nonzero", _count_nonzero),
    Primitive("nonzero", _nonzero),
    Primitive("as_shape", _as_shape, linear=True, view=True),
    Primitive("slice_end", _slice_end),
    Primitive("within", _within),
    Primitive("named", _named, effects=("bind",)),
)
