"""The parts of functions: names of modules, and the values that code reads from outside."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any


def looked_up(module: str, name: str) -> Any:
    """The object that a module has under a qualified name; None if it has none, or if the module is
    not imported."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def names_read(function: types.FunctionType) -> dict[str, Any]:
    """The names that a function, and the functions inside it, read from its globals, with their
    values."""
    names = function.__globals__
    return {name: names[name] for name in _names(function.__code__) if name in names}


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _names(part)


def cells_read(function: types.FunctionType) -> list[Any]:
    """The contents of a function's cells; an empty cell itself."""
    return [_content(cell) for cell in function.__closure__ or ()]


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return cell
