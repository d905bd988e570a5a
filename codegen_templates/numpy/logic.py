"""Spellings of Python's own logic on conditions that are single numbers."""

from __future__ import annotations

from typing import Any

from ..marks import fresh


@fresh
def not_(x: Any) -> Any:
    return not x


@fresh
def and_(x: Any, y: Any) -> Any:
    return x and y


@fresh
def select(condition: Any, x: Any, y: Any) -> Any:
    return x if condition else y


@fresh
def or_(x: Any, y: Any) -> Any:
    return x or y
