"""Conditions on values that are known at run time only."""

from __future__ import annotations

from typing import Any


def require(holds: Any, message: str) -> None:
    """Raise a `ValueError` where a condition does not hold."""
    if not holds:
        raise ValueError(message)
