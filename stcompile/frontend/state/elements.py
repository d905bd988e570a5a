"""The elements that an array is made of: two arrays of the same elements are equal.

Every element of an array has a number, and an equation that rearranges arrays rearranges the
numbers: a part of a part, joined with another part, may be the same as a part that was cut out in
another order. The steps that led to the numbers are compared as well, because they decide the
strides.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from stcompile.analysis.layouts import Layouts
from stcompile.base.strides import is_natural
from stcompile.wengert.evaluate import apply
from stcompile.wengert.ir import Atom, Equation, Variable

_REARRANGES = frozenset({"slice", "index", "concatenate", "expand_dims", "squeeze", "copy"})
_LARGEST = 4096  # elements: larger arrays are told apart by their names
_DEEPEST = 100  # steps


class Elements:
    """The elements of the arrays that equations rearrange. ``layouts`` gives the strides of
    arrays."""

    def __init__(self, producers: Mapping[Variable, Equation], layouts: Layouts) -> None:
        self._producers, self._layouts = producers, layouts
        self._count = 0
        self._found: dict[Variable, tuple[Any, int] | None] = {}
        self._steps: dict[Hashable, int] = {}

    def key(self, variable: Variable) -> Hashable:
        """A key that is the same for two arrays of the same elements that were made in the same
        way."""
        producer = self._producers.get(variable)
        if producer is None or producer.primitive not in _REARRANGES:
            return variable
        found = self._of(variable, _DEEPEST)
        if found is None:
            return variable
        numbers, steps = found
        return (steps, numbers.tobytes(), variable.type)

    def _of(self, variable: Variable, depth: int) -> tuple[Any, int] | None:
        """The numbers of a variable's elements, and the number of the steps that led to them."""
        if variable not in self._found:
            self._found[variable] = self._made(variable, depth)
        return self._found[variable]

    def _made(self, variable: Variable, depth: int) -> tuple[Any, int] | None:
        if variable.type.kind != "array" or variable.type.size > _LARGEST or not depth:
            return None
        equation = self._producers.get(variable)
        if equation is None or equation.primitive not in _REARRANGES:
            return self._new(variable)
        if variable.type.is_named:
            return None
        operands, steps = [], []
        for at, atom in enumerate(equation.inputs):
            found: tuple[Any, int] | None = None
            if equation.primitive != "concatenate" and at:  # an operand that says where
                found = self._constant(atom), 0
            elif isinstance(atom, Variable):
                found = self._of(atom, depth - 1)
            if found is None or found[0] is None:
                return None
            operands.append(found[0])
            steps.append(found[1])
        params = map(equation.params.get, ("axis", "at", "order"))
        how = (equation.primitive, *params, *steps)
        try:
            numbers = apply(equation.primitive, tuple(operands), equation.params)
        except IndexError:  # the program will raise it
            return None
        return np.ascontiguousarray(numbers), self._step(how)

    def _new(self, variable: Variable) -> tuple[Any, int] | None:
        dims, size = variable.type.dims, variable.type.dtype.itemsize
        if variable.type.is_named:
            return None
        if not is_natural(dims, self._layouts.of(variable), size):
            return None
        numbers = np.arange(self._count, self._count + variable.type.count).reshape(dims)
        self._count += variable.type.count
        return numbers, self._step("new")

    def _constant(self, atom: Atom) -> Any:
        """The value of a constant array of indices."""
        equation = self._producers.get(atom) if isinstance(atom, Variable) else None
        if equation is None or equation.primitive != "constant":
            return None
        return apply("constant", (), equation.params)

    def _step(self, how: Hashable) -> int:
        return self._steps.setdefault(how, len(self._steps))
