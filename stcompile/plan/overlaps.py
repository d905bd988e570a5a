"""Writes of a view of an array into another part of it: `a[1] = a[:, 2]`.

A write means the same as with a copy of its value. NumPy makes a copy if the two overlap, but not
between vectors that lie in the same direction: there it overwrites elements that it reads later,
unless their strides are equal. That depends on the storage order of the array, so the text copies
the value.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from stcompile.analysis.regions import Tree
from stcompile.analysis.storage import Writes
from stcompile.codegen_templates.numpy.subscripts import has_masks
from stcompile.wengert.bounds import greatest, least
from stcompile.wengert.dims import ENDLESS, is_named
from stcompile.wengert.ir import Equation, Variable
from stcompile.wengert.parts import Part


def overlapping_writes(tree: Tree, writes: Writes) -> frozenset[int]:
    """The positions of the writes in place that need a copy of their value, the second operand."""
    return frozenset(
        step.at
        for step in tree.steps
        if writes.inplace.get(step.at)
        if _meet(step.equation, writes) and not _is_safe(step.equation, tree)
    )


def _meet(equation: Equation, writes: Writes) -> bool:
    """True if the written value is a vector whose elements may be among the elements that
    change."""
    by_mask = equation.primitive == "index_update" and has_masks(equation.params["at"])
    if equation.primitive not in ("update", "update_part") and not by_mask:
        return False
    target, value, *_ = equation.inputs
    if not isinstance(value, Variable) or value.type.size < 2:
        return False
    return _written_axes(equation) == 1 and writes.storage.share(target, value)


def _written_axes(equation: Equation) -> int:
    if equation.primitive == "update":
        return len(equation.params["length"]) - len(equation.params["drop"])
    return equation.inputs[0].type.ndim


def _is_safe(update: Equation, tree: Tree) -> bool:
    """True for two slices of the same array, if they go along the same axis in equal steps, or have
    no element in common."""
    target, value = update.inputs[:2]
    if update.primitive != "update" or value not in tree.makers:
        return False
    made = tree.makers[value].equation
    if made.primitive != "slice" or made.inputs[0] != target:
        return False
    ways = [_way(equation) for equation in (update, made)]
    pairs = zip(_places(update), _places(made), strict=True)
    return ways[0] == ways[1] or not all(itertools.starmap(_have_common, pairs))


def _have_common(one: range, other: range) -> bool:
    """True if two ranges have, or may have, a number in common: ranges of unknown lengths may."""
    is_endless = any(abs(r.stop - r.start) >= ENDLESS for r in (one, other))
    return is_endless or not set(one).isdisjoint(other)


def _way(equation: Equation) -> list[tuple[int, int]]:
    """The axes that a slice goes along, with its steps."""
    steps = enumerate(equation.params["step"])
    return [(axis, step) for axis, step in steps if axis not in equation.params["drop"]]


def _places(equation: Equation) -> Iterator[range]:
    """The positions that a slice may take along each axis; all positions if they depend on a
    counter."""
    dims = equation.inputs[0].type.dims
    for (form, length, step), dim in zip(Part.of(equation.params).axes, dims, strict=True):
        if any(form[1:]):
            yield range(greatest(dim))
        elif is_named((form[0], length)):
            low = form[0] if step > 0 else form[0] - length + 1
            yield range(least(low), greatest(low + length))
        else:
            yield range(form[0], form[0] + step * length, step)
