"""New memory full of NaN, so that what is read before it is written shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

LARGEST = {"b": True, "i": -99, "u": 99}  # what stands for NaN where there is none


@contextmanager
def spoilt_memory() -> Iterator[None]:
    """Let `np.empty` and `np.empty_like` give arrays that hold NaN, or an odd number."""
    before = {name: getattr(np, name) for name in ("empty", "empty_like")}
    for name, make in before.items():
        setattr(np, name, _spoiling(make))
    try:
        yield
    finally:
        for name, make in before.items():
            setattr(np, name, make)


def _spoiling(make: Callable[..., Any]) -> Callable[..., Any]:
    def made(*args: Any, **options: Any) -> Any:
        array = make(*args, **options)
        if array.dtype.kind in "fcbiu":
            array.fill(LARGEST.get(array.dtype.kind, np.nan))
        return array

    return made
