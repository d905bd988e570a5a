"""Lists of what the steps of a loop that data end leave for the adjoint.

A list is an array of the workspace, as long as the caller says, and a count. Where a list is made
in each step of an outer loop and kept in another list, those of all steps lie behind one another,
and the outer list has the places where they begin.
"""

from __future__ import annotations

import ast

from stcompile.native.errors import place
from stcompile.native.kinds import INT, Array
from stcompile.native.values import Value
from stcompile.native.writer import Writer
from stcompile.wengert.dims import size_of

LIMIT = "max_steps"  # the parameter for the length of lists


def is_list(w: Writer, name: str, node: ast.expr) -> bool:
    """Translate ``name = node`` if that is a list, or stands for one that nobody reads."""
    if isinstance(node, ast.List) and not node.elts:
        _emptied(w, name)
    elif isinstance(node, ast.Subscript) and _list_of(node) in w.parts:
        _taken_from(w, name, node)
    elif name in w.lists or (isinstance(node, ast.Name) and node.id in w.counts):
        if not isinstance(node, ast.Constant):
            w.refuse_translation(f"the list `{ast.unparse(node)}`")
    else:
        return False
    return True


def _emptied(w: Writer, name: str) -> None:
    """``name = []``."""
    if not w.unit.limit:
        w.refuse_translation(f"the list `{name}`")
    own = w.unit.called(name)
    if name not in w.counts:
        w.counts[name] = w.apart(f"{own}_count")
        w.text.hoist(0, f"int64_t {w.counts[name]} = 0;")
        if name in w.kept:
            w.begins[name] = w.apart(f"{own}_begin")
            w.hoist(name, f"int64_t {w.begins[name]} = 0;")
    if name in w.kept:
        w.say(f"{w.begins[name]} = {w.counts[name]};")
    else:
        w.say(f"{w.counts[name]} = 0;")


def append(w: Writer, name: str, node: ast.expr) -> None:
    """``name.append(node)``."""
    if name not in w.counts:
        w.refuse_translation(f"`{name}.append`")
    if isinstance(node, ast.Name) and node.id in w.kept:
        w.parts[name] = node.id
        item = Value(INT, w.begins[node.id])
    else:
        item = w.value(node)
    if item.kind is None:
        w.refuse_translation(f"a list of items like `{ast.unparse(node)}`")
    limit = w.unit.limit
    memory = w.memory(name, Array(item.of, (size_of(w.unit.lengths[limit]), *item.dims)))
    w.needs_workspace = True
    w.say(f"if ({w.counts[name]} == {limit})")
    w.say(f"    return work->error = {w.unit.too_small(limit)};")
    target = f"{memory.code}[{w.counts[name]}++]"
    if isinstance(item.kind, Array):
        w.copy(Value(item.kind, target), item)
    else:
        w.say(f"{target} = {item.code};")


def _taken_from(w: Writer, name: str, node: ast.Subscript) -> None:
    """``name = list[index]`` of a list of lists."""
    part = w.parts[_list_of(node)]
    memory, own = w.env[part], w.unit.called(name)
    begin = w.value(node)
    w.say(f"{memory.array.pointer(own)} = {memory.code} + {begin.code};")
    w.env[name] = Value(memory.array, own)
    w.counts[name] = w.counts[part]
    if part in w.parts:
        w.parts[name] = w.parts[part]


def item_of_list(w: Writer, node: ast.Subscript) -> Value | None:
    """An item of a list; None for a part of anything else."""
    name = _list_of(node)
    if name not in w.counts:
        return None
    if name not in w.env or name in w.begins:
        w.refuse_translation(node)
    memory = w.env[name]
    length, *dims = memory.dims
    code = f"{memory.code}[{place(w, w.number(node.slice), length)}]"
    return Value(Array(memory.of, tuple(dims)) if dims else memory.of, code)


def _list_of(node: ast.Subscript) -> str:
    """The name of that of which a part is taken, if it has one."""
    return node.value.id if isinstance(node.value, ast.Name) else ""
