"""Sorts and searches in C, and other functions of each element of an array."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.native.arrays import Arrays
from stcompile.native.kinds import BOOL, FLOAT, INT, Array, Number
from stcompile.native.sizes import size_text
from stcompile.native.values import Value, cast
from stcompile.native.whole import flat, rows_of


def _sorted(
    run: Arrays, node: ast.Call, values: Sequence[Value], given: Mapping[str, Any]
) -> Value:
    """``np.sort`` or ``np.partition`` along an axis."""
    array = values[0]
    memory = run.fresh_memory("sorted", array.array)
    of, source = _ordered(run, node, array)
    rows, places = _rows(run, node, array.array, given)
    target = flat(memory) if array.of == of else f"({of.c} *){memory.code}"
    run.say(f"{run.inline('sort', of)}({', '.join((source, *rows, target, places))});")
    return memory


def _ordered_by(
    run: Arrays, node: ast.Call, values: Sequence[Value], given: Mapping[str, Any]
) -> Value:
    """``np.argsort`` or ``np.argpartition`` along an axis, or ``np.lexsort``: the order by the last
    key, and by the one before where that is equal."""
    keys = values if _name(node) == "lexsort" else values[:1]
    kind = Array(INT, keys[0].dims)
    memory = run.fresh_memory("order", kind)
    rows, places = _rows(run, node, kind, given)
    run.say(f"{run.inline('numbered', INT)}({', '.join((*rows, flat(memory)))});")
    for key in keys:
        of, source = _ordered(run, node, key)
        said = source, *rows, flat(memory), places
        run.say(f"{run.inline('argsort', of)}({', '.join(said)});")
    return memory


def _ordered(run: Arrays, node: ast.Call, array: Value) -> tuple[Number, str]:
    """The type in which the elements of an array are compared, and the elements."""
    if array.of == BOOL:
        return Number(np.dtype("int8")), f"(const int8_t *){array.code}"
    if array.of.dtype.kind not in "if":
        run.refuse(f"`{ast.unparse(node.func)}` of this type has no translation")
    return array.of, flat(array)


def _rows(
    run: Arrays, node: ast.Call, kind: Array, given: Mapping[str, Any]
) -> tuple[tuple[str, str, str], str]:
    """The rows that are sorted, as `rows_of` has them, and memory for the order of one."""
    axis = given.get("axis", -1)
    if axis is None or given.keys() - {"axis", "kind", "stable"}:
        run.refuse(f"`{ast.unparse(node)}` in this order has no translation")
    places = run.fresh_memory("places", Array(INT, (2 * kind.dims[axis],)))
    return rows_of(kind, axis), places.code


def _found(run: Arrays, node: ast.Call, values: Sequence[Value], given: Mapping[str, Any]) -> Value:
    """``np.searchsorted`` or ``np.digitize``, of a number or of each of an array."""
    name = _name(node)
    array, wanted = values if name == "searchsorted" else values[::-1]
    if not isinstance(array.kind, Array) or array.of.dtype.kind not in "if":
        run.refuse(f"`{ast.unparse(node.func)}` of this type has no translation")
    of, before = array.of, (array.code, size_text(array.dims[0]))
    is_right = given.get("side") == "right" or given.get("right", False)
    if np.promote_types(of.dtype, wanted.of.dtype) != of.dtype:
        hint = "convert them before"
        run.refuse(f"`{ast.unparse(node.func)}` of several types has no translation", hint)
    if name == "digitize":
        code = run.code("ValueError", ["bins must be monotonically increasing or decreasing"])
        run.say(f"if (!{run.inline('is_monotonic', of)}({', '.join(before)}))")
        run.say(f"    work->error = work->error ? work->error : {code};")
    after = ("true" if is_right else "false",)
    return _each(run, wanted, run.inline(name, of), of, INT, (before, after))


def _interpolated(
    run: Arrays, node: ast.Call, values: Sequence[Value], given: Mapping[str, Any]
) -> Value:
    """``np.interp`` of a number or of each of an array."""
    x, *points = values
    if any(not isinstance(one.kind, Array) or one.kind.of != FLOAT for one in points):
        run.refuse("`np.interp` of this type has no translation", "convert the points to float64")
    after = *(one.code for one in points), size_text(points[0].dims[0])
    return _each(run, x, run.inline("interp", FLOAT), FLOAT, FLOAT, ((), after))


def _of_floats(
    run: Arrays, node: ast.Call, values: Sequence[Value], given: Mapping[str, Any]
) -> Value:
    """A function of each number of an array of floats."""
    (x,) = values
    if x.of.dtype.kind != "f":
        hint = "convert it to float64 before"
        run.refuse(f"`{ast.unparse(node.func)}` of this type has no translation", hint)
    return _each(run, x, run.inline(_name(node), x.of), x.of, x.of, ((), ()))


def _each(
    run: Arrays,
    x: Value,
    function: str,
    of: Number,
    to: Number,
    others: tuple[Sequence[str], Sequence[str]],
) -> Value:
    """A function of each element of ``x``, which takes numbers ``of`` a type between the others."""

    def called(code: str) -> str:
        element = cast(Value(x.of, code), of).code
        return f"{function}({', '.join((*others[0], element, *others[1]))})"

    if not isinstance(x.kind, Array):
        return Value(to, called(x.code))
    memory = run.fresh_memory("found", Array(to, x.kind.dims))
    at = run.fresh_name("at")
    run.say(f"for (int64_t {at} = 0; {at} < {size_text(x.kind.size)}; {at}++)")
    run.say(f"    {flat(memory, at)} = {called(flat(x, at))};")
    return memory


def each_cast(run: Arrays, array: Value, of: Number) -> Value:
    """An array with its numbers as those of another type."""
    return array if array.of == of else _each(run, array, "", of, of, ((), ()))


def _name(node: ast.Call) -> str:
    """The name of the function that is called, without its module."""
    return ast.unparse(node.func).rpartition(".")[2]


SEARCHING = {
    **dict.fromkeys(("np.sort", "np.partition"), _sorted),
    **dict.fromkeys(("np.argsort", "np.argpartition", "np.lexsort"), _ordered_by),
    "np.searchsorted": _found,
    "np.digitize": _found,
    "np.interp": _interpolated,
    "np.sinc": _of_floats,
}
"""The functions by their names."""
