"""The functions of the user that a program was made from, as they stand in their files."""

from __future__ import annotations

import ast
import linecache
import os
from collections.abc import Iterator
from dataclasses import dataclass

from stcompile.base.location import LIBRARY, Location, line_in
from stcompile.wengert.ir import Program, every_equation


@dataclass(frozen=True, order=True)
class Quote:
    """Lines ``first`` to ``last`` of a file, counted from 1."""

    file: str
    first: int
    last: int

    @property
    def lines(self) -> list[str]:
        """The title, and the lines without their common indentation."""
        text = [linecache.getline(self.file, n).rstrip() for n in range(self.first, self.last + 1)]
        indent = min((len(s) - len(s.lstrip()) for s in text if s), default=0)
        title = line_in(self.file, self.first)
        return [title, *(line[indent:] for line in text)]


def quotes(program: Program, definition: Location | None) -> list[Quote]:
    """The function defined at a location, and after it, in the order of the files, the other
    functions that equations of the program come from. A function inside a quoted function is part
    of its text."""
    places = [definition] if definition is not None else []
    lines = dict.fromkeys((p.file, p.line, p.function) for p in [*places, *_locations(program)])
    functions = {file: list(_functions(file)) for file in {file for file, _, _ in lines}}
    found: dict[Quote, None] = {}
    for file, line, function in lines:
        around = [
            quote
            for name, quote in functions[file]
            if name == function and quote.first <= line <= quote.last
        ]
        if around:
            found.setdefault(min(around, key=lambda quote: quote.last - quote.first))
    outer = [q for q in found if not any(_is_within(q, other) for other in found)]
    return outer[:1] + sorted(outer[1:])


def _is_within(quote: Quote, other: Quote) -> bool:
    same = quote.file == other.file and quote != other
    return same and other.first <= quote.first and quote.last <= other.last


def _locations(program: Program) -> Iterator[Location]:
    """Every place that equations come from, with the calls that led there."""
    for equation in every_equation(program.equations):
        here: Location | None = equation.location
        while here is not None:
            yield here
            here = here.caller


def _functions(file: str) -> Iterator[tuple[str, Quote]]:
    """The functions of a file of the user's, by name."""
    if os.path.dirname(file) in LIBRARY:
        return
    try:
        module = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno, *(d.lineno for d in decorators)])
            yield name, Quote(file, first, node.end_lineno or first)
