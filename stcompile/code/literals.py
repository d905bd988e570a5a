"""Static values as source: numbers, dtypes, strings, tuples, slices."""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.numpy.calls import Function
from stcompile.codegen_templates.numpy.subscripts import Text
from stcompile.wengert.dims import Dim

LONG_NUMBER = 12  # characters: a longer number may be the result of a division
_TOPS, _LARGEST_BOTTOM = (1, 2, 3, 4), 10_000_000


class Hole:
    """Stands for code while helpers of the templates move operands around.

    Loop counters are holes too: sums and products with integers build the expression.
    """

    def __init__(self, code: ast.expr) -> None:
        self.code = code

    def __format__(self, spec: str) -> str:
        return ""

    def _binary(self, op: ast.operator, other: Any, reflected: bool = False) -> Hole:
        left, right = (literal(other), self.code) if reflected else (self.code, literal(other))
        return Hole(ast.BinOp(left, op, right))

    def __add__(self, other: Any) -> Hole:
        return self._binary(ast.Add(), other)

    def __sub__(self, other: Any) -> Hole:
        return self._binary(ast.Sub(), other)

    def __mul__(self, other: Any) -> Hole:
        return self._binary(ast.Mult(), other)

    def __radd__(self, other: Any) -> Hole:
        return self._binary(ast.Add(), other, reflected=True)

    def __rsub__(self, other: Any) -> Hole:
        return self._binary(ast.Sub(), other, reflected=True)

    def __rmul__(self, other: Any) -> Hole:
        return self._binary(ast.Mult(), other, reflected=True)


def name(identifier: str) -> ast.Name:
    return ast.Name(identifier, ast.Load())


def attribute(owner: str, member: str) -> ast.Attribute:
    return ast.Attribute(name(owner), member, ast.Load())


def literal(value: Any) -> ast.expr:
    """The expression that evaluates to a static value.

    >>> values = -1.5, (3,), np.dtype("float32"), slice(0, 2), np.float32(0.1), -2j
    >>> [ast.unparse(literal(value)) for value in values]
    ['-1.5', '(3,)', 'np.float32', '0:2', 'np.float32(0.1)', '-2j']
    """
    if isinstance(value, Hole):
        return value.code
    if isinstance(value, Text):
        return _fstring(value)
    if isinstance(value, ast.expr):
        return value
    if isinstance(value, Dim):
        return ast.parse(str(value), mode="eval").body
    if isinstance(value, np.dtype):
        return attribute("np", "bool_" if value.kind == "b" else value.type.__name__)
    if isinstance(value, np.generic):
        exact = float(str(value)) if value.dtype.kind == "f" else value.item()
        return ast.Call(literal(value.dtype), [literal(exact)], [])
    if isinstance(value, type) and issubclass(value, np.generic):
        return attribute("np", value.__name__)
    if value is np.linalg.LinAlgError:
        return ast.Attribute(attribute("np", "linalg"), value.__name__, ast.Load())
    if isinstance(value, type) and issubclass(value, BaseException):
        owner = "" if value.__module__ == "builtins" else f"{value.__module__}."
        return ast.parse(f"{owner}{value.__name__}", mode="eval").body
    if isinstance(value, tuple):
        return ast.Tuple([literal(item) for item in value], ast.Load())
    if isinstance(value, list):
        return ast.List([literal(item) for item in value], ast.Load())
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return ast.Slice(*(None if part is None else literal(part) for part in parts))
    if isinstance(value, complex):
        return _complex(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value)
    if isinstance(value, Function):
        return ast.parse(f"{value.module}.{value.name}", mode="eval").body
    if callable(value):  # an external function: a global name of the generated module
        return name(value.__name__)
    return ast.Constant(value)


def _fstring(text: Text) -> ast.expr:
    parts: list[ast.expr] = []
    for piece in text.pieces:
        if isinstance(piece, str):
            parts.append(ast.Constant(piece))
            continue
        value, conversion, spec = piece
        form = ast.JoinedStr([ast.Constant(spec)]) if spec else None
        parts.append(
            ast.FormattedValue(literal(value), ord(conversion) if conversion else -1, form)
        )
    return ast.JoinedStr(parts)


def _complex(value: complex) -> ast.expr:
    """``1j``, ``-2j`` and ``1.5 - 2j`` if they have the signs of zero of ``value``, else a call."""
    a, b = value.real, value.imag
    imaginary = ast.Constant(complex(0.0, abs(b)))
    if math.isfinite(a) and math.isfinite(b):
        minus, a_minus = math.copysign(1, b) < 0, math.copysign(1, a) < 0
        if a == 0 and a_minus == minus:
            return ast.UnaryOp(ast.USub(), imaginary) if minus else imaginary
        if a != 0 and not (b == 0 and minus):
            return ast.BinOp(_number(a), ast.Sub() if minus else ast.Add(), imaginary)
    return ast.Call(name("complex"), [_number(a), _number(b)], [])


def _number(value: float) -> ast.expr:
    if isinstance(value, float) and not math.isfinite(value):
        special = attribute("np", "nan" if math.isnan(value) else "inf")
        return ast.UnaryOp(ast.USub(), special) if value < 0 else special
    if value < 0 or (value == 0 and math.copysign(1, value) < 0):
        code = _positive(-value)
        if isinstance(code, ast.BinOp):  # -1 / 569
            return ast.BinOp(ast.UnaryOp(ast.USub(), code.left), ast.Div(), code.right)
        return ast.UnaryOp(ast.USub(), code)
    return _positive(value)


def _positive(value: float) -> ast.expr:
    """A number; one of many digits as the fraction that it is, if it is one: ``1 / 569``."""
    if isinstance(value, float) and len(repr(value)) > LONG_NUMBER:
        for top in _TOPS:
            bottom = round(top / value)
            if bottom <= _LARGEST_BOTTOM and bottom and top / bottom == value:
                return ast.BinOp(ast.Constant(top), ast.Div(), ast.Constant(bottom))
    return ast.Constant(value)
