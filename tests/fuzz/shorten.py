r"""Programs with less in them, for as long as something holds.

>>> text = "def f(x):\n    y = x + 1\n    if y > 2:\n        y = y * 2\n    return y\n"
>>> shorten(text, lambda less: "y * 2" in less)
'def f(x):\n    y = y * 2\n'
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator


def shorten(source: str, holds: Callable[[str], bool]) -> str:
    """The program without statements, blocks and operands that ``holds`` does not need."""
    place = 0
    while True:
        start = place
        for less in itertools.islice(variants(ast.parse(source)), place, None):
            if holds(less):
                source = less
                break
            place += 1
        else:
            if start == 0:
                return source
            place = 0


def variants(tree: ast.Module) -> Iterator[str]:
    """The text of every program with one thing less, those with much less first."""
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            for less in variants_of(value):
                setattr(node, field, less)
                text = ast.unparse(tree) + "\n"
                setattr(node, field, value)
                yield text


def variants_of(value: object) -> Iterator[object]:
    if isinstance(value, ast.expr):
        yield from parts(value)
    if not isinstance(value, list):
        return
    for i in reversed(range(len(value))):
        if isinstance(value[i], ast.stmt):
            yield value[:i] + value[i + 1 :]
            if not isinstance(value[i], ast.FunctionDef):
                yield value[:i] + getattr(value[i], "body", []) + value[i + 1 :]
        elif isinstance(value[i], ast.expr):
            for part in parts(value[i]):
                yield value[:i] + [part] + value[i + 1 :]


def parts(value: ast.expr) -> Iterator[ast.expr]:
    """Expressions that may stand in the place of one."""
    for child in ast.iter_child_nodes(value):
        if isinstance(child, ast.expr) and not isinstance(value, ast.Attribute):
            yield child
