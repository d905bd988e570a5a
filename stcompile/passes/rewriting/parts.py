"""Add to the array itself instead of to a part of a part of it, or of its transpose.

The cotangent of ``a.T[i:, j]`` is zero except for the part that is added to; the cotangent of ``a``
gets that part, and not an array of its own size which is zero elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stcompile.passes.rewriting.arithmetic import is_number
from stcompile.passes.rewriting.rewrite import Result, UnderWay, rule
from stcompile.wengert.bounds import usual
from stcompile.wengert.dims import Dim, Size, Sizes
from stcompile.wengert.ir import Atom, Constant, Equation, freeze
from stcompile.wengert.parts import Index, Part, placed, starts_of
from stcompile.wengert.primitives import infer
from stcompile.wengert.primitives.base import OperandError

MOST_PARTS = 4
"""The largest total size of the values of all parts, which exist at one time, relative to the array
that is saved."""


@dataclass(frozen=True)
class _Part:
    """A part of an array: for each axis the start, the length, the step, and whether it is
    dropped."""

    axes: tuple[tuple[Index, Any, int, bool], ...]

    @classmethod
    def of(cls, equation: Equation) -> _Part:
        """The part that an accumulation adds to."""
        part = Part.of(equation.params)
        rows = zip(starts_of(equation), part.length, part.step, strict=True)
        return cls(tuple((*row, axis in part.drop) for axis, row in enumerate(rows)))

    def written(self) -> tuple[tuple[Atom, ...], Mapping[str, Any]]:
        """The integers and the params of an accumulation."""
        starts, lengths, steps, dropped = zip(*self.axes, strict=True)
        integers, start = placed(starts)
        drop = tuple(axis for axis, gone in enumerate(dropped) if gone)
        return integers, freeze({"op": "slice", **Part(start, lengths, steps, drop).params})

    @property
    def dims(self) -> Sizes:
        """The dims of the part."""
        return tuple(length for _, length, _, gone in self.axes if not gone)

    @property
    def size(self) -> int:
        """The number of its elements, to estimate costs with."""
        return math.prod(max(usual(length), 0) for _, length, _, _ in self.axes)

    def transposed(self, axes: Sequence[int]) -> _Part:
        """The part for the array with its axes in this order."""
        return _Part(tuple(self.axes[axis] for axis in axes))

    def from_the_start(self, under_way: UnderWay, dims: Sequence[Any]) -> _Part:
        """The part of an array of these dims with its integers counted from the start: a negative
        integer counts from the end of the array."""
        axes = []
        for (start, length, step, dropped), dim in zip(self.axes, dims, strict=True):
            if dropped and start.offset == 0 and [by for _, by in start.terms] == [1]:
                ((integer, _),) = start.terms
                if not under_way.is_never_negative(integer):
                    start = Index.of(_place(under_way, integer, dim))
            axes.append((start, length, step, dropped))
        return _Part(tuple(axes))

    def within(self, outer: _Part) -> _Part | None:
        """Compose two parts: this part of the part ``outer``, as a part of the whole array; None if
        a start would combine counters and a length that is known only at run time."""
        mine = iter(self.axes)
        axes = []
        for axis in outer.axes:
            start, _, step, gone = axis
            if gone:
                axes.append(axis)
                continue
            own, length, stride, dropped = next(mine)
            start = start + own * step
            if start.terms and (isinstance(start.offset, Dim) or isinstance(length, Dim)):
                return None
            axes.append((start, length, step * stride, dropped))
        return _Part(tuple(axes))


@rule("accumulate")
def added_where_it_belongs(under_way: UnderWay, equation: Equation) -> Result:
    """Add directly to an array the terms that were added to parts of zeros, if the zeros, perhaps
    transposed, are added to the array or to a part of it."""
    op = equation.params["op"]
    if op not in ("add", "slice"):
        return None
    total, value = equation.inputs[:2]
    outer = _Part.of(equation) if op == "slice" else None
    turned = under_way.made_by(value, "transpose")
    if (outer is None and turned is None) or not under_way.is_read_once(value):
        return None
    if value.type.dims != (total.type.dims if outer is None else outer.dims):
        return None  # it is broadcast over the part: one element of it is added to many
    atom = value if turned is None else turned.inputs[0]
    links: list[Equation] = []
    while under_way.is_read_once(atom):
        link = under_way.made_by(atom, "accumulate")
        if link is None or link.params["op"] != "slice":
            break
        links.append(link)
        atom = link.inputs[0]
    zeros = under_way.made_by(atom, "full")
    if not links or zeros is None or not under_way.is_read_once(atom):
        return None
    if not is_number(zeros.inputs[0], 0) or atom.type.dtype != total.type.dtype:
        return None
    parts = [_Part.of(link) for link in links]
    if sum(part.size for part in parts) > MOST_PARTS * atom.type.size:
        return None
    for link, part in zip(links[::-1], parts[::-1], strict=True):
        added: Atom | None = link.inputs[1]
        found = part
        if turned is not None:
            axes = turned.params["axes"]
            added = _transposed(under_way, link.inputs[1], part, axes)
            found = part.transposed(axes)
        whole: _Part | None = found
        if outer is not None:
            whole = found.from_the_start(under_way, value.type.dims).within(outer)
        if whole is None or added is None:
            return None
        integers, params = whole.written()
        inputs = (total, added, *integers)
        if link is links[0]:
            return replace(equation, inputs=inputs, params=params)
        if not _fits(inputs, params):
            return None
        total = under_way.record("accumulate", *inputs, **params)
    return None


def _place(under_way: UnderWay, integer: Atom, size: Size) -> Atom:
    """The position on an axis that an integer stands for, counted from the start."""
    if integer.type.dtype.itemsize < np.dtype(np.int64).itemsize:  # it may not reach so far
        integer = under_way.record("to_python", integer, dtype=np.dtype(np.int64))
    length = under_way.record("size", of=size) if isinstance(size, Dim) else Constant(size)
    return under_way.record("remainder", integer, length)


def _transposed(under_way: UnderWay, value: Atom, part: _Part, axes: Sequence[int]) -> Atom | None:
    """The value added to a part, for the part of the transposed array; None if it is broadcast to
    the part and has axes of its own."""
    left = [axis for axis, (*_, gone) in enumerate(part.axes) if not gone]
    order = tuple(left.index(axis) for axis in axes if axis in left)
    if not value.type.dims or order == tuple(range(len(order))):
        return value
    if value.type.dims != tuple(part.axes[axis][1] for axis in left):
        return None
    return under_way.record("transpose", value, axes=order)


def _fits(inputs: tuple[Atom, ...], params: Mapping[str, Any]) -> bool:
    try:
        types = infer("accumulate", tuple(atom.type for atom in inputs), params)
    except OperandError:
        return False
    return types == (inputs[0].type,)


RULES = (added_where_it_belongs,)
