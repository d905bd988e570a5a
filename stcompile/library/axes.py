"""Axes and subscripts, for the other modules: static values in, static values out."""

from __future__ import annotations

from typing import Any

import numpy as np


def normal(axis: int, ndim: int) -> int:
    """An axis counted from the front. `ValueError` if there is no such axis."""
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds for {ndim} dimensions")
    return axis % ndim


def flat_as_stored(x: Any) -> Any:
    """The elements of an array as a vector, in the order in which they are stored."""
    return np.ravel(x, order="K")


def in_c_order(x: Any) -> Any:
    """An array in C order: itself, or a copy."""
    return np.asarray(x, order="C")


def in_order_of(x: Any, other: Any) -> Any:
    """An array in Fortran order if ``other`` is in Fortran order and not in C order, else in C
    order."""
    return np.asarray(x, order="F" if np.isfortran(other) else "C")


def along(axis: int, entry: Any) -> Any:
    """The subscript ``entry`` on one axis, counted from the front."""
    return (slice(None),) * axis + (entry,)


def wide(ndim: int, axis: int) -> tuple[int, ...]:
    """The shape in which a vector broadcasts along one of ``ndim`` axes."""
    return (1,) * axis + (-1,) + (1,) * (ndim - axis - 1)
