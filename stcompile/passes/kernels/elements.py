"""Elements of results: an element of an equation's result as an expression of elements of its
operands.

A `Lazy` array stands for all of its elements: an index is turned into indices of the operands, and
only numbers are recorded. So a chain of elementwise equations, broadcasts, slices and reductions
becomes a single expression, in the loop that reads it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from stcompile.base.thresholds import UNPACKED
from stcompile.passes.kernels.writer import Lazy, Value, Writer
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Constant, Equation
from stcompile.wengert.parts import Index, Indices
from stcompile.wengert.primitives.axes import AxisMap, Name
from stcompile.wengert.primitives.axis_rules import axis_map, groups
from stcompile.wengert.primitives.elementwise import ELEMENTARY
from stcompile.wengert.types import Type

VIEWS = frozenset({"transpose", "expand_dims", "squeeze", "broadcast_to", "asarray", "copy"})

Made: TypeAlias = "tuple[Callable[[Indices], Atom], float]"
Place = Callable[[Indices], Indices]
Rule = Callable[[Writer, Equation, Sequence[Value]], "Made | None"]


# --- by the names of axes -------------------------------------------------------------------------


def pointwise(w: Writer, equation: Equation, operands: Sequence[Value]) -> Made | None:
    axes = axis_map(equation)
    if axes is None:
        return None

    def element(indices: Indices) -> Atom:
        named = dict(zip(axes.result, indices, strict=True))
        return _number(w, equation, elements_of(w, equation, axes, operands, named))

    is_view = equation.primitive in VIEWS
    return element, 0.0 if is_view else 20.0 if equation.primitive in ELEMENTARY else 1.0


def elements_of(
    w: Writer,
    equation: Equation,
    axes: AxisMap,
    operands: Sequence[Value],
    named: Mapping[Any, Index],
) -> list[Atom]:
    found = []
    for names, operand, atom in zip(axes.operands, operands, equation.inputs, strict=True):
        found.append(w.element(operand, _named(names, atom.type.dims, named)))
    return found


def _named(names: Sequence[Name], dims: Sequence[Size], named: Mapping[Any, Index]) -> Indices:
    pairs = zip(names, dims, strict=True)
    return tuple(Index(0) if dim == 1 else named[name] for name, dim in pairs)


def _number(w: Writer, equation: Equation, atoms: Sequence[Atom]) -> Atom:
    """Apply a view, or an elementwise equation of arrays, to single numbers."""
    if equation.primitive in VIEWS:
        return w.scalar(atoms[0], equation.output.type.dtype)
    if _is_root(equation):
        return w.make("sqrt", atoms[0])
    if equation.primitive != "where":
        return w.make(equation.primitive, *atoms, **equation.params)
    dtype = equation.output.type.dtype
    condition, *values = atoms
    return w.make("select", condition, *(w.scalar(value, dtype) for value in values))


# --- parts and arrangement ------------------------------------------------------------------------


def _slice(w: Writer, equation: Equation, operands: Sequence[Value]) -> Made | None:
    source, *counters = operands
    if isinstance(source, Lazy) and not w.counted.issuperset(counters):
        return None  # data decide: an index below 0 counts from the end of this array
    place = place_in(w, equation.params, counters)
    return lambda indices: w.element(source, place(indices)), 0.0


def place_in(w: Writer, params: Mapping[str, Any], counters: Sequence[Value]) -> Place:
    """The indices in an array of an element of its part, by the indices in the part."""
    bases = []
    for offset, *factors in params["start"]:
        base = w.affine(offset)
        for factor, counter in zip(factors, counters, strict=False):
            if factor:
                base = base + Index.of(w.element(counter, ())) * factor
        bases.append(base)
    kept = [axis for axis in range(len(bases)) if axis not in params["drop"]]

    def place(indices: Indices) -> Indices:
        inner = dict(zip(kept, indices, strict=True))
        return tuple(
            base + inner[axis] * params["step"][axis] if axis in inner else base
            for axis, base in enumerate(bases)
        )

    return place


def split_axes(w: Writer, equation: Equation, operands: Sequence[Value]) -> Made | None:
    """A reshape that only adds or removes axes of length 1 or splits axes; None if it joins
    axes."""
    before, after = equation.inputs[0].type.dims, equation.output.type.dims
    if equation.inputs[0].type.kind != "array":
        return None
    found = groups(before, after)
    if found is None or any(sum(before[a] != 1 for a in old) > 1 for old, _ in found):
        return None
    split = [new for _, new in found if sum(after[a] != 1 for a in new) > 1]
    if not all(isinstance(after[axis], int) for new in split for axis in new):
        return None

    def element(indices: Indices) -> Atom:
        at = [Index(0)] * len(before)
        for old, new in found:
            whole = Index(0)
            for place, axis in enumerate(axis for axis in new if after[axis] != 1):
                whole = whole * after[axis] + indices[axis] if place else indices[axis]
            for axis in old:
                if before[axis] != 1:
                    at[axis] = whole
        return w.element(operands[0], tuple(at))

    return element, 0.0


def _windows(w: Writer, equation: Equation, operands: Sequence[Value]) -> Made | None:
    p = equation.params
    ndim = equation.inputs[0].type.ndim

    def element(indices: Indices) -> Atom:
        natural = dict(zip(p["order"] or range(len(indices)), indices, strict=True))
        at = [natural[axis] for axis in range(ndim)]
        for place, axis in enumerate(p["axis"]):
            inside = natural[ndim + place] * p["dilation"][place]
            at[axis] = at[axis] * p["step"][place] + inside + p["start"][place]
        return w.element(operands[0], tuple(at))

    return element, 0.0


def _diagonal(w: Writer, equation: Equation, operands: Sequence[Value]) -> Made | None:
    p = equation.params
    ndim = equation.inputs[0].type.ndim

    def element(indices: Indices) -> Atom:
        *others, along = indices
        rest = iter(others)
        starts = {p["axis1"]: max(0, -p["offset"]), p["axis2"]: max(0, p["offset"])}
        at = tuple(along + starts[axis] if axis in starts else next(rest) for axis in range(ndim))
        return w.element(operands[0], at)

    return element, 0.0


# --- made of numbers ------------------------------------------------------------------------------


def _full(w: Writer, equation: Equation, operands: Sequence[Value]) -> Made | None:
    if equation.inputs[0].type.dims:
        return None
    value = operands[0]
    return lambda _: w.scalar(w.element(value, ()), equation.output.type.dtype), 0.0


def _arange(w: Writer, equation: Equation, operands: Sequence[Value]) -> Made | None:
    p, dtype = equation.params, equation.output.type.dtype
    if dtype != np.int64 or not all(isinstance(p[k], int) for k in ("start", "step")):
        return None

    def element(indices: Indices) -> Atom:
        return w.scalar(w.integer(indices[0] * p["step"] + p["start"]), dtype)

    return element, 0.0


def _eye(w: Writer, equation: Equation, operands: Sequence[Value]) -> Made | None:
    dtype, offset = equation.output.type.dtype, equation.params.get("k", 0)

    def element(indices: Indices) -> Atom:
        row, column = (w.integer(index) for index in (indices[0] + offset, indices[1]))
        if isinstance(row, Constant) and isinstance(column, Constant):
            return Constant(dtype.type(row.value == column.value))
        is_on = w.make("equal", row, column)
        if dtype == np.bool_:
            return is_on
        return w.make("select", is_on, Constant(dtype.type(1)), Constant(dtype.type(0)))

    return element, 1.0


def _index(w: Writer, equation: Equation, operands: Sequence[Value]) -> Made | None:
    """Elements selected by integers, of an array that is in memory."""
    source, *integers = operands
    axes = axis_map(equation)
    if axes is None or isinstance(source, Lazy) or "new" in equation.params["at"]:
        return None
    ndim = equation.inputs[0].type.ndim

    def element(indices: Indices) -> Atom:
        named = dict(zip(axes.result, indices, strict=True))
        found = selecting(w, equation, axes, integers, named)
        return w.make("index", source, *found, at=("index",) * ndim)

    return element, 2.0


def selecting(
    w: Writer,
    equation: Equation,
    axes: AxisMap,
    integers: Sequence[Value],
    named: Mapping[Any, Index],
) -> list[Atom]:
    """The integers that select a single element of the result of an ``index``."""
    parts = zip(axes.operands[1:], integers, equation.inputs[1:], strict=True)
    found: list[Atom] = []
    at = equation.params["at"]
    for axis in range(equation.inputs[0].type.ndim):
        entry = at[axis] if axis < len(at) else (0, 0, 1)
        if entry != "index":
            start, _, step = entry
            found.append(w.integer(named[axis] * step + start))
            continue
        names, integer, atom = next(parts)
        found.append(w.element(integer, _named(names, atom.type.dims, named)))
    return found


def is_small(t: Type) -> bool:
    """True for an array, with dimensions, of few elements."""
    return t.kind == "array" and len(t.dims) > 0 and not t.is_named and 0 < t.size <= UNPACKED


def all_indices(lengths: Sequence[int]) -> Sequence[Indices]:
    return [tuple(map(Index, at)) for at in itertools.product(*map(range, lengths))]


def _is_root(equation: Equation) -> bool:
    """True for ``x ** 0.5`` of an array, for which NumPy takes `sqrt`; for a scalar NumPy takes
    `pow`, which differs at -inf and -0.0."""
    if equation.primitive != "power":
        return False
    x, y = equation.inputs
    is_half = isinstance(y, Constant) and y.type.kind == "python" and y.value == 0.5
    return is_half and x.type.kind == "array" and x.type.dtype.kind == "f"


ELEMENTS: Mapping[str, Rule] = {
    **dict.fromkeys(VIEWS, pointwise),
    "slice": _slice,
    "reshape": split_axes,
    "windows": _windows,
    "diagonal": _diagonal,
    "full": _full,
    "arange": _arange,
    "eye": _eye,
    "index": _index,
}
