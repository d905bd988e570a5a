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
from typing import Any, NamedTuple

from stcompile.codegen_templates.numpy.subscripts import form
from stcompile.passes.general.rebuild import Scope
from stcompile.passes.loops.loop_ports import CountedLoop, SizedLoop
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.primitives import PRIMITIVES, OperandError
from stcompile.wengert.primitives.contraction import Contraction, contracting
from stcompile.wengert.primitives.control import step_of
from stcompile.wengert.stacked import stacked
from stcompile.wengert.templates import mark_of

STEPS = "steps"  # the name of their axis


class Moved(NamedTuple):
    """A value of the body, available outside: the same in all steps, or ``stepped``, with a row for
    each step."""

    atom: Atom
    stepped: bool


class _Step(NamedTuple):
    """An equation of a step, its operands available outside, and the scope to record into."""

    equation: Equation
    operands: Sequence[Moved]
    length: Size
    counter: Variable
    scope: Scope

    @property
    def params(self) -> Mapping[str, Any]:
        return self.equation.params

    def record(self, primitive: str, *inputs: Atom, **params: Any) -> Variable:
        return self.scope.record(primitive, inputs, self.equation.location, **params)

    def add(self, primitive: str, inputs: tuple[Atom, ...], params: Mapping[str, Any]) -> Variable:
        return self.record(primitive, *inputs, **params)

    def same(self, *inputs: Atom, **params: Any) -> Variable:
        """Record the same primitive, with other operands and some other params."""
        return self.record(self.equation.primitive, *inputs, **{**self.params, **params})

    def reshaped(self, atom: Atom, *shape: Size) -> Atom:
        return atom if atom.type.dims == shape else self.record("reshape", atom, shape=shape)

    def turned(self, atom: Atom, axes: Sequence[int]) -> Atom:
        if list(axes) == list(range(atom.type.ndim)):
            return atom
        return self.record("transpose", atom, axes=tuple(axes))


Rule = Callable[[_Step], "Atom | None"]


def behind(axes: Sequence[int]) -> tuple[int, ...]:
    """Axes of a step, counted with the axis of steps in front."""
    return tuple(axis + 1 for axis in axes)


def _by_axes(step: _Step) -> Atom | None:
    """The same primitive, with the axis of steps in front of the operands that are stepped."""
    return stacked(step.equation, step.operands, STEPS, step.length, step.add)


def _slice(step: _Step) -> Atom | None:
    if not step.operands[0].stepped:
        return _slice_by_counter(step)
    return None if step.counter in step.equation.inputs else _by_axes(step)


def _slice_by_counter(step: _Step) -> Atom | None:
    """A part of a constant that moves along an axis from step to step, without overlap."""
    x, *counters = step.operands
    start, length, stride = (list(step.params[key]) for key in ("start", "length", "step"))
    drop = step.params["drop"]
    mine = [i for i, counter in enumerate(counters, 1) if counter.atom == step.counter]
    moving = [a for a, f in enumerate(start) if any(i < len(f) and f[i] for i in mine)]
    if len(moving) != 1 or len(mine) != 1 or any(counter.stepped for counter in counters):
        return None
    ((axis,), (place,)) = moving, mine
    speed, width = start[axis][place], length[axis]
    if width == 1:
        length[axis], stride[axis] = step.length, speed
    elif speed == width and stride[axis] == 1:
        length[axis] = step.length * width
    else:
        return None
    start = [(*f[:place], *f[place + 1 :]) for f in start]
    others = [counter.atom for i, counter in enumerate(counters, 1) if i != place]
    kept = [a for a in drop if a != axis]
    last = start[axis][0] + (length[axis] - 1) * stride[axis]
    if not others and not 0 <= last < x.atom.type.dims[axis]:
        return None
    part: Atom = x.atom
    if others or _is_part(x.atom, length, stride, kept):
        part = step.record(
            "slice", x.atom, *others, start=start, length=length, step=stride, drop=kept
        )
    at = axis - sum(a < axis for a in kept)
    dims = part.type.dims
    if axis not in drop:
        part = step.reshaped(part, *dims[:at], step.length, width, *dims[at + 1 :])
    turned = step.turned(part, (at, *(a for a in range(part.type.ndim) if a != at)))
    return turned if turned == part else step.record("copy", turned)  # rows next to each other


