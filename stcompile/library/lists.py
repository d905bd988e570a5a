"""Places in lists whose number of items is known only at run time.

Functions of a ``capacity`` give, for each row of an array of that many, which row takes its place.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def place_of_item(index: int, length: int, message: str) -> int:
    """The place of an item, counted from the start."""
    place = index + length if index < 0 else index
    if place < 0 or place >= length:
        raise IndexError(message)
    return place


def place_on_list(index: int, length: int) -> int:
    """The position between two items that an index stands for, or the nearest possible position."""
    place = index + length if index < 0 else index
    return max(0, min(place, length))


def require_items(length: int, needed: int, is_least: bool) -> None:
    """Check that there are as many items as names that they are unpacked into, or at least as many
    (``is_least``)."""
    if length < needed:
        wanted = f"at least {needed}" if is_least else f"{needed}"
        raise ValueError(f"not enough values to unpack (expected {wanted}, got {length})")
    if length > needed and not is_least:
        raise ValueError(f"too many values to unpack (expected {needed})")


def length_between(start: int, stop: int) -> int:
    return max(0, stop - start)


def turned_round(capacity: int, count: int) -> Any:
    at = np.arange(capacity)
    return np.where(at < count, count - 1 - at, at)


def with_last_at(capacity: int, count: int, place: int) -> Any:
    """The last of ``count + 1`` items is put at a place."""
    at = np.arange(capacity)
    return np.where(at < place, at, np.where(at == place, count, at - 1))


def without_place(capacity: int, place: int) -> Any:
    at = np.arange(capacity)
    return np.minimum(np.where(at < place, at, at + 1), capacity - 1)


def moved_to_front(capacity: int, start: int) -> Any:
    return np.minimum(np.arange(capacity) + start, capacity - 1)
