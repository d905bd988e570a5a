"""Numba's own names in a function under ``@njit``, with their meaning in plain Python."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.base.foreign import library_of, written_as
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Partial

Lowering = Callable[..., Any]
_TYPES = ("float32", "float64", "complex64", "complex128", "bool_", "intp", "uintp") + tuple(
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
)


def _same(run: Run, x: Any) -> Any:
    """numba.literally and literal_unroll."""
    return x


def _range(run: Run, *bounds: Any) -> Any:
    """numba.prange."""
    return run.call(range, bounds, {})


def _block(run: Run, **types: Any) -> Any:
    """numba.objmode: a block of plain Python."""
    return run.call(contextlib.nullcontext, [], {})


def _jit(run: Run, signature_or_function: Any = None, **options: Any) -> Any:
    """numba.jit and njit of functions that the program defines. With a signature or options alone
    they return decorators."""
    function = written_as(signature_or_function)
    is_signature = function is None or isinstance(function, str | list | tuple)
    if is_signature or library_of(function) == "numba":
        return Partial(sys.modules["numba"].njit, (), {})
    return function


def _number(dtype: Any) -> Lowering:
    """The lowering of a type of Numba's, called with a number."""

    def lowering(run: Run, value: Any) -> Any:
        return run.call(dtype, [value], {})

    return lowering


NUMBA: Mapping[str, Lowering] = MappingProxyType(
    {
        "jit": _jit,
        "literal_unroll": _same,
        "literally": _same,
        "njit": _jit,
        "objmode": _block,
        "prange": _range,
        **{name: _number(getattr(np, name)) for name in _TYPES},
    }
)
