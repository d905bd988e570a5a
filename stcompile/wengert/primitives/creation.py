"""Primitives that make arrays out of numbers or of nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.wengert.bounds import maximum
from stcompile.wengert.dims import is_named
from stcompile.wengert.primitives.base import (
    OperandError,
    Primitive,
    Types,
    UnsupportedOperandError,
    require_count,
)
from stcompile.wengert.types import Type


def _full(types: Types, params: Any) -> Types:
    (v,) = types
    if v.size != 1:
        raise OperandError(f"full: takes one value, not shape {v.dims}")
    if v.dtype.kind == "c" and np.dtype(params["dtype"]).kind not in "cb":
        raise UnsupportedOperandError(
            f"full: {v} would lose its imaginary part in {params['dtype']}"
        )
    return (Type.array(params["dtype"], params["shape"]),)


def _arange(types: Types, params: Any) -> Types:
    require_count("arange", types, 0)
    start, stop, step = params["start"], params["stop"], params["step"]
    if step == 0:
        raise OperandError("arange: step is 0")
    if is_named((start, stop)):
        length = maximum(0, stop - start if step > 0 else start - stop)
        return (Type.array(params["dtype"], ((length + (abs(step) - 1)) // abs(step),)),)
    return (Type.array(params["dtype"], (max(0, math.ceil((stop - start) / step)),)),)


def _eye(types: Types, params: Any) -> Types:
    require_count("eye", types, 0)
    return (Type.array(params["dtype"], (params["n"], params["m"])),)


def _constant(types: Types, params: Any) -> Types:
    require_count("constant", types, 0)
    result = Type.array(params["dtype"], params["shape"])
    if len(params["values"]) != result.count:
        raise OperandError(f"constant: {len(params['values'])} values for shape {result.dims}")
    return (result,)


def _array(types: Types, params: Any) -> Types:
    result = Type.array(params["dtype"], params["shape"])
    if len(types) != result.count:
        raise OperandError(f"array: {len(types)} numbers for shape {result.dims}")
    for t in types:
        if t.dims:
            raise OperandError(f"array: is built from numbers, not from shape {t.dims}")
        if t.dtype.kind == "c" and np.dtype(result.dtype).kind != "c":
            raise UnsupportedOperandError(
                f"array: {t} would lose its imaginary part in {result.dtype}"
            )
    return (result,)


def _empty(types: Types, params: Any) -> Types:
    require_count("empty", types, 0)
    return (Type.array(params["dtype"], params["shape"]),)


FRESH = frozenset({"full", "empty", "copy"})  # new arrays, whose order may be chosen
CREATION: tuple[Primitive, ...] = (
    Primitive("full", _full, linear=True),
    Primitive("empty", _empty),  # every element is written before it is read
    Primitive("arange", _arange),
    Primitive("eye", _eye),
    Primitive("constant", _constant),
    Primitive("array", _array, linear=True),
)
