"""Names that nothing reads any more when another name is given what they have, so that both may
exchange memory."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from stcompile.native.names import names_in

Names = frozenset[str]
NOTHING: Names = frozenset()


def dead_sources(statements: Sequence[ast.stmt]) -> set[int]:
    r"""The values ``b`` of assignments ``a = b``, by identity, where ``b`` is not read afterwards
    before it is given another value.

    >>> from stcompile.native.names import nodes
    >>> body = ast.parse("for i in range(9):\n  b = a.copy()\n  a = b\nc = a\nd = a").body
    >>> found = dead_sources(body)
    >>> [ast.unparse(n) for n in nodes(body, ast.Assign) if id(n.value) in found]
    ['a = b', 'd = a']
    """
    liveness = _Liveness()
    liveness.before(statements, NOTHING)
    return {
        id(node.value)
        for node, after in liveness.after.items()
        if isinstance(node.value, ast.Name) and node.value.id not in after
    }


class _Liveness:
    """The names that are read later, after each assignment: found backwards, loops again and again
    until nothing is added."""

    def __init__(self) -> None:
        self.after: dict[ast.Assign, Names] = {}
        self.loops: list[tuple[Names, Names]] = []  # read after `break` and after `continue`

    def before(self, statements: Sequence[ast.stmt], after: Names) -> Names:
        """The names that a block or what follows reads before they are given another value."""
        for statement in reversed(statements):
            after = self._statement(statement, after)
        return after

    def _statement(self, node: ast.stmt, after: Names) -> Names:
        if isinstance(node, ast.If):
            inner = self.before(node.body, after) | self.before(node.orelse, after)
            return inner | _read(node.test)
        if isinstance(node, ast.For | ast.While):
            return self._loop(node, after)
        if isinstance(node, ast.Break | ast.Continue):
            return self.loops[-1][isinstance(node, ast.Continue)]
        if isinstance(node, ast.Return | ast.Raise):
            return _read(node)
        if isinstance(node, ast.Assign):
            self.after[node] = self.after.get(node, NOTHING) | after
            after = after - {*names_in([node], ast.Store)}
        return after | _read(node)

    def _loop(self, node: ast.For | ast.While, after: Names) -> Names:
        head = _read(node.iter if isinstance(node, ast.For) else node.test)
        again, found = NOTHING, after | head
        while found != again:
            again = found
            self.loops.append((after, again))
            found = again | self.before(node.body, again)
            self.loops.pop()
        return found


def _read(node: ast.AST) -> Names:
    return frozenset(names_in([node], ast.Load))
