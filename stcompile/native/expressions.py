"""Expressions of generated code in C, with the types that Numba gives them."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from stcompile.native.functions import COMPLEX as COMPLEX_LIBM
from stcompile.native.functions import INLINE, LIBM, LOOPED, SORTED, SORTS
from stcompile.native.kinds import BOOL, COMPLEX, FLOAT, INT, Array, Kind, Number, common
from stcompile.native.literals import float_text, integer_text
from stcompile.native.sizes import size_text
from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Dim, Size, Sizes, number_of_elements, over, symbols_in

UNKNOWN: Any = object()
ATOM, UNARY, PRODUCT, SUM, ORDER, EQUAL, AND, OR, CHOICE = 0, 1, 2, 3, 4, 5, 6, 7, 8
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
_TESTS = {"isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite", "signbit": "signbit"}


class NotInC(Exception):
    """A construct of generated code that is not translated, with its place in the text, and what to
    write instead ("" if nothing is known)."""

    def __init__(self, reason: str, line: int, hint: str = "") -> None:
        super().__init__(reason)
        self.line = line
        self.hint = hint


@dataclass(frozen=True)
class Value:
    """A translated expression: its kind, its text, how strongly its operator binds, and its value
    if that is known; ``length`` is one that has a name, or a sum of them.
    ``is_counter`` says that it is an integer which never leaves an axis,
    ``is_const`` that it is an array which must not be written to, ``is_alone`` that a call is given
    it once."""

    kind: Kind
    code: str
    binds: int = ATOM
    static: Any = UNKNOWN
    length: Dim | None = None
    is_counter: bool = False
    is_const: bool = False
    is_alone: bool = True

    @property
    def size(self) -> Size | None:
        """The length that an integer is, if that is known."""
        is_integer = isinstance(self.static, int) and self.kind == INT
        return self.static if is_integer else self.length

    @property
    def sizes(self) -> Sizes | None:
        """The lengths that a tuple of integers has, or an integer alone, if they are known."""
        found = (self.size,) if isinstance(self.kind, Number) else self.static
        is_known = isinstance(found, tuple) and all(isinstance(n, int | Dim) for n in found)
        return found if is_known else None  # type: ignore[return-value]

    def within(self, binds: int) -> str:
        """The text as an operand of an operator."""
        return self.code if self.binds <= binds else f"({self.code})"


class Expressions:
    """Translates the expressions of one function. ``call`` translates calls of functions that are
    printed beside it, and ``place`` checks an index and gives its text."""

    env: dict[str, Value]
    inline: Callable[[str, Number], str]
    line = 0

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        raise NotImplementedError

    def call_of_arrays(self, node: ast.Call) -> Value | None:
        raise NotImplementedError

    def gathered(self, array: Value, indices: Sequence[Value]) -> Value:
        raise NotImplementedError

    def transposed(self, array: Value) -> Value:
        raise NotImplementedError

    def place(self, index: Value, length: Size) -> str:
        raise NotImplementedError

    def refuse(self, reason: str, hint: str = "") -> NoReturn:
        raise NotInC(reason, self.line, hint)

    def number(self, node: ast.expr) -> Value:
        """The translation of an expression that is a number."""
        found = _as_number(self.value(node))
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

    def cast(self, value: Value, kind: Number) -> Value:
        """A number as one of another type."""
        if value.kind == kind:
            return value
        assert isinstance(value.kind, Number)
        if value.static is not UNKNOWN:
            return literal(kind.dtype.type(value.static).item(), kind)
        if kind == BOOL:
            return Value(BOOL, f"{value.within(EQUAL)} != 0", EQUAL)
        return Value(kind, f"({kind.c}){value.within(UNARY)}", UNARY)

    # --- leaves --------------------------------------------------------------------------------

    def _Constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, bool | int | float | complex):
            return literal(node.value)
        return Value((), "", static=node.value)

    def _Name(self, node: ast.Name) -> Value:
        if node.id not in self.env:
            self.refuse(f"the name `{node.id}` is not known")
        return self.env[node.id]

    def _Tuple(self, node: ast.Tuple) -> Value:
        parts = [self.value(part) for part in node.elts]
        values = tuple(part.static if part.length is None else part.length for part in parts)
        static = UNKNOWN if any(value is UNKNOWN for value in values) else values
        return Value(tuple(part.kind for part in parts), "", static=static)

    def _Attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and node.value.id in ("np", "math"):
            if node.attr in _CONSTANTS:
                return literal(_CONSTANTS[node.attr])
            found = getattr(np, node.attr, None)
            if isinstance(found, type):
                return Value((), "", static=np.dtype(found))
        owner = self.value(node.value)
        if isinstance(owner.kind, Array):
            facts = {"shape": owner.kind.dims, "ndim": len(owner.kind.dims)}
            facts |= {"dtype": owner.kind.of.dtype, "size": owner.kind.size}
            if node.attr in facts:
                return static_value(facts[node.attr])
            if node.attr == "T":
                return self.transposed(owner)
        if isinstance(owner.kind, Number) and node.attr in ("real", "imag"):
            return self._part(owner, node.attr)
        self.refuse(f"`{ast.unparse(node)}` has no translation")

    def _part(self, owner: Value, name: str) -> Value:
        assert isinstance(owner.kind, Number)
        if owner.kind.dtype.kind != "c":
            return owner if name == "real" else literal(0, owner.kind)
        return Value(owner.kind.part, f"c{name}{owner.kind.suffix}({owner.code})")

    def _Subscript(self, node: ast.Subscript) -> Value:
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
        assert isinstance(owner.kind, Array)
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        values = [self.value(n) for n in nodes if not isinstance(n, ast.Slice)]
        indices = [number for value in values if (number := _as_number(value)) is not None]
        if len(indices) != len(owner.kind.dims) or len(indices) != len(nodes):
            self.refuse(f"a part of an array, `[{ast.unparse(node)}]`, has no translation")
        if not nodes:
            return f"{owner.code}[0]"
        pairs = zip(indices, owner.kind.dims, strict=True)
        return owner.code + "".join(f"[{self.place(one, length)}]" for one, length in pairs)

    # --- operators -----------------------------------------------------------------------------

    def _BinOp(self, node: ast.BinOp) -> Value:
        return self.binary(type(node.op), self.number(node.left), self.number(node.right))

    def binary(self, op: type[ast.operator], left: Value, right: Value) -> Value:
        """An operation of two numbers."""
        assert isinstance(left.kind, Number)
        assert isinstance(right.kind, Number)
        kind = common(left.kind, right.kind)
        if op is ast.Div and kind.dtype.kind not in "fc":
            kind = FLOAT
        folded = _folded(op, left.size, right.size)
        if folded is not None:
            return static_value(folded)
        if op is ast.Pow:
            return self._power(left, right, kind)
        if op in _BITS:
            kind = left.kind if left.kind == right.kind else kind
            return Value(kind, f"({left.code}) {_BITS[op]} ({right.code})", OR)
        left, right = self.cast(left, kind), self.cast(right, kind)
        if op in (ast.FloorDiv, ast.Mod):
            return self._whole(op, left, right, kind)
        if op not in _ARITHMETIC:
            self.refuse(f"the operator {op.__name__} has no translation")
        if kind.dtype.kind == "c" and op in (ast.Mult, ast.Div):
            name = "complex_product" if op is ast.Mult else "complex_divide"
            return self._inline(name, kind, left, right)
        sign, binds = _ARITHMETIC[op]
        code = f"{left.within(binds)} {sign} {right.within(binds - 1)}"
        is_counter = left.is_counter and right.is_counter and op in (ast.Add, ast.Mult)
        return Value(kind, code, binds, is_counter=is_counter)

    def _whole(self, op: type, left: Value, right: Value, kind: Number) -> Value:
        is_mod = op is ast.Mod
        if kind.dtype.kind == "f":
            return self._inline("modulo" if is_mod else "floor_divide", kind, left, right)
        if left.is_counter and isinstance(right.static, int) and right.static > 0:
            sign = "%" if is_mod else "/"
            code = f"{left.within(PRODUCT)} {sign} {right.code}"
            return Value(kind, code, PRODUCT, is_counter=True)
        return self._inline("int_modulo" if is_mod else "int_floor_divide", kind, left, right)

    def _power(self, left: Value, right: Value, kind: Number) -> Value:
        if kind.dtype.kind == "i":
            return self._inline("int_power", kind, left, right)
        if right.static == 2:
            return self._numpy("square", [self.cast(left, kind)])
        before = "c" if kind.dtype.kind == "c" else ""
        arguments = ", ".join(self.cast(v, kind).code for v in (left, right))
        return Value(kind, f"{before}pow{kind.suffix}({arguments})")

    def _UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.number(node.operand)
        assert isinstance(value.kind, Number)
        if isinstance(node.op, ast.Not) or (isinstance(node.op, ast.Invert) and value.kind == BOOL):
            return Value(BOOL, f"!{value.within(UNARY)}", UNARY)
        if isinstance(node.op, ast.Invert):
            return Value(value.kind, f"~{value.within(UNARY)}", UNARY)
        if isinstance(node.op, ast.UAdd):
            return value
        if value.static is not UNKNOWN:
            return literal(-value.static, value.kind)
        return Value(value.kind, f"-{value.within(ATOM)}", UNARY)

    def _BoolOp(self, node: ast.BoolOp) -> Value:
        is_and = isinstance(node.op, ast.And)
        binds = AND if is_and else OR
        parts = [self.cast(self.number(part), BOOL).within(EQUAL) for part in node.values]
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
        left, right = self.cast(left, kind), self.cast(right, kind)
        return Value(BOOL, f"{left.within(SUM)} {sign} {right.within(SUM)}", binds)

    def _IfExp(self, node: ast.IfExp) -> Value:
        test = self.number(node.test)
        if test.static is not UNKNOWN:
            return self.value(node.body if test.static else node.orelse)
        one, other = self.number(node.body), self.number(node.orelse)
        assert isinstance(one.kind, Number)
        assert isinstance(other.kind, Number)
        kind = one.kind if one.kind == other.kind else common(one.kind, other.kind)
        one, other = self.cast(one, kind), self.cast(other, kind)
        test = self.cast(test, BOOL)
        return Value(kind, f"{test.within(AND)} ? {one.within(AND)} : {other.within(AND)}", CHOICE)

    # --- calls ---------------------------------------------------------------------------------

    def _Call(self, node: ast.Call) -> Value:
        function = node.func
        if isinstance(function, ast.Name):
            if function.id in _BUILTIN:
                return self._builtin(function.id, [self.number(a) for a in node.args])
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
                number = _as_number(self.value(argument))
                if number is None:
                    hint = SORTED if function.attr in SORTS else LOOPED
                    self.refuse(f"`{ast.unparse(function)}` stays a call of NumPy's", hint)
                numbers.append(number)
            return self._numpy(function.attr, numbers)
        if function.attr in ("astype", "item"):
            owner = self.number(function.value)
            return self._converted(self.value(node.args[0]).static, owner) if node.args else owner
        if function.attr == "reshape":
            return self._reshaped(self.value(function.value), node.args)
        if function.attr in ("conjugate", "conj"):
            return self._numpy("conjugate", [self.number(function.value)])
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

    def _builtin(self, name: str, arguments: Sequence[Value]) -> Value:
        if name == "abs":
            return self._numpy("absolute", arguments)
        if name == "complex":
            if len(arguments) == 1:
                return self.cast(arguments[0], COMPLEX)
            both = arguments
            parts = ", ".join(self.cast(part, FLOAT).code for part in both)
            return Value(COMPLEX, f"CMPLX({parts})")
        if name in ("min", "max"):
            first, second = arguments
            sign = "<" if name == "min" else ">"
            assert isinstance(first.kind, Number)
            assert isinstance(second.kind, Number)
            kind = common(first.kind, second.kind)
            one, two = self.cast(first, kind).within(UNARY), self.cast(second, kind).within(UNARY)
            return Value(kind, f"{two} {sign} {one} ? {two} : {one}", CHOICE)
        kind = {"float": FLOAT, "int": INT, "bool": BOOL}[name]
        return self.cast(arguments[0], kind)

    def _converted(self, dtype: Any, value: Value) -> Value:
        return self.cast(value, Number(np.dtype(dtype)))

    def _numpy(self, name: str, arguments: Sequence[Value]) -> Value:
        found = getattr(np, name, None)
        if isinstance(found, type) and issubclass(found, np.generic):
            return self._converted(found, arguments[0])
        kinds = [a.kind for a in arguments if isinstance(a.kind, Number)]
        kind = kinds[0]
        for other in kinds[1:]:
            kind = kind if kind == other else common(kind, other)
        if name in ("power", "pow"):
            return self._power(arguments[0], arguments[1], kind if name == "power" else FLOAT)
        if name in ("absolute", "abs"):
            return self._absolute(arguments[0])
        if name in _TESTS:
            return Value(BOOL, f"{_TESTS[name]}({arguments[0].code}) != 0", EQUAL)
        if name == "conjugate":
            is_real = kind.dtype.kind != "c"
            return (
                arguments[0] if is_real else Value(kind, f"conj{kind.suffix}({arguments[0].code})")
            )
        if name in ("logical_and", "logical_or", "logical_xor", "logical_not"):
            return self._logical(name, [self.cast(a, BOOL) for a in arguments])
        if kind.dtype.kind not in "fc" and f"int_{name}" in INLINE:
            name = f"int_{name}"
        if name == "reciprocal" and kind.dtype.kind == "c":
            return self.binary(ast.Div, literal(1, kind), arguments[0])
        if name == "square" and kind.dtype.kind == "c":
            name = "complex_square"
        if name in INLINE:
            return self._inline(name, kind, *(self.cast(a, kind) for a in arguments))
        if kind.dtype.kind not in "fc":
            kind = FLOAT
        if name not in LIBM:
            self.refuse(f"`{name}` has no translation")
        if kind.dtype.kind == "c" and name not in COMPLEX_LIBM:
            parts = "write it by real functions of `z.real` and `z.imag`"
            self.refuse(f"`{name}` of complex numbers has no translation", parts)
        before = "c" if kind.dtype.kind == "c" else ""
        given = ", ".join(self.cast(a, kind).code for a in arguments)
        return Value(kind, f"{before}{LIBM[name]}{kind.suffix}({given})")

    def _absolute(self, value: Value) -> Value:
        assert isinstance(value.kind, Number)
        if isinstance(value.static, int | float):
            return literal(abs(value.static), value.kind)
        if value.kind.dtype.kind == "f":
            return Value(value.kind, f"fabs{value.kind.suffix}({value.code})")
        if value.kind.dtype.kind == "c":
            return Value(value.kind.part, f"cabs{value.kind.suffix}({value.code})")
        return value if value.kind == BOOL else self._inline("int_abs", value.kind, value)

    def _logical(self, name: str, values: Sequence[Value]) -> Value:
        if name == "logical_not":
            return Value(BOOL, f"!{values[0].within(UNARY)}", UNARY)
        sign, binds = {"and": ("&&", AND), "or": ("||", OR), "xor": ("!=", EQUAL)}[name[8:]]
        return Value(BOOL, f"{values[0].within(ORDER)} {sign} {values[1].within(ORDER)}", binds)

    def _inline(self, name: str, kind: Number, *arguments: Value) -> Value:
        given = ", ".join(argument.code for argument in arguments)
        return Value(kind, f"{self.inline(name, kind)}({given})")


_BUILTIN = frozenset({"abs", "float", "int", "bool", "complex", "min", "max"})


def _as_number(value: Value) -> Value | None:
    """A number, or the one of an array of shape (); None for other values."""
    if isinstance(value.kind, Array) and not value.kind.dims:
        return Value(value.kind.of, f"{value.code}[0]")
    return value if isinstance(value.kind, Number) else None


def _folded(op: type[ast.operator], left: Size | None, right: Size | None) -> Size | None:
    """The result of an operation of lengths, if that is one."""
    if left is None or right is None:
        return None
    if op is ast.FloorDiv and isinstance(left, Dim) and isinstance(right, int) and right > 0:
        return left // right  # type: ignore[no-any-return]
    function = _FOLDED.get(op)
    return None if function is None else function(left, right)


def static_value(value: Any) -> Value:
    """A fact that is known while the code is written."""
    if isinstance(value, bool | int | float):
        return literal(value)
    if isinstance(value, Dim):
        text = size_text(value)
        binds = ATOM if text.isidentifier() else SUM
        return Value(INT, text, binds, length=value, is_counter=least(value) >= 0)
    return Value((), "", static=value)


def literal(value: Any, kind: Number | None = None) -> Value:
    """A number as it is written in C.

    >>> literal(0.5, Number(np.dtype("float32"))).code, literal(3).code
    ('0.5F', '3')
    """
    if kind is None:
        kind = Number(np.dtype(type(value)))
        kind = INT if kind.dtype.kind == "i" else kind
    if kind == BOOL:
        return Value(kind, "true" if value else "false", static=bool(value))
    if kind.dtype.kind in "iu":
        value = int(value)
        binds = UNARY if value < 0 else ATOM
        return Value(kind, integer_text(value), binds, value, is_counter=value >= 0)
    if kind.dtype.kind == "c":
        real, imaginary = (float_text(part, kind) for part in (value.real, value.imag))
        return Value(kind, f"CMPLX{kind.suffix.upper()}({real}, {imaginary})", static=value)
    code = float_text(float(value), kind)
    return Value(kind, code, UNARY if code.startswith("-") else ATOM, float(value))
