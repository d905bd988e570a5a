"""Differences, integrals, interpolation, polynomials and series."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from tests.gradients import arguments as a
from tests.gradients.functions.case import (
    GRID,
    GRID_AND_ROW,
    KNOTS,
    ROW,
    SERIES,
    TWO_ROWS,
    VECTORS,
    alone,
    real_alone,
)

KINDS_OF_SERIES = {
    "poly": polynomial,
    "cheb": chebyshev,
    "leg": legendre,
    "herm": hermite,
    "herme": hermite_e,
    "lag": laguerre,
}

CAPTURED = chebyshev.Chebyshev([0.5, -1.0, 2.0], domain=[0, 2])


def polynomials(x: Any, v: Any) -> Any:
    """Objects of `numpy.polynomial`, made here and outside."""
    first = polynomial.Polynomial(v, domain=[-2, 1])
    second = first.deriv() * polynomial.Polynomial(x[0], [-2, 1]) - first.integ(1, k=v[0])
    third = 2.0 * chebyshev.Chebyshev(x[1], domain=[0.0, 2.0]) + CAPTURED
    return second(x) * third.deriv(2)(v[0]) + CAPTURED.integ(lbnd=0.5)(x) * len(second)


CALCULUS = (
    real_alone(
        "poly",
        lambda x: np.poly(x) * np.sum(np.abs(np.roots(np.append(x, 3.0) + 1j))),
        a.of_shapes((2,)),
    ),
    alone("polydiv", lambda x, v: np.polydiv(x, v + 3)[0], a.of_shapes((4,), (2,))),
    alone("diff", lambda x, axis: np.diff(x, axis=axis), a.with_axis()),
    alone("diff, twice", lambda x: np.diff(x, 2) * np.diff(x, 3)[:, :1], GRID),
    alone("diff, ends", lambda x, v: np.diff(x, prepend=0, append=v[:3, None]), GRID_AND_ROW),
    alone("ediff1d", lambda x: np.ediff1d(x) * 2 + np.ediff1d(x[0], [1.0], x)[0], GRID),
    alone("gradient", lambda x: list(np.gradient(x)), GRID),
    alone("gradient, edges", lambda x: np.gradient(x, 0.5, axis=-1, edge_order=2), GRID),
    real_alone(
        "gradient, uneven",
        lambda x, v: (
            np.gradient(x, KNOTS + v / 9, axis=1, edge_order=1)
            * np.gradient(x, KNOTS - v / 9, axis=1, edge_order=2)
        ),
        GRID_AND_ROW,
    ),
    alone("trapezoid", lambda x, axis: np.trapezoid(x, axis=axis), a.with_axis()),
    alone("trapezoid, x", lambda x, v: np.trapezoid(x, v) * np.trapezoid(x, x * x), GRID_AND_ROW),
    real_alone("unwrap", lambda x: np.unwrap(4 * x), GRID),
    alone("polyval", lambda p, x: np.polyval(p, x), a.of_shapes((3,), (2, 2))),
    *(
        alone(
            f"series, {name}val", lambda x, c, val=getattr(module, f"{name}val"): val(x, c), SERIES
        )
        for name, module in KINDS_OF_SERIES.items()
    ),
    *(
        alone(f"{name}der", lambda c, der=getattr(module, f"{name}der"): der(c, 2, axis=1), GRID)
        for name, module in KINDS_OF_SERIES.items()
        if name in ("cheb", "leg", "lag")
    ),
    *(
        real_alone(
            f"{name}int",
            lambda x, v, integral=getattr(module, f"{name}int"): integral(
                x, 2, k=[1, v[0]], lbnd=v[1], scl=v[2], axis=-1
            ),
            GRID_AND_ROW,
        )
        for name, module in KINDS_OF_SERIES.items()
        if name in ("cheb", "leg", "lag")
    ),
    real_alone("lagvander", lambda x: laguerre.lagvander(x, 3) * legendre.legvander(x, 3), ROW),
    real_alone(
        "series, add",
        lambda x, v: polynomial.polyadd(x[0], v[:2]) * legendre.legsub(v[:2], x[1]),
        GRID_AND_ROW,
    ),
    real_alone("polymul", lambda x, v: polynomial.polymul(x[0], v), GRID_AND_ROW),
    real_alone("np.polymul", lambda x, v: np.polymul(x[0], v) * 2, GRID_AND_ROW),
    real_alone("chebmul", lambda x, v: chebyshev.chebmul(x[0], v[:3]), GRID_AND_ROW),
    alone("polyvalfromroots", lambda x, r: polynomial.polyvalfromroots(x, r), SERIES),
    real_alone("Polynomial", lambda x, v: polynomials(x, v), GRID_AND_ROW),
    alone("polyder", lambda p: np.polyder(p) * np.polyder(p, 2)[0], ROW),
    alone("polyint", lambda p: np.polyint(p) * np.polyint(p, 2, [1, 2])[0], ROW),
    real_alone("polyfit", lambda y: np.polyfit(KNOTS, y, 2), ROW),
    real_alone("polyfit, w", lambda x, y: np.polyfit(KNOTS + x / 9, y, 1, w=1 + y * y), TWO_ROWS),
    *(
        real_alone(f"convolve, {mode}", lambda x, y, mode=mode: np.convolve(x, y, mode), VECTORS)
        for mode in ("full", "same", "valid")
    ),
    *(
        real_alone(f"correlate, {mode}", lambda x, y, mode=mode: np.correlate(x, y, mode), VECTORS)
        for mode in ("full", "same", "valid")
    ),
    alone("polyadd", lambda p, q: np.polyadd(p, q[1:]) * np.polysub(q[2:], p), TWO_ROWS),
    real_alone("interp", lambda x, v: np.interp(x, KNOTS, v), GRID_AND_ROW),
    real_alone(
        "interp, knots", lambda v, w: np.interp([0.1, 0.4, 9.0], KNOTS + v / 9, w), TWO_ROWS
    ),
    real_alone("interp, number", lambda x, w: np.interp(x, [0.0, 1.0], w), a.of_shapes((), (2,))),
    real_alone("interp, one knot", lambda x, w: np.interp(x, [0.0], w), a.of_shapes((2,), (1,))),
)
