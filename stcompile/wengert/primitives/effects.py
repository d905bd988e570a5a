"""Primitives with effects and no outputs: no pass may drop, repeat or reorder them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stcompile.wengert.primitives.base import (
    OperandError,
    Primitive,
    Types,
    require_array,
    require_assignable,
)


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


def _store(types: Types, params: Mapping[str, Any]) -> Types:
    target, v = types
    require_array("store", target)
    require_assignable("store", v, target.dtype, target.dims)
    return ()


EFFECTS: tuple[Primitive, ...] = (
    Primitive("print", _print, effects=("print",)),
    Primitive("assert", _assert, effects=("raise",)),
    Primitive("raise", _raise, effects=("raise",)),
    Primitive("store", _store, effects=("write",)),
)
