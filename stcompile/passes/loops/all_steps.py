"""Vectorise equations of a loop's body over all steps.

A value that a step computes from constants, from its items and from slices by the counter does not
depend on earlier steps. Its equation is written for values that have an additional axis in front,
with a row for each step (`stcompile.wengert.primitives.axes`):

    v1: f32[5,3] = slice(x, k; ... start=((0,), (0, 3)))     →   x cut into steps of 3 columns
    v2: f32[5,4] = contract(v1, W; contracted=((1, 0),))     →   the rows of all steps times W

An equation without a good form for all steps stays in the loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stcompile.codegen_templates.numpy.subscripts import form
from stcompile.passes.general.rebuild import Scope
from stcompile.passes.loops.loop_ports import CountedLoop, SizedLoop
from stcompile.passes.loops.steps_apart import moving_part
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Equation, Variable
from stcompile.wengert.parts import Part
from stcompile.wengert.primitives import PRIMITIVES, OperandError
from stcompile.wengert.primitives.contraction import Contraction, contracting
from stcompile.wengert.primitives.control import step_of
from stcompile.wengert.stacked import Stacking, Value
from stcompile.wengert.templates import mark_of


@dataclass(frozen=True)
class _Step(Stacking):
    """An equation of a step, its operands available outside, and the scope to record into."""

    counter: Variable
    scope: Scope

    def record(self, primitive: str, *inputs: Atom, **params: Any) -> Variable:
        return self.scope.record(primitive, inputs, self.equation.location, **params)


Rule = Callable[[_Step], "Atom | None"]


def behind(axes: Sequence[int]) -> tuple[int, ...]:
    """Axes of a step, counted with the axis of steps in front."""
    return tuple(axis + 1 for axis in axes)


def _slice(step: _Step) -> Atom | None:
    if not step.operands[0].batched:
        return _slice_by_counter(step)
    return None if step.counter in step.equation.inputs else step.by_axes()


def _slice_by_counter(step: _Step) -> Atom | None:
    """A part of a constant that moves along an axis from step to step, without overlap."""
    x, *counters = step.operands
    moving = moving_part(step.equation, step.counter)
    part = None if moving is None else moving.for_all(step.size)
    if moving is None or part is None or any(counter.batched for counter in counters):
        return None
    axis, width = moving.axis, step.equation.params["length"][moving.axis]
    others = [counter.atom for at, counter in enumerate(counters) if at != moving.column]
    found: Atom = x.atom
    if others or part != Part.first(x.atom.type.dims):
        found = step.record("slice", x.atom, *others, **part.params)
    at = axis - sum(a < axis for a in part.drop)
    dims = found.type.dims
    if axis not in step.equation.params["drop"]:
        found = step.shaped(found, *dims[:at], step.size, width, *dims[at + 1 :])
    turned = step.turned(found, (at, *(a for a in range(found.type.ndim) if a != at)))
    return turned if turned == found else step.record("copy", turned)  # rows next to each other


def _index(step: _Step) -> Atom | None:
    """Rows of a constant table, picked by the indices of all steps."""
    at, is_batched = step.equation.params["at"], step.operands[0].batched
    return None if is_batched or at[0] != "index" or at.count("index") > 1 else step.by_axes()


def _contract(step: _Step) -> Atom | None:
    product = Contraction.of(step.equation)
    (x, x_batched), (y, y_batched) = step.operands
    if x_batched and y_batched:
        names = (("steps", *own) for own in product.names)
        each = product.renamed(*names)
        is_slow = form(*each.ndims, each.batch, each.contracted, each.order).startswith("einsum")
        return None if is_slow else step.by_axes()
    if not product.is_plain:
        return None
    if x_batched:
        return _rows_times(step, x, y, product.contracted)
    if not (product.free(0) and product.free(1)):  # nothing to turn
        return _rows_times(step, y, x, tuple((b, a) for a, b in product.contracted))
    return None


def _rows_times(
    step: _Step, x: Atom, y: Atom, contracted: Sequence[tuple[int, int]]
) -> Atom | None:
    """The product of a stepped operand and a constant operand, as a single product of matrices."""
    ndim = x.type.ndim
    if len(contracted) != 1 or contracted[0][0] != ndim - 2 or y.type.ndim > 2:
        return None
    pair = (1, contracted[0][1])
    rows = step.shaped(x, math.prod(x.type.dims[:-1]), x.type.dims[-1])
    product = step.record("contract", rows, y, **contracting(pair))
    return step.shaped(product, *x.type.dims[:-1], *product.type.dims[1:])


SPECIAL: Mapping[str, Rule] = {"slice": _slice, "index": _index, "contract": _contract}
LAYOUT = frozenset(name for name, primitive in PRIMITIVES.items() if primitive.view)
"""Primitives that only say where the elements are."""


def moved_values(
    loop: CountedLoop, scope: Scope, primitives: frozenset[str] | None = None
) -> dict[Variable, Value]:
    """The values of a body that do not depend on earlier steps, available outside of the loop, by
    equations recorded into ``scope``; only equations of ``primitives`` if given. An equation that
    may fail does not move past effects: text that was printed before a failure still is."""
    moved = {fed.variable: Value(fed.source, False) for fed in loop.constants}
    moved |= {fed.variable: Value(fed.source, True) for fed in loop.xs}
    has_effects = any(equation.effects for equation in loop.equations)
    for equation in loop.equations:
        if equation.effects or (has_effects and _may_fail(equation)):
            continue
        if primitives is not None and equation.primitive not in primitives:
            continue
        found = moved_equation(equation, moved, loop, scope)
        if found is not None:
            moved.update(zip(equation.outputs, found, strict=True))
    return moved


def _may_fail(equation: Equation) -> bool:
    """True for equations that raise on some values: indices out of bounds, `numpy.errstate`'s
    errors."""
    settings = dict(equation.location.errstate).values()
    return equation.primitive == "index" or bool(equation.programs) or "raise" in settings


def moved_equation(
    equation: Equation,
    moved: Mapping[Variable, Value],
    loop: SizedLoop,
    scope: Scope,
    special: Mapping[str, Rule] = SPECIAL,
) -> list[Value] | None:
    """The results of an equation whose operands are available outside, recorded into ``scope``;
    None if it has no form for all steps."""
    operands, by_counter = list[Value](), False
    for atom in equation.inputs:
        if not isinstance(atom, Variable):
            operands.append(Value(atom, False))
        elif atom == loop.counter and equation.primitive == "slice":
            operands.append(Value(atom, False))
            by_counter = True
        elif atom in moved:
            operands.append(moved[atom])
        else:
            return None
    if not by_counter and not any(operand.batched for operand in operands):
        outputs = tuple(scope.variable(output.type, output.name) for output in equation.outputs)
        inputs = tuple(operand.atom for operand in operands)
        scope.add(
            Equation(outputs, equation.primitive, inputs, equation.params, (), equation.location)
        )
        return [Value(output, False) for output in outputs]
    rule = special.get(equation.primitive, Stacking.by_axes)
    is_write = mark_of(equation.primitive) == "write"
    if is_write or any(_is_weak(operand) for operand in operands if operand.batched):
        return None
    mark = len(scope.equations)
    try:
        found = rule(_Step(equation, operands, loop.length, loop.counter, scope))
    except OperandError:
        found = None
    if found is None or not _fits(found, equation.output, loop.length):
        del scope.equations[mark:]
        return None
    return [Value(found, True)]


def _is_weak(operand: Value) -> bool:
    """True for a stepped Python number: there is no array of weak numbers."""
    return operand.atom.type.kind in ("python", "stack", "object")


def _fits(atom: Atom, output: Variable, length: Size) -> bool:
    """True if the rows of ``atom`` are of the type that the body has for the value."""
    if atom.type.kind != "array" or output.type.kind not in ("array", "scalar"):
        return False
    return step_of(atom.type, length) == output.type
