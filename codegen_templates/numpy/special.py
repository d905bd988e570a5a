"""Spellings of functions of `scipy.special` that have several results."""

from __future__ import annotations

from typing import Any

from ..lazy import special
from ..marks import fresh


@fresh
def sici(x: Any, *, part: str) -> Any:
    if part == "Si":
        return special.sici(x)[0]
    return special.sici(x)[1]
