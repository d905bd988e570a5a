"""Functions of generated code as functions of C, for the types of their arguments."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from stcompile.native.control import block
from stcompile.native.expressions import EXPRESSIONS
from stcompile.native.kinds import Array, Number, Parameter
from stcompile.native.names import flat, nodes
from stcompile.native.statements import returns_number
from stcompile.native.unit import Made, Unit
from stcompile.native.values import UNKNOWN, Value
from stcompile.native.writer import Writer
from stcompile.wengert.dims import symbols_in


def translate(
    unit: Unit,
    node: ast.FunctionDef,
    arguments: Sequence[Value],
    name: str,
    leaves: Mapping[str, Value] | None = None,
    labels: Sequence[str] = (),
) -> Made:
    """The function of a definition, for arguments of these kinds; or for the ``leaves`` of the
    arguments of one that is called from outside."""
    w = Writer(unit, node, EXPRESSIONS, leaves, labels)
    _find_outputs(w)
    for own, value in zip(w.given, arguments, strict=True):
        _bind(w, own, value)
    for own, value in w.leaves.items():
        if w.assigned[own]:
            _bind_leaf(w, own, value)
    block(w, w.body)
    _leave_out_unread(w.text.lines)
    outs = [] if returns_number(w) else zip(w.result_names, w.results, strict=True)
    parameters = [*w.parameters, *(Parameter(own, kind, is_read=False) for own, kind in outs)]
    made = Made(name, parameters, w.results, w.text.lines, w.needs_workspace)
    made.members = frozenset(w.members)
    made.raised = w.raised
    made.title = ast.get_docstring(node) or ""
    made.may_fail = any("work->error" in line for line in w.text.lines)
    said = {*made.words, *re.findall(r"\w+", " ".join(one.text for one in parameters))}
    said -= {symbol.name for symbol in symbols_in(tuple(w.chosen.values()))}
    made.lengths = [own for own in (*unit.lengths, *unit.chosen) if own in said]
    return made


_CONSTANT = re.compile(r" *const [\w ]+ (\w+) = (.*);")


def _leave_out_unread(lines: list[str]) -> None:
    """Leave out numbers that nothing reads, unless an error may be found where they are made."""
    code = [line for line in lines if not line.lstrip().startswith("/*")]
    count = Counter(re.findall(r"[A-Za-z_]\w*", "\n".join(code)))
    for at in reversed(range(len(lines))):
        found = _CONSTANT.fullmatch(lines[at])
        if found and count[found[1]] == 1 and "work" not in found[2]:
            count.subtract(re.findall(r"[A-Za-z_]\w*", lines.pop(at)))


def _find_outputs(w: Writer) -> None:
    """Find the arrays that are returned by name, which are made in the caller's memory."""
    for one in nodes(w.body, ast.Return):
        for at, part in enumerate(flat(one.value) if one.value is not None else ()):
            if isinstance(part, ast.Name):
                w.outputs.setdefault(part.id, at)


def _bind(w: Writer, name: str, value: Value) -> None:
    """Give a parameter of Python's its value."""
    own = w.unit.called(name)
    if value.known is not UNKNOWN:
        w.env[name] = value  # and no parameter in C
        if w.assigned[name] > 1 and isinstance(value.kind, Number):
            w.env[name] = Value(value.kind, own)
            w.say(f"{value.kind.c} {own} = {value.code};")
    elif isinstance(value.kind, Array):
        _bind_array(w, name, value)
    elif isinstance(value.kind, Number):
        w.env[name] = Value(value.kind, own)
        w.parameters.append(Parameter(own, value.kind))
    w.declared.add(name)


def _bind_array(w: Writer, name: str, value: Value) -> None:
    """An array that the function is given. One whose name gets other arrays as well is copied,
    so that the name owns memory."""
    own = w.unit.called(name)
    if w.assigned[name] > 1 and name not in w.shared:
        if name in w.changed:
            w.refuse(f"the argument `{name}` is changed and given another array")
        own = w.fresh_name(f"given_{name}")
        w.copy(w.memory(name, value.array), Value(value.array, own))
    else:
        w.env[name] = replace(value, code=own)
    w.parameters.append(Parameter(own, value.array, value.is_const, value.is_alone))


def _bind_leaf(w: Writer, name: str, value: Value) -> None:
    """A leaf whose name is given other values: an array is copied."""
    w.assigned[name] += 1
    w.declared.add(name)
    if not isinstance(value.kind, Array):
        w.env[name] = value
        return
    if not value.is_const:
        w.refuse(f"the argument `{name}` is changed and given another array")
    w.copy(w.memory(name, value.array), value)
