"""Derivative rules: one function for each differentiable primitive, named like it.

A rule takes the result ``out``, the inputs, and (`adjoint`) the cotangent ``d_out``; params are
keywords. A last input called ``xs``, ``indices``, ``counters`` or ``operands`` stands for all the
remaining inputs, as in the templates. Rules with several results return a flat tuple with an item
for each input, ``None`` for an input without derivative.
"""

from __future__ import annotations

from ..marks import by_primitive
from . import (
    bessel,
    complex_numbers,
    conversions,
    creation,
    elementwise,
    elliptic,
    external,
    fourier,
    indexing,
    linalg,
    linear,
    python_math,
    random,
    reductions,
    scipy_linalg,
    selection,
    shapes,
    signals,
    sizes,
    sorting,
    special,
    spectra,
)
from .complex_numbers import HOLDS_FOR_COMPLEX, NOT_HOLOMORPHIC
from .nondifferentiable import NON_DIFFERENTIABLE

__all__ = ["DERIVATIVES", "HOLDS_FOR_COMPLEX", "NON_DIFFERENTIABLE", "NOT_HOLOMORPHIC"]

DERIVATIVES = {
    **by_primitive(complex_numbers, conversions, creation, elementwise, external, fourier),
    **by_primitive(indexing, linalg, linear, random, reductions, selection),
    **by_primitive(shapes, sizes, sorting, spectra),
    **by_primitive(python_math, prefix="math."),
    **by_primitive(scipy_linalg, prefix="linalg."),
    **by_primitive(special, bessel, elliptic, prefix="special."),
    **by_primitive(signals, prefix="signal."),
}
