"""Generated code, and which equation each part of it computes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stcompile.emit.function import Emitted
from stcompile.emit.origins import all_items_of, items_of
from stcompile.wengert.ir import Equation

BLOCKS = ("body", "orelse", "handlers", "finalbody")


@dataclass(frozen=True)
class Mark:
    """Columns of a line (both from 0) that compute an equation."""

    line: int
    first: int
    last: int
    equation: Equation


def marks_of(emitted: Emitted) -> Iterator[Mark]:
    """The marks of a source: a statement and the expressions within it each have their own."""
    lines = emitted.source.split("\n")
    parsed = {
        node.lineno: node
        for node in ast.walk(ast.parse(emitted.source))
        if isinstance(node, ast.stmt)
    }
    for number, statement in emitted.statements.items():
        found = parsed.get(number)
        if found is None:
            continue
        for node, written in _pairs(statement, found):
            for item in items_of(node):
                yield from _marks(written, item.source, lines)


def _pairs(made: ast.AST, read: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The nodes of the tree ``made``, each with the node of the parsed tree ``read`` in the same
    place. A node that is printed in another form than it was made in, such as a negative number,
    has no partner."""
    if type(made) is not type(read):
        return
    yield made, read
    for (name, one), (_, other) in zip(ast.iter_fields(made), ast.iter_fields(read), strict=False):
        if name in BLOCKS and isinstance(made, ast.stmt):
            continue
        if isinstance(one, ast.AST) and isinstance(other, ast.AST):
            yield from _pairs(one, other)
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            for a, b in zip(one, other, strict=True):
                if isinstance(a, ast.AST) and isinstance(b, ast.AST):
                    yield from _pairs(a, b)


def _marks(node: ast.AST, equation: Equation, lines: list[str]) -> Iterator[Mark]:
    """A mark for each line of a node; of a statement with blocks, its first lines."""
    assert isinstance(node, ast.stmt | ast.expr)
    end, last = node.end_lineno or node.lineno, node.end_col_offset or 0
    block = getattr(node, "body", None)
    if isinstance(node, ast.stmt) and isinstance(block, list):
        end = block[0].lineno - 1
        while end > node.lineno and lines[end - 1].lstrip().startswith("#"):
            end -= 1
        last = len(lines[end - 1].encode())
    for number in range(node.lineno, end + 1):
        line = lines[number - 1]
        start = node.col_offset if number == node.lineno else len(line) - len(line.lstrip())
        stop = last if number == end else len(line.encode())
        first = len(line.encode()[:start].decode())
        yield Mark(number - 1, first, len(line.encode()[:stop].decode()), equation)


def lines_of_positions(emitted: Emitted) -> list[int]:
    """For each position of the tree the line, from 0, that the function has reached: the first line
    that computes the item at this position, or else the line before. The end is the last
    statement."""
    found: dict[int, int] = {}
    body = {n: s for n, s in sorted(emitted.statements.items()) if n > _function_line(emitted)}
    for number, statement in body.items():
        for item in all_items_of(statement):
            found.setdefault(item.at, number - 1)
    end = emitted.tree.region.end
    lines, here = [], min(found.values(), default=_function_line(emitted))
    for at in range(end + 1):
        here = max(here, found.get(at, here))
        lines.append(here)
    lines[end] = max(body, default=here + 1) - 1
    return lines


def _function_line(emitted: Emitted) -> int:
    lines = emitted.source.split("\n")
    return next(
        n for n, line in enumerate(lines, 1) if line.lstrip().startswith(f"def {emitted.name}(")
    )


def code_json(emitted: Emitted, rows: Mapping[int, int], highlighted: list[str]) -> dict[str, Any]:
    """The lines as HTML, and for each its marks: columns, and the row of the equation. ``rows`` are
    the rows of the last stage, by the identity of their equations."""
    marks: list[list[list[int]]] = [[] for _ in highlighted]
    for mark in marks_of(emitted):
        row = rows.get(id(mark.equation))
        if row is not None and [mark.first, mark.last, row] not in marks[mark.line]:
            marks[mark.line].append([mark.first, mark.last, row])
    return {"lines": highlighted, "marks": marks, "start": _function_line(emitted) - 1}
