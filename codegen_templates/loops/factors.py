"""Linear algebra with the factors of a matrix, which several equations share. Compiled loops alone
have it: NumPy does not hand factors on."""

from __future__ import annotations

from typing import Any

from ..marks import fresh
from .matrices import (
    determinant,
    factored,
    inverse,
    sign_and_logarithm,
    solved,
    solved_transposed,
)


@fresh
def lu_factor(x: Any) -> Any:
    return factored(x)


@fresh
def lu_solve(u: Any, y: Any, *, transposed: bool) -> Any:
    if transposed:
        return solved_transposed(u, y)
    return solved(u, y)


@fresh
def lu_inv(u: Any) -> Any:
    return inverse(u)


@fresh
def lu_det(u: Any) -> Any:
    return determinant(u)


@fresh
def lu_slogdet(u: Any, *, part: str) -> Any:
    if part == "sign":
        return sign_and_logarithm(u)[0]
    return sign_and_logarithm(u)[1]
