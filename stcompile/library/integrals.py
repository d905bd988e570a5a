"""Integrals of samples and of functions, by the rules of `scipy.integrate`.

Values are SciPy's up to rounding. Samples along an axis are moved to the last axis first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.library import calculus
from stcompile.library.conditions import require


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The trapezoidal rule."""
    return calculus.trapezoid(y, x, dx, axis)


def _samples(y: Any, x: Any, axis: int) -> tuple[Any, Any]:
    """Samples and the distances between their points, along the last axis; None: no points."""
    values = np.asarray(y)
    if values.dtype.kind in "biu":
        values = values.astype(np.float64)
    moved = np.moveaxis(values, axis, -1)
    if x is None:
        return moved, None
    points = np.asarray(x)
    points = points if points.ndim == 1 else np.moveaxis(points, axis, -1)
    if points.shape[-1] != moved.shape[-1]:
        raise ValueError("If given, length of x along axis must be the same as y.")
    return moved, np.diff(points.astype(np.result_type(points.dtype, values.dtype)), axis=-1)


def cumulative_trapezoid(
    y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Any:
    """The trapezoidal rule up to each point."""
    values, steps = _samples(y, x, axis)
    widths = dx if steps is None else steps
    sums = np.cumsum(widths * (values[..., 1:] + values[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        if initial != 0:
            raise ValueError("`initial` must be `None` or `0`.")
        sums = np.concatenate([np.zeros((*sums.shape[:-1], 1), sums.dtype), sums], axis=-1)
    return np.moveaxis(sums, -1, axis)


def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """Simpson's rule for points at any distances; of an even number of points the last interval is
    corrected (Cartwright, J. Math. Sci. Math. Educ. 11, 2017, equation 8)."""
    values, steps = _samples(y, x, axis)
    n = values.shape[-1]
    if steps is not None:
        require(np.all(steps != 0), "simpson: two neighbouring points of x are equal")
    if n == 1:
        return 0.0 * values[..., 0]
    if n == 2:
        width = dx if steps is None else steps[..., -1]
        return 0.5 * width * (values[..., -1] + values[..., -2])
    if n % 2:
        return _by_parabolas(values, steps, dx)
    first = _by_parabolas(values[..., :-1], None if steps is None else steps[..., :-1], dx)
    h0, h1 = (dx, dx) if steps is None else (steps[..., -2], steps[..., -1])
    alpha = (2 * h1**2 + 3 * h0 * h1) / (6 * (h1 + h0))
    beta = (h1**2 + 3.0 * h0 * h1) / (6 * h0)
    eta = h1**3 / (6 * h0 * (h0 + h1))
    return first + alpha * values[..., -1] + beta * values[..., -2] - eta * values[..., -3]


def _by_parabolas(y: Any, steps: Any, dx: Any) -> Any:
    """Simpson's rule of an odd number of points."""
    y0, y1, y2 = y[..., :-2:2], y[..., 1:-1:2], y[..., 2::2]
    if steps is None:
        return np.sum(y0 + 4.0 * y1 + y2, axis=-1) * (dx / 3.0)
    h0, h1 = steps[..., ::2], steps[..., 1::2]
    both = h0 + h1
    parts = y0 * (2.0 - h1 / h0) + y1 * (both * (both / (h0 * h1))) + y2 * (2.0 - h0 / h1)
    return np.sum(both / 6.0 * parts, axis=-1)


def cumulative_simpson(
    y: Any, *, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Any:
    """Simpson's rule up to each point (Cartwright, equations 8 and 10)."""
    values, steps = _samples(y, x, axis)
    if values.shape[-1] < 3:
        sums = np.moveaxis(cumulative_trapezoid(y, x, dx, axis), axis, -1)
    else:
        if steps is not None:
            require(np.all(steps > 0), "Input x must be strictly increasing.")
            steps = np.broadcast_to(steps, (*values.shape[:-1], values.shape[-1] - 1))
        elif np.ndim(dx):
            raise NotImplementedError("cumulative_simpson takes one number as dx, or x")
        forth = _first_of_two(values, steps, dx)
        back = _first_of_two(values[..., ::-1], None if steps is None else steps[..., ::-1], dx)[
            ..., ::-1
        ]
        places = np.arange(values.shape[-1] - 1)
        last = back[..., -1:]
        is_first = (places % 2 == 0) & (places < values.shape[-1] - 2)
        first = np.concatenate([forth, last], axis=-1)
        second = np.concatenate([last, back], axis=-1)
        sums = np.cumsum(np.where(is_first, first, second), axis=-1)
    if initial is not None:
        start = np.broadcast_to(np.asarray(initial, dtype=float), (*sums.shape[:-1], 1))
        sums = np.concatenate([start, start + sums], axis=-1)
    return np.moveaxis(sums, -1, axis)


def _first_of_two(y: Any, steps: Any, dx: Any) -> Any:
    """The integral over the first of every two neighbouring intervals, of the parabola through
    three points."""
    f1, f2, f3 = y[..., :-2], y[..., 1:-1], y[..., 2:]
    if steps is None:
        return dx / 3 * (5 * f1 / 4 + 2 * f2 - f3 / 4)
    x21, x32 = steps[..., :-1], steps[..., 1:]
    part = x21 / (x21 + x32)
    both = part * (x21 / x32)
    return x21 / 6 * ((3 - part) * f1 + (3 + both + part) * f2 - both * f3)


def romb(y: Any, dx: Any = 1.0, axis: int = -1) -> Any:
    """Romberg's rule of 2**k + 1 samples: trapezoidal rules, extrapolated (Richardson)."""
    values, _ = _samples(y, None, axis)
    count = values.shape[-1] - 1
    if count < 1 or count & (count - 1):
        raise ValueError("Number of samples must be one plus a non-negative power of 2.")
    width = count * dx
    rows = [[(values[..., 0] + values[..., -1]) / 2.0 * width]]
    step = count
    while step > 1:
        half = step // 2
        inner = np.sum(values[..., half:count:step], axis=-1)
        row = [0.5 * (rows[-1][0] + width * inner)]
        for j, coarse in enumerate(rows[-1], 1):
            row.append(row[-1] + (row[-1] - coarse) / (4**j - 1))
        rows.append(row)
        width = width / 2.0
        step = half
    return rows[-1][-1]


def fixed_quad(func: Any, a: Any, b: Any, args: Any = (), n: int = 5) -> tuple[Any, None]:
    """Gauss and Legendre's rule of n points, at which the function is called at once."""
    if (isinstance(a, float) and np.isinf(a)) or (isinstance(b, float) and np.isinf(b)):
        raise ValueError("Gaussian quadrature is only available for finite limits.")
    nodes, weights = legendre(n)
    at = (b - a) * (nodes + 1) / 2.0 + a
    return (b - a) / 2.0 * np.sum(weights * func(at, *args), axis=-1), None


def legendre(n: int) -> tuple[Any, Any]:
    """The points and weights of Gauss and Legendre's rule."""
    return np.polynomial.legendre.leggauss(n)
