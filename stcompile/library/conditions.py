"""Conditions on values that are known at run time only, and whether they are."""

from __future__ import annotations

from typing import Any


def is_known(value: Any) -> bool:
    """True for a value that is known when a function is compiled. Frontends know how."""
    return True


def require(holds: Any, message: str) -> None:
    """Raise a `ValueError` where a condition does not hold."""
    if not holds:
        raise ValueError(message)


def require_local(is_bound: bool, text: str) -> None:
    """Raise Python's error for a variable of the function that has no value."""
    if not is_bound:
        raise UnboundLocalError(text)


def require_free(is_bound: bool, text: str) -> None:
    """Raise Python's error for a variable of an enclosing function that has no value."""
    if not is_bound:
        raise NameError(text)
