"""Linear algebra on small matrices, in loops that Numba compiles."""

from __future__ import annotations

from typing import Any

from ..marks import Table, fresh
from .matrices import determinant, factored, inverse, lower_factor, sign_and_logarithm, solved

SPELLINGS: Table = {
    "solve": lambda x, y: solved(factored(x), y),
    "inv": lambda x: inverse(factored(x)),
    "det": lambda x: determinant(factored(x)),
    "cholesky": lambda x: lower_factor(x),
}


@fresh
def slogdet(x: Any, *, part: str) -> Any:
    if part == "sign":
        return sign_and_logarithm(factored(x))[0]
    return sign_and_logarithm(factored(x))[1]
