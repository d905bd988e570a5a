"""Intervals that have elements in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def overlapping(items: Iterable[T], interval: Callable[[T], tuple[int, int]]) -> list[list[T]]:
    """The items in runs, by their intervals from start to stop: the next item of a run overlaps
    with those before it.

    >>> overlapping([(0, 3), (4, 6), (2, 4), (5, 8)], lambda item: item)
    [[(0, 3), (2, 4)], [(4, 6), (5, 8)]]
    """
    runs: list[list[T]] = []
    end = 0
    for item in sorted(items, key=interval):
        start, stop = interval(item)
        if runs and start < end:
            runs[-1].append(item)
            end = max(end, stop)
        else:
            runs.append([item])
            end = stop
    return runs
