"""Functions of Python's `math` module that take any number of numbers.

Its other functions share the rules of NumPy's functions.
"""

from __future__ import annotations

from typing import Any

from ..marks import adjoint


@adjoint
def hypot(out: Any, xs: Any, d_out: Any) -> Any:
    return tuple(d_out * (x / out) for x in xs)


@adjoint
def fsum(out: Any, xs: Any, d_out: Any) -> Any:
    return tuple(d_out for x in xs)
