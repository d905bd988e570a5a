"""Functions of `scipy.special` with a derivative rule. All are elementwise, and take real numbers,
except for those whose rule holds for complex numbers.

A result has the dtype that SciPy gives it. The dtype is found by calling the function with ones,
since SciPy has no table of dtypes that NumPy could look up for all of them; programs with these
primitives need SciPy.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.codegen_templates.derivatives import DERIVATIVES, HOLDS_FOR_COMPLEX
from stcompile.wengert.primitives.base import (
    Infer,
    OperandError,
    Primitive,
    Types,
    UnsupportedOperandError,
    array_or_scalar,
    broadcast,
    require_count,
)

_PREFIX = "special."
NAMES: Mapping[str, int] = MappingProxyType(
    {
        name.removeprefix(_PREFIX): rule.__code__.co_argcount - 1  # one argument is the result
        for name, rule in DERIVATIVES.items()
        if name.startswith(_PREFIX) and "_by_" not in name
    }
)
"""The functions that have a rule, by their names, with the number of their operands."""
_OF_COMPLEX = HOLDS_FOR_COMPLEX | {"special.digamma"}  # the slope of loggamma, without one
OWN = frozenset(name for name in DERIVATIVES if name.startswith(_PREFIX) and "_by_" in name)
"""Derivatives by shapes and orders, which SciPy has not."""


def _of(name: str, count: int) -> Infer:
    own = _PREFIX + name

    def infer(types: Types, params: Any) -> Types:
        require_count(own, types, count)
        if own not in _OF_COMPLEX and any(t.dtype.kind == "c" for t in types):
            raise UnsupportedOperandError(f"{own}: takes real numbers")
        dims = broadcast(own, types)
        known = (t.python_type if t.kind == "python" else t.dtype for t in types)
        return (array_or_scalar(_dtype(name, tuple(known)), dims),)

    return infer


@functools.lru_cache(maxsize=1024)
def _dtype(name: str, operands: tuple[type | np.dtype[Any], ...]) -> np.dtype[Any]:
    """The dtype of the result for operands of the given dtypes; Python numbers are given by their
    type."""
    ones = [np.ones(1, t) if isinstance(t, np.dtype) else t(1) for t in operands]
    function = getattr(importlib.import_module("scipy.special"), name)
    with np.errstate(all="ignore"):
        try:
            result = function(*ones)
        except TypeError:
            shown = " and ".join(str(np.asarray(one).dtype) for one in ones)
            raise OperandError(f"{_PREFIX}{name}: SciPy does not define it for {shown}") from None
    first = result[0] if isinstance(result, tuple) else result
    return np.asarray(first).dtype


def _own(types: Types, params: Any) -> Types:
    return (array_or_scalar(np.dtype(np.float64), broadcast("special", types)),)


SPECIAL: tuple[Primitive, ...] = (
    *(Primitive(_PREFIX + name, _of(name, n), elementwise=True) for name, n in NAMES.items()),
    *(Primitive(name, _own, elementwise=True) for name in sorted(OWN)),
)
