"""Python's builtins on items whose number is known only at run time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def total(items: Iterable[Any], start: Any) -> Any:
    result = start
    for item in items:
        result = result + item
    return result


def is_any(items: Iterable[Any]) -> bool:
    result = False
    for item in items:
        if item:
            result = True
            break
    return result


def are_all(items: Iterable[Any]) -> bool:
    result = True
    for item in items:
        if not item:
            result = False
            break
    return result


def greatest(first: Any, items: Iterable[Any]) -> Any:
    result = first
    for item in items:
        result = item if item > result else result
    return result


def least(first: Any, items: Iterable[Any]) -> Any:
    result = first
    for item in items:
        result = item if item < result else result
    return result


def greatest_by(first: Any, items: Iterable[Any], key: Callable[[Any], Any]) -> Any:
    result, measure = first, key(first)
    for item in items:
        size = key(item)
        if size > measure:
            result, measure = item, size
    return result


def least_by(first: Any, items: Iterable[Any], key: Callable[[Any], Any]) -> Any:
    result, measure = first, key(first)
    for item in items:
        size = key(item)
        if size < measure:
            result, measure = item, size
    return result


def require_items(count: int, message: str) -> None:
    """Raise Python's error if there are no items."""
    if count < 1:
        raise ValueError(message)
