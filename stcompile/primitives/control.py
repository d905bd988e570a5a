"""Control flow: equations with a closed sub-program among their params."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stcompile.ir import Program
from stcompile.primitives.base import OperandError, Primitive, Types
from stcompile.types import Type

COUNTER = Type.python(int)


def _fit(name: str, given: Types, wanted: Types) -> None:
    if given != wanted:
        raise OperandError(f"{name}: operands {given} for parameters {wanted}")


def _call(types: Types, params: Mapping[str, Any]) -> Types:
    program: Program = params["program"]
    _fit(params["name"] or "call", types, program.types)
    return tuple(atom.type for atom in program.outputs)


def sliced(t: Type) -> Type:
    """The type of one step of an ``xs`` port: axis 0 taken away, as ``xs[i]`` does."""
    if t.kind != "array" or not t.dims:
        raise OperandError(f"loop: takes arrays to step through, not {t}")
    return Type.array(t.dtype, t.dims[1:]) if t.dims[1:] else Type.scalar(t.dtype)


def _loop(types: Types, params: Mapping[str, Any]) -> Types:
    body: Program = params["body"]
    constants, carry, length = params["constants"], params["carry"], params["length"]
    fixed, carried, xs = (
        types[:constants],
        types[constants : constants + carry],
        types[constants + carry :],
    )
    for x in xs:
        if x.dims[:1] != (length,):
            raise OperandError(f"loop: {x} does not have {length} steps")
    _fit("loop", (*fixed, COUNTER, *carried, *map(sliced, xs)), body.types)
    results = tuple(atom.type for atom in body.outputs)
    if results[:carry] != carried:
        raise OperandError(f"loop: carries {carried} in and {results[:carry]} out")
    stacked = tuple(Type.array(y.dtype, (length, *y.dims)) for y in results[carry:])
    return (*carried, *stacked)


CONTROL: tuple[Primitive, ...] = (Primitive("call", _call), Primitive("loop", _loop))
