"""Private names of classes: within ``class Model``, ``__rate`` is ``_Model__rate``.

Python gives them their long names when it compiles a class. Its parser does not: a tree has the
short names, which no object knows.
"""

from __future__ import annotations

import ast

# Names that Python leaves as they are: keywords of calls and of class patterns.
_NAMED = {
    ast.Name: ("id",),
    ast.Attribute: ("attr",),
    ast.arg: ("arg",),
    ast.FunctionDef: ("name",),
    ast.AsyncFunctionDef: ("name",),
    ast.ClassDef: ("name",),
    ast.ExceptHandler: ("name",),
    ast.MatchAs: ("name",),
    ast.MatchStar: ("name",),
    ast.MatchMapping: ("rest",),
    ast.alias: ("asname",),
}


def lengthen(tree: ast.AST) -> None:
    """Give the private names in a tree the names that Python compiles them to."""
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, owner = waiting.pop()
        inner = owner
        if isinstance(node, ast.ClassDef):
            inner = node.name.lstrip("_")
            waiting += [(p, owner) for p in (*node.decorator_list, *node.bases, *node.keywords)]
        if owner:
            _lengthen(node, owner)
        parts = node.body if isinstance(node, ast.ClassDef) else ast.iter_child_nodes(node)
        waiting += [(part, inner) for part in parts]


def _lengthen(node: ast.AST, owner: str) -> None:
    for field in _NAMED.get(type(node), ()):
        name = getattr(node, field)
        if name is not None:
            setattr(node, field, _long(name, owner))
    if isinstance(node, ast.Global | ast.Nonlocal):
        node.names = [_long(name, owner) for name in node.names]
    if isinstance(node, ast.alias) and node.asname is None and "." not in node.name:
        long = _long(node.name, owner)
        node.asname = long if long != node.name else None


def _long(name: str, owner: str) -> str:
    is_private = name.startswith("__") and not name.endswith("__") and "." not in name
    return f"_{owner}{name}" if is_private else name
