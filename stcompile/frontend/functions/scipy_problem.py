"""Calls of solvers of `scipy.optimize`, as the frontend hands them to the transformation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SCALAR_METHODS: tuple[str, ...] = ("Nelder-Mead", "Powell", "COBYLA", "COBYQA")
"""Methods of `scipy.optimize.minimize` that take no gradient."""
ITERATIVE = ("broyden1", "broyden2", "anderson", "newton_krylov")
"""Solvers that approximate the Jacobian from step to step."""


@dataclass(frozen=True)
class Problem:
    """A call of a solver: ``kind`` says what the solution is, ``starts`` are the numbers that it
    begins with, of which the first has its shape; ``options`` are known at compile time."""

    solver: str
    kind: str  # "root", "minimum" or "squares"
    function: Any
    args: Sequence[Any]
    starts: Sequence[Any]
    options: Mapping[str, Any]
