"""Spellings of the primitives in NumPy; when run, these functions define their meaning.

A template takes the inputs of its primitive as positional arguments and the params as keywords. A
last positional parameter called ``xs``, ``indices``, ``counters`` or ``operands`` takes all the
remaining inputs as a tuple. A primitive without a template is written as `calls.call`: as the call
of the function that it is named after.
"""

from __future__ import annotations

from ..marks import by_primitive
from . import (
    attempts,
    complex_numbers,
    conversions,
    creation,
    effects,
    elementwise,
    exchange,
    external,
    factors,
    fourier,
    indexing,
    linalg,
    linear,
    logic,
    python_math,
    random,
    reductions,
    scipy_linalg,
    shapes,
    sizes,
    sorting,
    special,
    spectra,
)

WRITTEN = {
    **by_primitive(complex_numbers, conversions, creation, effects, elementwise, exchange),
    **by_primitive(external, factors, fourier, indexing, linalg, linear, logic, random, reductions),
    **by_primitive(shapes, sizes, sorting, spectra, attempts),
    **by_primitive(python_math, prefix="math."),
    **by_primitive(scipy_linalg, prefix="linalg."),
    **by_primitive(special, prefix="special."),
}
