"""Primitives with effects: no pass may drop, repeat or reorder them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stcompile.wengert.ir import Program, every_equation
from stcompile.wengert.primitives.base import (
    OperandError,
    Primitive,
    Types,
    require_array,
    require_assignable,
    require_count,
)
from stcompile.wengert.types import Type


def _print(types: Types, params: Mapping[str, Any]) -> Types:
    return _shown("print", types, params["parts"])


def _shown(name: str, types: Types, parts: tuple[Any, ...]) -> Types:
    """Check the parts: each None takes a value, and so does each field of a text, which is a
    tuple."""
    holes = 0
    for part in parts:
        fields = [p for p in part if isinstance(p, tuple)] if isinstance(part, tuple) else []
        holes += len(fields) + (part is None)
    if holes != len(types):
        raise OperandError(f"{name}: {len(types)} values for {holes} places")
    return ()


def _assert(types: Types, params: Mapping[str, Any]) -> Types:
    condition, *shown = types
    if condition.size != 1:
        raise OperandError(f"assert: the truth of shape {condition.dims} is ambiguous")
    return _shown("assert", tuple(shown), params["message"])


def _raise(types: Types, params: Mapping[str, Any]) -> Types:
    return _shown("raise", types, params["arguments"])


def _warn(types: Types, params: Mapping[str, Any]) -> Types:
    return _shown("warn", types, params["parts"])


def _log(types: Types, params: Mapping[str, Any]) -> Types:
    return _shown("log_message", types, params["parts"])


def _clock(types: Types, params: Mapping[str, Any]) -> Types:
    require_count("clock", types, 0)
    return (Type.python(float),)


def _store(types: Types, params: Mapping[str, Any]) -> Types:
    target, v = types
    require_array("store", target)
    require_assignable("store", v, target.dtype, target.dims)
    return ()


EFFECTS: tuple[Primitive, ...] = (
    Primitive("print", _print, effects=("print",)),
    Primitive("warn", _warn, effects=("print",)),
    Primitive("log_message", _log, effects=("print",)),
    Primitive("clock", _clock, effects=("print",)),
    Primitive("assert", _assert, effects=("raise",)),
    Primitive("raise", _raise, effects=("raise",)),
    Primitive("store", _store, effects=("write",)),
)

_MODULES = {"warn": "warnings", "log_message": "logging", "clock": "time"}


def effect_modules(program: Program) -> tuple[str, ...]:
    """The modules that the effects of a program are functions of, and those of its errors."""
    found: set[str] = set()
    for equation in every_equation(program.equations):
        found |= {_MODULES[equation.primitive]} if equation.primitive in _MODULES else set()
        if equation.primitive == "raise":
            found |= {equation.params["error"].rpartition(".")[0]} - {""}
    return tuple(sorted(found))
