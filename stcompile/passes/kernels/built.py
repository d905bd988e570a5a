"""Arrays that are made of parts: each part is written to its final position."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from stcompile.base.thresholds import BUILT_NUMBERS, LENT_BYTES
from stcompile.passes.kernels.elements import is_small
from stcompile.passes.kernels.memory import ElementPlace, filled, small_array
from stcompile.passes.kernels.reductions import lazy_of
from stcompile.passes.kernels.writer import Lazy, Value, Writer
from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Constant, Equation, Variable
from stcompile.wengert.parts import Index, Indices, Part
from stcompile.wengert.primitives.axis_rules import groups

Built = Callable[[Writer, Equation, Sequence[Value]], "Value | None"]


def _new(w: Writer, equation: Equation) -> Variable:
    output = equation.output.type
    return w.make("empty", shape=output.dims, dtype=output.dtype)


def concatenate(w: Writer, equation: Equation, operands: Sequence[Value]) -> Value | None:
    axis, made = equation.params["axis"], _new(w, equation)
    start: Size = 0
    for operand in operands:
        made = filled(w, made, operand.type.dims, operand, _moved(axis, w.affine(start)))
        start = operand.type.dims[axis] + start
    return made


def _moved(axis: int, start: Index) -> Callable[[Indices], ElementPlace]:
    def place(indices: Indices) -> ElementPlace:
        return ElementPlace.at((*indices[:axis], indices[axis] + start, *indices[axis + 1 :]))

    return place


def stack(w: Writer, equation: Equation, operands: Sequence[Value]) -> Value | None:
    axis, made = equation.params["axis"], _new(w, equation)

    def at(number: int) -> Callable[[Indices], ElementPlace]:
        return lambda indices: ElementPlace.at((*indices[:axis], Index(number), *indices[axis:]))

    for number, operand in enumerate(operands):
        made = filled(w, made, operand.type.dims, operand, at(number))
    return made


def array(w: Writer, equation: Equation, operands: Sequence[Value]) -> Value | None:
    output = equation.output.type
    if not 0 < len(operands) <= BUILT_NUMBERS:
        return None
    atoms = [w.scalar(w.element(operand, ()), output.dtype) for operand in operands]
    made = small_array(w, output, atoms)
    return made if is_small(output) else made.memory


def pad(w: Writer, equation: Equation, operands: Sequence[Value]) -> Value | None:
    (x,), widths = operands, equation.params["pad_width"]
    value = Constant(equation.output.type.dtype.type(equation.params.get("value", 0)))
    output = equation.output.type
    if output.is_named or output.nbytes < LENT_BYTES:
        made = w.make("full", value, shape=output.dims, dtype=output.dtype)
    else:  # its memory may be there before the call
        made = filled(w, _new(w, equation), output.dims, value, ElementPlace.at)

    def place(indices: Indices) -> ElementPlace:
        return ElementPlace.at(
            tuple(f + before for f, (before, _) in zip(indices, widths, strict=True))
        )

    return filled(w, made, x.type.dims, x, place)


def reshape(w: Writer, equation: Equation, operands: Sequence[Value]) -> Value | None:
    """Join axes by a loop over the elements of the operand."""
    (x,), after = operands, equation.output.type.dims
    if isinstance(x, Lazy) and x.numbers:
        return small_array(w, equation.output.type, x.numbers)
    before = equation.inputs[0].type.dims
    if not before or not all(isinstance(n, int) for n in (*before, *after)):
        return None
    found = groups(before, after)
    if found is None or any(sum(after[a] != 1 for a in new) > 1 for _, new in found):
        return None

    def place(indices: Indices) -> ElementPlace:
        at = [Index(0)] * len(after)
        for old, new in found:
            whole = Index(0)
            for axis in old:
                whole = whole * before[axis] + indices[axis] if before[axis] != 1 else whole
            for axis in new:
                if after[axis] != 1:
                    at[axis] = whole
        return ElementPlace.at(tuple(at))

    return filled(w, _new(w, equation), before, x, place)


def roll(w: Writer, equation: Equation, operands: Sequence[Value]) -> Value | None:
    p, made = equation.params, _new(w, equation)
    dims = equation.output.type.dims
    if len(p["axis"]) != 1 or not isinstance(dims[p["axis"][0]], int) or not dims[p["axis"][0]]:
        return None
    (axis,), (shift,) = p["axis"], p["shift"]
    length = dims[axis]
    for count, source, to in ((length - shift % length, 0, shift % length),) + (
        ((shift % length, length - shift % length, 0),) if shift % length else ()
    ):
        part = [count if at == axis else n for at, n in enumerate(dims)]
        start = [source if at == axis else 0 for at in range(len(dims))]
        params = Part.block(start, part).params
        cut = Equation((Variable("", equation.output.type),), "slice", equation.inputs, params)
        lazy = lazy_of(w, cut, operands)
        if lazy is None:
            return None
        made = filled(w, made, part, lazy, _moved(axis, Index(to)))
    return made


def cumsum(w: Writer, equation: Equation, operands: Sequence[Value]) -> Value | None:
    axis, output = equation.params["axis"], equation.output.type
    dims, (x,) = output.dims, operands
    if output.dtype != x.type.dtype or output.dtype.kind not in "fic":
        return None
    others = [n for at, n in enumerate(dims) if at != axis]

    def outer(indices: Indices, carry: Sequence[Atom]) -> Sequence[Atom]:
        def step(counter: Variable, inner: tuple[Variable, ...]) -> Sequence[Atom]:
            at = (*indices[:axis], Index.of(counter), *indices[axis:])
            total = w.make("add", inner[0], w.element(x, at))
            return [total, ElementPlace.at(at).write(w, inner[1], total)]

        zero = Constant(output.dtype.type(0))
        return w.loop(dims[axis], [zero, carry[0]], step)[1:]

    return w.nest(others, [_new(w, equation)], outer)[0]


def position(w: Writer, equation: Equation, operands: Sequence[Value]) -> Value | None:
    """The first position of the greatest or the least number along an axis; NaN counts as
    either."""
    (x,), axis, dtype = operands, equation.params["axis"], operands[0].type.dtype
    dims = x.type.dims
    if dtype.kind not in "fi" or equation.params["keepdims"] or (axis is None and len(dims) != 1):
        return None
    along = axis or 0
    if least(dims[along]) < 1:
        return None  # of none, NumPy raises an error
    better = "greater" if equation.primitive == "argmax" else "less"

    def found(indices: Indices) -> Atom:
        def item(index: Index) -> Atom:
            return w.element(x, (*indices[:along], index, *indices[along:]))

        def step(counter: Variable, carry: tuple[Variable, ...]) -> Sequence[Atom]:
            one = item(Index.of(counter))
            is_first = w.make(better, one, carry[0])
            if dtype.kind == "f":
                is_nan = w.make("isnan", one)
                is_new = w.make("logical_not", w.make("isnan", carry[0]))
                is_first = w.make("logical_or", is_first, w.make("logical_and", is_nan, is_new))
            at = w.scalar(counter, np.dtype(np.int64))
            return [w.make("select", is_first, one, carry[0]),
                    w.make("select", is_first, at, carry[1])]  # fmt: skip

        return w.loop(dims[along], [item(Index(0)), Constant(np.int64(0))], step)[1]

    others = [n for at, n in enumerate(dims) if at != along]
    if not others:
        return found(())

    def outer(indices: Indices, carry: Sequence[Atom]) -> Sequence[Atom]:
        return [ElementPlace.at(indices).write(w, carry[0], found(indices))]

    return w.nest(others, [_new(w, equation)], outer)[0]


BUILT: Mapping[str, Built] = {
    "concatenate": concatenate,
    "stack": stack,
    "array": array,
    "pad": pad,
    "reshape": reshape,
    "roll": roll,
    "cumsum": cumsum,
    "argmax": position,
    "argmin": position,
}
