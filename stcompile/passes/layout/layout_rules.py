"""Layout rules: how an equation of each primitive is written on values in a storage order.

A rule adds the equation to the program that is laid out, and notes the order of its result. An
equation without a rule is written on values in their natural order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from stcompile.analysis.orders import Order
from stcompile.base.location import Location
from stcompile.base.thresholds import COPIED_AXIS, SMALLER_FACTOR
from stcompile.passes.layout.layouts import LayoutScope
from stcompile.wengert.bounds import usual
from stcompile.wengert.ir import Atom, Equation, Program, Variable, freeze
from stcompile.wengert.primitives import infer
from stcompile.wengert.primitives.axis_rules import axis_map, regrouped
from stcompile.wengert.primitives.contraction import Contraction

Rule = Callable[[LayoutScope, Equation], None]


def laid_out(program: Program, wanted: Mapping[Variable, Order]) -> LayoutScope:
    """A program on values in storage orders; its outputs stay in their natural order."""
    layouts = LayoutScope(program, wanted)
    for equation in program.equations:
        lay_out(layouts, equation)
    return layouts


def lay_out(layouts: LayoutScope, equation: Equation) -> None:
    """Add an equation to the program that is laid out."""
    rule = RULES.get(equation.primitive, _by_axes)
    starts = equation.primitive in ("windows", "full", "pad") or _is_general(equation)
    starts |= not layouts.wanted.keys().isdisjoint(equation.outputs)
    if not equation.varies and (starts or any(map(layouts.is_laid, equation.inputs))):
        rule(layouts, equation)
    else:
        _natural(layouts, equation)


def _is_general(equation: Equation) -> bool:
    """True for a contraction that is not a product of matrices: NumPy's result cannot be written to
    a buffer."""
    if equation.primitive != "contract" or equation.params["spelling"] or equation.params["batch"]:
        return False
    return max(atom.type.ndim for atom in equation.inputs) > 2


def _natural(layouts: LayoutScope, equation: Equation) -> None:
    inputs = tuple(layouts.natural(atom, equation.location) for atom in equation.inputs)
    same = all(a is b for a, b in zip(inputs, equation.inputs, strict=True))
    layouts.add(equation if same else equation.with_inputs(inputs))


def _leading(layouts: LayoutScope, atoms: Sequence[Atom], ndim: int) -> Order:
    """The order of the largest operand that is laid out; the natural order if none is, or if an
    argument is as large: a parameter is updated in its own order."""
    natural = tuple(range(ndim))
    most = max((atom.type.size for atom in atoms if atom.type.ndim == ndim), default=0)
    if any(
        atom in layouts.program.inputs and atom.type.size == most and not layouts.is_laid(atom)
        for atom in atoms
    ):
        return natural
    found = [
        (atom.type.size, layouts.of(atom).order)
        for atom in atoms
        if atom.type.ndim == ndim and not layouts.of(atom).is_natural
    ]
    return max(found, default=(0, natural))[1]


def _by_axes(layouts: LayoutScope, equation: Equation) -> None:
    """Write the equation in the order of its largest operand; axes that only the result has become
    outermost."""
    axes = axis_map(equation)
    if axes is None:
        _natural(layouts, equation)
        return
    wanted = layouts.wanted.get(equation.output)
    lead = axes.result if wanted else max(axes.operands, key=len, default=())
    order = wanted or _leading(layouts, equation.inputs, len(lead))
    new = (name for name in axes.result if name not in lead)
    if not layouts.arrange(equation, axes, (*new, *(lead[axis] for axis in order))):
        _natural(layouts, equation)


# --- parts --------------------------------------------------------------------------------------


def _update(layouts: LayoutScope, equation: Equation) -> None:
    """Write a part, or add to it: the array is made in the part's order."""
    target, part, *_ = equation.inputs
    drop = equation.params["drop"]
    if layouts.is_later(target):
        kept = [axis for axis in range(target.type.ndim) if axis not in drop]
        inner = layouts.of(part).order if part.type.ndim == len(kept) else range(len(kept))
        order: Order = (*drop, *(kept[axis] for axis in inner))
    else:
        order = layouts.of(target).order
    axes = axis_map(equation)
    assert axes is not None
    layouts.arrange(equation, axes, [axes.operands[0][axis] for axis in order])


def _accumulate(layouts: LayoutScope, equation: Equation) -> None:
    (_update if equation.params["op"] == "slice" else _by_axes)(layouts, equation)


def _pad(layouts: LayoutScope, equation: Equation) -> None:
    """Pad a value in its natural order later, in the order of the windows that are taken of it."""
    if layouts.is_laid(equation.inputs[0]):
        _by_axes(layouts, equation)
    else:
        layouts.later[equation.output] = equation


