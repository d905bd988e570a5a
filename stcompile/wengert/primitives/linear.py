"""``contract``: the primitive of matmul, dot, outer, tensordot and einsum of two operands.

``batch`` and ``contracted`` are pairs (axis of x, axis of y). The natural dims of the result are
the batch dims, the free dims of x, the free dims of y; ``order`` permutes them as `numpy.transpose`
does (``()`` for none).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from stcompile.wengert.bounds import maximum, minimum
from stcompile.wengert.primitives.base import (
    OperandError,
    Primitive,
    Types,
    array_or_scalar,
    require_array,
    require_axes,
    require_count,
    shapes,
)
from stcompile.wengert.types import Type


def contracted_type(types: Types, params: Mapping[str, Any]) -> Type:
    name = params["spelling"] or "contract"
    require_count(name, types, 2)
    x, y = (require_array(name, t) for t in types)
    if not x.dims or not y.dims:
        raise OperandError(f"{name}: takes arrays with dimensions, {shapes(x.dims, y.dims)} given")
    pairs = (*params["batch"], *params["contracted"])
    require_axes(name, tuple(a for a, _ in pairs), x.dims)
    require_axes(name, tuple(b for _, b in pairs), y.dims)
    for a, b in pairs:
        if x.dims[a] != y.dims[b]:
            raise OperandError(
                f"{name}: {shapes(x.dims, y.dims)} do not fit: {x.dims[a]} != {y.dims[b]}"
            )
    dims = (
        *(x.dims[a] for a, _ in params["batch"]),
        *(dim for i, dim in enumerate(x.dims) if i not in [a for a, _ in pairs]),
        *(dim for i, dim in enumerate(y.dims) if i not in [b for _, b in pairs]),
    )
    order = params["order"] or tuple(range(len(dims)))
    if sorted(order) != list(range(len(dims))):
        raise OperandError(f"{name}: order {order} does not permute {len(dims)} axes")
    dtype = np.matmul.resolve_dtypes((x.dtype, y.dtype, None))[-1]
    return array_or_scalar(dtype, tuple(dims[i] for i in order))


def _contract(types: Types, params: Mapping[str, Any]) -> Types:
    return (contracted_type(types, params),)


def _einsum(types: Types, params: Mapping[str, Any]) -> Types:
    terms, _, result = params["subscripts"].partition("->")
    parts = terms.split(",")
    require_count("einsum", types, len(parts))
    sizes: dict[str, int] = {}
    for term, t in zip(parts, types, strict=True):
        if len(term) != require_array("einsum", t).ndim:
            raise OperandError(f"einsum: {term!r} does not name the axes of shape {t.dims}")
        for name, dim in zip(term, t.dims, strict=True):
            if sizes.setdefault(name, dim) != dim:
                raise OperandError(f"einsum: {name!r} is an axis of {sizes[name]} and of {dim}")
    dtype = np.result_type(*(t.dtype for t in types))
    return (array_or_scalar(dtype, tuple(sizes[name] for name in result)),)


def _convolve(types: Types, params: Mapping[str, Any]) -> Types:
    require_count("convolve", types, 2)
    x, y = (require_array("convolve", t) for t in types)
    if x.ndim != 1 or y.ndim != 1:
        raise OperandError(f"convolve: takes vectors, not {shapes(x.dims, y.dims)}")
    long, short = maximum(*x.dims, *y.dims), minimum(*x.dims, *y.dims)
    if short == 0:
        raise OperandError("convolve: a vector is empty")
    sizes = {"full": long + short - 1, "same": long, "valid": long - short + 1}
    return (Type.array(np.result_type(x.dtype, y.dtype), (sizes[params["mode"]],)),)


LINEAR: tuple[Primitive, ...] = (
    Primitive("contract", _contract),
    Primitive("einsum", _einsum),
    Primitive("convolve", _convolve),
)
