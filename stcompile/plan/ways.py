"""Choose the way in which each step is printed."""

from __future__ import annotations

from stcompile.analysis.regions import Step
from stcompile.analysis.storage import target_of
from stcompile.plan.products import is_blas
from stcompile.plan.schedule import Schedule, Way
from stcompile.plan.writable import may_be_added
from stcompile.wengert.ir import Atom, Equation, Variable
from stcompile.wengert.templates import mark_of


def way_of(schedule: Schedule, step: Step) -> Way:
    """The way of a step."""
    equation, writes, plan = step.equation, schedule.writes, schedule.plan
    if step.at in writes.done:
        return Way.NOTHING
    if equation.primitive == "undef":
        return Way.UNDEFINED
    if len(equation.outputs) != 1 or equation.primitive == "kernel":
        return Way.EFFECT
    output = equation.output
    if step.at in schedule.products:
        return _with_product(schedule, step)
    if mark_of(equation.primitive) == "write" and output.type.kind != "stack":
        return _change(schedule, step)
    if output in schedule.fused:
        return Way.NOTHING
    is_writable = step.at in schedule.writable
    if output in plan.constants or (output in plan.allocation.block_of and not is_writable):
        return Way.HELD
    has_place = schedule.has_place(output)
    if has_place and equation.primitive == "empty":
        return Way.HELD
    if _suits_blas(schedule, equation):
        if has_place:
            return Way.BLAS
        if _is_apart(schedule, output, equation.inputs):
            return Way.NEW_BLAS
    if is_writable and (has_place or output in writes.made_in):
        return Way.JOIN if output in plan.joined else Way.INTO
    if equation.effects and output not in schedule.read:
        return Way.EFFECT
    if output in schedule.inlined:
        return Way.INLINE
    return Way.STORE if output in writes.made_in else Way.NAME


def _change(schedule: Schedule, step: Step) -> Way:
    if schedule.plan.has(step.equation.output):
        return Way.ADD_INTO if may_be_added(step.equation) else Way.CHANGE
    if schedule.writes.inplace[step.at]:
        return Way.CHANGE
    return Way.ADD if may_be_added(step.equation) else Way.COPY


def _with_product(schedule: Schedule, step: Step) -> Way:
    """The way of a product that is added to an array: not BLAS, if that might copy the array."""
    product, output, writes = schedule.products[step.at], step.equation.output, schedule.writes
    is_changed = writes.inplace.get(step.at) and product.acc == target_of(step.equation)
    if is_changed or output in writes.made_in:
        fits = schedule.plan.has(output) or _is_contiguous(schedule, output)
        return Way.BLAS if fits else Way.NUMPY_CHANGE
    if schedule.has_place(output):
        return Way.BLAS
    return Way.NEW_BLAS if _is_apart(schedule, output, product.reads) else Way.NUMPY


def _suits_blas(schedule: Schedule, equation: Equation) -> bool:
    """True for a product that sums over an axis, of arrays that BLAS reads without a copy."""
    return (
        schedule.has_blas
        and equation.primitive == "contract"
        and bool(equation.params["contracted"])
        and equation.output not in schedule.inlined
        and all(atom in schedule.contiguous for atom in equation.inputs)
        and is_blas(equation)
    )


def _is_apart(schedule: Schedule, output: Variable, atoms: tuple[Atom, ...]) -> bool:
    """True if a new array can have a value's name: its operands do not have that name."""
    own = schedule.head_of(output)
    return all(own not in schedule.reads(atom) for atom in atoms)


def _is_contiguous(schedule: Schedule, output: Variable) -> bool:
    """True for a value that is made in an argument that BLAS writes to without a copy."""
    shown: Variable | None = output
    while shown is not None and shown not in schedule.writes.made_in:
        shown = schedule.writes.storage.sources.get(shown)
    return shown is not None and schedule.writes.made_in[shown] in schedule.given
