"""Derivatives and integrals of the series of `numpy.polynomial`, by NumPy's recurrences."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from stcompile.library.axes import normal
from stcompile.library.polynomial import FUNCTIONS as OF_SERIES
from stcompile.library.polynomial import coefficients, polyval

# --- derivatives ---------------------------------------------------------------------------------


def _derived(step: Any, c: Any, m: int = 1, scl: Any = 1, axis: int = 0) -> Any:
    """The m-th derivative; ``step`` gives the list of coefficients of the first."""
    if m < 0:
        raise ValueError("The order of derivation must be non-negative")
    given = coefficients(c)
    at = normal(axis, given.ndim)
    a = np.moveaxis(given, at, 0)
    if m == 0:
        return np.copy(given)
    if m >= a.shape[0]:
        return np.moveaxis(a[:1] * 0, 0, at)
    rows = [a[i] for i in range(a.shape[0])]
    for _ in range(m):
        rows = step([row * scl for row in rows])
    return np.moveaxis(np.stack(rows).astype(given.dtype), 0, at)


def _two_apart(factor: Any, share: Any, a: Any) -> Any:
    """The derivative of a series whose polynomials have derivatives two degrees apart in common."""
    rest = list(a)
    found = [rest[0]] * (len(rest) - 1)
    for j in range(len(rest) - 1, 2, -1):
        found[j - 1] = factor(j) * rest[j]
        rest[j - 2] = rest[j - 2] + share(rest[j], j)
    if len(rest) > 2:
        found[1] = factor(2) * rest[2]
    found[0] = rest[1]
    return found


def _poly_step(a: Any) -> Any:
    return [j * a[j] for j in range(1, len(a))]


def hermeder(c: Any, m: int = 1, scl: Any = 1, axis: int = 0) -> Any:
    """The derivative of a series of the probabilists' Hermite polynomials."""
    if np.ndim(c) > 1 and axis % np.ndim(c) and m >= np.shape(c)[axis]:
        raise ValueError("where hermeder is zero, NumPy moves the axis to the front: use axis=0")
    return _derived(_poly_step, c, m, scl, axis)


def _lag_step(a: Any) -> Any:
    rest = list(a)
    found = [rest[0]] * (len(rest) - 1)
    for j in range(len(rest) - 1, 1, -1):
        found[j - 1] = -rest[j]
        rest[j - 1] = rest[j - 1] + rest[j]
    found[0] = -rest[1]
    return found


# --- integrals -----------------------------------------------------------------------------------


def _integrated(
    step: Any,
    value: Any,
    c: Any,
    m: int = 1,
    k: Any = (),
    lbnd: Any = 0,
    scl: Any = 1,
    axis: int = 0,
) -> Any:
    """The m-th integral, which has the value k[i] at ``lbnd`` after the i-th; ``step`` gives the
    list of coefficients of the first, up to its constant. A constant is integrated like any other
    series: of one that is zero NumPy keeps the degree 0."""
    constants = list(k) if np.ndim(k) else [k]
    if m < 0:
        raise ValueError("The order of integration must be non-negative")
    if len(constants) > m:
        raise ValueError("Too many integration constants")
    if np.ndim(lbnd) or np.ndim(scl):
        raise ValueError("lbnd and scl must be scalars.")
    given = coefficients(c)
    at = normal(axis, given.ndim)
    if m == 0:
        return np.copy(given)
    a = np.moveaxis(given, at, 0)
    for i in range(m):
        if a.shape[0] == 1 and np.all(a[0] == 0):
            raise ValueError("the integral of zero has another length than that of a constant")
        found = np.stack(step([a[j] * scl for j in range(a.shape[0])]))
        constant = constants[i] if i < len(constants) else 0
        found[0] += constant - value(lbnd, found)
        a = found.astype(given.dtype)
    return np.moveaxis(a, 0, at)


def _poly_sum(a: Any) -> Any:
    return [a[0] * 0, a[0], *(a[j] / (j + 1) for j in range(1, len(a)))]


def _herm_sum(a: Any) -> Any:
    return [a[0] * 0, a[0] / 2, *(a[j] / (2 * (j + 1)) for j in range(1, len(a)))]


def _cheb_sum(a: Any) -> Any:
    found = [a[0] * 0] * (len(a) + 1)
    found[1] = a[0]
    if len(a) > 1:
        found[2] = a[1] / 4
    for j in range(2, len(a)):
        found[j + 1] = a[j] / (2 * (j + 1))
        found[j - 1] = found[j - 1] - a[j] / (2 * (j - 1))
    return found


def _leg_sum(a: Any) -> Any:
    found = [a[0] * 0] * (len(a) + 1)
    found[1] = a[0]
    if len(a) > 1:
        found[2] = a[1] / 3
    for j in range(2, len(a)):
        share = a[j] / (2 * j + 1)
        found[j + 1] = share
        found[j - 1] = found[j - 1] - share
    return found


def _lag_sum(a: Any) -> Any:
    found = [a[0], -a[0], *(a[j] * 0 for j in range(1, len(a)))]
    for j in range(1, len(a)):
        found[j] = found[j] + a[j]
        found[j + 1] = found[j + 1] - a[j]
    return found


FUNCTIONS: dict[str, Any] = {
    # the coefficients of the m-th derivatives
    "polyder": partial(_derived, _poly_step),
    "chebder": partial(
        _derived, partial(_two_apart, lambda j: 2 * j, lambda v, j: (j * v) / (j - 2))
    ),
    "legder": partial(_derived, partial(_two_apart, lambda j: 2 * j - 1, lambda v, j: v)),
    "hermder": partial(_derived, lambda a: [(2 * j) * a[j] for j in range(1, len(a))]),
    "hermeder": hermeder,
    "lagder": partial(_derived, _lag_step),
    # the coefficients of the m-th integrals, with constants ``k``
    "polyint": partial(_integrated, _poly_sum, polyval),
    "chebint": partial(_integrated, _cheb_sum, OF_SERIES["chebval"]),
    "legint": partial(_integrated, _leg_sum, OF_SERIES["legval"]),
    "hermint": partial(_integrated, _herm_sum, OF_SERIES["hermval"]),
    "hermeint": partial(_integrated, _poly_sum, OF_SERIES["hermeval"]),
    "lagint": partial(_integrated, _lag_sum, OF_SERIES["lagval"]),
}
