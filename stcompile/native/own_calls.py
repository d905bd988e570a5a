"""Calls of functions of the file, which are translated for the types of their arguments."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from stcompile.native.kinds import Array, Number
from stcompile.native.operators import binary
from stcompile.native.unit import Made
from stcompile.native.values import Value
from stcompile.native.writer import Writer

WITHIN = "index_within"  # the function that checks an index
ADDED = "added"  # the function for a term of a sum that is added in any order


def own_call(w: Writer, name: str, arguments: Sequence[Value]) -> Value:
    """A call as an expression."""
    if name not in w.unit.definitions:
        w.refuse_translation(f"the function `{name}`")
    if name == ADDED:
        return binary(w, ast.Add, *arguments)
    made = w.unit.function(name, arguments)
    if len(made.results) != 1:
        w.refuse(f"`{name}` returns several values")
    kind = made.results[0]
    if isinstance(kind, Number):
        return Value(kind, _text(w, made, arguments, []), is_counter=name == WITHIN)
    own = w.fresh_name(f"{name}_result")  # no function has this name
    memory = w.memory(own, kind)
    w.say(f"{_text(w, made, arguments, [memory.code])};")
    return memory


def results_of(w: Writer, name: str, arguments: Sequence[Value]) -> list[Value]:
    """The results of a call, which get names."""
    made = w.unit.function(name, arguments)
    names = [w.fresh_name(name) for _ in made.results]
    w.blocks.update(dict.fromkeys(names, w.here))
    own_statement(w, name, arguments, names)
    return [w.env[own] for own in names]


def returned_call(w: Writer, node: ast.expr) -> Value | None:
    """An array that a call makes where the result of this function lies; None for what is no such
    call."""
    if not isinstance(node, ast.Call) or not is_own(w, node.func, ADDED):
        return None
    arguments = [w.value(one) for one in node.args]
    made = w.unit.function(ast.unparse(node.func), arguments)
    if len(made.results) != 1 or not isinstance(made.results[0], Array):
        return None
    own = w.result_name(0, "result")
    w.say(f"{_text(w, made, arguments, [own])};")
    return Value(made.results[0], own)


def own_statement(w: Writer, name: str, arguments: Sequence[Value], targets: Sequence[str]) -> None:
    """A call as a statement, whose results get names."""
    if name == ADDED:
        w.set_number(targets[0], own_call(w, name, arguments))
        return
    made = w.unit.function(name, arguments)
    if made.returned != "void":
        value = Value(made.results[0], _text(w, made, arguments, []))
        if targets:
            w.set_number(targets[0], value)
        else:
            w.say(f"{value.code};")
        return
    outs, read = [], {a.code for a in arguments}
    held: dict[str, Value] = {}
    for target, kind in zip(targets, made.results, strict=True):
        if isinstance(kind, Array):
            memory = w.memory(target, kind)
            if memory.code in read:  # a function does not write over what it reads
                memory = held[target] = w.memory(w.fresh_name("held"), kind)
            outs.append(memory.code)
        else:
            own = w.unit.called(target)
            if target not in w.declared:
                w.declared.add(target)
                w.env[target] = Value(kind, own)
                w.hoist(target, f"{kind.c} {own} = 0;")
            outs.append(f"&{own}")
    w.say(f"{_text(w, made, arguments, outs)};")
    for target, value in held.items():
        if target in w.owners - w.viewed:
            w.exchange(w.env[target], value)
        else:
            w.copy(w.env[target], value)


def _text(w: Writer, made: Made, arguments: Sequence[Value], outs: Sequence[str]) -> str:
    values = [a for a in arguments if not isinstance(a.static, int | str | tuple)]
    given = [*made.lengths, *(a.code for a in values if a.length is None), *outs]
    w.members |= made.members
    w.may_fail = w.may_fail or made.may_fail
    if made.needs_workspace:
        w.needs_workspace = True
        given.append("work")
    given += [w.code(error, *parts) for error, parts in made.raised]
    return f"{made.name}({', '.join(given)})"


def is_own(w: Writer, function: ast.expr, *but: str) -> bool:
    """True for the name of a function of the file."""
    return ast.unparse(function) in w.unit.definitions.keys() - {*but}
