"""The storage order of arrays: the axis that is innermost in memory.

A sum over a short last axis runs through memory in short pieces; with the longest axis innermost it
adds long rows instead. Arrays that meet in elementwise equations get the same order. Only the
buffers change: the statements stay the same.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Set
from typing import TypeAlias

from stcompile.analysis.regions import Tree
from stcompile.base.thresholds import LONG_AXIS
from stcompile.wengert.bounds import usual
from stcompile.wengert.dims import varies
from stcompile.wengert.ir import Equation, Variable
from stcompile.wengert.primitives import PRIMITIVES

Order: TypeAlias = tuple[int, ...]


def choose_orders(
    tree: Tree, head_of: Mapping[Variable, Variable], bound: Container[Variable]
) -> dict[Variable, Order]:
    """The axes, from the outermost to the innermost, of each class of variables that is not in C
    order, by its first variable. The classes in ``bound`` are in C order, and so are the classes
    that they meet in elementwise equations."""
    groups = Groups()
    wanted: set[Variable] = set()
    fixed = {head for head in head_of.values() if head in bound}
    for step in tree.steps:
        equation, primitive = step.equation, PRIMITIVES[step.equation.primitive]
        variables = (*equation.outputs, *equation.variables)
        heads = [head_of[v] for v in variables if v in head_of]
        keeps = primitive.assigns or equation.primitive in ("accumulate", "copy", "cast")
        if primitive.elementwise or keeps:
            same = [h for h in heads if h.type.dims == equation.output.type.dims]
            groups.join(same)
        elif primitive.reduction and sums_short_rows(equation):
            wanted.update(head_of[v] for v in equation.variables if v in head_of)
        elif primitive.reshapes:
            fixed.update(heads)  # in another order it would be a copy
    banned = {groups.of(head) for head in fixed}
    chosen = {groups.of(head) for head in wanted} - banned
    found = {
        head: longest_last(head.type.dims)
        for head in set(head_of.values())
        if groups.of(head) in chosen
    }
    return {**found, **_of_copies(tree, head_of, found, fixed)}


def _of_copies(
    tree: Tree,
    head_of: Mapping[Variable, Variable],
    orders: Mapping[Variable, Order],
    fixed: Set[Variable],
) -> dict[Variable, Order]:
    """The orders of copies that are broadcast to arrays with an order: the order of the axes that
    they share."""
    copied = {
        output
        for step in tree.steps
        for output in step.equation.outputs
        if step.equation.primitive == "copy"
    }
    free = {head for v, head in head_of.items() if v in copied} - fixed - orders.keys()
    found: dict[Variable, Order] = {}
    for step in tree.steps:
        for output in step.equation.outputs:
            if head_of.get(output) not in orders:
                continue
            order = orders[head_of[output]]
            for head in free.intersection(head_of.get(v) for v in step.equation.variables):
                lead = output.type.ndim - head.type.ndim
                found[head] = tuple(axis - lead for axis in order if axis >= lead)
    return found


def longest_last(dims: tuple[int, ...]) -> Order:
    """The axes with the longest axis innermost.

    >>> longest_last((25, 1000, 10))
    (0, 2, 1)
    """
    longest = max(range(len(dims)), key=lambda axis: usual(dims[axis]))
    return (*(axis for axis in range(len(dims)) if axis != longest), longest)


def sums_short_rows(equation: Equation) -> bool:
    """True for a reduction over the short last axis of an array that also has a long axis."""
    dims, axis = equation.inputs[0].type.dims, equation.params["axis"]
    return len(axis) < len(dims) and len(dims) - 1 in axis and has_short_rows(dims)


def has_short_rows(dims: tuple[int, ...]) -> bool:
    """True for an array with a short last axis and another axis that is long."""
    if varies(dims):
        return False
    *others, last = map(usual, dims)
    return last < LONG_AXIS and max([*others, last]) > 2 * last


class Groups:
    """Variables that share an order, by union and find."""

    def __init__(self) -> None:
        self.parent: dict[Variable, Variable] = {}

    def of(self, head: Variable) -> Variable:
        while (above := self.parent.get(head, head)) != head:
            self.parent[head] = self.parent.get(above, above)
            head = above
        return head

    def join(self, heads: list[Variable]) -> None:
        for head in heads[1:]:
            self.parent[self.of(head)] = self.of(heads[0])
