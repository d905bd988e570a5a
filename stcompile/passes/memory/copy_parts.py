"""Copy the part of an array that is read after a write, so that the write need not copy it all.

v1 = slice(d; row k)                     v2 = slice(d; row k)
                                         v1 = copy(v2)
d.1 = accumulate(d, v1; row k + 1)   →   d.1 = accumulate(d, v1; row k + 1)
d.2 = accumulate(d.1, v1; row k)         d.2 = accumulate(d.1, v1; row k)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stcompile.analysis.liveness import Moments
from stcompile.analysis.regions import Repeat, Step, Tree, unfold
from stcompile.analysis.storage import Writes, plan_writes, shared_input, target_of
from stcompile.passes.general.rebuild import Builder
from stcompile.wengert.ir import (
    Atom,
    Equation,
    Program,
    Variable,
    every_equation,
    freeze,
    map_programs,
)
from stcompile.wengert.templates import mark_of


def copy_parts(program: Program) -> Program:
    """The program with copies of parts, if the parts are smaller than the arrays that would be
    copied for a write."""
    while _writes(program):
        tree = unfold(program)
        writes = plan_writes(tree, Moments(tree))
        found = {id(step.source) for step in _parts(tree, writes)}
        if not found:
            break
        program = _with_copies(program, found)
    return program


def _writes(program: Program) -> bool:
    """True if a program contains a write."""
    return any(mark_of(e.primitive) == "write" for e in every_equation(program.equations))


def _parts(tree: Tree, writes: Writes) -> Iterator[Step]:
    """The steps that take the parts to be copied."""
    lists = {
        collected.output: collected.atom
        for _, item in tree.items()
        if isinstance(item, Repeat)
        for collected in item.collected
        if collected.is_stack
    }
    for step in tree.steps:
        needed = writes.needed.get(step.at, ())
        parts = dict.fromkeys(lists.get(variable, variable) for variable in needed)
        views = [tree.makers.get(part) for part in parts]
        found = [view for view in views if view is not None and _is_part(view)]
        if found and len(found) == len(views):
            own = [view for view in found if parts.keys().isdisjoint(view.equation.variables)]
            if sum(view.equation.output.type.size for view in own) < _size(step):
                yield from own


def _is_part(step: Step) -> bool:
    equation = step.equation
    return shared_input(equation) is not None and equation.output.type.kind == "array"


def _size(step: Step) -> int:
    return target_of(step.equation).type.size


def _with_copies(program: Program, found: set[int]) -> Program:
    builder = Builder(program)
    made: list[Equation] = []
    views: dict[Variable, Atom] = {}  # of copies, until something is written
    for equation in program.equations:
        changed = map_programs(equation, lambda inner: _with_copies(inner, found))
        if mark_of(equation.primitive) == "write" or changed is not equation:
            views.clear()
        elif equation.primitive == "contract":  # BLAS rounds by how operands lie
            changed = changed.substitute(views)
        if id(equation) in found:
            view, copy = _copied(changed, builder)
            views |= dict(zip(copy.outputs, copy.inputs, strict=True))
            made += [view, copy]
        else:
            made.append(changed)
    return replace(program, equations=tuple(made))


def _copied(equation: Equation, builder: Builder) -> tuple[Equation, Equation]:
    part: Variable = equation.output
    view = builder.variable(part.type)
    copy = Equation((part,), "copy", (view,), freeze({}), (), equation.location)
    return replace(equation, outputs=(view,)), copy
