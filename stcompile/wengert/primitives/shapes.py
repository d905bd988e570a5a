"""Primitives that arrange elements and compute nothing. Numbers become arrays, as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.wengert.bounds import maximum, minimum
from stcompile.wengert.dims import Dim, UnknownSizeError, number_of_elements, varies
from stcompile.wengert.primitives.base import (
    OperandError,
    Primitive,
    Types,
    require_array,
    require_axes,
    shapes,
)
from stcompile.wengert.types import Type


def _reshape(types: Types, params: Any) -> Types:
    (x,) = types
    result = Type.array(x.dtype, params["shape"])
    if number_of_elements(result.dims) != number_of_elements(x.dims):
        raise OperandError(
            f"reshape: shape {x.dims} has {x.size} elements, {result.dims} has {result.size}"
        )
    return (result,)


def _transpose(types: Types, params: Any) -> Types:
    (x,) = types
    require_array("transpose", x)
    axes = params["axes"]
    require_axes("transpose", axes, x.dims)
    if len(axes) != x.ndim:
        raise OperandError(f"transpose: axes {axes} do not match shape {x.dims}")
    return (Type.array(x.dtype, tuple(x.dims[axis] for axis in axes)),)


def _expand_dims(types: Types, params: Any) -> Types:
    (x,) = types
    axes = params["axis"]
    ndim = x.ndim + len(axes)
    require_axes("expand_dims", axes, (1,) * ndim)
    rest = iter(x.dims)
    return (Type.array(x.dtype, tuple(1 if i in axes else next(rest) for i in range(ndim))),)


def _squeeze(types: Types, params: Any) -> Types:
    (x,) = types
    require_array("squeeze", x)
    axes = params["axis"]
    require_axes("squeeze", axes, x.dims)
    for axis in axes:
        if x.dims[axis] != 1:
            raise OperandError(f"squeeze: axis {axis} of shape {x.dims} is not of length 1")
    return (Type.array(x.dtype, tuple(d for i, d in enumerate(x.dims) if i not in axes)),)


def _broadcast_to(types: Types, params: Any) -> Types:
    (x,) = types
    shape = tuple(params["shape"])
    result = Type.array(x.dtype, shape)
    short = shape[len(shape) - x.ndim :] if x.ndim <= len(shape) else None
    if short is None or any(d not in (1, s) for d, s in zip(x.dims, short, strict=True)):
        raise OperandError(f"broadcast_to: shape {x.dims} does not broadcast to {shape}")
    return (result,)


def _common_dtype(types: Types) -> Any:
    """The common dtype, in which Python numbers count as arrays of their default dtype: they are
    converted first."""
    return np.result_type(*(t.dtype for t in types))


def _concatenate(types: Types, params: Any) -> Types:
    axis = params["axis"]
    if not types:
        raise OperandError("concatenate: takes at least one array")
    first = types[0]
    require_axes("concatenate", (axis,), first.dims)
    for t in types:
        require_array("concatenate", t)
        others = [d[:axis] + d[axis + 1 :] for d in (first.dims, t.dims)]
        if t.ndim != first.ndim or others[0] != others[1]:
            raise OperandError(
                f"concatenate: {shapes(first.dims, t.dims)} do not fit along axis {axis}"
            )
    length = sum(t.dims[axis] for t in types)
    dims = (*first.dims[:axis], length, *first.dims[axis + 1 :])
    return (Type.array(_common_dtype(types), dims),)


def _stack(types: Types, params: Any) -> Types:
    axis = params["axis"]
    if not types:
        raise OperandError("stack: takes at least one array")
    first = types[0].dims
    require_axes("stack", (axis,), (1, *first))
    for t in types:
        if t.dims != first:
            raise OperandError(f"stack: {shapes(first, t.dims)} differ")
    return (Type.array(_common_dtype(types), (*first[:axis], len(types), *first[axis:])),)


def _roll(types: Types, params: Any) -> Types:
    (x,) = types
    require_array("roll", x)
    require_axes("roll", params["axis"], x.dims)
    if not params["axis"] or len(params["shift"]) != len(params["axis"]):
        raise OperandError(f"roll: shift {params['shift']} does not match axis {params['axis']}")
    return types


def _pad(types: Types, params: Any) -> Types:
    (x,) = types
    if not require_array("pad", x).dims:
        raise OperandError("pad: takes an array with an axis")
    widths = params["pad_width"]
    if params["mode"] != "constant":
        raise OperandError(f"pad: only mode 'constant' is supported, not {params['mode']!r}")
    if len(widths) != x.ndim or any(width < 0 for pair in widths for width in pair):
        raise OperandError(f"pad: pad_width {widths} does not match shape {x.dims}")
    dims = tuple(a + dim + b for dim, (a, b) in zip(x.dims, widths, strict=True))
    return (Type.array(x.dtype, dims),)


def _diagonal(types: Types, params: Any) -> Types:
    (x,) = types
    require_array("diagonal", x)
    one, two, k = params["axis1"], params["axis2"], params["offset"]
    require_axes("diagonal", (one, two), x.dims)
    length = maximum(0, minimum(x.dims[one] + min(k, 0), x.dims[two] - max(k, 0)))
    if varies(x.dims) and isinstance(x.dims[one] - length, Dim):  # the adjoint pads by that many
        raise UnknownSizeError(f"a diagonal of an array of shape {x.dims}", x.dims)
    rest = tuple(dim for i, dim in enumerate(x.dims) if i not in (one, two))
    return (Type.array(x.dtype, (*rest, length)),)


SHAPES: tuple[Primitive, ...] = (
    *(
        Primitive(name, infer, linear=True, view=True, rearranges=True, reshapes=True)
        for name, infer in (
            ("reshape", _reshape),
            ("expand_dims", _expand_dims),
            ("squeeze", _squeeze),
        )
    ),
    Primitive("transpose", _transpose, linear=True, view=True, rearranges=True),
    Primitive("broadcast_to", _broadcast_to, linear=True, view=True),
    Primitive("concatenate", _concatenate, linear=True),
    Primitive("stack", _stack, linear=True),
    Primitive("roll", _roll, linear=True),
    Primitive("diagonal", _diagonal, linear=True, view=True),
    # The padding value is a constant: affine, and linear only where that value is 0.
    Primitive("pad", _pad),
)
