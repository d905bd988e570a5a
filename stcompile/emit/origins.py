"""The items of the program that a piece of generated code computes.

An expression or a statement knows them from when it is made: a value that is inlined takes its item
along into the statement around it.
"""

from __future__ import annotations

import ast

from stcompile.analysis.regions import Item


def note(node: ast.AST, *items: Item) -> None:
    """Note on a piece of code that it computes these items as well."""
    setattr(node, "items", (*items_of(node), *items))  # noqa: B010 (AST nodes declare no such name)


def items_of(node: ast.AST) -> tuple[Item, ...]:
    """The items that a piece of code computes, without those of its parts."""
    found: tuple[Item, ...] = getattr(node, "items", ())
    return found


def all_items_of(node: ast.AST) -> tuple[Item, ...]:
    """The items that a piece of code and its parts compute."""
    return tuple(dict.fromkeys(item for part in ast.walk(node) for item in items_of(part)))
