"""Changes of the caller's objects as statements, at the end of a generated function."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stcompile.code.literals import attribute, literal
from stcompile.wengert.staged import Group, Reference, Result


def parts_read(value: Result | None) -> Iterator[Reference]:
    """The parts of the caller's objects that a value refers to."""
    if isinstance(value, Group):
        for part in value.parts:
            yield from parts_read(part)
        yield from parts_read(value.setting)
    elif isinstance(value, Reference) and not value.is_made:
        yield value


def written_effect(kind: str, target: ast.expr, key: object, value: ast.expr | None) -> ast.stmt:
    """The statement of an `Effect`.

    >>> from stcompile.code.literals import name
    >>> ast.unparse(written_effect("set", name("filter"), "x", name("v1")))
    'filter.x = v1'
    """
    if kind in ("set", "delete", "store"):
        assert isinstance(key, str)
        is_plain = key.isidentifier() and kind != "store"
        if not is_plain:
            method = "__delattr__" if value is None else "__setattr__"
            more = [] if value is None else [value]
            return _call(attribute("object", method), [target, literal(key), *more])
        where: ast.expr = ast.Attribute(target, key, ast.Load())
    elif kind in ("make", "new"):
        assert value is not None
        if kind == "new":
            value = ast.Call(attribute("object", "__new__"), [value], [])
        where = target
    elif kind in ("extend", "extendleft", "update"):
        return _extended(target, kind, value)
    elif kind == "clear":
        return _call(ast.Attribute(target, kind, ast.Load()), [])
    elif kind == "renew":
        where = ast.Subscript(target, ast.Slice(), ast.Store())
    else:
        where = ast.Subscript(target, literal(key), ast.Load())
    where.ctx = ast.Store() if value is not None else ast.Del()  # type: ignore[attr-defined]
    if value is None:
        return ast.Delete([where])
    return ast.Assign([where], value, lineno=0)


def _extended(target: ast.expr, kind: str, value: ast.expr | None) -> ast.stmt:
    if isinstance(value, ast.List) and len(value.elts) == 1:
        one = kind.replace("extend", "append")
        return _call(ast.Attribute(target, one, ast.Load()), value.elts)
    assert value is not None
    return _call(ast.Attribute(target, kind, ast.Load()), [value])


def _call(function: ast.expr, arguments: list[ast.expr]) -> ast.stmt:
    return ast.Expr(ast.Call(function, arguments, []))
