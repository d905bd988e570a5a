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


@fresh
def solve_banded(x: Any, y: Any, *, lower: int, upper: int) -> Any:
    return linalg.solve_banded((lower, upper), x, y)


@fresh
def solve_sylvester(x: Any, y: Any, z: Any) -> Any:
    return linalg.solve_sylvester(x, y, z)


@fresh
def sqrtm(x: Any) -> Any:
    return linalg.sqrtm(x)


@fresh
def logm(x: Any) -> Any:
    return linalg.logm(x)


LINALG: dict[str, Callable[..., Any]] = {
    "linalg.expm": expm,
    "linalg.solve_triangular": solve_triangular,
    "linalg.solve_banded": solve_banded,
    "linalg.solve_sylvester": solve_sylvester,
    "linalg.sqrtm": sqrtm,
    "linalg.logm": logm,
}
