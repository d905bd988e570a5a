"""Calls of SciPy whose results do not change nearby: ranks, labels, assignments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def flat(
    function: Callable[..., Any], options: tuple[Any, ...], shape: Any, dtype: Any, *arrays: Any
) -> Any:
    """``function(*options, *arrays)``, an array of that shape and dtype without a derivative, or
    whose derivative is not wanted. The function is called as it is when generated code runs; the
    options are known before. Frontends know how."""
    return function(*options, *arrays)
