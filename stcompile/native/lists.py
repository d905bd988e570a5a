"""Lists of what the steps of a loop that data end leave for the adjoint.

A list is an array of the workspace, as long as the caller says, and a count. Where a list is made
in each step of an outer loop and kept in another list, those of all steps lie behind one another,
and the outer list has the places where they begin.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from stcompile.native.arrays import Arrays
from stcompile.native.kinds import INT, Array
from stcompile.native.names import nodes
from stcompile.native.unit import Unit
from stcompile.native.values import Value
from stcompile.wengert.dims import size_of

LIMIT = "max_steps"  # the parameter for the length of lists
APPEND = "append"


class Lists(Arrays):
    """The lists of a translated function."""

    def __init__(
        self, unit: Unit, node: ast.FunctionDef, leaves: Mapping[str, Value] | None
    ) -> None:
        super().__init__(unit, node, leaves)
        self.counts: dict[str, str] = {}  # in C, by the names of lists
        self.begins: dict[str, str] = {}  # of lists that other lists have
        self.parts: dict[str, str] = {}  # the lists that lists have
        self.lists = lists_in(self.body)
        self.kept = {node.id for _, node in appended(self.body) if isinstance(node, ast.Name)}
        self.kept &= self.lists

    def _is_list(self, name: str, node: ast.expr) -> bool:
        """Translate ``name = node`` if that is a list, or stands for one that nobody reads."""
        if isinstance(node, ast.List) and not node.elts:
            self._emptied(name)
        elif self._is_of_lists(node):
            assert isinstance(node, ast.Subscript)
            self._taken_from(name, node)
        elif name in self.lists or (isinstance(node, ast.Name) and node.id in self.counts):
            if not isinstance(node, ast.Constant):
                self.refuse(f"the list `{ast.unparse(node)}` has no translation")
        else:
            return False
        return True

    def _emptied(self, name: str) -> None:
        """``name = []``."""
        if not self.unit.limit:
            self.refuse(f"the list `{name}` has no translation")
        own = self.unit.called(name)
        if name not in self.counts:
            self.counts[name] = self._apart(f"{own}_count")
            self.text.hoist(0, f"int64_t {self.counts[name]} = 0;")
            if name in self.kept:
                self.begins[name] = self._apart(f"{own}_begin")
                self._hoisted(name, f"int64_t {self.begins[name]} = 0;")
        if name in self.kept:
            self.say(f"{self.begins[name]} = {self.counts[name]};")
        else:
            self.say(f"{self.counts[name]} = 0;")

    def _appended(self, name: str, node: ast.expr) -> None:
        """``name.append(node)``."""
        if name not in self.counts:
            self.refuse(f"`{name}.append` has no translation")
        if isinstance(node, ast.Name) and node.id in self.kept:
            self.parts[name] = node.id
            item = Value(INT, self.begins[node.id])
        else:
            item = self.value(node)
        if item.kind is None:
            self.refuse(f"a list of items like `{ast.unparse(node)}` has no translation")
        limit = self.unit.limit
        memory = self._memory(name, Array(item.of, (size_of(self.unit.lengths[limit]), *item.dims)))
        code = self.code("IndexError", [f"there are more than {limit} steps"])
        self.say(f"if ({self.counts[name]} == {limit})")
        self.say(f"    return work->error = {code};")
        place = f"{memory.code}[{self.counts[name]}++]"
        if isinstance(item.kind, Array):
            self._copy(Value(item.kind, place), item)
        else:
            self.say(f"{place} = {item.code};")

    def _taken_from(self, name: str, node: ast.Subscript) -> None:
        """``name = list[index]`` of a list of lists."""
        assert isinstance(node.value, ast.Name)
        part = self.parts[node.value.id]
        memory, own = self.env[part], self.unit.called(name)
        begin = self.value(node)
        self.say(f"{memory.array.pointer(own)} = {memory.code} + {begin.code};")
        self.env[name] = Value(memory.array, own)
        self.counts[name] = self.counts[part]
        if part in self.parts:
            self.parts[name] = self.parts[part]

    def _is_of_lists(self, node: ast.expr) -> bool:
        """True for an item of a list of lists."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
            return False
        return node.value.id in self.parts

    def _Subscript(self, node: ast.Subscript) -> Value:
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        if name not in self.counts:
            return super()._Subscript(node)
        if name not in self.env or name in self.begins:
            self.refuse(f"`{ast.unparse(node)}` has no translation")
        memory = self.env[name]
        length, *dims = memory.dims
        code = f"{memory.code}[{self.place(self.number(node.slice), length)}]"
        return Value(Array(memory.of, tuple(dims)) if dims else memory.of, code)


def lists_in(statements: Sequence[ast.stmt]) -> set[str]:
    """The names that are given empty lists."""
    pairs = ((n.targets[0], n.value) for n in nodes(statements, ast.Assign))
    empty = (target for target, v in pairs if isinstance(v, ast.List) and not v.elts)
    return {target.id for target in empty if isinstance(target, ast.Name)}


def appended(statements: Sequence[ast.stmt]) -> list[tuple[ast.expr, ast.expr]]:
    """The lists that are appended to, each with the item."""
    pairs = ((n.func, n.args) for n in nodes(statements, ast.Call))
    return [(f.value, a[0]) for f, a in pairs if isinstance(f, ast.Attribute) and f.attr == APPEND]
