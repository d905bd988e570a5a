"""Complex numbers: their parts, and their sign, which differs from the sign of real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.wengert.primitives.base import (
    Infer,
    OperandError,
    Primitive,
    Types,
    array_or_scalar,
    require_assignable,
)
from stcompile.wengert.types import Type


def real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a complex number's parts."""
    return np.dtype(f"f{dtype.itemsize // 2}")


def _part(name: str) -> Infer:
    """The type of a part of a complex number, of the same kind as the number."""

    def infer(types: Types, params: Any) -> Types:
        (x,) = types
        _require_complex(name, x)
        return (Type.python(float) if x.kind == "python" else x.with_dtype(real_dtype(x.dtype)),)

    return infer


def _complex_sign(types: Types, params: Any) -> Types:
    (x,) = types
    _require_complex("complex_sign", x)
    return (array_or_scalar(x.dtype, x.dims),)


def _update_part(types: Types, params: Any) -> Types:
    x, v = types
    _require_complex("update_part", x)
    if x.kind != "array":
        raise OperandError(f"update_part: {x} is no array")
    require_assignable("update_part", v, real_dtype(x.dtype), x.dims)
    return (x,)


def _require_complex(name: str, x: Type) -> None:
    if x.dtype.kind != "c":
        raise OperandError(f"{name}: takes a complex number, not {x}")


COMPLEX: tuple[Primitive, ...] = (
    Primitive("real", _part("real"), linear=True),
    Primitive("imag", _part("imag"), linear=True),
    Primitive("complex_sign", _complex_sign),
    Primitive("update_part", _update_part, linear=True),
)
