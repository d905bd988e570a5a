"""Code that draws arguments like those of one call: the same structure, shapes and dtypes.

For an array of floats only its mean, standard deviation and range are kept, for an array of
integers its range.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.fields import Fields
from stcompile.base.strides import memory_order
from stcompile.code.literals import attribute, literal, name
from stcompile.emit.results import namespace
from stcompile.wengert.types import is_generator

SPREAD = 0.01  # for a differentiated array whose elements are all equal: it has to vary


def example(values: Mapping[str, Any], moved: Iterable[str], zero: Iterable[str]) -> ast.expr:
    """A dict of arguments by name, drawn with a generator ``rng``. Arguments ``moved`` are
    differentiated; arguments named in ``zero`` start as zeros."""
    parts = [
        _zeros(value) if key in zero else _value(value, key in moved)
        for key, value in values.items()
    ]
    return ast.Dict([literal(key) for key in values], parts)


def _value(value: Any, is_moved: bool) -> ast.expr:
    parts = trees.children(value)
    if parts is None:
        return _leaf(value, is_moved)
    return structure(value, [_value(part, is_moved) for _, part in parts])


def _zeros(value: Any) -> ast.expr:
    """A state before the first step."""
    parts = trees.children(value)
    if parts is not None:
        return structure(value, [_zeros(part) for _, part in parts])
    if not isinstance(value, np.ndarray):
        return literal(None)
    zeros = [literal(value.shape), literal(value.dtype)]
    return ast.Call(attribute("np", "zeros"), zeros, [])


def structure(value: Any, parts: list[ast.expr]) -> ast.expr:
    """A structure of these parts. A new class of the same name takes the place of a user's
    class."""
    if type(value) is dict:
        return ast.Dict([literal(key) for key in value], parts)
    if type(value) is list:
        return ast.List(parts, ast.Load())
    if type(value) is tuple:
        return ast.Tuple(parts, ast.Load())
    fields = [str(key) for (_, key), _ in trees.children(value) or ()]
    if isinstance(value, SimpleNamespace | Fields):
        return namespace(fields, parts)
    maker = attribute("collections", "namedtuple")
    if not trees.is_namedtuple(value):
        maker = attribute("dataclasses", "make_dataclass")
    made = ast.Call(maker, [literal(type(value).__name__), literal(fields)], [])
    keywords = [ast.keyword(field, part) for field, part in zip(fields, parts, strict=True)]
    return ast.Call(made, [], keywords)


def _leaf(value: Any, is_moved: bool) -> ast.expr:
    if is_generator(value):
        seeded = "default_rng" if isinstance(value, np.random.Generator) else "RandomState"
        random = attribute("np", "random")
        return ast.Call(ast.Attribute(random, seeded, ast.Load()), [literal(0)], [])
    if isinstance(value, np.ndarray):
        return _array(value, is_moved)
    if isinstance(value, float | complex | np.inexact):
        item = ast.Subscript(_array(np.asarray(value), is_moved), literal(()), ast.Load())
        kind = type(value).__name__
        python = name(kind) if type(value) in (float, complex) else literal(np.dtype(type(value)))
        return ast.Call(python, [item], [])
    return literal(value) if trees.is_plain_key(value) else literal(None)


def _array(value: np.ndarray[Any, Any], is_moved: bool) -> ast.expr:
    order = memory_order(value)
    if order is None or order == tuple(range(value.ndim)):
        return _drawn(value, is_moved)
    inverse = tuple(int(axis) for axis in np.argsort(order))
    drawn = _drawn(value.transpose(order), is_moved)
    return ast.Call(ast.Attribute(drawn, "transpose", ast.Load()), [literal(inverse)], [])


def _drawn(value: np.ndarray[Any, Any], is_moved: bool) -> ast.expr:
    dtype = literal(value.dtype)
    if value.dtype.kind == "c":
        parts = [_drawn(part, is_moved) for part in (value.real, value.imag)]
        imaginary = ast.BinOp(literal(1j), ast.Mult(), parts[1])
        both = ast.BinOp(parts[0], ast.Add(), imaginary)
        return ast.Call(attribute("np", "asarray"), [both, dtype], [])
    if value.dtype.kind != "f":
        ends = (int(value.min()), int(value.max())) if value.size else (0, 0)
        return _call("integers", value.shape, dtype, *ends)
    finite = value[np.isfinite(value)].astype(np.float64)
    if not finite.size:
        finite = np.array([-1.0, 1.0])
    low, high = float(finite.min()), float(finite.max())
    if low < high and not is_moved and np.all(finite == np.round(finite)):
        drawn = _call("integers", value.shape, literal(np.dtype(np.int64)), int(low), int(high))
        return ast.Call(ast.Attribute(drawn, "astype", ast.Load()), [dtype], [])
    mean, spread = float(finite.mean()), float(finite.std())
    if low == high and is_moved:
        spread = SPREAD * max(abs(mean), 1.0)
        low, high = mean - 3 * spread, mean + 3 * spread
    bounds = _rounded(low, math.ceil), _rounded(high, math.floor)
    if bounds[0] > bounds[1]:
        bounds = low, high
    return _call("reals", value.shape, dtype, _short(mean), _short(spread), *bounds)


def _call(function: str, shape: tuple[int, ...], dtype: ast.expr, *numbers: float) -> ast.expr:
    arguments = [name("rng"), literal(shape), dtype, *map(literal, numbers)]
    return ast.Call(name(function), arguments, [])


def _short(number: float) -> float:
    return float(f"{number:.4g}")


def _rounded(number: float, towards: Any) -> float:
    """The number with four digits, rounded to one side."""
    if number == 0 or not math.isfinite(number):
        return number
    unit = 10.0 ** (math.floor(math.log10(abs(number))) - 3)
    return float(f"{towards(number / unit) * unit:.4g}")
