"""The loop suite: programs of science as they are written in NumPy, loops and all.

``python -m examples.benchmarks.loops`` measures what compiling them takes, how long the function
and its derivative run at each level, and how many elements of arrays they touch; docs/benchmarks.md
says what is measured and how. A new program is a function in the module of its family here, and a
`LoopProgram` at the module's end; where JAX can do it, a function of the same name in the module of
the same name in `examples.benchmarks.loops.with_jax`.
"""

from __future__ import annotations

from . import (
    complex_numbers,
    convolutions,
    dynamic,
    filters,
    hands,
    integration,
    particles,
    products,
    small_products,
    sparse,
    stencils,
    triangular,
)
from .program import SIZES, LoopProgram, Size

_FAMILIES = (
    *(stencils, triangular, products, particles, convolutions, filters, dynamic, sparse),
    *(integration, complex_numbers, small_products, hands),
)
PROGRAMS: dict[str, LoopProgram] = {
    program.name: program for family in _FAMILIES for program in family.PROGRAMS
}

__all__ = ["PROGRAMS", "SIZES", "LoopProgram", "Size"]
