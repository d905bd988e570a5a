"""The user's lines, and the places in them that equations come from."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from stcompile.base.html import highlighted
from stcompile.base.location import Location, line_in


@dataclass(frozen=True)
class Block:
    """Lines of a file that stand together: a function, with its decorators. ``indent`` characters
    are left out on the left."""

    file: str
    first: int
    lines: tuple[str, ...]
    indent: int

    def __contains__(self, place: tuple[str, int]) -> bool:
        file, line = place
        return file == self.file and self.first <= line < self.first + len(self.lines)


class Places:
    """Numbers the places that equations come from. Locations that differ only in their part of the
    generated function, as an expression and its adjoint do, have one place."""

    def __init__(self, definition: Location | None) -> None:
        self.definition = definition
        self.numbers: dict[Location, int] = {}
        self.known: dict[Location, int] = {}

    def number_of(self, location: Location) -> int:
        """The number of a place; -1 for one that is no line of the user's."""
        number = self.known.get(location)
        if number is None:
            plain = _plain(location)
            is_shown = next(_shown(plain), None) is not None
            number = self.numbers.setdefault(plain, len(self.numbers)) if is_shown else -1
            self.known[location] = number
        return number

    def as_json(self) -> dict[str, Any]:
        """The blocks of text, and for each place its spans in them, the innermost call first:
        block, line, first and last column."""
        blocks: list[Block] = []
        if self.definition is not None and self.definition.line:
            blocks.append(_block_of(self.definition))
        found = []
        for place in self.numbers:
            spans = []
            for shown in _shown(place):
                at = next((i for i, b in enumerate(blocks) if (shown.file, shown.line) in b), None)
                if at is None:
                    at = len(blocks)
                    blocks.append(_block_of(shown))
                block = blocks[at]
                first = max(shown.column - block.indent, 0)
                last = max(shown.end_column - block.indent, first)
                spans.append([at, shown.line - block.first, first, last])
            found.append({"spans": spans, "note": place.note})
        return {"blocks": [_block_json(block) for block in blocks], "places": found}


def _plain(location: Location) -> Location:
    caller = None if location.caller is None else _plain(location.caller)
    return replace(location, section="forward", again=0, errstate=(), caller=caller)


def _shown(location: Location) -> Iterator[Location]:
    """The places in the user's own files, from the innermost call on."""
    here: Location | None = location
    while here is not None:
        if here.line and not here.is_inside:
            yield here
        here = here.caller


def _block_of(location: Location) -> Block:
    """The function around a line; the statement, if it is in none; or the line alone."""
    lines = [line.rstrip("\n") for line in linecache.getlines(location.file)]
    first, last = _extent(lines, location.line)
    found = lines[first - 1 : last] or [location.text]
    indents = [len(line) - len(line.lstrip()) for line in found if line.strip()]
    indent = min(indents, default=0)
    return Block(location.file, first, tuple(line[indent:] for line in found), indent)


def _extent(lines: list[str], line: int) -> tuple[int, int]:
    """The first and the last line of the definition or statement around a line."""
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError):  # a cell of a notebook, with magics
        return line, line
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    around = [extent for node in ast.walk(tree) if isinstance(node, functions)
              if _has(extent := _lines_of(node), line)]  # fmt: skip
    around = around or [e for node in tree.body if _has(e := _lines_of(node), line)]
    return min(around, key=lambda extent: extent[1] - extent[0], default=(line, line))


def _lines_of(node: ast.stmt) -> tuple[int, int]:
    starts = [node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]
    return min(starts), node.end_lineno or node.lineno


def _has(extent: tuple[int, int], line: int) -> bool:
    return extent[0] <= line <= extent[1]


def _block_json(block: Block) -> dict[str, Any]:
    text = "\n".join(block.lines)
    return {
        "place": line_in(block.file, block.first),
        "first": block.first,
        "lines": highlighted(text),
    }
