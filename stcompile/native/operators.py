"""Operators of numbers in C, with the types that Numba gives their results."""

from __future__ import annotations

import ast
import operator

from stcompile.native.kinds import BOOL, FLOAT, Number, common
from stcompile.native.number_calls import inlined, power
from stcompile.native.values import UNKNOWN, Binds, Value, cast, literal, static_value
from stcompile.native.writer import Expressions, Writer
from stcompile.wengert.dims import Dim, Size, symbols_in

_ARITHMETIC = {
    ast.Add: ("+", Binds.SUM),
    ast.Sub: ("-", Binds.SUM),
    ast.Mult: ("*", Binds.PRODUCT),
    ast.Div: ("/", Binds.PRODUCT),
}
_BITS = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_COMPARED = {
    ast.Eq: ("==", Binds.EQUAL),
    ast.NotEq: ("!=", Binds.EQUAL),
    ast.Lt: ("<", Binds.ORDER),
    ast.LtE: ("<=", Binds.ORDER),
    ast.Gt: (">", Binds.ORDER),
    ast.GtE: (">=", Binds.ORDER),
    ast.Is: ("==", Binds.EQUAL),
    ast.IsNot: ("!=", Binds.EQUAL),
}
_FOLDED = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
_ORDERED = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}


def binary(w: Writer, op: type[ast.operator], left: Value, right: Value) -> Value:
    """An operation of two numbers."""
    kind = common(left.number, right.number)
    if op is ast.Div and kind.dtype.kind not in "fc":
        kind = FLOAT
    folded = _folded(op, left.size, right.size)
    if folded is not None:
        return static_value(folded)
    if op is ast.Pow:
        return power(w, left, right)
    if op in _BITS:
        kind = left.number if left.number == right.number else kind
        return Value(kind, f"({left.code}) {_BITS[op]} ({right.code})", Binds.OR)
    left, right = cast(left, kind), cast(right, kind)
    if op in (ast.FloorDiv, ast.Mod):
        return _whole(w, op, left, right, kind)
    if op not in _ARITHMETIC:
        w.refuse_translation(f"the operator {op.__name__}")
    if kind.dtype.kind == "c" and op in (ast.Mult, ast.Div):
        name = "complex_product" if op is ast.Mult else "complex_divide"
        return inlined(w, name, kind, left, right)
    sign, binds = _ARITHMETIC[op]
    code = f"{left.within(binds)} {sign} {right.within(binds - 1)}"
    is_counter = left.is_counter and right.is_counter and op in (ast.Add, ast.Mult)
    return Value(kind, code, binds, is_counter=is_counter)


def _whole(w: Writer, op: type, left: Value, right: Value, kind: Number) -> Value:
    is_mod = op is ast.Mod
    if kind.dtype.kind == "f":
        return inlined(w, "modulo" if is_mod else "floor_divide", kind, left, right)
    if left.is_counter and isinstance(right.static, int) and right.static > 0:
        sign = "%" if is_mod else "/"
        code = f"{left.within(Binds.PRODUCT)} {sign} {right.code}"
        return Value(kind, code, Binds.PRODUCT, is_counter=True)
    return inlined(w, "int_modulo" if is_mod else "int_floor_divide", kind, left, right)


def _folded(op: type[ast.operator], left: Size | None, right: Size | None) -> Size | None:
    """The result of an operation of lengths, if that is one."""
    if left is None or right is None:
        return None
    if op is ast.FloorDiv and isinstance(left, Dim) and isinstance(right, int) and right > 0:
        return left // right  # type: ignore[no-any-return]
    function = _FOLDED.get(op)
    return None if function is None else function(left, right)


def _binary(w: Writer, node: ast.BinOp) -> Value:
    return binary(w, type(node.op), w.number(node.left), w.number(node.right))


def _unary(w: Writer, node: ast.UnaryOp) -> Value:
    value = w.number(node.operand)
    is_inverted = isinstance(node.op, ast.Invert)
    if isinstance(node.op, ast.Not) or (is_inverted and value.number == BOOL):
        return Value(BOOL, f"!{value.within(Binds.UNARY)}", Binds.UNARY)
    if is_inverted:
        return Value(value.number, f"~{value.within(Binds.UNARY)}", Binds.UNARY)
    if isinstance(node.op, ast.UAdd):
        return value
    if value.static is not UNKNOWN:
        return literal(-value.static, value.number)
    return Value(value.number, f"-{value.within(Binds.ATOM)}", Binds.UNARY)


def _logical(w: Writer, node: ast.BoolOp) -> Value:
    sign, binds = ("&&", Binds.AND) if isinstance(node.op, ast.And) else ("||", Binds.OR)
    parts = [cast(w.number(part), BOOL).within(Binds.EQUAL) for part in node.values]
    return Value(BOOL, f" {sign} ".join(parts), binds)


def _comparison(w: Writer, node: ast.Compare) -> Value:
    values = [w.value(part) for part in (node.left, *node.comparators)]
    pairs = zip(node.ops, values, values[1:], strict=False)
    parts = [_compared(w, op, left, right) for op, left, right in pairs]
    if len(parts) == 1:
        return parts[0]
    return Value(BOOL, " && ".join(part.within(Binds.EQUAL) for part in parts), Binds.AND)


def _compared(w: Writer, op: ast.cmpop, left: Value, right: Value) -> Value:
    if left.static is not UNKNOWN and right.static is not UNKNOWN:
        if any(symbols_in((left.static, right.static))) and left.static != right.static:
            w.refuse_translation("a comparison of shapes whose lengths have names")
        if type(op) in (ast.Eq, ast.NotEq):
            return literal((left.static == right.static) == (type(op) is ast.Eq))
        if type(op) in _ORDERED and isinstance(left.kind, Number):
            return literal(_ORDERED[type(op)](left.static, right.static))
    if not isinstance(left.kind, Number) or not isinstance(right.kind, Number):
        w.refuse_translation("a comparison of no numbers")
    kind = BOOL if left.kind == right.kind == BOOL else common(left.kind, right.kind)
    sign, binds = _COMPARED[type(op)]
    left, right = cast(left, kind), cast(right, kind)
    return Value(BOOL, f"{left.within(Binds.SUM)} {sign} {right.within(Binds.SUM)}", binds)


def _choice(w: Writer, node: ast.IfExp) -> Value:
    test = w.number(node.test)
    if test.static is not UNKNOWN:
        return w.value(node.body if test.static else node.orelse)
    one, other = w.number(node.body), w.number(node.orelse)
    kind = one.number if one.number == other.number else common(one.number, other.number)
    test, one, other = cast(test, BOOL), cast(one, kind), cast(other, kind)
    either = f"{one.within(Binds.AND)} : {other.within(Binds.AND)}"
    return Value(kind, f"{test.within(Binds.AND)} ? {either}", Binds.CHOICE)


OPERATORS: Expressions = {
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _logical,
    ast.Compare: _comparison,
    ast.IfExp: _choice,
}
"""The operators by their classes of the syntax."""
