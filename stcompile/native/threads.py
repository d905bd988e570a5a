"""Loops whose steps may run in several threads: names and arrays of a step are its own."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import count

from stcompile.native.names import names_in, names_with_arguments, nodes, sharing_names

IN_THREADS = "IN_THREADS"  # the macro before such a loop
STACK = 65536  # bytes of arrays that a step has on the stack of its thread


def is_shared_out(node: ast.AST) -> bool:
    """True for a loop whose steps may run at the same time."""
    if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call):
        return False
    return isinstance(node.iter.func, ast.Name) and node.iter.func.id == "prange"


def with_own_names(node: ast.FunctionDef) -> ast.FunctionDef:
    r"""The function with other names for what the steps of such a loop set, where they stand for
    something else outside of the loop: each is declared in the loop then, for a step alone. Other
    names for an array that all steps write into stay.

    >>> text = "def f(x):\n  for i in prange(9):\n    a = x[i]\n    x[i] = a\n  a = x[0]"
    >>> print(ast.unparse(with_own_names(ast.parse(text).body[0])))
    def f(x):
        for i in prange(9):
            a_1 = x[i]
            x[i] = a_1
        a = x[0]
    """
    loops = [one for one in ast.walk(node) if is_shared_out(one)]
    if not loops:
        return node
    shared = sharing_names(node.body, [one.arg for one in node.args.args])
    used = Counter(names_with_arguments(node))
    for loop in loops:
        inside = Counter(names_with_arguments(loop))
        for name in dict.fromkeys(_set_in(loop)):
            if used[name] > inside[name] and name not in shared:
                tries = (f"{name}_{at}" for at in count(1))
                own = next(one for one in tries if one not in used)
                used.update({own: inside[name], name: -inside[name]})
                for one in nodes([loop], ast.Name):
                    one.id = own if one.id == name else one.id
    return node


def _set_in(loop: ast.AST) -> Iterator[str]:
    """The names that the steps of a loop set, without counters of loops."""
    targets = (one.target for one in nodes([loop], ast.For))
    counters = {target.id for target in targets if isinstance(target, ast.Name)}
    return (name for name in names_in([loop], ast.Store) if name not in counters)
