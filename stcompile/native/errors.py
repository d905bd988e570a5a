"""Errors of translated functions, which are codes: what the code raises, and indices."""

from __future__ import annotations

import ast
from functools import partial

from stcompile.native.bindings import Part
from stcompile.native.kinds import INT
from stcompile.native.sizes import size_text
from stcompile.native.values import Value, cast
from stcompile.native.writer import Writer
from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Size

SAID = 3  # numbers that the message of an error may have


def raised(w: Writer, node: ast.Raise) -> None:
    """Note the code of an error, and the numbers that its message has."""
    if not isinstance(node.exc, ast.Call):
        w.refuse_translation(node)
    w.line = node.lineno
    parts: list[Part] = []
    said: list[str] = []
    for part in map(partial(_said, w), node.exc.args):
        if isinstance(part, Value):
            if part.of.dtype.kind not in "iub" and w.unit.says_numbers:
                w.refuse_translation(node)
            parts.append((len(said),))
            said.append(cast(part, INT).code)
        else:
            parts.append(part)
    code = w.code(ast.unparse(node.exc.func).rpartition(".")[2], *parts)
    if said and w.unit.says_numbers:
        if len(said) > SAID:
            w.refuse_translation(node)
        numbers = [f"work->said[{at}] = {one};" for at, one in enumerate(said)]
        w.say(" ".join(["if (!work->error) {", *numbers, f"work->error = {code};", "}"]))
    else:
        w.say(f"work->error = work->error ? work->error : {code};")


def _said(w: Writer, node: ast.expr) -> str | int | Value:
    """A part of the message of an error: a text, or a number of a call."""
    if isinstance(node, ast.FormattedValue):
        return _said(w, node.value)
    if isinstance(node, ast.JoinedStr) and not w.unit.says_numbers:
        parts = map(partial(_said, w), node.values)
        return "".join("..." if isinstance(one, Value) else str(one) for one in parts)
    value = w.value(node)
    if isinstance(value.static, str | int):
        return value.static
    return value.code if value.length is not None and not w.unit.says_numbers else value


def place(w: Writer, index: Value, length: Size) -> str:
    """An index as a place on an axis, checked if it may be out of range."""
    known = index.static if isinstance(index.static, int) else None
    if known is not None and least(length) >= max(known + 1, -known):
        return size_text(known if known >= 0 else known + length)
    index, limit = cast(index, INT), size_text(length)
    if index.is_counter and known is None:
        return index.code
    if not w.unit.is_checked(w.node):
        return f"{w.inline('wrapped', INT)}({index.code}, {limit})"
    code = w.code("IndexError", "index is out of bounds")
    text = f"{w.inline('place', INT)}({index.code}, {limit}, &work->error, {code})"
    w.places[text] = index.code, limit
    return text
