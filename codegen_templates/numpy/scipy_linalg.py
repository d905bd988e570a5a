"""Spellings of solvers of `scipy.linalg` that NumPy does not have."""

from __future__ import annotations

from typing import Any

from ..lazy import linalg
from ..marks import fresh


@fresh
def solve_triangular(
    x: Any, y: Any, *, trans: int = 0, lower: bool = False, unit_diagonal: bool = False
) -> Any:
    return linalg.solve_triangular(x, y, trans=trans, lower=lower, unit_diagonal=unit_diagonal)


@fresh
def solve_banded(x: Any, y: Any, *, lower: int, upper: int) -> Any:
    return linalg.solve_banded((lower, upper), x, y)
