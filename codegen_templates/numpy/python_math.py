"""Spellings of functions of Python's numbers that are not plain calls of `math`."""

from __future__ import annotations

import math
from typing import Any

from ..marks import fresh


@fresh
def fsum(xs: Any) -> Any:
    return math.fsum(xs)


@fresh
def round_(x: Any, *, ndigits: Any = None) -> Any:
    if ndigits is None:
        return round(x)
    return round(x, ndigits)
