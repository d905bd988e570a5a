"""Long constant arrays: arguments with defaults that are made once, instead of text.

The default is a formula, if a function of NumPy gives exactly these numbers, or the name of an
array that is kept beside the function.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from stcompile.analysis.regions import Branch, Item, Region, Repeat, Step, Tree
from stcompile.analysis.storage import Storage, tree_storage
from stcompile.base.location import Location
from stcompile.base.thresholds import PRINTED_ELEMENTS
from stcompile.code.literals import attribute, literal
from stcompile.codegen_templates.numpy.subscripts import bounds, single
from stcompile.plan.inlining import is_unnamed
from stcompile.wengert.evaluate import apply
from stcompile.wengert.ir import Equation, Variable, freeze
from stcompile.wengert.naming import base_name

Save: TypeAlias = Callable[[str, "np.ndarray[Any, Any]"], str]
"""Keeps an array under a name like the given one, and returns that name."""


@dataclass(frozen=True)
class LongConstant:
    """A constant array that the function gets as the argument ``variable``: the name that it should
    have (``called``), and where the user made it."""

    variable: Variable
    called: str
    value: np.ndarray[Any, Any]
    location: Location


def give_constants(tree: Tree) -> tuple[Tree, tuple[LongConstant, ...]]:
    """The tree with its long constants among its inputs. A constant that is returned, or handed on
    by a branch or a loop, is copied, because the caller may change the result."""
    if not any(_is_long(item) for _, item in tree.items()):
        return tree, ()
    return _Giver(tree).run()


def _is_long(item: Item) -> bool:
    if not isinstance(item, Step) or item.equation.primitive != "constant":
        return False
    return item.equation.output.type.size > PRINTED_ELEMENTS


class _Giver:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.returned = _roots(tree_storage(tree), tree)
        self.hints = dict(tree.hints)
        self.found: list[LongConstant] = []

    def run(self) -> tuple[Tree, tuple[LongConstant, ...]]:
        region = self._region(self.tree.region)
        inputs = (*self.tree.inputs, *(found.variable for found in self.found))
        tree = replace(self.tree, inputs=inputs, region=region, hints=self.hints)
        return tree, tuple(self.found)

    def _region(self, region: Region) -> Region:
        items = (kept for item in region.items for kept in self._item(item, region))
        return replace(region, items=tuple(items))

    def _item(self, item: Item, region: Region) -> Iterator[Item]:
        if isinstance(item, Branch):
            arms = self._region(item.then), self._region(item.otherwise)
            yield replace(item, then=arms[0], otherwise=arms[1])
        elif isinstance(item, Repeat):
            condition = item.condition and self._region(item.condition)
            yield replace(item, condition=condition, body=self._region(item.body))
        elif _is_long(item):
            yield from self._given(item, region)
        else:
            yield item

    def _given(self, step: Step, region: Region) -> Iterator[Item]:
        equation = step.equation
        variable = equation.output
        wish = base_name(self.hints[variable])
        called = "constant" if is_unnamed(wish) or wish.startswith("d_") else wish
        given = variable
        if variable in self.returned or variable in region.outputs:
            given = Variable(f"@constant{step.at}", variable.type)
            self.hints[given] = called
            copy = Equation((variable,), "copy", (given,), freeze({}), (), equation.location)
            yield replace(step, equation=copy)
        value = apply("constant", (), equation.params)
        value.flags.writeable = False
        self.found.append(LongConstant(given, called, value, equation.location))


def _roots(storage: Storage, tree: Tree) -> frozenset[Variable]:
    """The storage of the values that a function returns."""
    roots = (storage.roots_of(atom) for atom in tree.region.outputs)
    return storage.reach(frozenset().union(*roots))


# --- formulas ------------------------------------------------------------------------------------


def formula_of(value: np.ndarray[Any, Any]) -> str | None:
    """A short call of NumPy that gives exactly these numbers, if there is one.

    >>> formula_of(np.linspace(0, 1, 100)), formula_of(np.arange(6).reshape(2, 3))
    ('np.linspace(0.0, 1.0, 100)', 'np.arange(6).reshape(2, 3)')
    """
    for function, *arguments in _candidates(value):
        with np.errstate(all="ignore"):
            made = getattr(np, function)(*arguments, dtype=value.dtype)
        if made.size != value.size or made.tobytes() != value.tobytes():  # -0.0 differs from 0.0
            continue
        usual = "int64" if function == "arange" else "float64"
        named = [] if value.dtype == usual else [ast.keyword("dtype", literal(value.dtype))]
        code = ast.Call(attribute("np", function), list(map(literal, arguments)), named)
        if made.shape != value.shape:
            reshape = ast.Attribute(code, "reshape", ast.Load())
            code = ast.Call(reshape, list(map(literal, value.shape)), [])
        return ast.unparse(code)
    return None


def _candidates(value: np.ndarray[Any, Any]) -> Iterator[tuple[Any, ...]]:
    """Functions with arguments that may give an array's elements, to be tried in turn."""
    flat = value.ravel()
    first, second, last = (flat[at].item() for at in (0, 1, -1))
    yield "full", single(value.shape), first
    if value.dtype.kind in "iu" and first != second:
        step = second - first
        yield "arange", *bounds(first, last + (1 if step > 0 else -1), step)
    if value.dtype.kind == "f" and math.isfinite(first) and math.isfinite(last):
        yield "linspace", first, last, value.size


def defaults_of(
    constants: tuple[LongConstant, ...], save: Save
) -> tuple[Mapping[Variable, str], Mapping[str, LongConstant]]:
    """The defaults of constants, as code, and the constants that are saved, by their names."""
    defaults: dict[Variable, str] = {}
    saved: dict[str, LongConstant] = {}
    for constant in constants:
        code = formula_of(constant.value)
        if code is None:
            code = save(f"saved_{constant.called}", constant.value)
            saved[code] = constant
        defaults[constant.variable] = code
    return defaults, saved
