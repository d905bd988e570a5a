"""Lengths that have to be equal, and are known only at run time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def require_same(one: int, other: int, text: str, *shapes: Sequence[int]) -> None:
    """Raise NumPy's error, with its text and both shapes, unless two lengths are equal."""
    if one != other:
        shown: Any = [_shown(shape) for shape in shapes]
        raise ValueError(f"{text} {shown[0]} {shown[1]}")


def _shown(shape: Sequence[int]) -> str:
    if len(shape) == 1:
        return f"({shape[0]},)"
    inner = ""
    for place, length in enumerate(shape):
        inner = inner + (f",{length}" if place else f"{length}")
    return "(" + inner + ")"
