"""Rules of functions that are not holomorphic: the parts of complex numbers, their conjugates and
signs.

The cotangent of z = a + ib is dL/da - i dL/db, for a real L. By it the rule of a holomorphic
function is the product with its derivative, and that of a linear map its plain transpose. In
general d_z = d_out dw/dz + conj(d_out dw/dz*), with Wirtinger's derivatives of w (Kreutz-Delgado,
"The complex gradient operator and the CR-calculus", 2009).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import adjoint, partials
from ..numpy import complex_numbers as template

HOLDS_FOR_COMPLEX: frozenset[str] = frozenset(
    {
        *("real", "imag", "complex_sign", "update_part", "conjugate", "absolute"),
        *(
            "negative",
            "add",
            "subtract",
            "multiply",
            "strong_product",
            "strong_quotient",
            "divide",
            "power",
            "float_power",
        ),
        *("square", "reciprocal", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt"),
        *("sin", "cos", "tan", "arcsin", "arccos", "arctan"),
        *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
        *("where", "cast", "to_python", "to_scalar", "asarray", "copy"),
        *("sum", "mean", "prod", "var", "std", "cumsum", "cumprod"),
        *("reshape", "transpose", "expand_dims", "squeeze", "broadcast_to"),
        *("concatenate", "stack", "roll", "pad", "diagonal", "full", "array"),
        *("slice", "windows", "index", "update", "index_update", "accumulate"),
        *("contract", "einsum", "convolve", "inv", "solve", "det"),
        *("eigh", "eigvalsh", "eig", "eigvals", "svd", "svdvals", "pinv", "lstsq"),
        *("cholesky", "slogdet", "undefined"),
        *("linalg.expm", "linalg.solve_banded", "linalg.solve_sylvester"),
        *("linalg.sqrtm", "linalg.logm"),
        *("special.erf", "special.erfc", "special.wofz", "special.lambertw", "special.loggamma"),
        *("fft", "ifft", "rfft", "irfft"),
    }
)
"""The primitives whose rules are right for complex operands, as tests show. Any other primitive is
refused on the way of a complex gradient, even if it has a rule for real numbers."""

NOT_HOLOMORPHIC: frozenset[str] = frozenset(
    {
        *("real", "imag", "complex_sign", "update_part", "conjugate", "absolute", "var", "std"),
        *("eigh", "eigvalsh", "eig", "svd", "svdvals", "pinv", "lstsq", "cholesky", "slogdet"),
        "irfft",
    }
)
"""Primitives without a complex derivative: a change by ``1j * h`` does not change the result by
``1j`` times the change for ``h``."""


@partials
def real(out: Any, x: Any) -> Any:
    return 1.0


@partials
def imag(out: Any, x: Any) -> Any:
    return -1j


@adjoint
def conjugate(out: Any, x: Any, d_out: Any) -> Any:
    return np.conjugate(d_out)


@adjoint
def complex_sign(out: Any, x: Any, d_out: Any) -> Any:
    """The adjoint of z / abs(z); 0 at 0."""
    size = np.absolute(x)
    change = d_out - np.conjugate(d_out * out * out)
    return np.where(size == 0, 0.0, change / (2 * size + (size == 0)))


@adjoint
def update_part(out: Any, x: Any, v: Any, d_out: Any, *, part: str) -> Any:
    """The part that was overwritten has no influence."""
    if part == "real":
        return template.update_part(np.copy(d_out), 0.0, part="real"), np.real(d_out)
    return template.update_part(np.copy(d_out), 0.0, part="imag"), -np.imag(d_out)
