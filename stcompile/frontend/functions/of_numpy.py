"""Functions that NumPy itself writes in Python, of which its own text is inlined.

They are compositions of other functions, and no table has another meaning for them. A function
that a table does name is inlined likewise for arguments that the table's meaning does not take.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.base.deferred import deferred
from stcompile.frontend.state.run import Run

inline_function = deferred("stcompile.frontend.inlining", "inline_function")
_NAMES = (
    *("logspace", "geomspace", "mask_indices", "asarray_chkfinite", "require", "row_stack"),
    *("sort_complex", "histogram_bin_edges", "poly"),
    *("common_type", "isdtype", "isfortran", "iterable"),
)


def python_of(function: Any) -> types.FunctionType | None:
    """The Python function that a public function of NumPy dispatches to; None if it is written in
    C, or not NumPy's."""
    written = getattr(function, "__wrapped__", function)
    if not isinstance(written, types.FunctionType):
        return None
    return written if (written.__module__ or "").partition(".")[0] == "numpy" else None


def is_read(run: Run, function: Any) -> bool:
    """True for a Python function of NumPy's that is called by one that is inlined already."""
    if python_of(function) is None:
        return False
    return function in _READ or run.location.is_numpys


def _inlined(written: types.FunctionType) -> Callable[..., Any]:
    """The lowering of a function by its own text."""

    def lowering(run: Run, *arguments: Any, **keywords: Any) -> Any:
        return inline_function(run, written, arguments, keywords)

    first = inspect.Parameter("run", inspect.Parameter.POSITIONAL_ONLY)
    taken = inspect.signature(written).parameters.values()
    lowering.__dict__["__signature__"] = inspect.Signature([first, *taken])
    return lowering


def _lowerings() -> dict[Any, Callable[..., Any]]:
    found = {}
    for name in _NAMES:
        function = vars(np).get(name)
        written = python_of(function)
        if written is not None:
            found[function] = _inlined(written)
    return found


OWN: dict[Any, Callable[..., Any]] = _lowerings()
_READ = frozenset(python_of(function) for function in OWN)
