"""Python's own logic: ``not``, ``and`` and ``or`` of conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stcompile.wengert.primitives.base import OperandError, Primitive, Types, require_count
from stcompile.wengert.types import Type

BOOL = Type.python(bool)


def _not(types: Types, params: Mapping[str, Any]) -> Types:
    require_count("not", types, 1)
    if types[0].size != 1:
        raise OperandError(f"not: the truth of shape {types[0].dims} is ambiguous")
    return (BOOL,)


def _both(types: Types, params: Mapping[str, Any]) -> Types:
    require_count("and", types, 2)
    for t in types:
        if t.dtype.kind != "b" or t.kind not in ("python", "scalar"):
            raise OperandError(f"and: takes conditions, not {t}")
    return (BOOL if types == (BOOL, BOOL) else Type.scalar(bool),)


def _select(types: Types, params: Mapping[str, Any]) -> Types:
    require_count("select", types, 3)
    condition, x, y = types
    if condition.dtype.kind != "b" or any(t.kind not in ("python", "scalar") for t in types):
        raise OperandError(f"select: takes a condition and numbers, not {types}")
    if x != y:
        raise OperandError(f"select: takes numbers of one type, not {x} and {y}")
    return (x,)


LOGIC: tuple[Primitive, ...] = (
    Primitive("not", _not),
    Primitive("and", _both),
    Primitive("or", _both),
    Primitive("select", _select),  # `where` of numbers
)
