"""Expressions of generated code in C: names, parts of values, and calls."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

import numpy as np

from stcompile.native.calls import call_of_arrays, gathered, transposed
from stcompile.native.errors import place
from stcompile.native.functions import LOOPED
from stcompile.native.kinds import INT, Array, Number
from stcompile.native.lists import item_of_list
from stcompile.native.number_calls import BUILTIN, numpy_call
from stcompile.native.operators import OPERATORS
from stcompile.native.own_calls import ADDED, is_own, own_call, results_of
from stcompile.native.values import UNKNOWN, Value, as_number, as_shape, cast, literal, static_value
from stcompile.native.writer import Expressions, Writer
from stcompile.wengert.dims import number_of_elements, over

_CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan}


def _constant(w: Writer, node: ast.Constant) -> Value:
    if isinstance(node.value, bool | int | float | complex):
        return literal(node.value)
    return Value(None, "", static=node.value)


def _name(w: Writer, node: ast.Name) -> Value:
    if node.id not in w.env:
        w.refuse(f"the name `{node.id}` is not known")
    return w.env[node.id]


def _tuple(w: Writer, node: ast.Tuple) -> Value:
    values = tuple(w.value(part).known for part in node.elts)
    static = UNKNOWN if any(value is UNKNOWN for value in values) else values
    return Value(None, "", static=static)


# --- parts ---------------------------------------------------------------------------------------


def _attribute(w: Writer, node: ast.Attribute) -> Value:
    if isinstance(node.value, ast.Name) and node.value.id in ("np", "math"):
        if node.attr in _CONSTANTS:
            return literal(_CONSTANTS[node.attr])
        found = getattr(np, node.attr, None)
        if isinstance(found, type):
            return Value(None, "", static=np.dtype(found))
    part = _part_of_call(w, node.value, node.attr)
    if part is not None:
        return part
    owner = w.value(node.value)
    if isinstance(owner.kind, Array):
        facts = {"shape": owner.kind.dims, "ndim": len(owner.kind.dims)}
        facts |= {"dtype": owner.kind.of.dtype, "size": owner.kind.size}
        if node.attr in facts:
            return static_value(facts[node.attr])
        if node.attr in ("T", "mT"):
            return transposed(w, owner, len(owner.dims) if node.attr == "T" else 2)
    if isinstance(owner.kind, Number) and node.attr in ("real", "imag"):
        if owner.kind.dtype.kind != "c":
            return owner if node.attr == "real" else literal(0, owner.kind)
        return Value(owner.kind.part, f"c{node.attr}{owner.kind.suffix}({owner.code})")
    w.refuse_translation(node)


def _part_of_call(w: Writer, call: ast.expr, name: str) -> Value | None:
    """A part of a tuple that a function of NumPy's returns, by its name or its place."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    named = ast.Attribute(call.func, name, ast.Load())
    return call_of_arrays(w, ast.copy_location(ast.Call(named, call.args, call.keywords), call))


def _subscript(w: Writer, node: ast.Subscript) -> Value:
    item = _result_of_call(w, node)
    item = item_of_list(w, node) if item is None else item
    item = _part_of_call(w, node.value, ast.unparse(node.slice)) if item is None else item
    if item is not None:
        return item
    owner = w.value(node.value)
    if isinstance(owner.static, tuple):
        at = w.value(node.slice).static
        if at is not UNKNOWN:
            return static_value(owner.static[at])
    if isinstance(owner.kind, Number) and ast.unparse(node.slice) in ("()", "..."):
        return owner
    if not isinstance(owner.kind, Array):
        w.refuse_translation(node)
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if nodes and all(isinstance(one, ast.Name) and w.value(one).has_axes for one in nodes):
        return gathered(w, owner, [w.value(one) for one in nodes])
    return Value(owner.kind.of, element(w, owner, node.slice))


def _result_of_call(w: Writer, node: ast.Subscript) -> Value | None:
    """A result of a function of the file that has several."""
    call = node.value
    if not isinstance(call, ast.Call) or not is_own(w, call.func, ADDED):
        return None
    name, arguments = ast.unparse(call.func), [w.value(one) for one in call.args]
    if len(w.unit.function(name, arguments).results) == 1:
        return None
    found: Value = results_of(w, name, arguments)[w.value(node.slice).static]
    return found


def element(w: Writer, owner: Value, node: ast.expr) -> str:
    """The text of an element of an array."""
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    values = [w.value(n) for n in nodes if not isinstance(n, ast.Slice)]
    indices = [number for value in values if (number := as_number(value)) is not None]
    if len(indices) != len(owner.dims) or len(indices) != len(nodes):
        w.refuse_translation(f"a part of an array, `[{ast.unparse(node)}]`,")
    if not nodes:
        return f"{owner.code}[0]"
    pairs = zip(indices, owner.dims, strict=True)
    return owner.code + "".join(f"[{place(w, one, length)}]" for one, length in pairs)


# --- calls ---------------------------------------------------------------------------------------


def _call(w: Writer, node: ast.Call) -> Value:
    function = node.func
    if isinstance(function, ast.Name):
        if function.id == "int":
            return cast(w.number(*node.args), INT)  # code before it has looked at the number
        if function.id in BUILTIN:
            return BUILTIN[function.id](w, *map(w.number, node.args))
        return own_call(w, function.id, [w.value(one) for one in node.args])
    assert isinstance(function, ast.Attribute)
    array = call_of_arrays(w, node)
    if array is not None:
        return array
    if isinstance(function.value, ast.Name) and function.value.id in ("np", "math"):
        return _call_of_numpy(w, function, node)
    if function.attr in ("astype", "item"):
        owner = w.number(function.value)
        dtypes = [Number(np.dtype(w.value(one).static)) for one in node.args]
        return cast(owner, *dtypes) if dtypes else owner
    if function.attr == "reshape":
        return _reshaped(w, w.value(function.value), node.args)
    if function.attr in ("conjugate", "conj"):
        return numpy_call(w, "conjugate", [w.number(function.value)])
    if function.attr == "indices":
        w.refuse_translation("a part of an array whose length data decide", LOOPED)
    w.refuse_translation(f"the call `{ast.unparse(node)}`")


def _call_of_numpy(w: Writer, function: ast.Attribute, node: ast.Call) -> Value:
    """A call of a function of numbers, or of `np.asarray`."""
    if function.attr == "asarray" and not node.keywords and len(node.args) == 1:
        return w.value(node.args[0])
    numbers = []
    for argument in node.args:
        number = as_number(w.value(argument))
        if number is None:
            w.refuse(f"`{ast.unparse(function)}` stays a call of NumPy's", LOOPED)
        numbers.append(number)
    return numpy_call(w, function.attr, numbers)


def _reshaped(w: Writer, array: Value, nodes: Sequence[ast.expr]) -> Value:
    """``array.reshape(...)``."""
    shape = nodes[0] if len(nodes) == 1 else ast.Tuple([*nodes], ast.Load())
    dims = w.value(shape).sizes
    others = number_of_elements(tuple(n for n in dims or () if n != -1))
    if isinstance(array.kind, Array) and dims is not None:
        rest = 0 if others == 0 else over(array.kind.size, others)
        known = tuple(n for one in dims if (n := rest if one == -1 else one) is not None)
        if len(known) == len(dims) and number_of_elements(known) == array.kind.size:
            return as_shape(array, known)
    w.refuse_translation("a reshape to lengths that are not known")


EXPRESSIONS: Expressions = {
    **OPERATORS,
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Tuple: _tuple,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Call: _call,
}
"""The translations of expressions, by their classes of the syntax."""
