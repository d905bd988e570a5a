"""Spellings of primitives on numbers, in loops that Numba compiles.

Most are written as for NumPy: those in `PLAIN`, which a test compares with NumPy on special values.
The templates here are for primitives that Numba does not take so, or computes differently from
Python or NumPy: apart from NumPy they call only functions of `helpers`, which are printed beside
the loops.
"""

from __future__ import annotations

from ..marks import by_primitive
from . import (
    arithmetic,
    conversions,
    factors,
    helpers,
    linear_algebra,
    matrices,
    python_math,
    special_functions,
)

PLAIN = frozenset(
    {
        *("negative", "add", "subtract", "multiply", "square", "sqrt", "absolute", "conjugate"),
        *("exp2", "expm1", "log", "log2", "log10", "log1p", "tan", "arcsin"),
        *("arccos", "arctan", "arctan2", "arcsinh", "arccosh", "arctanh"),
        *(
            "floor",
            "ceil",
            "trunc",
            "rint",
            "cbrt",
            "deg2rad",
            "rad2deg",
            "logaddexp",
            "maximum",
            "minimum",
            "first_maximum",
            "strong_product",
        ),
        *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
        *("logical_not", "logical_and", "logical_or", "logical_xor"),
        *(
            "isnan",
            "isinf",
            "isfinite",
            "signbit",
            "copysign",
            "hypot",
            "not",
            "and",
            "or",
            "select",
        ),
        *("slice", "update", "accumulate", "index", "index_update"),
        *("bitwise_and", "bitwise_or", "bitwise_xor", "fmax", "fmin", "fmod"),
        *("math.atan2", "math.hypot"),
        *("math.tanh", "math.atan", "math.asinh", "math.fabs", "math.erf", "math.erfc"),
        *("full", "empty", "size", "undef", "real", "imag"),
    }
)
"""Primitives that are written as for NumPy."""

WRITTEN = {
    **by_primitive(arithmetic, conversions),
    **by_primitive(python_math, prefix="math."),
    **by_primitive(special_functions, prefix="special."),
}
FACTORS = by_primitive(factors)
"""Primitives that compiled loops alone have."""
MATRICES = FACTORS | by_primitive(linear_algebra)
WRITTEN |= MATRICES
HELPERS = {
    name: own
    for name, own in (vars(helpers) | vars(matrices)).items()
    if "mark" in getattr(own, "__dict__", {})
}
