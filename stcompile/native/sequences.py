"""Assignments of several names at once as assignments one after the other."""

from __future__ import annotations

import ast
from itertools import count


def in_sequence(node: ast.FunctionDef) -> ast.FunctionDef:
    r"""The function with ``a, b = x, y`` as ``a = x`` and ``b = y``, in an order in which no name
    is written before it is read. Where each is read by the other, one is kept under a new name.

    >>> text = "def f(a, b, c):\n  a, b = b, c\n  a, b = b, a\n  return a"
    >>> print(ast.unparse(in_sequence(ast.parse(text).body[0])))
    def f(a, b, c):
        a = b
        b = c
        held_a = a
        a = b
        b = held_a
        return a
    """
    taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    taken |= {argument.arg for argument in node.args.args}
    made: ast.FunctionDef = _Sequences(taken).visit(node)
    return made


class _Sequences(ast.NodeTransformer):
    def __init__(self, taken: set[str]) -> None:
        self.taken = taken

    def visit_Assign(self, node: ast.Assign) -> ast.Assign | list[ast.Assign]:
        target, *others = node.targets
        is_several = isinstance(target, ast.Tuple) and not others
        if not is_several or not isinstance(node.value, ast.Tuple):
            return node
        assert isinstance(target, ast.Tuple)
        if not all(isinstance(one, ast.Name) for one in target.elts):
            return node
        names = [one.id for one in target.elts if isinstance(one, ast.Name)]
        if len({*names}) < len(names):
            return node
        return self._ordered([*zip(names, node.value.elts, strict=True)], node)

    def _ordered(self, pairs: list[tuple[str, ast.expr]], at: ast.Assign) -> list[ast.Assign]:
        done: list[ast.Assign] = []
        while pairs:
            for pair in pairs:
                if not any(pair[0] in _names(v) for n, v in pairs if n != pair[0]):
                    done.append(_assignment(*pair, at))
                    pairs = [other for other in pairs if other is not pair]
                    break
            else:
                name = pairs[0][0]
                held = self._unique(f"held_{name}")
                done.append(_assignment(held, ast.Name(name, ast.Load()), at))
                others = [(n, _Renamed(name, held).visit(v)) for n, v in pairs[1:]]
                pairs = [pairs[0], *others]
        return done

    def _unique(self, wish: str) -> str:
        tries = (wish if n == 1 else f"{wish}_{n}" for n in count(1))
        name = next(one for one in tries if one not in self.taken)
        self.taken.add(name)
        return name


class _Renamed(ast.NodeTransformer):
    def __init__(self, name: str, other: str) -> None:
        self.name, self.other = name, other

    def visit_Name(self, node: ast.Name) -> ast.Name:
        is_one = node.id == self.name
        return ast.copy_location(ast.Name(self.other, node.ctx), node) if is_one else node


def _names(node: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _assignment(name: str, value: ast.expr, at: ast.Assign) -> ast.Assign:
    made = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), at)
    return ast.fix_missing_locations(made)
