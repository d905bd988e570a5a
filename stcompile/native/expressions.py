"""Expressions of generated code in C, with the types that Numba gives them."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np

from stcompile.native.functions import LOOPED
from stcompile.native.kinds import BOOL, FLOAT, Array, Number, common
from stcompile.native.number_calls import BUILTIN, inlined, numpy_call, power
from stcompile.native.values import (
    AND,
    ATOM,
    CHOICE,
    EQUAL,
    OR,
    ORDER,
    PRODUCT,
    SUM,
    UNARY,
    UNKNOWN,
    NotInC,
    Value,
    as_number,
    cast,
    literal,
    static_value,
)
from stcompile.wengert.dims import Dim, Size, number_of_elements, over, symbols_in

_ARITHMETIC = {
    ast.Add: ("+", SUM),
    ast.Sub: ("-", SUM),
    ast.Mult: ("*", PRODUCT),
    ast.Div: ("/", PRODUCT),
}
_BITS = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_COMPARED = {
    ast.Eq: ("==", EQUAL),
    ast.NotEq: ("!=", EQUAL),
    ast.Lt: ("<", ORDER),
    ast.LtE: ("<=", ORDER),
    ast.Gt: (">", ORDER),
    ast.GtE: (">=", ORDER),
    ast.Is: ("==", EQUAL),
    ast.IsNot: ("!=", EQUAL),
}
_FOLDED = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
_ORDERED = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
_CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan}


class Expressions:
    """Translates the expressions of one function. ``call`` translates calls of functions that are
    printed beside it, and ``place`` checks an index and gives its text."""

    env: dict[str, Value]
    inline: Callable[[str, Number], str]
    line = 0

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        raise NotImplementedError

    def results_of(self, name: str, arguments: Sequence[Value]) -> list[Value]:
        """The results of a function of the file, which get names."""
        raise NotImplementedError

    def call_of_arrays(self, node: ast.Call) -> Value | None:
        raise NotImplementedError

    def gathered(self, array: Value, indices: Sequence[Value]) -> Value:
        raise NotImplementedError

    def transposed(self, array: Value, axes: int) -> Value:
        raise NotImplementedError

    def place(self, index: Value, length: Size) -> str:
        raise NotImplementedError

    def whole(self, value: Value) -> Value:
        raise NotImplementedError

    def refuse(self, reason: str, hint: str = "") -> NoReturn:
        raise NotInC(reason, self.line, hint)

    def number(self, node: ast.expr) -> Value:
        """The translation of an expression that is a number."""
        found = as_number(self.value(node))
        if found is None:
            self.refuse(f"`{ast.unparse(node)}` is no number")
        return found

    def value(self, node: ast.expr) -> Value:
        """The translation of an expression."""
        self.line = getattr(node, "lineno", self.line)
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            self.refuse(f"`{ast.unparse(node)}` has no translation")
        made: Value = method(node)
        return made

    # --- leaves --------------------------------------------------------------------------------

    def _Constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, bool | int | float | complex):
            return literal(node.value)
        return Value(None, "", static=node.value)

    def _Name(self, node: ast.Name) -> Value:
        if node.id not in self.env:
            self.refuse(f"the name `{node.id}` is not known")
        return self.env[node.id]

    def _Tuple(self, node: ast.Tuple) -> Value:
        parts = [self.value(part) for part in node.elts]
        values = tuple(part.static if part.length is None else part.length for part in parts)
        static = UNKNOWN if any(value is UNKNOWN for value in values) else values
        return Value(None, "", static=static)

    def _Attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and node.value.id in ("np", "math"):
            if node.attr in _CONSTANTS:
                return literal(_CONSTANTS[node.attr])
            found = getattr(np, node.attr, None)
            if isinstance(found, type):
                return Value(None, "", static=np.dtype(found))
        part = self._part_of_call(node.value, node.attr)
        if part is not None:
            return part
        owner = self.value(node.value)
        if isinstance(owner.kind, Array):
            facts = {"shape": owner.kind.dims, "ndim": len(owner.kind.dims)}
            facts |= {"dtype": owner.kind.of.dtype, "size": owner.kind.size}
            if node.attr in facts:
                return static_value(facts[node.attr])
            if node.attr in ("T", "mT"):
                return self.transposed(owner, len(owner.dims) if node.attr == "T" else 2)
        if isinstance(owner.kind, Number) and node.attr in ("real", "imag"):
            return self._part(owner, node.attr)
        self.refuse(f"`{ast.unparse(node)}` has no translation")

    def _part_of_call(self, call: ast.expr, name: str) -> Value | None:
        """A part of a tuple that a function of NumPy's returns, by its name or its place."""
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return None
        named = ast.Attribute(call.func, name, ast.Load())
        return self.call_of_arrays(
            ast.copy_location(ast.Call(named, call.args, call.keywords), call)
        )

    def _part(self, owner: Value, name: str) -> Value:
        if owner.number.dtype.kind != "c":
            return owner if name == "real" else literal(0, owner.number)
        return Value(owner.number.part, f"c{name}{owner.number.suffix}({owner.code})")

    def _Subscript(self, node: ast.Subscript) -> Value:
        part = self._part_of_call(node.value, ast.unparse(node.slice))
        if part is not None:
            return part
        owner = self.value(node.value)
        if isinstance(owner.static, tuple):
            at = self.value(node.slice).static
            if at is not UNKNOWN:
                return static_value(owner.static[at])
        if isinstance(owner.kind, Number) and ast.unparse(node.slice) in ("()", "..."):
            return owner
        if not isinstance(owner.kind, Array):
            self.refuse(f"`{ast.unparse(node)}` has no translation")
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if all(isinstance(one, ast.Name) and self._is_array(one) for one in nodes) and nodes:
            return self.gathered(owner, [self.value(one) for one in nodes])
        return Value(owner.kind.of, self.element(owner, node.slice))

    def _is_array(self, node: ast.Name) -> bool:
        """True for the name of an array with an axis."""
        kind = self.value(node).kind
        return isinstance(kind, Array) and bool(kind.dims)

    def element(self, owner: Value, node: ast.expr) -> str:
        """The text of an element of an array."""
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        values = [self.value(n) for n in nodes if not isinstance(n, ast.Slice)]
        indices = [number for value in values if (number := as_number(value)) is not None]
        if len(indices) != len(owner.dims) or len(indices) != len(nodes):
            self.refuse(f"a part of an array, `[{ast.unparse(node)}]`, has no translation")
        if not nodes:
            return f"{owner.code}[0]"
        pairs = zip(indices, owner.dims, strict=True)
        return owner.code + "".join(f"[{self.place(one, length)}]" for one, length in pairs)

    # --- operators -----------------------------------------------------------------------------

    def _BinOp(self, node: ast.BinOp) -> Value:
        return self.binary(type(node.op), self.number(node.left), self.number(node.right))

    def binary(self, op: type[ast.operator], left: Value, right: Value) -> Value:
        """An operation of two numbers."""
        kind = common(left.number, right.number)
        if op is ast.Div and kind.dtype.kind not in "fc":
            kind = FLOAT
        folded = _folded(op, left.size, right.size)
        if folded is not None:
            return static_value(folded)
        if op is ast.Pow:
            return power(self, left, right)
        if op in _BITS:
            kind = left.number if left.number == right.number else kind
            return Value(kind, f"({left.code}) {_BITS[op]} ({right.code})", OR)
        left, right = cast(left, kind), cast(right, kind)
        if op in (ast.FloorDiv, ast.Mod):
            return self._whole(op, left, right, kind)
        if op not in _ARITHMETIC:
            self.refuse(f"the operator {op.__name__} has no translation")
        if kind.dtype.kind == "c" and op in (ast.Mult, ast.Div):
            name = "complex_product" if op is ast.Mult else "complex_divide"
            return inlined(self, name, kind, left, right)
        sign, binds = _ARITHMETIC[op]
        code = f"{left.within(binds)} {sign} {right.within(binds - 1)}"
        is_counter = left.is_counter and right.is_counter and op in (ast.Add, ast.Mult)
        return Value(kind, code, binds, is_counter=is_counter)

    def _whole(self, op: type, left: Value, right: Value, kind: Number) -> Value:
        is_mod = op is ast.Mod
        if kind.dtype.kind == "f":
            return inlined(self, "modulo" if is_mod else "floor_divide", kind, left, right)
        if left.is_counter and isinstance(right.static, int) and right.static > 0:
            sign = "%" if is_mod else "/"
            code = f"{left.within(PRODUCT)} {sign} {right.code}"
            return Value(kind, code, PRODUCT, is_counter=True)
        return inlined(self, "int_modulo" if is_mod else "int_floor_divide", kind, left, right)

    def _UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.number(node.operand)
        if isinstance(node.op, ast.Not) or (
            isinstance(node.op, ast.Invert) and value.number == BOOL
        ):
            return Value(BOOL, f"!{value.within(UNARY)}", UNARY)
        if isinstance(node.op, ast.Invert):
            return Value(value.number, f"~{value.within(UNARY)}", UNARY)
        if isinstance(node.op, ast.UAdd):
            return value
        if value.static is not UNKNOWN:
            return literal(-value.static, value.number)
        return Value(value.number, f"-{value.within(ATOM)}", UNARY)

    def _BoolOp(self, node: ast.BoolOp) -> Value:
        is_and = isinstance(node.op, ast.And)
        binds = AND if is_and else OR
        parts = [cast(self.number(part), BOOL).within(EQUAL) for part in node.values]
        return Value(BOOL, (" && " if is_and else " || ").join(parts), binds)

    def _Compare(self, node: ast.Compare) -> Value:
        values = [self.value(part) for part in (node.left, *node.comparators)]
        parts = [
            self._compared(op, left, right)
            for op, left, right in zip(node.ops, values, values[1:], strict=False)
        ]
        if len(parts) == 1:
            return parts[0]
        return Value(BOOL, " && ".join(part.within(EQUAL) for part in parts), AND)

    def _compared(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        if left.static is not UNKNOWN and right.static is not UNKNOWN:
            if any(symbols_in((left.static, right.static))) and left.static != right.static:
                self.refuse("a comparison of shapes whose lengths have names has no translation")
            if type(op) in (ast.Eq, ast.NotEq):
                return literal((left.static == right.static) == (type(op) is ast.Eq))
            if type(op) in _ORDERED and isinstance(left.kind, Number):
                return literal(_ORDERED[type(op)](left.static, right.static))
        if not isinstance(left.kind, Number) or not isinstance(right.kind, Number):
            self.refuse("a comparison of no numbers has no translation")
        kind = BOOL if left.kind == right.kind == BOOL else common(left.kind, right.kind)
        sign, binds = _COMPARED[type(op)]
        left, right = cast(left, kind), cast(right, kind)
        return Value(BOOL, f"{left.within(SUM)} {sign} {right.within(SUM)}", binds)

    def _IfExp(self, node: ast.IfExp) -> Value:
        test = self.number(node.test)
        if test.static is not UNKNOWN:
            return self.value(node.body if test.static else node.orelse)
        one, other = self.number(node.body), self.number(node.orelse)
        kind = one.number if one.number == other.number else common(one.number, other.number)
        one, other = cast(one, kind), cast(other, kind)
        test = cast(test, BOOL)
        return Value(kind, f"{test.within(AND)} ? {one.within(AND)} : {other.within(AND)}", CHOICE)

    # --- calls ---------------------------------------------------------------------------------

    def _Call(self, node: ast.Call) -> Value:
        function = node.func
        if isinstance(function, ast.Name):
            if function.id == "int":
                return self.whole(self.number(*node.args))
            if function.id in BUILTIN:
                return BUILTIN[function.id](self, *map(self.number, node.args))
            return self.call(function.id, [self.value(a) for a in node.args])
        assert isinstance(function, ast.Attribute)
        array = self.call_of_arrays(node)
        if array is not None:
            return array
        if isinstance(function.value, ast.Name) and function.value.id in ("np", "math"):
            if function.attr == "asarray" and not node.keywords and len(node.args) == 1:
                return self.value(node.args[0])
            numbers = []
            for argument in node.args:
                number = as_number(self.value(argument))
                if number is None:
                    self.refuse(f"`{ast.unparse(function)}` stays a call of NumPy's", LOOPED)
                numbers.append(number)
            return numpy_call(self, function.attr, numbers)
        if function.attr in ("astype", "item"):
            owner = self.number(function.value)
            dtypes = [Number(np.dtype(self.value(one).static)) for one in node.args]
            return cast(owner, *dtypes) if dtypes else owner
        if function.attr == "reshape":
            return self._reshaped(self.value(function.value), node.args)
        if function.attr in ("conjugate", "conj"):
            return numpy_call(self, "conjugate", [self.number(function.value)])
        if function.attr == "indices":
            self.refuse("a part of an array whose length data decide has no translation", LOOPED)
        self.refuse(f"the call `{ast.unparse(node)}` has no translation")

    def _reshaped(self, array: Value, nodes: Sequence[ast.expr]) -> Value:
        """The elements of an array as one of another shape: they lie in the same order."""
        shape = nodes[0] if len(nodes) == 1 else ast.Tuple([*nodes], ast.Load())
        dims = self.value(shape).sizes
        if not isinstance(array.kind, Array) or dims is None:
            self.refuse("a reshape to lengths that are not known has no translation")
        others = number_of_elements(tuple(n for n in dims if n != -1))
        rest = 0 if others == 0 else over(array.kind.size, others)
        whole = tuple(rest if n == -1 else n for n in dims)
        if None in whole or number_of_elements(whole) != array.kind.size:  # type: ignore[arg-type]
            self.refuse("a reshape to lengths that are not known has no translation")
        kind = Array(array.kind.of, whole)  # type: ignore[arg-type]
        const = "const " if array.is_const else ""
        code = f"(({const}{kind.pointer('')}){array.code})"
        return Value(kind, code, is_const=array.is_const)


def _folded(op: type[ast.operator], left: Size | None, right: Size | None) -> Size | None:
    """The result of an operation of lengths, if that is one."""
    if left is None or right is None:
        return None
    if op is ast.FloorDiv and isinstance(left, Dim) and isinstance(right, int) and right > 0:
        return left // right  # type: ignore[no-any-return]
    function = _FOLDED.get(op)
    return None if function is None else function(left, right)
