"""Functions of the factors of a matrix. Compiled loops alone have them, because NumPy does not
return factors: the functions here define their meaning."""

from __future__ import annotations

from typing import Any

from ..lazy import LazyModule
from ..marks import fresh

matrices: Any = LazyModule(f"{__name__.rpartition('.numpy.')[0]}.loops.matrices")


@fresh
def lu_factor(x: Any) -> Any:
    return matrices.factored(x)


@fresh
def lu_solve(u: Any, y: Any, *, transposed: bool) -> Any:
    if transposed:
        return matrices.solved_transposed(u, y)
    return matrices.solved(u, y)


@fresh
def lu_inv(u: Any) -> Any:
    return matrices.inverse(u)


@fresh
def lu_det(u: Any) -> Any:
    return matrices.determinant(u)


@fresh
def lu_slogdet(u: Any, *, part: str) -> Any:
    if part == "sign":
        return matrices.sign_and_logarithm(u)[0]
    return matrices.sign_and_logarithm(u)[1]