# --- shapes -------------------------------------------------------------------------------------


def _transpose(layouts: LayoutScope, equation: Equation) -> None:
    """Record nothing: the order is that of the axes under their new numbers."""
    (source,) = equation.inputs
    if layouts.is_later(source):
        _natural(layouts, equation)
        return
    laid, axes = layouts.of(source), equation.params["axes"]
    layouts.lay(equation.output, laid.atom, tuple(axes.index(axis) for axis in laid.order))


def _reshape(layouts: LayoutScope, equation: Equation) -> None:
    """Reshape in the operand's order, if the axes that are joined are adjacent in it."""
    (source,) = equation.inputs
    order = _leading(layouts, (source,), source.type.ndim)
    axes = axis_map(equation)
    into = None if axes is None else regrouped(axes, tuple(axes.operands[0][a] for a in order))
    if axes is None or into is None:
        _natural(layouts, equation)
        return
    packed = layouts.packed(layouts.in_order(source, order, equation.location), equation.location)
    result = tuple(map(axes.result.index, into))
    dims = tuple(equation.output.type.dims[axis] for axis in result)
    layouts.put(equation.with_inputs((packed,)), result, shape=dims)


# --- windows, products --------------------------------------------------------------------------


def _full(layouts: LayoutScope, equation: Equation) -> None:
    if equation.output.type.ndim > 1:
        layouts.later[equation.output] = equation
    else:
        layouts.add(equation)


def _windows(layouts: LayoutScope, equation: Equation) -> None:
    """Take windows with the longest axis without windows innermost: all reads are along it."""
    (source,) = equation.inputs
    location = equation.location
    if equation.params["order"]:
        _natural(layouts, equation)
        return
    order = layouts.of(source).order if not layouts.is_later(source) else None
    dims = source.type.dims
    free = [axis for axis in range(len(dims)) if axis not in equation.params["axis"]]
    inner = max(free, key=lambda axis: usual(dims[axis]), default=None)
    summed = order is None or order[-1] not in free
    if summed and inner is not None and usual(dims[inner]) >= COPIED_AXIS:
        order = (*(axis for axis in range(len(dims)) if axis != inner), inner)
        turned = layouts.in_order(source, order, location)
        packed = layouts.packed(turned, location)
        assert isinstance(source, Variable)
        layouts.lay(source, packed, order)
    elif order is None:
        layouts.natural(source, location)
    layouts.later[equation.output] = equation


def _contract(layouts: LayoutScope, equation: Equation) -> None:
    """Contract as a product of matrices: the axes of each kind are joined."""
    p, location = equation.params, equation.location
    batch, pairs = p["batch"], p["contracted"]
    _make_factors(layouts, equation)
    sides = [
        _Side(layouts, atom, [pair[i] for pair in batch], [pair[i] for pair in pairs])
        for i, atom in enumerate(equation.inputs)
    ]
    # The larger operand stays as it is; the other one is turned if it differs.
    lead = 0 if sides[0].value.type.size >= sides[1].value.type.size else 1
    rank = sides[lead].order.index
    batch = sorted(batch, key=lambda pair: rank(pair[lead]))
    pairs = sorted(pairs, key=lambda pair: rank(pair[lead]))
    (x, x_names), (y, y_names) = (
        side.matrix([pair[i] for pair in batch], [pair[i] for pair in pairs], name, location)
        for i, (side, name) in enumerate(zip(sides, "xy", strict=True))
    )
    axes = axis_map(equation)
    assert axes is not None
    place, own = axes.result.index, axes.operands
    runs = [[place(own[i][axis]) for axis in side.free] for i, side in enumerate(sides)]
    first = [place(own[0][a]) for a, _ in batch]
    orders = [(*first, *runs[0], *runs[1]), (*first, *runs[1], *runs[0])]
    swapped = _is_swapped(layouts, equation, orders)
    names = ("batch", "y", "x") if swapped else ("batch", "x", "y")
    result = [name for name in names if name in (*x_names, *y_names)]
    params = Contraction.of_names(x_names, y_names, result).params
    order, output = orders[swapped], equation.output
    shape = tuple(output.type.dims[axis] for axis in order)
    (type,) = infer("contract", (x.type, y.type), params)
    if type.dims == shape:
        layouts.put(equation.with_inputs((x, y)), order, **params)
        return
    product = layouts.record("contract", (x, y), location, **params)
    joined = Equation((output,), "reshape", (product,), freeze({"shape": shape}), (), location)
    layouts.put(joined, order)