def _is_part(x: Atom, length: Sequence[int], stride: Sequence[int], drop: Sequence[int]) -> bool:
    """False for a slice that takes the whole array."""
    return tuple(length) != x.type.dims or set(stride) != {1} or bool(drop)


def _index(step: _Step) -> Atom | None:
    """Rows of a constant table, picked by the indices of all steps."""
    at, is_stepped = step.params["at"], step.operands[0].stepped
    return None if is_stepped or at[0] != "index" or at.count("index") > 1 else _by_axes(step)


def _contract(step: _Step) -> Atom | None:
    product = Contraction.of(step.equation)
    (x, x_stepped), (y, y_stepped) = step.operands
    if x_stepped and y_stepped:
        first, second, result = ((STEPS, *names) for names in product.names)
        each = product.renamed(first, second, result)
        is_slow = form(*each.ndims, each.batch, each.contracted, each.order).startswith("einsum")
        return None if is_slow else step.same(x, y, **each.params)
    if not product.is_plain:
        return None
    if x_stepped:
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
    rows = step.reshaped(x, math.prod(x.type.dims[:-1]), x.type.dims[-1])
    product = step.record("contract", rows, y, **contracting(pair))
    return step.reshaped(product, *x.type.dims[:-1], *product.type.dims[1:])


SPECIAL: Mapping[str, Rule] = {"slice": _slice, "index": _index, "contract": _contract}
LAYOUT = frozenset(name for name, primitive in PRIMITIVES.items() if primitive.view)
"""Primitives that only say where the elements are."""


def moved_values(
    loop: CountedLoop, scope: Scope, primitives: frozenset[str] | None = None
) -> dict[Variable, Moved]:
    """The values of a body that do not depend on earlier steps, available outside of the loop, by
    equations recorded into ``scope``; only equations of ``primitives`` if given. An equation that
    may fail does not move past effects: text that was printed before a failure still is."""
    moved = {fed.variable: Moved(fed.source, False) for fed in loop.constants}
    moved |= {fed.variable: Moved(fed.source, True) for fed in loop.xs}
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
    has_programs = any(isinstance(value, Program) for value in equation.params.values())
    return equation.primitive == "index" or has_programs or "raise" in settings


def moved_equation(
    equation: Equation, moved: Mapping[Variable, Moved], loop: SizedLoop, scope: Scope
) -> list[Moved] | None:
    """The results of an equation whose operands are available outside, recorded into ``scope``;
    None if it has no form for all steps."""
    operands = []
    by_counter = False
    for atom in equation.inputs:
        if not isinstance(atom, Variable):
            operands.append(Moved(atom, False))
        elif atom == loop.counter and equation.primitive == "slice":
            operands.append(Moved(atom, False))
            by_counter = True
        elif atom in moved:
            operands.append(moved[atom])
        else:
            return None
    if not by_counter and not any(operand.stepped for operand in operands):
        outputs = tuple(scope.variable(output.type, output.name) for output in equation.outputs)
        inputs = tuple(operand.atom for operand in operands)
        scope.add(
            Equation(outputs, equation.primitive, inputs, equation.params, (), equation.location)
        )
        return [Moved(output, False) for output in outputs]
    rule = SPECIAL.get(equation.primitive, _by_axes)
    is_write = mark_of(equation.primitive) == "write"
    if is_write or any(_is_weak(operand) for operand in operands if operand.stepped):
        return None
    mark = len(scope.equations)
    try:
        found = rule(_Step(equation, operands, loop.length, loop.counter, scope))
    except OperandError:
        found = None
    if found is None or not _fits(found, equation.output, loop.length):
        del scope.equations[mark:]
        return None
    return [Moved(found, True)]


def _is_weak(operand: Moved) -> bool:
    """True for a stepped Python number: there is no array of weak numbers."""
    return operand.atom.type.kind in ("python", "stack", "object")


def _fits(atom: Atom, output: Variable, length: Size) -> bool:
    """True if the rows of ``atom`` are of the type that the body has for the value."""
    if atom.type.kind != "array" or output.type.kind not in ("array", "scalar"):
        return False
    return step_of(atom.type, length) == output.type
