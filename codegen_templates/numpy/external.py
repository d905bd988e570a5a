"""Spellings of calls of the user's own functions."""

from __future__ import annotations

from typing import Any

from ..marks import fresh


@fresh
def external(operands: Any, *, function: Any, spelling: str) -> Any:
    return function(*operands)
