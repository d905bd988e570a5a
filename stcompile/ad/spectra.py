"""Prepare a program for its derivative by matrices that are factorised, and clean up after it.

`stcompile.ad.matrix_functions`, which has the search, is loaded by the first program with a
factorisation.
"""

from __future__ import annotations

from collections.abc import Mapping

from stcompile.base.deferred import deferred
from stcompile.wengert.ir import Atom, Equation, Program, Variable, map_programs
from stcompile.wengert.primitives.spectra import FACTORISATIONS, HANDED_ON, has_factors

_with_functions = deferred("stcompile.ad.matrix_functions", "with_functions")


def with_spectra(program: Program) -> Program:
    """The program with functions of matrices as equations of their own, to be differentiated."""
    if any(e.primitive in FACTORISATIONS or has_factors(e) for e in program.equations):
        found: Program = _with_functions(program)
        return found
    return program


def without_spectra(program: Program) -> tuple[Program, Mapping[Variable, Atom]]:
    """The program after it was differentiated, where the value that was held is read directly; and
    the atom that is read instead of each variable that is gone."""
    mapping: dict[Variable, Atom] = {}
    kept: list[Equation] = []
    for equation in program.equations:
        plain = map_programs(equation, lambda inner: without_spectra(inner)[0])
        moved = plain.substitute(mapping)
        if equation.primitive in HANDED_ON:
            mapping[equation.output] = moved.inputs[0]
        else:
            kept.append(moved)
    return program.with_equations(kept, mapping), mapping
