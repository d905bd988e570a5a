"""Programs whose nested programs share no names, and programs that share as many as they can."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

from stcompile.wengert.ir import Equation, Program, Variable, freeze
from stcompile.wengert.naming import base_name, is_numbered, rename

Name = Callable[[Variable], str]


def with_names(program: Program, naming: Callable[[], Name]) -> Program:
    """The program with other names for its variables, and those of the programs in it: each has a
    function of its own that gives them in order."""
    name = naming()
    made = (output for equation in program.equations for output in equation.outputs)
    mapping = {v: Variable(name(v), v.type) for v in (*program.inputs, *made)}
    return rename(program.with_equations([_inside(e, naming) for e in program.equations]), mapping)


def _inside(equation: Equation, naming: Callable[[], Name]) -> Equation:
    params = {
        key: with_names(value, naming) if isinstance(value, Program) else value
        for key, value in equation.params.items()
    }
    return replace(equation, params=freeze(params))


def apart(program: Program) -> Program:
    """The program with names that are unique among all programs in it."""
    numbers = itertools.count(1000)

    def name(variable: Variable) -> str:
        own = "v" if is_numbered(variable.name) else f"{base_name(variable.name)}."
        return f"{own}{next(numbers)}"

    return with_names(program, lambda: name)


def alike(program: Program) -> Program:
    """The program with the names v1, v2, … in each program in it."""

    def naming() -> Name:
        numbers: Iterator[int] = itertools.count(1)
        return lambda variable: f"v{next(numbers)}"

    return with_names(program, naming)
