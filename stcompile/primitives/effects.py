"""Primitives that no pass may drop, repeat or reorder: they have effects and no outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stcompile.primitives.base import (
    OperandError,
    Primitive,
    Types,
    require_array,
    require_assignable,
)


def _print(types: Types, params: Mapping[str, Any]) -> Types:
    holes = params["parts"].count(None)
    if holes != len(types):
        raise OperandError(f"print: {len(types)} values for {holes} places")
    return ()


def _assert(types: Types, params: Mapping[str, Any]) -> Types:
    (condition,) = types
    if condition.size != 1:
        raise OperandError(f"assert: the truth of shape {condition.dims} is ambiguous")
    return ()


def _raise(types: Types, params: Mapping[str, Any]) -> Types:
    if types:
        raise OperandError("raise: takes no operands")
    return ()


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
