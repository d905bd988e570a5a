"""Calls that are inlined once: a second call with the same state uses the results of the first.

The result of a function depends on its arguments, on the names of enclosing functions that it
reads, and on everything that they hold. Two calls are the same if this *state* is: the same
variables in arrays and numbers, equal static values, containers of equal contents, with the same
aliases. The first call's results serve the second if it has left the state as it was, has no
effect, and returns nothing but numbers, static values, and arrays and containers that it made; the
second call gets numbers, arrays and containers of its own. Without this, a determinant by minors
would take as many equations as its matrix has permutations.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from stcompile.base.classes import MISSING, is_plain_value
from stcompile.frontend.state.frames import Frame, FunctionNode
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import (
    Affine,
    Array,
    Bound,
    Cell,
    Closure,
    Partial,
    Row,
    Scalar,
    same_number,
)
from stcompile.wengert.ir import Equation, every_equation

Key: TypeAlias = tuple[Any, ...]
_NAMED = (types.FunctionType, types.ModuleType, type, np.ufunc)
_PRINTED = (float, complex)  # 0.0 and -0.0 differ, one NaN is like another


class _Unknown(Exception):
    """Raised if a part of the state, or of the result, cannot be compared or made again."""


@dataclass(frozen=True)
class _Known:
    """A function that makes a call's result again. Objects that the state refers to by identity are
    kept alive."""

    again: Callable[[], Any]
    state: _State


def shared_call(run: Run, frame: Frame, function: Any, stage: Callable[[], Any]) -> Any:
    """The value of ``stage()``, which runs a function's body in a frame made for the call, or its
    earlier value for the same state. ``function`` is the real function, if there is any."""
    arguments = dict(frame.names)
    state = _State(run)
    try:
        before = state.of_call(frame, function, arguments)
    except _Unknown:
        return stage()
    known = run.made.get(before)
    if known is not None:
        return known.again()
    recorder, age = run.recorder, run.age()
    equations, start = recorder.equations, len(recorder.equations)
    result = stage()
    if recorder.equations is equations and all(map(_is_shared, equations[start:])):
        try:
            again = _again(run, result, age, {id(value) for value in arguments.values()})
            if _State(run).of_call(frame, function, arguments) == before:
                run.made[before] = _Known(again, state)
        except _Unknown:
            pass  # this call is staged each time
    return result


def _is_shared(equation: Equation) -> bool:
    """False for effects, and for the user's rules: two calls have two cotangents, and a rule may
    treat them differently."""
    every = every_equation([equation])
    return not any(one.effects or one.params.get("adjoint") is not None for one in every)


class _State:
    """A walk through everything that a call can read. Objects with an identity are numbered in the
    order of the walk."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.met: dict[int, tuple[int, Any]] = {}

    def of_call(self, frame: Frame, function: Any, arguments: Mapping[str, Any]) -> Key:
        """The state that a call depends on."""
        run = self.run
        errstate = run.frame.errstate if frame.caller is not None else ()
        itself = self._named(frame.node if function is None else function)
        names = tuple((name, self._key(value)) for name, value in arguments.items())
        around = self._around(frame.node, frame.parent)
        outside = run.outside.version  # of what objects from outside hold
        return ("call", itself, run.depth, run.section, errstate, names, around, outside)

    def _around(self, node: FunctionNode, parent: Frame | None) -> Key:
        """The values, in the frames around a function, of the names that it reads."""
        if parent is None:
            return ()
        owners = ((name, parent.owner_of(name)) for name in _names_in(node))
        return tuple(
            (name, self._key(owner.names.get(name, MISSING))) for name, owner in owners if owner
        )

    def _key(self, value: Any) -> Key:
        kind = type(value)
        if isinstance(value, np.generic) or kind in _PRINTED:
            return (kind, repr(value))
        if value is ... or is_plain_value(value):
            return (kind, value)
        if kind is Scalar:
            return ("number", value.atom)
        if kind is Affine:
            return ("affine", value.offset, value.terms, value.low, value.high)
        if kind is Row:
            return ("row", value.atom, value.index, value.kept)
        if kind is Array:
            return ("array", self._cell(value.cell), value.type, value.path)
        if kind is tuple:
            return (kind, *map(self._key, value))
        if kind is slice:
            return (kind, *map(self._key, (value.start, value.stop, value.step)))
        if value is MISSING or isinstance(value, _NAMED) or _is_builtin(value):
            return self._named(value)
        if id(value) in self.met:
            return ("again", self.met[id(value)][0])
        self._number(value)
        if kind is list:
            return (kind, *map(self._key, value))
        if kind is dict:
            return (kind, *((self._key(k), self._key(item)) for k, item in value.items()))
        if kind is Closure:
            defaults, around = self._key(value.defaults), self._around(value.node, value.frame)
            return ("closure", self._named(value.node), defaults, around)
        if kind is Bound:
            return ("bound", self._key(value.function), self._key(value.receiver))
        if kind is Partial:
            parts = (value.function, value.arguments, value.keywords)
            return ("partial", *map(self._key, parts))
        raise _Unknown

    def _cell(self, cell: Cell) -> Key:
        contents = self.run.elements.key(cell.variable)
        strides = self.run.layouts.of(cell.made)
        return (self._number(cell), contents, strides, cell.frozen, cell.lent, cell.depth)

    def _named(self, value: Any) -> Key:
        self._number(value)
        return ("named", id(value))

    def _number(self, value: Any) -> int:
        return self.met.setdefault(id(value), (len(self.met), value))[0]


def _is_builtin(value: Any) -> bool:
    """True for a function of a module's that is written in C."""
    is_one = isinstance(value, types.BuiltinFunctionType)
    return is_one and isinstance(value.__self__, types.ModuleType)


@lru_cache(maxsize=1024)
def _names_in(node: FunctionNode) -> tuple[str, ...]:
    """The names in a function and in its nested functions."""
    return tuple(dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name)))


def _again(run: Run, value: Any, age: int, met: set[int]) -> Callable[[], Any]:
    """A function that makes a value again. Arrays and containers must have been made after ``age``
    and have no alias: they are made anew, with their present contents. Numbers are made anew as
    well, except for arguments, whose identities are in ``met``: two calls give two objects."""
    kind = type(value)
    if kind in (Scalar, Affine, Row) and id(value) not in met:
        return lambda: same_number(value)
    if kind in _PRINTED:
        return lambda: kind(repr(value))
    if value is ... or is_plain_value(value) or kind in (Scalar, Affine, Row):
        return lambda: value
    if kind is tuple:
        items = [_again(run, item, age, met) for item in value]
        return lambda: tuple(make() for make in items)
    owned = run.owned.get(id(value))
    born = value.cell.born if kind is Array else owned.born if owned is not None else 0
    identity = id(value.cell if kind is Array else value)
    if born <= age or identity in met:
        raise _Unknown
    met.add(identity)
    if kind is Array and not value.path and not value.cell.frozen:
        variable, type_ = value.cell.variable, value.type

        def array() -> Array:
            return Array(Cell(variable, depth=run.depth, born=run.age()), type_)

        return array
    if kind is list:
        parts = [_again(run, item, age, met) for item in value]
        return lambda: run.own([make() for make in parts])
    if kind is dict:
        named = {key: _again(run, item, age, met) for key, item in value.items()}
        return lambda: run.own({key: make() for key, make in named.items()})
    raise _Unknown
