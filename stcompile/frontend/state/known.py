"""Values that depend on static values alone, and that are known at compile time."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Scalar
from stcompile.wengert.evaluate import apply
from stcompile.wengert.ir import Atom, Constant, Variable

LARGEST = 10_000  # elements of arrays whose values are computed


def known_value(run: Run, atom: Atom) -> Any:
    """The value of an atom that depends on static values alone; else None."""
    if isinstance(atom, Constant):
        return atom.value
    if atom not in run.known:
        run.known[atom] = _computed(run, atom)
    return run.known[atom]


def number_known(run: Run, value: Any) -> Any:
    """A number that follows from constants as the constant that it is; any other value itself."""
    if not isinstance(value, Scalar) or run.size_of(value) is not None:
        return value
    known = known_value(run, run.atom(value))
    if known is None:
        return value
    return known[()] if isinstance(known, np.ndarray) else known


def _computed(run: Run, variable: Variable) -> Any:
    made = run.pure_maker(variable)
    if made is None or variable.type.size > LARGEST:
        return None
    inputs = []
    for atom in made.inputs:
        value = known_value(run, atom)
        if value is None:
            return None
        inputs.append(value)
    with np.errstate(all="ignore"):
        try:
            return apply(made.primitive, tuple(inputs), made.params)
        except (TypeError, ValueError, ArithmeticError, LookupError):
            return None
