"""Sorts and searches in C, and other functions of each element of an array."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from stcompile.native.kinds import BOOL, FLOAT, INT, Array, Number
from stcompile.native.sizes import size_text
from stcompile.native.values import Value, cast
from stcompile.native.whole import Call, flat, rows_of
from stcompile.native.writer import Writer


def _sorted(w: Writer, call: Call) -> Value:
    """``np.sort`` or ``np.partition`` along an axis."""
    array = call.values[0]
    memory = w.fresh_memory("sorted", array.of, *array.array.dims)
    of, source = _ordered(w, call, array)
    rows, places = _rows(w, call, array.array)
    target = flat(memory) if array.of == of else f"({of.c} *){memory.code}"
    w.call("sort", of, source, *rows, target, places)
    return memory


def _ordered_by(w: Writer, call: Call) -> Value:
    """``np.argsort`` or ``np.argpartition`` along an axis, or ``np.lexsort``: the order by the last
    key, and by the one before where that is equal."""
    keys = call.values if call.name == "lexsort" else call.values[:1]
    memory = w.fresh_memory("order", INT, *keys[0].dims)
    rows, places = _rows(w, call, memory.array)
    w.call("numbered", INT, *rows, flat(memory))
    for key in keys:
        of, source = _ordered(w, call, key)
        w.call("argsort", of, source, *rows, flat(memory), places)
    return memory


def _ordered(w: Writer, call: Call, array: Value) -> tuple[Number, str]:
    """The type in which the elements of an array are compared, and the elements."""
    if array.of == BOOL:
        return Number(np.dtype("int8")), f"(const int8_t *){array.code}"
    return call.checked(w, array, "if").of, flat(array)


def _rows(w: Writer, call: Call, kind: Array) -> tuple[tuple[str, str, str], str]:
    """The rows that are sorted, as `rows_of` has them, and memory for the order of one."""
    axis = call.given.get("axis", -1)
    if axis is None or call.given.keys() - {"axis", "kind", "stable"}:
        w.refuse_translation(f"`{ast.unparse(call.node)}` in this order")
    return rows_of(kind, axis), w.fresh_memory("places", INT, 2 * kind.dims[axis]).code


def _found(w: Writer, call: Call) -> Value:
    """``np.searchsorted`` or ``np.digitize``, of a number or of each of an array."""
    array, wanted = call.values if call.name == "searchsorted" else call.values[::-1]
    of, before = call.checked(w, array, "if").of, (array.code, size_text(array.dims[0]))
    is_right = call.given.get("side") == "right" or call.given.get("right", False)
    if np.promote_types(of.dtype, wanted.of.dtype) != of.dtype:
        w.refuse_translation(f"`{call.function}` of several types", "convert them before")
    if call.name == "digitize":
        code = w.code("ValueError", "bins must be monotonically increasing or decreasing")
        w.say(f"if (!{w.inline('is_monotonic', of)}({', '.join(before)}))")
        w.say(f"    work->error = work->error ? work->error : {code};")
    after = ("true" if is_right else "false",)
    return _each(w, wanted, w.inline(call.name, of), of, INT, before, after)


def _interpolated(w: Writer, call: Call) -> Value:
    """``np.interp`` of a number or of each of an array."""
    x, *points = call.values
    if any(not isinstance(one.kind, Array) or one.of != FLOAT for one in points):
        w.refuse_translation("`np.interp` of this type", "convert the points to float64")
    after = *(one.code for one in points), size_text(points[0].dims[0])
    return _each(w, x, w.inline("interp", FLOAT), FLOAT, FLOAT, (), after)


def _sinc(w: Writer, call: Call) -> Value:
    """``np.sinc`` of each number of an array of floats."""
    (x,) = call.values
    of = call.checked(w, x).of
    return _each(w, x, w.inline("sinc", of), of, of)


def _each(
    w: Writer,
    x: Value,
    function: str,
    of: Number,
    to: Number,
    before: Sequence[str] = (),
    after: Sequence[str] = (),
) -> Value:
    """A function of each element of ``x``, which takes numbers ``of`` a type between the others."""

    def called(code: str) -> str:
        return f"{function}({', '.join((*before, cast(Value(x.of, code), of).code, *after))})"

    if not isinstance(x.kind, Array):
        return Value(to, called(x.code))
    memory = w.fresh_memory("found", to, *x.dims)
    with w.each(x.kind.size) as (at,):
        w.say(f"{flat(memory, at)} = {called(flat(x, at))};")
    return memory


def each_cast(w: Writer, array: Value, of: Number) -> Value:
    """An array with its numbers as those of another type."""
    return array if array.of == of else _each(w, array, "", of, of)


SEARCHING = {
    **dict.fromkeys(("np.sort", "np.partition"), _sorted),
    **dict.fromkeys(("np.argsort", "np.argpartition", "np.lexsort"), _ordered_by),
    "np.searchsorted": _found,
    "np.digitize": _found,
    "np.interp": _interpolated,
    "np.sinc": _sinc,
}
"""The functions by their names."""
