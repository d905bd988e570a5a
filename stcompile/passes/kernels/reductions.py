"""Reductions and products, element by element; and the table of the elements of each primitive."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stcompile.base.thresholds import UNROLLED_SUM
from stcompile.passes.kernels.compilable import POINTWISE
from stcompile.passes.kernels.elements import (
    ELEMENTS,
    Made,
    Rule,
    all_indices,
    elements_of,
    pointwise,
)
from stcompile.passes.kernels.writer import Lazy, Value, Writer
from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Size, number_of_elements
from stcompile.wengert.ir import Atom, Constant, Equation, Variable
from stcompile.wengert.parts import Index, Indices
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.axes import Name
from stcompile.wengert.primitives.axis_rules import axis_map
from stcompile.wengert.primitives.control import NESTED
from stcompile.wengert.types import Type

FOLDED = frozenset({"sum", "mean", "prod", "max", "min", "any", "all"})
BLOCK = 128  # at most twice as many numbers are added up in turn
INNERMOST = 512  # the same in the innermost loop, which adds several of them at a time


@dataclass(frozen=True)
class Terms:
    """The terms of a sum: the lengths of the axes of the result (``kept``) and of the summed axes
    (``gone``), and a term by its indices along both. ``order`` is the order in which loops go
    through all of these axes if sums are made row by row."""

    kept: Sequence[Size]
    gone: Sequence[Size]
    order: tuple[int, ...]
    item: Callable[[Indices, Indices], Atom]


def lazy_of(w: Writer, equation: Equation, operands: Sequence[Value]) -> Lazy | None:
    """The result of an equation as a lazy array; None if its elements are not known."""
    rule = RULES.get(equation.primitive)
    if rule is None and PRIMITIVES[equation.primitive].elementwise:
        rule = pointwise
    made = rule(w, equation, operands) if rule is not None else None
    if made is None:
        return None
    element, cost = made
    found: set[Variable] = set()
    depth = 0
    for operand in operands:
        if isinstance(operand, Lazy):
            depth = max(depth, operand.depth + 1)
            found |= operand.leaves
            cost += operand.cost * made[1] if equation.primitive in FOLDED else operand.cost
        elif isinstance(operand, Variable) and operand.type.kind == "array":
            found.add(operand)

    def located(indices: Indices) -> Atom:
        with w.at(equation.location):
            return element(indices)

    return Lazy(equation.output.type, located, cost, frozenset(found), depth=depth)


# --- reductions -----------------------------------------------------------------------------------


def _fold(w: Writer, equation: Equation, operands: Sequence[Value]) -> Made | None:
    axes, (x,) = axis_map(equation), equation.inputs
    primitive, output = equation.primitive, equation.output.type
    if axes is None or x.type.kind != "array":
        return None
    params, dims = equation.params, x.type.dims
    gone = params["axis"]
    lengths = [dims[axis] for axis in gone]
    if not _is_folded(primitive, x.type, output, lengths):
        return None
    kept = [axis for axis in range(len(dims)) if axis not in gone]
    places = kept if not params["keepdims"] else range(len(dims))

    def element(indices: Indices) -> Atom:
        outer = dict(zip(places, indices, strict=True))

        def item(inner: Indices) -> Atom:
            own = dict(zip(gone, inner, strict=True))
            at = tuple(own.get(axis) or outer[axis] for axis in range(len(dims)))
            return w.element(operands[0], at)

        total = _reduced(w, primitive, lengths, item, output.dtype)
        if primitive != "mean":
            return total
        number = number_of_elements(tuple(lengths))
        count = Constant(number) if isinstance(number, int) else w.make("size", of=number)
        return w.make("divide", total, count)

    return element, float(x.type.size) / max(output.size, 1)


def _is_folded(primitive: str, x: Type, output: Type, lengths: Sequence[Size]) -> bool:
    """True for a reduction whose loops give what NumPy gives."""
    if primitive == "mean":
        return output.dtype == x.dtype and 0 not in lengths
    if primitive in ("max", "min"):
        return output.dtype.kind in "fi" and all(least(n) > 0 for n in lengths)
    return (x.dtype.kind == "b") == (primitive in ("any", "all"))


def _reduced(
    w: Writer,
    primitive: str,
    lengths: Sequence[Size],
    item: Callable[[Indices], Atom],
    dtype: np.dtype[Any],
) -> Atom:
    """Reduce all items along some axes. Sums of single precision are added up in double
    precision, and long sums in blocks, so that they are about as exact as NumPy's."""
    op, first = FOLDS[primitive]
    kind = WIDE.get(dtype, dtype) if op == "add" else dtype
    start = Constant(kind.type(_first(first, kind)))

    def wide(indices: Indices) -> Atom:
        return w.scalar(item(indices), kind)

    static = [n for n in lengths if isinstance(n, int)]
    if len(static) == len(lengths) and 0 < np.prod(static, dtype=int) <= UNROLLED_SUM:
        items = map(wide, all_indices(static))
        total: Atom = next(items)
        for one in items:
            total = w.make(op, total, one)
    else:
        total = _folded(w, op, lengths, wide, start, ())
    return w.scalar(total, dtype)


