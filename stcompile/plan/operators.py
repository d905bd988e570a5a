"""Branches that are an ``and`` or an ``or``: written as operators, if no more is evaluated.

``i < n and x[i] > 0`` is a branch: ``x[i]`` is not read where ``i < n`` is false. Python's operator
evaluates no more than the branch, if all that its right operand needs is written inside of it.

>>> from stcompile.analysis.regions import unfold
>>> from stcompile.wengert.text import parse_program
>>> tree = unfold(parse_program('''
... program f(x: f64[3], i: int) {
...   a: bool = less(i, 3)
...   b: bool = cond(a, x, i; otherwise=program otherwise(x: f64[3], i: int) { return False },
...     then=program then(x: f64[3], i: int) {
...       c: f64 = slice(x, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
...       d: b8 = greater(c, 0.0)
...       e: bool = to_python(d; dtype=b8)
...       return e
...     })
...   return b
... }'''))
>>> found = with_operators(tree)
>>> [step.equation.primitive for step in found.tree.steps], len(found.guarded)
(['less', 'slice', 'greater', 'to_python', 'and'], 1)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from stcompile.analysis.regions import Branch, Item, Region, Repeat, Step, Tree
from stcompile.wengert.ir import Atom, Constant, Equation, Variable, freeze
from stcompile.wengert.templates import mark_of


@dataclass(frozen=True)
class Operators:
    """A tree with operators in place of branches. ``guarded`` has the results of the operators,
    each with the variables that only its right operand may evaluate."""

    tree: Tree
    guarded: Mapping[Variable, Collection[Variable]]


def with_operators(tree: Tree, without: Collection[Variable] = ()) -> Operators:
    """The tree with operators for the branches that can be operators; branches with the results
    ``without`` stay branches."""
    rewriter = _Rewriter(without)
    region = rewriter.region(tree.region)
    if not rewriter.guarded:
        return Operators(tree, {})
    return Operators(replace(tree, region=region), rewriter.guarded)


class _Rewriter:
    def __init__(self, without: Collection[Variable]) -> None:
        self.without = without
        self.guarded: dict[Variable, Collection[Variable]] = {}

    def region(self, region: Region) -> Region:
        items = tuple(new for item in region.items for new in self._item(item))
        return replace(region, items=items) if items != region.items else region

    def _item(self, item: Item) -> Iterator[Item]:
        if isinstance(item, Step):
            yield item
        elif isinstance(item, Repeat):
            condition = None if item.condition is None else self.region(item.condition)
            yield replace(item, condition=condition, body=self.region(item.body))
        else:
            then, otherwise = map(self.region, item.arms)
            yield from self._branch(replace(item, then=then, otherwise=otherwise))

    def _branch(self, branch: Branch) -> Iterator[Item]:
        for primitive, arm, other in (
            ("and", branch.then, branch.otherwise),
            ("or", branch.otherwise, branch.then),
        ):
            if self._decides(branch, other, primitive == "or") and self._is_expression(arm):
                (output,) = branch.outputs
                yield from arm.items
                inputs = (branch.predicate, arm.outputs[0])
                equation = Equation((output,), primitive, inputs, location=branch.location)
                if _is_conversion(primitive, arm.outputs[0], branch.predicate, output):
                    dtype = freeze({"dtype": branch.predicate.type.dtype})
                    equation = replace(
                        equation, primitive="to_python", inputs=inputs[:1], params=dtype
                    )
                steps = [item for item in arm.items if isinstance(item, Step)]
                self.guarded[output] = [step.equation.output for step in steps]
                yield Step(branch.end, equation, branch.source)
                return
        yield branch

    def _decides(self, branch: Branch, arm: Region, truth: bool) -> bool:
        """True if the only result of an arm is the predicate, which is known there."""
        if len(branch.outputs) != 1 or branch.outputs[0] in self.without:
            return False
        (output,), found = branch.outputs, arm.outputs[0]
        if output.type.dtype.kind != "b" or output.type.kind == "array":
            return False
        if len(arm.items) == 1:  # a conversion of the predicate
            (item,) = arm.items
            if not isinstance(item, Step) or item.equation.primitive not in _CONVERSIONS:
                return False
            found = _source(found, item)
        elif arm.items:
            return False
        if isinstance(found, Constant):
            return bool(found.value) is truth
        return found == branch.predicate and _is_flag(found)

    def _is_expression(self, arm: Region) -> bool:
        """True if the result of an arm can be written as an expression."""
        return _is_flag(arm.outputs[0]) and all(
            isinstance(item, Step)
            and len(item.equation.outputs) == 1
            and not item.equation.effects
            and mark_of(item.equation.primitive) in ("fresh", "view")
            for item in arm.items
        )


def _is_conversion(primitive: str, right: Atom, predicate: Atom, output: Variable) -> bool:
    """True for ``predicate and True`` of NumPy's flags, which is ``bool(predicate)``."""
    is_true = primitive == "and" and right == Constant(True)
    return is_true and output.type.kind == "python" and predicate.type.kind == "scalar"


_CONVERSIONS = ("cast", "to_python", "to_scalar")


def _source(atom: Atom, step: Step) -> Atom:
    """The atom that a step converts to ``atom``; the atom itself if the step makes another
    value."""
    return step.equation.inputs[0] if step.equation.outputs == (atom,) else atom


def _is_flag(atom: Atom) -> bool:
    return atom.type.dtype.kind == "b" and atom.type.kind != "array"
