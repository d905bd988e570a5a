"""How functions of `scipy.linalg` are written that NumPy does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..lazy import linalg
from ..marks import fresh


@fresh
def expm(x: Any) -> Any:
    return linalg.expm(x)


@fresh
def solve_triangular(
    x: Any, y: Any, *, trans: int = 0, lower: bool = False, unit_diagonal: bool = False
) -> Any:
    return linalg.solve_triangular(x, y, trans=trans, lower=lower, unit_diagonal=unit_diagonal)


LINALG: dict[str, Callable[..., Any]] = {
    "linalg.expm": expm,
    "linalg.solve_triangular": solve_triangular,
}
