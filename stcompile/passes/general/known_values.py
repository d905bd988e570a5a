"""Arrays of a program that are known at compile time: index arrays and masks that depend on
constants alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from stcompile.base.thresholds import KNOWN_ELEMENTS
from stcompile.wengert.evaluate import apply
from stcompile.wengert.ir import Atom, Constant, Equation, Variable
from stcompile.wengert.templates import TEMPLATES

_DEEPEST = 100  # equations that lead to a value


class KnownValues:
    """The values of integers and booleans that follow from constants. ``definitions`` are the
    equations of the variables so far: it may grow."""

    def __init__(self, definitions: Mapping[Variable, Equation]) -> None:
        self._definitions = definitions
        self._found: dict[Variable, Any] = {}

    def of(self, atom: Atom, depth: int = _DEEPEST) -> Any:
        """The value of an atom, or None."""
        if isinstance(atom, Constant):
            return atom.value
        if atom not in self._found:
            self._found[atom] = self._computed(atom, depth)
        return self._found[atom]

    def _computed(self, variable: Variable, depth: int) -> Any:
        equation, type_ = self._definitions.get(variable), variable.type
        if equation is None or equation.effects or len(equation.outputs) != 1 or not depth:
            return None
        if equation.is_named:
            return None
        if type_.kind not in ("array", "scalar") or type_.dtype.kind not in "bi":
            return None
        if type_.size > KNOWN_ELEMENTS or equation.primitive not in TEMPLATES:
            return None
        if equation.primitive in ("external", "undef"):
            return None
        inputs = [self.of(atom, depth - 1) for atom in equation.inputs]
        if any(value is None for value in inputs):
            return None
        try:
            with np.errstate(all="ignore"):
                return apply(equation.primitive, tuple(inputs), equation.params)
        except (ArithmeticError, LookupError, ValueError):  # it is raised when the program runs
            return None

    def are_distinct(self, dims: tuple[int, ...], indices: tuple[Atom, ...], at: Any) -> bool:
        """True if a subscript of constant indices selects no element of an array twice."""
        size = int(np.prod(dims, dtype=int))
        values = [self.of(index) for index in indices] if size <= KNOWN_ELEMENTS else [None]
        if any(value is None for value in values):
            return False
        places = np.arange(size).reshape(dims)
        try:
            found = apply("index", (places, *values), {"at": at})
        except IndexError:
            return False
        return bool(np.unique(found).size == np.size(found))
