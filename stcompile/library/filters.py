"""Values that exist only if the data decide so."""

from __future__ import annotations

from typing import Any


def required(found: bool, value: Any, message: str) -> Any:
    """The value, if one was found."""
    if not found:
        raise ValueError(message)
    return value
