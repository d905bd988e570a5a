"""An equation of a program that is batched: its operands, and the recording of its batched form.

A value that differs between items has one more axis, in front. A value that is the same for all
items stays unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from stcompile.base.errors import LanguageError
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Constant, Variable
from stcompile.wengert.primitives.control import undefined
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.stacked import Stacking, Value
from stcompile.wengert.types import Type


def batched_type(type: Type, size: Size) -> Type:
    """The type of a batch of values; a stack has a batch of each of its items."""
    if type.kind == "stack":
        return Type.stack(batched_type(type.item, size))
    return Type.array(type.dtype, (size, *type.dims))


@dataclass(frozen=True)
class Step(Stacking):
    """An equation of one item, its operands for all ``size`` of them, and where to record."""

    recorder: Recorder

    def record(self, primitive: str, *inputs: Atom, **params: Any) -> Variable:
        location = self.equation.location
        return self.recorder.record(primitive, inputs, location, params)[0]

    def one(self, at: int) -> Type:
        """The type that an operand has for one item."""
        return self.equation.inputs[at].type

    def rows(self, at: int) -> Atom:
        """An operand with a row for each item."""
        return self.spread(self.operands[at], self.one(at))

    def spread(self, value: Value, one: Type) -> Atom:
        """A value, of type ``one`` for one item, with a row for each."""
        if value.batched:
            return value.atom
        if self.is_undefined(value.atom):
            return self.record("undef", **undefined(batched_type(one, self.size)))
        if one.kind == "stack":
            self.refuse(
                "a list to which only some items of the batch append is not batched",
                "append in all cases, or write into an array of the length it may have",
            )
        if one.kind == "object":
            self.refuse("items of a batch have no random generators of their own", DRAW_BEFORE)
        return self.record("broadcast_to", value.atom, shape=(self.size, *one.dims))

    def is_undefined(self, atom: Atom) -> bool:
        """True for a value that is never read."""
        maker = self.recorder.producers.get(atom) if isinstance(atom, Variable) else None
        return maker is not None and maker.primitive == "undef"

    def cast(self, atom: Atom, dtype: Any) -> Atom:
        return atom if atom.type.dtype == dtype else self.record("cast", atom, dtype=dtype)

    def aligned(self, atom: Atom, ndim: int) -> Atom:
        """A batch of values with ``ndim`` axes each, the new axes of length 1 behind the batch
        axis."""
        size, *dims = atom.type.dims
        return self.shaped(atom, size, *(1,) * (ndim - len(dims)), *dims)

    def chosen(self, which: Atom, yes: Atom, no: Atom) -> Atom:
        """Rows of one or the other batch of values, by a batch of booleans."""
        dims = (self.size, *(1,) * (yes.type.ndim - 1))
        return self.record("where", self.shaped(which, *dims), yes, no)

    def item_numbers(self) -> Variable:
        return self.record("arange", start=0, stop=self.size, step=1, dtype=INDEX)

    def refuse(self, reason: str, hint: str) -> NoReturn:
        location = self.equation.location
        raise LanguageError(f"vmap: {reason}", location=location.shown or location, hint=hint)

    def refuse_primitive(self, hint: str = "") -> NoReturn:
        name = self.equation.params.get("spelling") or self.equation.primitive
        self.refuse(
            f"`{name}` has no form for a batch of these operands",
            hint or "compute this outside of what is batched, or loop over the items",
        )


INDEX = Constant(0).type.dtype
DRAW_BEFORE = "draw before, with one more axis, and pass what was drawn as a batched argument"
