"""Recursive filters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from stcompile.wengert.primitives.base import (
    OperandError,
    Primitive,
    Types,
    require_array,
    require_count,
)
from stcompile.wengert.types import Type


def _lfilter(types: Types, params: Mapping[str, Any]) -> Types:
    """The filter with the coefficients of the first two operands, along the last axis of the
    third."""
    require_count("lfilter", types, 3)
    b, a, x = (require_array("lfilter", t) for t in types)
    if b.ndim != 1 or a.ndim != 1 or not (b.size and a.size and x.ndim):
        raise OperandError(
            f"lfilter: takes two vectors and an array, not {b.dims}, {a.dims}, {x.dims}"
        )
    dtype = np.result_type(*(t.dtype if t.inexact else np.float64 for t in (b, a, x)))
    if dtype == np.float16:
        raise OperandError("lfilter: float16 is not supported")
    return (Type.array(dtype, x.dims),)


SIGNALS: tuple[Primitive, ...] = (Primitive("signal.lfilter", _lfilter),)
