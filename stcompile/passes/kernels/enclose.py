"""Enclose loops that Numba compiles while the rest of a program is improved.

Transformations that make NumPy code fast, such as arrays of the values of all steps, gain nothing
in a loop over numbers. So each loop that becomes a kernel is a kernel from the beginning, which the
passes for NumPy leave alone. `disclose_loops` puts the loops back, so that kernels can be made of
them together with the equations around them.
"""

from __future__ import annotations

from dataclasses import replace

from stcompile.passes.kernels.scalarise import becomes_kernel
from stcompile.wengert.ir import (
    Atom,
    Equation,
    Program,
    Variable,
    free_variables,
    freeze,
    map_programs,
)


def enclose_loops(program: Program) -> Program:
    """The program with a kernel around each loop that Numba compiles as a whole."""
    return program.with_equations(list(map(_enclosed, program.equations)))


def _enclosed(equation: Equation) -> Equation:
    if equation.primitive != "loop" or not becomes_kernel(equation):
        return map_programs(equation, enclose_loops)
    inputs = free_variables([equation], (), ())
    body = Program("kernel", inputs, (equation,), equation.outputs)
    params = freeze({"body": body, "writes": ()})
    return replace(equation, primitive="kernel", inputs=inputs, params=params)


def disclose_loops(program: Program) -> Program:
    """The program with the loops of kernels as its own."""
    equations: list[Equation] = []
    for equation in program.equations:
        if equation.primitive != "kernel":
            equations.append(map_programs(equation, disclose_loops))
            continue
        body: Program = equation.params["body"]
        (loop,) = body.equations
        given: dict[Variable, Atom] = dict(zip(body.inputs, equation.inputs, strict=True))
        equations.append(replace(loop.substitute(given), outputs=equation.outputs))
    return program.with_equations(equations)
