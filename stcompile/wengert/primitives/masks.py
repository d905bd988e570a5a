"""Writing and reducing the elements that a boolean mask selects.

How many there are is known only at run time, so that no value is made of them: each primitive
takes whole arrays. A mask has the first dims of the array, all of them or fewer; what it selects
has the others as its trailing dims.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stcompile.wengert.primitives.base import (
    OperandError,
    Primitive,
    Types,
    UnsupportedOperandError,
    require_array,
    require_assignable,
    shapes,
)
from stcompile.wengert.primitives.reductions import REDUCTIONS
from stcompile.wengert.types import Type

_REDUCTIONS = {primitive.name: primitive for primitive in REDUCTIONS}
REDUCED = frozenset({"sum", "prod", "mean", "max", "min", "any", "all"})


def _trailing(name: str, x: Type, mask: Type) -> tuple[int, ...]:
    require_array(name, x)
    require_array(name, mask)
    if mask.dtype.kind != "b" or not mask.ndim:
        raise OperandError(f"{name}: a mask is an array of booleans, not {mask}")
    if x.dims[: mask.ndim] != mask.dims:
        raise OperandError(f"{name}: {shapes(x.dims, mask.dims)} of array and mask do not fit")
    return x.dims[mask.ndim :]


def _masked_update(types: Types, params: Mapping[str, Any]) -> Types:
    x, v, mask = types
    trailing = _trailing("masked_update", x, mask)
    if params["items"]:
        value = _trailing("masked_update", v, mask)
        require_assignable("masked_update", Type.array(v.dtype, value), x.dtype, trailing)
        if len(value) != len(trailing):
            raise OperandError(f"masked_update: {shapes(v.dims, x.dims)} do not fit")
    else:
        require_assignable("masked_update", v, x.dtype, (1, *trailing))
    return (x,)


def _masked(types: Types, params: Mapping[str, Any]) -> Types:
    x, mask = types
    reduce, axis = params["reduce"], params["axis"]
    selected = Type.array(x.dtype, (1, *_trailing("masked", x, mask)))
    if reduce not in REDUCED:
        raise OperandError(f"masked: no reduction {reduce!r}")
    if 0 not in axis:
        raise UnsupportedOperandError(
            f"masked: the selected items are reduced, not only the axes {axis}"
        )
    return _REDUCTIONS[reduce].infer((selected,), {"axis": axis, "keepdims": False})


MASKS: tuple[Primitive, ...] = (
    Primitive("masked", _masked),
    Primitive("masked_update", _masked_update, linear=True, assigns=True),
)
