"""Behaviour that depends on the version of NumPy: NumPy is asked for it in this module only.

Functions that only newer versions have need no question: tables name them if they are there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np


def _takes(function: Callable[..., Any], **keywords: Any) -> bool:
    """True if a function of an array accepts the keywords."""
    try:
        function(np.zeros(1), **keywords)
    except TypeError:
        return False
    return True


def _matches_a_sequence(value: Any) -> bool:
    match value:
        case [_]:
            return True
    return False


ARRAYS_ARE_SEQUENCES = _matches_a_sequence(np.zeros(1))
"""True if ``case [a, b]`` fits arrays: since NumPy 2.5."""

RESHAPE_CAN_REFUSE = _takes(np.reshape, shape=(1,), copy=False)
"""True if `np.reshape` has the argument ``copy``: since NumPy 2.1. Before, the shape was set, which
is deprecated since 2.5."""

SORTS_DESCENDING = _takes(np.sort, descending=True)
"""True if `np.sort` and `np.argsort` have the argument ``descending``: since NumPy 2.5."""


@functools.cache
def eigenvalues_are_complex() -> bool:
    """True if `np.linalg.eig` of a real matrix is complex whatever its values, as since NumPy 2.5;
    before, it is real if all eigenvalues are."""
    return np.linalg.eigvals(np.eye(1)).dtype.kind == "c"
