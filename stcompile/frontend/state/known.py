"""Values that depend on static values alone, and that are known at compile time."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Scalar
from stcompile.wengert.dims import symbols_in
from stcompile.wengert.evaluate import apply
from stcompile.wengert.ir import Atom, Constant, Equation, Variable

LARGEST = 10_000  # elements of arrays whose values are computed


def known_value(run: Run, atom: Atom) -> Any:
    """The value of an atom that depends on static values alone; else None."""
    if isinstance(atom, Constant):
        return atom.value
    waiting: list[Variable] = [atom]
    while waiting:  # a chain of equations may be longer than the stack
        variable = waiting[-1]
        missing = None if variable in run.known else _first_unknown(run, variable)
        if missing is not None:
            waiting.append(missing)
            continue
        if variable not in run.known:
            run.known[variable] = _computed(run, variable)
        waiting.pop()
    return run.known[atom]


def _maker(run: Run, variable: Variable) -> Equation | None:
    """The pure equation of a value that is small enough to be computed; lengths with names are not
    known."""
    made = run.pure_maker(variable) if variable.type.size <= LARGEST else None
    is_named = made is not None and any(any(symbols_in(one)) for one in made.params.values())
    return None if is_named else made


def _first_unknown(run: Run, variable: Variable) -> Variable | None:
    """The first operand of which nobody has asked, if those before it are known."""
    made = _maker(run, variable)
    for atom in () if made is None else made.inputs:
        if isinstance(atom, Variable) and atom not in run.known:
            return atom
        if isinstance(atom, Variable) and run.known[atom] is None:
            return None
    return None


def number_known(run: Run, value: Any) -> Any:
    """A number that follows from constants as the constant that it is; any other value itself."""
    if not isinstance(value, Scalar) or run.size_of(value) is not None:
        return value
    known = known_value(run, run.atom(value))
    if known is None:
        return value
    return known[()] if isinstance(known, np.ndarray) else known


def _computed(run: Run, variable: Variable) -> Any:
    made = _maker(run, variable)
    if made is None:
        return None
    inputs = [a.value if isinstance(a, Constant) else run.known.get(a) for a in made.inputs]
    if any(value is None for value in inputs):
        return None
    with np.errstate(all="ignore"):
        try:
            return apply(made.primitive, tuple(inputs), made.params)
        except (TypeError, ValueError, ArithmeticError, LookupError):
            return None