def _folded(
    w: Writer,
    op: str,
    lengths: Sequence[Size],
    item: Callable[[Indices], Atom],
    start: Atom,
    indices: Indices,
) -> Atom:
    if not lengths:
        return item(indices)
    length, *rest = lengths

    def part(index: Index) -> Atom:
        return _folded(w, op, rest, item, start, (*indices, index))

    if op == "add" and isinstance(length, int):
        return _summed(w, Index(0), length, part, start, BLOCK if rest else INNERMOST)

    def step(counter: Variable, carry: tuple[Variable, ...]) -> list[Atom]:
        mark = len(w.equations)
        one = part(Index.of(counter))
        if op == "add":
            return [_added(w, carry[0], w.scalar(one, start.type.dtype), mark)]
        return [w.scalar(w.make(op, carry[0], one), start.type.dtype)]

    return w.loop(length, [start], step)[0]


def _summed(
    w: Writer, first: Index, length: int, item: Callable[[Index], Atom], start: Atom, block: int
) -> Atom:
    """The sum of ``length`` items from the ``first`` on; a long sum is made of the sums of
    blocks."""
    size, more = 1, block
    while length > 2 * more * size:
        size, more = size * more, BLOCK
    blocks, left = divmod(length, size)

    def step(counter: Variable, carry: tuple[Variable, ...]) -> list[Atom]:
        at = first + Index.of(counter) * size
        mark = len(w.equations)
        part = item(at) if size == 1 else _summed(w, at, size, item, start, block)
        return [_added(w, carry[0], w.scalar(part, start.type.dtype), mark)]

    total = w.loop(blocks, [start], step)[0]
    if not left:
        return total
    return w.make("add", total, _summed(w, first + blocks * size, left, item, start, block))


def _added(w: Writer, total: Atom, part: Atom, mark: int) -> Atom:
    """Add a term, which was recorded from a mark on, to a sum. Terms of an innermost loop are
    added in any order."""
    is_innermost = not any(e.primitive in NESTED for e in w.equations[mark:])
    is_float = total.type == part.type and total.type.dtype.kind == "f"
    return w.make("add_up" if is_innermost and is_float else "add", total, part)


def _contract(w: Writer, equation: Equation, operands: Sequence[Value]) -> Made | None:
    terms = terms_of(w, equation, operands)
    if terms is None or equation.output.type.dtype.kind not in "fc":
        return None

    def element(indices: Indices) -> Atom:
        if not terms.gone:
            return terms.item(indices, ())
        dtype = equation.output.type.dtype
        return _reduced(w, "sum", terms.gone, lambda inner: terms.item(indices, inner), dtype)

    count = float(np.prod([n if isinstance(n, int) else 100 for n in terms.gone]))
    return element, 2 * count if terms.gone else 1.0


def terms_of(w: Writer, equation: Equation, operands: Sequence[Value]) -> Terms | None:
    """The terms of a sum, or of a product of arrays; None for other equations."""
    axes = axis_map(equation)
    if axes is None or equation.primitive not in ("sum", "contract"):
        return None
    is_product = equation.primitive == "contract"
    own = {
        name: length
        for names, atom in zip(axes.operands, equation.inputs, strict=True)
        for name, length in zip(names, atom.type.dims, strict=True)
    }
    gone = [name for name in own if name in axes.whole]

    def item(outer: Indices, inner: Indices) -> Atom:
        named = dict(zip((*axes.result, *gone), (*outer, *inner), strict=True))
        factors = elements_of(w, equation, axes, operands, named)
        return w.make("multiply", *factors) if is_product else factors[0]

    kept = [name for name in axes.result if name not in gone]
    natural: Sequence[Name] = axes.operands[0]
    if is_product or not natural or natural[-1] in gone:
        natural = [*kept[:-1], *gone, *kept[-1:]]
    names = [None if name in gone else name for name in axes.result] + gone
    order = tuple(names.index(name) for name in natural)
    return Terms(equation.output.type.dims, [own[name] for name in gone], order, item)


WIDE = {np.dtype(np.float32): np.dtype(np.float64), np.dtype(np.complex64): np.dtype(np.complex128)}

FOLDS: Mapping[str, tuple[str, str]] = {
    "sum": ("add", "zero"),
    "mean": ("add", "zero"),
    "prod": ("multiply", "one"),
    "max": ("maximum", "least"),
    "min": ("minimum", "greatest"),
    "any": ("logical_or", "zero"),
    "all": ("logical_and", "one"),
}


def _first(which: str, dtype: np.dtype[Any]) -> Any:
    """The neutral value of a reduction."""
    if which in ("zero", "one"):
        return int(which == "one")
    if dtype.kind == "f":
        return -np.inf if which == "least" else np.inf
    info = np.iinfo(dtype)
    return info.min if which == "least" else info.max


RULES: Mapping[str, Rule] = {
    **ELEMENTS,
    **dict.fromkeys(FOLDED, _fold),
    **dict.fromkeys(POINTWISE, pointwise),
    "contract": _contract,
}
