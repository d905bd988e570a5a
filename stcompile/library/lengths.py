"""Lengths that have to be equal, and are known only at run time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def require_same(one: int, other: int, text: str, *shapes: Sequence[int]) -> None:
    """Raise NumPy's error, with its text and both shapes, unless two lengths are equal."""
    if one != other:
        shown = ""
        for shape in shapes:
            shown = shown + " " + _shown(shape)
        raise ValueError(text + shown)


def require_size(one: int, other: int, text: str, shape: Sequence[int]) -> None:
    """Raise NumPy's error, unless an array has as many elements as a shape."""
    if one != other:
        shown: Any = _shown(shape)
        raise ValueError(f"{text} {one} into shape {shown}")


def require_parts(one: int, other: int, text: str) -> None:
    """Raise NumPy's error, unless an axis has the length of some equal parts."""
    if one != other:
        raise ValueError(f"{text} an equal division")


def _shown(shape: Sequence[int]) -> str:
    if len(shape) == 1:
        return f"({shape[0]},)"
    inner = ""
    for length in shape:
        shown = "newaxis" if length == -1 else f"{length}"
        if inner:
            inner = inner + "," + shown
        elif length != -1:  # NumPy leaves those at the start out
            inner = shown
    return "(" + inner + ")"
