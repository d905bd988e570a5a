"""Assignments of several names at once as assignments one after the other."""

from __future__ import annotations

import ast
from itertools import count

from stcompile.native.names import names_in, names_with_arguments, nodes


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
    made: ast.FunctionDef = _Sequences({*names_with_arguments(node)}).visit(node)
    return made


class _Sequences(ast.NodeTransformer):
    def __init__(self, taken: set[str]) -> None:
        self.taken = taken

    def visit_Assign(self, node: ast.Assign) -> ast.Assign | list[ast.Assign]:
        target, *others = node.targets
        if others or not isinstance(target, ast.Tuple) or not isinstance(node.value, ast.Tuple):
            return node
        names = {one.id: None for one in target.elts if isinstance(one, ast.Name)}
        if len(names) < len(target.elts):  # parts of arrays, or a name twice
            return node
        return self._ordered([*zip(names, node.value.elts, strict=True)], node)

    def _ordered(self, pairs: list[tuple[str, ast.expr]], at: ast.Assign) -> list[ast.Assign]:
        done: list[ast.Assign] = []
        while pairs:
            for pair in pairs:
                if not any(pair[0] in names_in([v], ast.Load) for n, v in pairs if n != pair[0]):
                    done.append(_assignment(*pair, at))
                    pairs = [other for other in pairs if other is not pair]
                    break
            else:
                name = pairs[0][0]
                held = self._unique(f"held_{name}")
                done.append(_assignment(held, ast.Name(name, ast.Load()), at))
                for one in nodes((value for _, value in pairs[1:]), ast.Name):
                    one.id = held if one.id == name else one.id
        return done

    def _unique(self, wish: str) -> str:
        tries = (wish if n == 1 else f"{wish}_{n}" for n in count(1))
        name = next(one for one in tries if one not in self.taken)
        self.taken.add(name)
        return name


def _assignment(name: str, value: ast.expr, at: ast.Assign) -> ast.Assign:
    made = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), at)
    return ast.fix_missing_locations(made)
