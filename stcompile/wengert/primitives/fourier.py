"""Discrete Fourier transforms along an axis, of which all other transforms are made.

``n`` is the length of the transform: a longer operand is cut, a shorter operand is continued by
zeros. ``axis`` is not negative, ``norm`` is ``"backward"``, ``"ortho"`` or ``"forward"``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.wengert.bounds import least
from stcompile.wengert.primitives.base import (
    Infer,
    OperandError,
    Primitive,
    Types,
    UnsupportedOperandError,
    require_array,
    require_axes,
    require_count,
)
from stcompile.wengert.primitives.complex_numbers import real_dtype
from stcompile.wengert.types import Type

NORMS = ("backward", "ortho", "forward")


def _transform(name: str, takes_complex: bool, is_real: bool, halves: bool) -> Infer:
    """The type rule; ``halves``: the result has only the first half, since the second half is its
    conjugate."""

    def infer(types: Types, params: Any) -> Types:
        require_count(name, types, 1)
        x = require_array(name, types[0])
        n, axis = params["n"], params["axis"]
        require_axes(name, (axis,), x.dims)
        if least(n) < 1:
            raise OperandError(f"{name}: Invalid number of FFT data points ({n}) specified.")
        if params["norm"] not in NORMS:
            raise OperandError(f"{name}: Invalid norm value {params['norm']!r}")
        if x.dtype == np.float16:
            raise UnsupportedOperandError(f"{name}: float16 is not supported")
        if x.dtype.kind == "c" and not takes_complex:
            raise OperandError(f"{name}: takes real numbers, not {x}")
        dtype = np.result_type(x.dtype, 1j)
        length = n // 2 + 1 if halves else n
        dims = (*x.dims[:axis], length, *x.dims[axis + 1 :])
        return (Type.array(real_dtype(dtype) if is_real else dtype, dims),)

    return infer


FOURIER: tuple[Primitive, ...] = (
    Primitive("fft", _transform("fft", True, False, False), linear=True),
    Primitive("ifft", _transform("ifft", True, False, False), linear=True),
    Primitive("rfft", _transform("rfft", False, False, True), linear=True),
    Primitive("irfft", _transform("irfft", True, True, False), linear=True),
)
