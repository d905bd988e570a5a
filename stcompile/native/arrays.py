"""Arrays that expressions make: their kinds, and what they are filled with."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np

from stcompile.native.functions import LOOPED
from stcompile.native.kinds import BOOL, INT, Array, Number
from stcompile.native.operators import binary
from stcompile.native.values import UNKNOWN, Value, cast, literal
from stcompile.native.writer import COUNTER, Writer

Filled: TypeAlias = tuple[Array, Value | None]  # a kind, and what the array is filled with


def made_array(w: Writer, node: ast.expr) -> Filled | None:
    """The kind of an array that an expression makes, and what it is filled with."""
    if not isinstance(node, ast.Call):
        return None
    source = _copied(node)
    if source is not None:
        value = w.value(source)
        return (value.kind, value) if isinstance(value.kind, Array) else None
    name = ast.unparse(node.func)
    dtypes = [one.value for one in node.keywords if one.arg == "dtype"]
    if name == "np.arange":
        values = [w.value(one) for one in node.args]
        return _counted(w, values, [w.value(one).static for one in dtypes])
    if name not in ("np.empty", "np.zeros", "np.ones", "np.full"):
        return None
    dims = w.value(node.args[0]).sizes
    if dims is None:
        _refuse_length(w)
    dtypes += node.args[2:] if name == "np.full" else node.args[1:]
    kind = Array(Number(np.dtype(w.value(dtypes[0]).static if dtypes else float)), dims)
    if name == "np.empty":  # what has no value on a path is copied, and booleans have two values
        is_filled = not dims or (kind.of == BOOL and not kind.is_named)
        return kind, literal(0, kind.of) if is_filled else None
    if name == "np.full":
        return kind, cast(w.number(node.args[1]), kind.of)
    return kind, literal(int(name == "np.ones"), kind.of)


def _counted(w: Writer, values: Sequence[Value], dtypes: Sequence[Any]) -> Filled:
    """The kind of ``np.arange`` of known numbers, and what it is filled with."""
    if any(value.length is not None for value in values):
        return _counted_to(w, values, Number(np.dtype(dtypes[0])) if dtypes else INT)
    if any(value.static is UNKNOWN for value in values):
        _refuse_length(w)
    whole = np.arange(*(v.static for v in values), dtype=dtypes[0] if dtypes else None)
    kind = Array(Number(whole.dtype), whole.shape)
    first = whole[0].item() if whole.size else 0
    step = (whole[1] - whole[0]).item() if whole.size > 1 else 1
    at = cast(Value(INT, COUNTER), kind.of)
    if (first, step) == (0, 1):
        return kind, at
    moved = binary(w, ast.Mult, at, literal(step, kind.of))
    return kind, binary(w, ast.Add, literal(first, kind.of), moved)


def _counted_to(w: Writer, values: Sequence[Value], of: Number) -> Filled:
    """The kind of ``np.arange`` of lengths that have names, and what it is filled with."""
    first, last, *others = values if len(values) > 1 else [literal(0), *values]
    if first.size is None or last.size is None or others:
        _refuse_length(w)
    moved = binary(w, ast.Add, first, Value(INT, COUNTER))
    return Array(of, (last.size - first.size,)), cast(moved, of)


def _copied(node: ast.Call) -> ast.expr | None:
    """The array that a call copies."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
        return node.func.value
    is_copy = ast.unparse(node.func) in ("np.copy", "np.array") and len(node.args) == 1
    return node.args[0] if is_copy and not isinstance(node.args[0], ast.List) else None


def _refuse_length(w: Writer) -> NoReturn:
    w.refuse_translation("an array whose length only the run knows", LOOPED)