def _make_factors(layouts: LayoutScope, equation: Equation) -> None:
    """Make windows among the factors, with the summed axes outermost: in the order of the other
    factor, or, if that is small and can be transposed, the elements of windows before the others.
    The terms that the adjoint sums for each element are then contiguous."""
    batch, pairs = equation.params["batch"], equation.params["contracted"]
    for side, value in enumerate(equation.inputs):
        if not layouts.is_later(value):
            continue
        other = equation.inputs[1 - side]
        if layouts.is_later(other):
            layouts.natural(other, equation.location)
        if not layouts.is_later(value):  # the two factors are one value
            continue
        rank = layouts.of(other).order.index
        lead = [q[side] for q in sorted(batch, key=lambda pair: rank(pair[1 - side]))]
        summed = [q[side] for q in sorted(pairs, key=lambda pair: rank(pair[1 - side]))]
        if SMALLER_FACTOR * other.type.size <= value.type.size and not layouts.is_laid(other):
            elements, dims = _elements(layouts, value), value.type.dims
            if any(dims[axis] != 1 for axis in summed if axis not in elements):
                summed.sort(
                    key=lambda axis: (axis not in elements, axis if axis in elements else 0)
                )
        free = [a for a in _stored(layouts, value) if a not in lead and a not in summed]
        layouts.in_order(value, (*lead, *summed, *free), equation.location)


def _elements(layouts: LayoutScope, value: Atom) -> range:
    """The axes of windows that number the elements of a window."""
    equation = layouts.later[value]
    if equation.primitive != "windows":
        return range(0)
    return range(value.type.ndim - len(equation.params["axis"]), value.type.ndim)


def _stored(layouts: LayoutScope, value: Atom) -> Order:
    """The axes of windows as their source is stored, the axes of elements outermost."""
    equation = layouts.later[value]
    if equation.primitive != "windows":
        return tuple(range(value.type.ndim))
    order = layouts.of(equation.inputs[0]).order
    return (*range(len(order), value.type.ndim), *order)


def _is_swapped(layouts: LayoutScope, equation: Equation, orders: Sequence[Order]) -> bool:
    """True if the second operand's free axes come first: so that the result is in its natural
    order, else so that the innermost axis of the operand that is laid out, or is larger, stays
    innermost."""
    natural = tuple(range(equation.output.type.ndim))
    wanted = layouts.wanted.get(equation.output, natural)
    for order in (wanted, natural):
        if order in orders:
            return bool(orders.index(order))
    first, second = ((not layouts.of(atom).is_natural, atom.type.size) for atom in equation.inputs)
    return first > second


class _Side:
    """An operand of a contraction: its axes by kind, in the order in which they are stored."""

    def __init__(
        self, layouts: LayoutScope, value: Atom, batch: Sequence[int], summed: Sequence[int]
    ) -> None:
        self.layouts = layouts
        self.value = value
        self.order = layouts.factors.get(value, layouts.of(value).order)
        self.free = [axis for axis in self.order if axis not in batch and axis not in summed]

    def matrix(
        self, batch: Sequence[int], summed: Sequence[int], free: str, location: Location
    ) -> tuple[Atom, Sequence[str]]:
        """The operand as a matrix with one axis for each kind of its axes, ``batch``, ``summed``
        and the one called ``free``, and their names in order; it is transposed if the axes of a
        kind are not adjacent."""
        axes = {"batch": list(batch), free: self.free, "summed": list(summed)}
        kinds = [kind for kind in ("batch", "summed", free) if axes[kind]]
        other = [kind for kind in ("batch", free, "summed") if axes[kind]]

        def joined(groups: Sequence[str]) -> list[int]:
            return [axis for kind in groups for axis in axes[kind]]

        turns = joined(kinds) != list(self.order)
        if joined(other) == list(self.order) or (turns and self.order[-1] in summed):
            kinds = other
        dims, order = self.value.type.dims, tuple(joined(kinds))
        if order != self.order:
            self.layouts.factors[self.value] = order
        atom = self.layouts.in_order(self.value, order, location)
        shape = tuple(math.prod(dims[axis] for axis in axes[kind]) for kind in kinds)
        if shape != atom.type.dims:
            packed = self.layouts.packed(atom, location)
            atom = self.layouts.record("reshape", (packed,), location, shape=shape)
        return atom, kinds


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "update": _update,
        "accumulate": _accumulate,
        "pad": _pad,
        "transpose": _transpose,
        "reshape": _reshape,
        "full": _full,
        "windows": _windows,
        "contract": _contract,
    }
)
