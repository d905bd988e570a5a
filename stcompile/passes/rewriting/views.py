"""Merge two rearrangements in a row, and drop them if they undo each other."""

from __future__ import annotations

from dataclasses import replace

from stcompile.passes.rewriting.rewrite import Result, UnderWay, rule
from stcompile.wengert.ir import Constant, Equation, freeze
from stcompile.wengert.primitives import PRIMITIVES


@rule(having=lambda primitive: primitive.reshapes)
def reshape_of_reshape(under_way: UnderWay, equation: Equation) -> Result:
    """Merge two reshapes, or drop them if they undo each other."""
    (operand,) = equation.inputs
    inner = under_way.makers.get(operand)  # type: ignore[arg-type]
    if inner is None or not PRIMITIVES[inner.primitive].reshapes:
        return None
    (source,) = inner.inputs
    if source.type == equation.output.type:
        return source
    if "reshape" not in (equation.primitive, inner.primitive):
        return None
    shape = freeze({"shape": equation.output.type.dims})
    return replace(equation, primitive="reshape", inputs=(source,), params=shape)


@rule("transpose")
def transpose_of_transpose(under_way: UnderWay, equation: Equation) -> Result:
    """Merge two transposes, or drop them if they undo each other."""
    inner = under_way.made_by(equation.inputs[0], "transpose")
    if inner is None:
        return None
    axes = tuple(inner.params["axes"][axis] for axis in equation.params["axes"])
    if axes == tuple(range(len(axes))):
        return inner.inputs[0]
    return replace(equation, inputs=inner.inputs, params=freeze({"axes": axes}))


@rule("broadcast_to")
def broadcast_of_broadcast(under_way: UnderWay, equation: Equation) -> Result:
    """Merge two broadcasts."""
    inner = under_way.made_by(equation.inputs[0], "broadcast_to")
    return equation.with_inputs(inner.inputs) if inner is not None else None


@rule("reshape", "expand_dims", "squeeze", "transpose")
def arranged_repetition(under_way: UnderWay, equation: Equation) -> Result:
    """Make a rearrangement of equal numbers anew."""
    inner = under_way.made_by(equation.inputs[0], "broadcast_to")
    if inner is None or not isinstance(inner.inputs[0], Constant):
        return None
    return under_way.record("broadcast_to", inner.inputs[0], shape=equation.output.type.dims)


@rule("reshape", "expand_dims")
def sum_with_its_axes(under_way: UnderWay, equation: Equation) -> Result:
    """Merge a sum over all axes and a reshape that restores the axes."""
    (total,) = equation.inputs
    made = under_way.made_by(total, "sum")
    ones = (1,) * (made.inputs[0].type.ndim if made else 0)
    if made is None or total.type.dims or equation.output.type.dims != ones:
        return None
    if not under_way.is_read_once(total):
        return None
    return under_way.record("sum", *made.inputs, **{**made.params, "keepdims": True})


RULES = (
    *(reshape_of_reshape, transpose_of_transpose, broadcast_of_broadcast, arranged_repetition),
    sum_with_its_axes,
)
