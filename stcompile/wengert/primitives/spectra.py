"""Eigenvalues and eigenvectors on the way to a derivative: `stcompile.ad.spectra` puts the
primitives into a program before it is differentiated, and takes all but ``undefined`` out again.

Each of them hands its first operand on. They differ in what the others get of the cotangent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stcompile.wengert.ir import Equation
from stcompile.wengert.primitives.base import Infer, OperandError, Primitive, Types, require_count


def _first(name: str, count: int) -> Infer:
    def infer(types: Types, params: Mapping[str, Any]) -> Types:
        require_count(name, types, count)
        return (types[0],)

    return infer


def _undefined(types: Types, params: Mapping[str, Any]) -> Types:
    require_count("undefined", types, 2)
    x, mask = types
    if mask.dims != x.dims or mask.dtype.kind != "b":
        raise OperandError(f"undefined: takes a mask of shape {x.dims}, not {mask}")
    return (x,)


SPECTRA: tuple[Primitive, ...] = (
    Primitive("undefined", _undefined),
    Primitive("held", _first("held", 1)),
    Primitive("levels", _first("levels", 2)),
    Primitive("columns", _first("columns", 3)),
    Primitive("spectral", _first("spectral", 8)),
    Primitive("singular", _first("singular", 9)),
    Primitive("singular_levels", _first("singular_levels", 2)),
    Primitive("outside", _first("outside", 4)),
)
HANDED_ON = frozenset(
    {"held", "levels", "columns", "spectral", "singular", "singular_levels", "outside"}
)
"""The primitives whose result is their first operand."""
FACTORISATIONS = frozenset({"eigh", "eigvalsh", "svd", "svdvals"})
"""The primitives whose results the search for functions of matrices begins with."""


def has_factors(equation: Equation) -> bool:
    """True for a call without a rule of its own, with a factorisation in it."""
    if equation.primitive != "call" or equation.params["adjoint"] is not None:
        return False
    steps = equation.params["program"].equations
    if any(step.binds is not None for step in steps):
        return False
    return any(step.primitive in FACTORISATIONS or has_factors(step) for step in steps)
