"""Lists whose number of items the data decide, as the caller gets them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stcompile.analysis.regions import Tree
from stcompile.code.literals import name
from stcompile.emit.statements import Statements
from stcompile.wengert.ir import Atom
from stcompile.wengert.naming import Names
from stcompile.wengert.staged import Group, Item, Listed, Result

ITEM = "item"


def listed(result: Listed, statements: Statements, tree: Tree, names: Names) -> ast.expr:
    """The code of a list whose length the data decide: ``[*xs]``, ``xs.tolist()``, ``[*zip(xs,
    ys)]``, or ``[[x, y] for x, y in zip(xs, ys)]``."""
    columns = [
        _column(statements.returned(tree.atom(atom)), at in result.numbers)
        for at, atom in enumerate(_atoms_in(result.item))
    ]
    own = result.item
    if isinstance(own, Item):
        is_list = 0 in result.numbers
        return columns[0] if is_list else ast.List([_starred(columns[0])], ast.Load())
    assert isinstance(own, Group)
    rows = ast.Call(name("zip"), columns, [])
    if own.kind == "tuple" and all(isinstance(part, Item) for part in own.parts):
        return ast.List([_starred(rows)], ast.Load())
    called = [names.like(ITEM) for _ in columns]
    targets: list[ast.expr] = [ast.Name(one, ast.Store()) for one in called]
    target = ast.Tuple(targets, ast.Store())
    made = _item(own, iter(called))
    return ast.ListComp(made, [ast.comprehension(target, rows, [], 0)])


def _atoms_in(result: Result) -> Iterator[Atom]:
    """The arrays of the numbers and arrays in an item."""
    if isinstance(result, Group):
        for part in result.parts:
            yield from _atoms_in(part)
    else:
        assert isinstance(result, Item)
        assert result.atom is not None
        yield result.atom


def _column(code: ast.expr, of_numbers: bool) -> ast.expr:
    if not of_numbers:
        return code
    return ast.Call(ast.Attribute(code, "tolist", ast.Load()), [], [])


def _starred(code: ast.expr) -> ast.expr:
    return ast.Starred(code, ast.Load())


def _item(result: Result, called: Iterator[str]) -> ast.expr:
    if isinstance(result, Item):
        return name(next(called))
    assert isinstance(result, Group)
    parts = [_item(part, called) for part in result.parts]
    kind = ast.List if result.kind == "list" else ast.Tuple
    return kind(parts, ast.Load())
