"""Tangents and cotangents: values in the types of the variables that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stcompile.base.location import NOWHERE, Location
from stcompile.wengert.dims import Sizes, broadcast
from stcompile.wengert.ir import Atom, Constant, Program, Variable
from stcompile.wengert.primitives.control import undefined
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.types import Type


class Vectors:
    """Records the linear algebra of tangents and cotangents, at ``location``."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.location: Location = NOWHERE

    def record_all(
        self, primitive: str, inputs: tuple[Atom, ...], params: Mapping[str, Any]
    ) -> tuple[Variable, ...]:
        return self.recorder.record(primitive, inputs, self.location, params)

    def returned(self, cotangent: Atom, to: Type) -> Atom:
        """A cotangent in the shape and dtype of its variable: axes that were broadcast are summed,
        and a cast is undone. A real variable gets the real part."""
        if cotangent.type.dtype.kind == "c" and to.dtype.kind != "c":
            cotangent = self.record("real", cotangent)
        dims = cotangent.type.dims
        if dims != to.dims:
            extra = len(dims) - len(to.dims)
            spread = [
                axis
                for axis in range(len(dims))
                if axis < extra or (to.dims[axis - extra] == 1 and dims[axis] != 1)
            ]
            if extra < 0 or not _broadcasts(to.dims, dims):
                cotangent = self.record("broadcast_to", cotangent, shape=to.dims)
            else:
                cotangent = self.record("sum", cotangent, axis=tuple(spread), keepdims=False)
                if cotangent.type.dims != to.dims:
                    cotangent = self.record("reshape", cotangent, shape=to.dims)
        if isinstance(cotangent, Constant) and to.dtype.kind == "c":
            cotangent = Constant(_number(to)(cotangent.value))
        if cotangent.type.dtype != to.dtype:
            primitive = "to_python" if to.kind == "python" else "cast"
            cotangent = self.record(primitive, cotangent, dtype=to.dtype)
        if to.kind == "array" and cotangent.type.kind != "array":
            cotangent = self.record("asarray", cotangent)
        elif to.kind != "array" and cotangent.type.kind == "array":
            cotangent = self.record("to_scalar", cotangent)
        return cotangent

    def zeros(self, type: Type) -> Atom:
        if type.kind == "stack":  # from a branch that has no cotangent: it is never read
            return self.recorder.record("undef", (), self.location, undefined(type))[0]
        if type.kind == "array":
            return self.record("full", Constant(0), shape=type.dims, dtype=type.dtype)
        is_weak = type.kind == "python" and type.dtype.kind != "c"
        return Constant(0.0 if is_weak else _number(type)(0))

    def record(self, primitive: str, *inputs: Atom, **params: Any) -> Variable:
        (output,) = self.recorder.record(primitive, inputs, self.location, params)
        return output

    def exactly(self, vector: Atom, to: Type) -> Atom:
        """Convert a vector to exactly the given type, its kind included, so that control flow can
        hand it on."""
        returned = self.returned(vector, to)
        if returned.type == to:
            return returned
        if isinstance(returned, Constant):  # a number of the other kind
            return Constant(_number(to)(returned.value))
        if to.kind == "python":
            return self.record("to_python", returned, dtype=to.dtype)
        return self.record("to_scalar", returned)

    def inline(self, program: Program, operands: Sequence[Atom]) -> tuple[Atom, ...]:
        return self.recorder.inline(program, tuple(operands), self.location)


def _number(type: Type) -> Callable[[Any], Any]:
    """The primitive that makes a number of a type, with its params."""
    return type.python_type if type.kind == "python" else type.dtype.type


def _broadcasts(dims: Sizes, to: Sizes) -> bool:
    try:
        return broadcast(dims, to) == to
    except ValueError:
        return False
