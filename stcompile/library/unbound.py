"""Checks that a name has a value, which is known only at run time."""

from __future__ import annotations


def require_local(is_bound: bool, text: str) -> None:
    """Raise Python's error for a variable of the function that has no value."""
    if not is_bound:
        raise UnboundLocalError(text)


def require_free(is_bound: bool, text: str) -> None:
    """Raise Python's error for a variable of an enclosing function that has no value."""
    if not is_bound:
        raise NameError(text)
