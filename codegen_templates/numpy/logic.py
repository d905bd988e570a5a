"""Spellings of Python's own logic on conditions that are single numbers."""

from __future__ import annotations

from ..marks import Table

SPELLINGS: Table = {
    "not": lambda x: not x,
    "and": lambda x, y: x and y,
    "select": lambda condition, x, y: x if condition else y,
    "or": lambda x, y: x or y,
}
