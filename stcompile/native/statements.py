"""Statements that give names values, write into arrays, call functions and end them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from stcompile.native.arrays import made_array
from stcompile.native.errors import raised
from stcompile.native.expressions import element
from stcompile.native.functions import CHOSEN
from stcompile.native.kinds import INT, Array, Number
from stcompile.native.lists import append, is_list
from stcompile.native.literals import in_comment
from stcompile.native.names import appended, flat
from stcompile.native.own_calls import is_own, own_statement, returned_call
from stcompile.native.selections import is_mask, set_where
from stcompile.native.values import Value, as_number, cast
from stcompile.native.writer import Writer
from stcompile.wengert.dims import symbols_in

Statements: TypeAlias = Mapping[type[ast.stmt], Callable[[Writer, Any], None]]
RAISED = "@return;"  # where a function that is not the main one ends by an error
_SIGNS = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.Div: "/="}


def ended(w: Writer) -> str:
    """The statement that ends the function after an error."""
    return "return work->error;" if w.is_main else RAISED


def _raise(w: Writer, node: ast.Raise) -> None:
    raised(w, node)
    w.say(ended(w))


def _expression(w: Writer, node: ast.Expr) -> None:
    value = node.value
    if isinstance(value, ast.Constant):
        return
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        own_statement(w, value.func.id, [w.value(one) for one in value.args], [])
    elif isinstance(value, ast.Call) and ast.unparse(value.func) == "warnings.warn":
        w.say(f"/* {in_comment(str(ast.literal_eval(value.args[0])))} */")
    elif found := appended([node]):
        append(w, ast.unparse(found[0][0]), found[0][1])
    else:
        w.refuse_translation(node)


# --- assignments ---------------------------------------------------------------------------------


def _assign(w: Writer, node: ast.Assign) -> None:
    (target,) = node.targets
    if isinstance(target, ast.Tuple):
        _unpack(w, target, node.value)
    elif isinstance(target, ast.Subscript) and ast.unparse(target.slice) == "...":
        _store(w, target, node.value)
    elif isinstance(target, ast.Subscript):
        _put(w, target, w.value(node.value), "=")
    else:
        assert isinstance(target, ast.Name)
        _name(w, target.id, node.value)


def _store(w: Writer, target: ast.Subscript, node: ast.expr) -> None:
    """``array[...] = node``."""
    owner = w.value(target.value)
    value = w.value(node)
    if isinstance(value.kind, Number) and owner.dims:
        w.fill(owner, cast(value, owner.of))
    elif isinstance(value.kind, Number):
        w.say(f"{owner.code}[0] = {cast(value, owner.of).code};")
    elif value.kind == owner.array:
        w.copy(owner, value)
    else:
        w.refuse(f"`{ast.unparse(node)}` has another shape or type")


def _put(w: Writer, target: ast.Subscript, value: Value, sign: str) -> None:
    owner = w.value(target.value)
    if _is_masked(w, target):
        set_where(w, owner, w.value(target.slice), value, sign)
        return
    number = as_number(value)
    if number is None:
        w.refuse_translation(f"a write of an array to `{ast.unparse(target)}`")
    w.say(f"{element(w, owner, target.slice)} {sign} {cast(number, owner.of).code};")


def _is_masked(w: Writer, target: ast.expr) -> bool:
    """True for the elements that a mask chooses."""
    if not isinstance(target, ast.Subscript) or not isinstance(target.slice, ast.Name):
        return False
    return is_mask(w.value(target.value), w.value(target.slice))


def _unpack(w: Writer, target: ast.Tuple, node: ast.expr) -> None:
    if isinstance(node, ast.Tuple):
        held = []
        for part in [w.number(one) for one in node.elts]:
            name = w.fresh_name("held")
            w.say(f"const {part.number.c} {name} = {part.code};")
            held.append(Value(part.number, name))
        for left, right in zip(target.elts, held, strict=True):
            if isinstance(left, ast.Subscript):
                _put(w, left, right, "=")
            else:
                assert isinstance(left, ast.Name)
                w.set_number(left.id, right)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        names = [one.id for one in target.elts if isinstance(one, ast.Name)]
        own_statement(w, node.func.id, [w.value(one) for one in node.args], names)
    else:
        w.refuse_translation(node)


def _name(w: Writer, name: str, node: ast.expr) -> None:
    """``name = node``."""
    calls = (one.func for one in ast.walk(node) if isinstance(one, ast.Call))
    if not w.is_read[name] and not any(is_own(w, function) for function in calls):
        return
    if is_list(w, name, node):
        return
    made = made_array(w, node)
    if made is not None:
        kind, fill = made
        memory = w.memory(name, kind)
        if fill is not None:
            w.fill(memory, fill)
    elif isinstance(node, ast.Call) and is_own(w, node.func):
        own_statement(w, ast.unparse(node.func), [w.value(one) for one in node.args], [name])
    else:
        _name_value(w, name, w.value(node), node)


def _name_value(w: Writer, name: str, value: Value, node: ast.expr) -> None:
    if isinstance(value.kind, Array):
        w.bind_array(name, value, node)
    elif value.code == w.unit.called(name) and name not in w.declared:
        w.declared.add(name)  # a parameter of C already
        w.env[name] = value
    elif isinstance(value.kind, Number) and (value.size is None or w.assigned[name] != 1):
        w.set_number(name, value)
    else:
        w.env[name] = value


def _assign_operation(w: Writer, node: ast.AugAssign) -> None:
    sign, target = _SIGNS.get(type(node.op)), node.target
    if sign is not None and isinstance(target, ast.Subscript) and _is_masked(w, target):
        _put(w, target, w.value(node.value), sign)
        return
    value, load = w.number(node.value), ast.parse(ast.unparse(target), mode="eval").body
    is_complex = "c" in (value.number.dtype.kind, w.number(load).number.dtype.kind)
    is_spelt = (is_complex and sign in ("*=", "/=")) or (sign == "/=" and value.kind == INT)
    if sign is None or is_spelt:
        assign = ast.Assign([target], ast.BinOp(load, node.op, node.value))
        _assign(w, ast.fix_missing_locations(ast.copy_location(assign, node)))
    elif isinstance(target, ast.Subscript):
        _put(w, target, value, sign)
    else:
        assert isinstance(target, ast.Name)
        own = w.env[target.id]
        w.say(f"{own.code} {sign} {cast(value, own.number).code};")


# --- results -------------------------------------------------------------------------------------


def returns_number(w: Writer) -> bool:
    """True if a number alone is returned, and not written where a parameter points."""
    return not w.is_main and [*map(type, w.results)] == [Number]


def _return(w: Writer, node: ast.Return) -> None:
    if node.value is None:
        w.say("return;")
        return
    parts = flat(node.value)
    values = [returned_call(w, part) or w.value(part) for part in parts]
    if not w.results:
        w.results = [value.kind for value in values if value.kind is not None]
    if returns_number(w):
        w.say(f"return {cast(values[0], w.results[0].of).code};")
        return
    for at, (part, value) in enumerate(zip(parts, values, strict=True)):
        if isinstance(value.kind, Array) and w.is_main and _is_chosen(w, value.kind):
            w.refuse_translation("a result whose length data decide", CHOSEN)
        wish = w.unit.called(part.id) if isinstance(part, ast.Name) else "result"
        own = w.result_name(at, wish)
        if isinstance(value.kind, Array):
            w.copy(Value(value.kind, own), value)
        else:
            w.say(f"*{own} = {value.code};")
    if w.is_main:
        w.say("return work->error;")


def _is_chosen(w: Writer, kind: Array) -> bool:
    """True for an array whose length data decide."""
    return any(symbol.name in w.unit.chosen for symbol in symbols_in(kind.dims))


SIMPLE: Statements = {
    ast.Pass: lambda w, node: None,
    ast.Break: lambda w, node: w.say("break;"),
    ast.Continue: lambda w, node: w.say("continue;"),
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AugAssign: _assign_operation,
    ast.Raise: _raise,
    ast.Return: _return,
}
"""The translations of statements that are no blocks, by their classes of the syntax."""
