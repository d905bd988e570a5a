"""Captured arrays and generators as literals of an exported file."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from stcompile.base.errors import ExportError
from stcompile.base.strides import memory_order
from stcompile.code.literals import attribute, literal, name
from stcompile.wengert.generators import state_of
from stcompile.wengert.ir import Variable
from stcompile.wengert.staged import Hidden, Staged
from stcompile.wengert.types import is_generator

MOST = 1000  # elements of an array that is written as a literal


class Saved:
    """The values that the functions of one file capture, each under one name: ``statements`` make
    them, and ``generators`` are the names of the random generators among them."""

    def __init__(self) -> None:
        self.statements: list[ast.stmt] = []
        self.generators: list[str] = []
        self._names: dict[Hashable, str] = {}

    def defaults(self, staged: Staged) -> Mapping[Variable, str]:
        """The names of the values that a staged call captures; `ExportError` if one cannot be
        saved. Numbers have no name: they are written as the defaults."""
        changed = {e.inputs[0] for e in staged.program.equations if e.primitive == "store"}
        for hidden in staged.hidden:
            if hidden.variable in changed:
                raise ExportError(
                    f"{hidden.place.description} is captured, and changed by each call",
                    hint="make it an argument of the function",
                )
        return {
            hidden.variable: self._name_of(hidden)
            for hidden in staged.hidden
            if hidden.variable.type.kind in ("array", "object")
        }

    def constant(self, wish: str, value: np.ndarray[Any, Any]) -> str:
        """The name of a constant array, which is saved."""
        key = value.dtype, value.shape, value.tobytes()
        if key not in self._names:
            self._names[key] = own = self._free(wish)
            self.statements.append(
                ast.Assign([ast.Name(own, ast.Store())], array_code(value), lineno=0)
            )
        return self._names[key]

    def _name_of(self, hidden: Hidden) -> str:
        if hidden.place not in self._names:
            own = self._free(f"saved_{hidden.variable.name.replace('.', '_')}")
            self._names[hidden.place] = own
            self._save(own, hidden)
        return self._names[hidden.place]

    def _free(self, own: str) -> str:
        taken = self._names.values()
        while own in taken:
            own += "_"
        return own

    def _save(self, own: str, hidden: Hidden) -> None:
        value = hidden.read()
        target = ast.Name(own, ast.Store())
        if not is_generator(value):
            if value.size > MOST:
                raise ExportError(
                    f"the array {hidden.place.description} of shape {value.shape} is captured, and "
                    "too large to be written into a file",
                    hint="make it an argument of the function",
                )
            self.statements.append(ast.Assign([target], array_code(value), lineno=0))
            return
        self.generators.append(own)
        self.statements += generator_code(own, value, state_of(value))


def generator_code(own: str, value: Any, state: Any) -> list[ast.stmt]:
    """Statements that make a generator like one, in a state of it, under a name."""
    target = ast.Name(own, ast.Store())
    is_new = isinstance(value, np.random.Generator)
    bits = ast.Call(_random(state["bit_generator"]), [literal(0)], [])
    made = ast.Call(_random(type(value).__name__), [bits], [])
    statements: list[ast.stmt] = [ast.Assign([target], made, lineno=0)]
    if is_new:
        place = ast.Attribute(attribute(own, "bit_generator"), "state", ast.Store())
        statements.append(ast.Assign([place], _state(state), lineno=0))
    else:
        call = ast.Call(attribute(own, "set_state"), [_state(state)], [])
        statements.append(ast.Expr(call))
    return statements


def _random(member: str) -> ast.expr:
    return ast.Attribute(attribute("np", "random"), member, ast.Load())


def _state(value: Any) -> ast.expr:
    """The state of a generator: nested dicts of strings, integers and arrays."""
    if isinstance(value, dict):
        keys: list[ast.expr | None] = [literal(key) for key in value]
        return ast.Dict(keys, [_state(part) for part in value.values()])
    return array_code(value) if isinstance(value, np.ndarray) else literal(value)


def array_code(value: np.ndarray[Any, Any]) -> ast.expr:
    """An array with its values, its dtype, and its axes in the same order in memory."""
    order = memory_order(value) or tuple(range(value.ndim))
    stored = value.transpose(order)
    code: ast.expr
    if value.size:
        code = ast.Call(attribute("np", "array"), [_items(stored), literal(value.dtype)], [])
    else:
        code = ast.Call(attribute("np", "empty"), [literal(stored.shape), literal(value.dtype)], [])
    if order == tuple(range(value.ndim)):
        return code
    inverse = tuple(int(axis) for axis in np.argsort(order))
    return ast.Call(ast.Attribute(code, "transpose", ast.Load()), [literal(inverse)], [])


def _items(value: np.ndarray[Any, Any]) -> ast.expr:
    """Nested lists of the shortest numbers that give the same values."""
    if value.ndim:
        return ast.List([_items(part) for part in map(np.asarray, value)], ast.Load())
    number = value[()]
    return literal(float(str(number)) if value.dtype.kind == "f" else number.item())


def called_with(function: str, arguments: list[ast.expr], **keywords: Any) -> ast.expr:
    """The call of a function."""
    named = [ast.keyword(key, literal(value)) for key, value in keywords.items()]
    return ast.Call(name(function), arguments, named)
