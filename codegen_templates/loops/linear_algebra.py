"""Linear algebra on small matrices, in loops that Numba compiles."""

from __future__ import annotations

from typing import Any

from ..marks import fresh
from .matrices import determinant, factored, inverse, lower_factor, sign_and_logarithm, solved


@fresh
def solve(x: Any, y: Any) -> Any:
    return solved(factored(x), y)


@fresh
def inv(x: Any) -> Any:
    return inverse(factored(x))


@fresh
def det(x: Any) -> Any:
    return determinant(factored(x))


@fresh
def slogdet(x: Any, *, part: str) -> Any:
    if part == "sign":
        return sign_and_logarithm(factored(x))[0]
    return sign_and_logarithm(factored(x))[1]


@fresh
def cholesky(x: Any) -> Any:
    return lower_factor(x)
