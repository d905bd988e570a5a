"""Functions of SciPy that no table has, of values that are known when a function is compiled: they
are called then, and their results are constants."""

from __future__ import annotations

import inspect
import numbers
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.frontend.functions.elementwise import static_call
from stcompile.frontend.functions.scipy_modules import constant_of
from stcompile.frontend.state.run import Run

_MODULES = ("constants", "fft", "interpolate", "linalg", "ndimage", "signal", "special", "stats")
_DRAWS = frozenset({"rng", "random_state", "seed"})
"""Parameters of functions that draw random numbers."""


def known_call(
    run: Run, function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> Any:
    """The result, or None if it is not one of numbers, arrays and texts of plain values."""
    if not is_pure(function) or not _is_plain([*arguments, *keywords.values()]):
        return None
    found = static_call(run, lambda: function(*arguments, **keywords))
    return constant_of(run, found) if _is_result(found) else None


def is_pure(function: Any) -> bool:
    """True for a function that gives the same result for the same arguments, and draws nothing."""
    if isinstance(function, np.ufunc):
        special = sys.modules.get("scipy.special")
        return getattr(special, function.__name__, None) is function
    owner = getattr(function, "__self__", None)
    home = function if owner is None or inspect.ismodule(owner) else type(owner)
    parts = str(getattr(home, "__module__", "")).split(".")
    if parts[0] != "scipy" or len(parts) < 2 or parts[1] not in _MODULES:
        return False
    name = getattr(function, "__name__", "rvs")
    if isinstance(function, type) or (home is not function and parts[1] != "stats"):
        return False
    try:
        taken = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return _DRAWS.isdisjoint(taken) and name != "rvs"


def _is_plain(value: Any) -> bool:
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | bool | numbers.Number)


def _is_result(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_result, value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufc"
    return isinstance(value, str | bool | numbers.Number)
