"""Errors of translated functions, which are codes: what the code raises, and indices."""

from __future__ import annotations

import ast
from functools import partial

from stcompile.native.arrays import Arrays
from stcompile.native.bindings import Part
from stcompile.native.kinds import INT
from stcompile.native.sizes import size_text
from stcompile.native.values import UNKNOWN, Value, cast
from stcompile.wengert.dims import Size

SAID = 3  # numbers that the message of an error may have


def raised(run: Arrays, node: ast.Raise) -> None:
    """Note the code of an error, and the numbers that its message has."""
    if not isinstance(node.exc, ast.Call):
        run.refuse(f"`{ast.unparse(node)}` has no translation")
    run.line = node.lineno
    parts: list[Part] = []
    said: list[str] = []
    for part in map(partial(_said, run), node.exc.args):
        if isinstance(part, Value):
            if part.of.dtype.kind not in "iub" and run.unit.says_numbers:
                run.refuse(f"`{ast.unparse(node)}` has no translation")
            parts.append((len(said),))
            said.append(cast(part, INT).code)
        else:
            parts.append(part)
    code = run.code(ast.unparse(node.exc.func).rpartition(".")[2], parts)
    if said and run.unit.says_numbers:
        if len(said) > SAID:
            run.refuse(f"`{ast.unparse(node)}` has no translation")
        numbers = [f"work->said[{at}] = {one};" for at, one in enumerate(said)]
        run.say(" ".join(["if (!work->error) {", *numbers, f"work->error = {code};", "}"]))
    else:
        run.say(f"work->error = work->error ? work->error : {code};")


def _said(run: Arrays, node: ast.expr) -> str | int | Value:
    """A part of the message of an error: a text, or a number of a call."""
    if isinstance(node, ast.FormattedValue):
        return _said(run, node.value)
    if isinstance(node, ast.JoinedStr) and not run.unit.says_numbers:
        parts = map(partial(_said, run), node.values)
        return "".join("..." if isinstance(one, Value) else str(one) for one in parts)
    value = run.value(node)
    if isinstance(value.static, str | int):
        return value.static
    return value.code if value.length is not None and not run.unit.says_numbers else value


def place(run: Arrays, index: Value, length: Size) -> str:
    """An index as a place on an axis, checked if it may be out of range."""
    if isinstance(index.static, int):
        return size_text(index.static if index.static >= 0 else index.static + length)
    index, limit = cast(index, INT), size_text(length)
    if index.is_counter:
        return index.code
    if not run.unit.is_checked(run.node):
        return f"{run.unit.inline('wrapped', INT)}({index.code}, {limit})"
    code = run.code("IndexError", ["index is out of bounds"])
    text = f"{run.unit.inline('place', INT)}({index.code}, {limit}, &work->error, {code})"
    run.places[text] = index.code, limit
    return text


def whole(run: Arrays, value: Value) -> Value:
    """``int(value)``: an error for NaN and for what has no place in 64 bits, as in Python. Kernels
    convert like Numba, which does not ask."""
    if run.unit.says_numbers or value.of.dtype.kind != "f" or value.static is not UNKNOWN:
        return cast(value, INT)
    code = run.code("ValueError", ["cannot convert NaN or so large a number to an integer"])
    return Value(INT, f"{run.unit.inline('int_of', value.of)}({value.code}, &work->error, {code})")
