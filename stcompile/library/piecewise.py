"""Piecewise polynomials of `scipy.interpolate`: `PPoly`, and the cubic ones that interpolate.

A polynomial of degree ``k`` on each interval has its coefficients, highest power first, in
``c[:, interval]``, of the distance from the left end of the interval. Coefficients are SciPy's up
to rounding, and so are values, which are computed by Horner's rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import linalg
from stcompile.library.conditions import require


class PiecewisePolynomial:
    """A polynomial on each of some intervals, as `scipy.interpolate.PPoly`. The result of a call
    has the axes of the points in the place of ``axis``."""

    def __init__(self, c: Any, x: Any, extrapolate: Any, axis: int) -> None:
        self.c = c
        self.x = x
        self.extrapolate = extrapolate
        self.axis = axis

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        chosen = self.extrapolate if extrapolate is None else extrapolate
        at = np.asarray(x).astype(np.float64)
        of = self if nu == 0 else self.derivative(nu)
        return spread(_evaluated(of.c, of.x, at, chosen), at.ndim, self.axis)

    def derivative(self, nu: int = 1) -> Any:
        """The nu-th derivative; the antiderivative if nu is negative."""
        if nu < 0:
            return self.antiderivative(-nu)
        c = self.c
        for _ in range(nu):
            c = _slopes(c)
        return PiecewisePolynomial(c, self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> Any:
        """The nu-th antiderivative, which is continuous and 0 at the first breakpoint."""
        if nu < 0:
            return self.derivative(-nu)
        c = self.c
        for _ in range(nu):
            c = _integrals(c, self.x)
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return PiecewisePolynomial(c, self.x, extrapolate, self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from a to b."""
        chosen = self.extrapolate if extrapolate is None else extrapolate
        if chosen == "periodic":
            raise NotImplementedError("integrate with extrapolate='periodic' is not supported")
        c = _integrals(self.c, self.x)
        ends = _evaluated(c, self.x, np.stack([a, b]).astype(np.float64), chosen)
        return ends[1] - ends[0]


def spread(values: Any, ndim: int, axis: int) -> Any:
    """Values whose first axes are those of the points: these axes moved to ``axis``."""
    if axis == 0:
        return values
    order = list(range(values.ndim))
    order = order[ndim : ndim + axis] + order[:ndim] + order[ndim + axis :]
    return np.transpose(values, order)


def across(x: Any, ndim: int) -> Any:
    """A vector with axes of length 1 behind it, ``ndim`` in all."""
    return np.reshape(x, (x.shape[0],) + (1,) * (ndim - 1))


def _evaluated(c: Any, x: Any, at: Any, extrapolate: Any) -> Any:
    """The values at points, whose axes come first."""
    if extrapolate == "periodic":
        at = x[0] + (at - x[0]) % (x[-1] - x[0])
    interval = np.clip(np.searchsorted(x, at, side="right") - 1, 0, c.shape[1] - 1)
    distance = np.reshape(at - x[interval], at.shape + (1,) * (c.ndim - 2))
    value = c[0][interval]
    for power in range(1, c.shape[0]):
        value = value * distance + c[power][interval]
    if c.shape[0] == 1:
        value = value + 0.0 * distance  # NaN of NaN
    if extrapolate is False:
        is_outside = np.reshape((at < x[0]) | (at > x[-1]), distance.shape)
        value = np.where(is_outside, np.nan, value)
    return value


def _slopes(c: Any) -> Any:
    if c.shape[0] == 1:
        return np.zeros_like(c)
    return c[:-1] * across(np.arange(c.shape[0] - 1.0, 0.0, -1.0), c.ndim)


def _integrals(c: Any, x: Any) -> Any:
    """The coefficients of the antiderivative that is continuous, and 0 at the first breakpoint."""
    powers = c / across(np.arange(c.shape[0] + 0.0, 0.0, -1.0), c.ndim)
    lengths = across(x[1:] - x[:-1], c.ndim - 1)
    whole = powers[0]
    for power in range(1, c.shape[0]):
        whole = whole * lengths + powers[power]
    sums = np.cumsum(whole * lengths, axis=0)
    start = np.concatenate([np.zeros_like(sums[:1]), sums[:-1]])
    return np.concatenate([powers, start[None]])


# --- interpolation -------------------------------------------------------------------------------


def ppoly(c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> Any:
    """`scipy.interpolate.PPoly`, with increasing breakpoints."""
    coefficients, points = np.asarray(c), np.asarray(x).astype(np.float64)
    if not 0 <= axis < coefficients.ndim - 1:
        raise ValueError(f"axis={axis} must be between 0 and {coefficients.ndim - 2}")
    if axis != 0:
        coefficients = np.moveaxis(np.moveaxis(coefficients, axis + 1, 0), axis + 1, 0)
    if points.ndim != 1 or points.shape[0] != coefficients.shape[1] + 1:
        raise ValueError("x has one element more than c has intervals")
    require(np.all(np.diff(points) > 0), "PPoly: x must be strictly increasing")
    kind = np.result_type(coefficients.dtype, np.float64)
    return PiecewisePolynomial(
        coefficients.astype(kind), points, True if extrapolate is None else extrapolate, axis
    )


def cubic_hermite_spline(x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> Any:
    """`scipy.interpolate.CubicHermiteSpline`: values and derivatives are given."""
    points, _, values, place = _prepared(x, y, axis)
    slopes = np.moveaxis(np.asarray(dydx).astype(values.dtype), place, 0)
    return _hermite(points, values, slopes, True if extrapolate is None else extrapolate, place)


def _prepared(x: Any, y: Any, axis: int) -> tuple[Any, Any, Any, int]:
    """The points, their distances, the values with the axis first, and the axis."""
    points = np.asarray(x).astype(np.float64)
    values = np.asarray(y)
    values = values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
    place = axis % values.ndim
    if points.ndim != 1 or points.shape[0] < 2 or points.shape[0] != values.shape[place]:
        raise ValueError("x is a vector of two elements or more, as many as y has along the axis")
    distances = np.diff(points)
    require(np.all(distances > 0), "`x` must be strictly increasing sequence.")
    return points, distances, np.moveaxis(values, place, 0), place


def _hermite(x: Any, y: Any, slopes: Any, extrapolate: Any, axis: int) -> Any:
    """The cubic on each interval that has these values and slopes at its ends."""
    lengths = across(np.diff(x), y.ndim)
    mean = np.diff(y, axis=0) / lengths
    t = (slopes[:-1] + slopes[1:] - 2 * mean) / lengths
    c = np.stack([t / lengths, (mean - slopes[:-1]) / lengths - t, slopes[:-1], y[:-1]])
    return PiecewisePolynomial(c, x, extrapolate, axis)


def cubic_spline(
    x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None
) -> Any:
    """`scipy.interpolate.CubicSpline`: twice continuously differentiable. Its slopes solve a
    tridiagonal system (de Boor, "A Practical Guide to Splines", chapter IV)."""
    points, distances, values, place = _prepared(x, y, axis)
    if isinstance(bc_type, str) and bc_type == "periodic":
        message = "The first and last `y` point must be identical when bc_type='periodic'."
        require(np.allclose(values[0], values[-1], rtol=1e-15, atol=1e-15), message)
        slopes = _periodic_slopes(distances, values)
        chosen = "periodic" if extrapolate is None else extrapolate
        return _hermite(points, values, slopes, chosen, place)
    start, end = _conditions(bc_type, values)
    slopes = _spline_slopes(points, distances, values, start, end)
    return _hermite(points, values, slopes, True if extrapolate is None else extrapolate, place)


def _conditions(bc_type: Any, y: Any) -> tuple[Any, Any]:
    """The condition at each end: None for not-a-knot, else the order of the derivative that is
    given, and its value."""
    both = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    if len(both) != 2:
        raise ValueError("`bc_type` must contain 2 elements to specify start and end conditions.")
    found: list[Any] = []
    for one in both:
        if not isinstance(one, str):
            order, given = one
            if order not in (1, 2):
                raise ValueError("The specified derivative order must be 1 or 2.")
            found.append((order, np.asarray(given)))
        elif one == "not-a-knot":
            found.append(None)
        elif one in ("clamped", "natural"):
            found.append((1 if one == "clamped" else 2, np.zeros(y.shape[1:])))
        else:
            raise ValueError(f"bc_type={one} is not allowed.")
    return found[0], found[1]


def _spline_slopes(x: Any, dx: Any, y: Any, start: Any, end: Any) -> Any:
    n = x.shape[0]
    lengths = across(dx, y.ndim)
    mean = np.diff(y, axis=0) / lengths
    if n == 2:
        start = (1, mean[0]) if start is None else start
        end = (1, mean[0]) if end is None else end
    if n == 3 and start is None and end is None:  # a parabola
        bend = (mean[1] - mean[0]) / (x[2] - x[0])
        middle = mean[0] + bend * dx[0]
        return np.stack([mean[0] - bend * dx[0], middle, mean[1] + bend * dx[1]])
    first, above, left = _end_row(start, dx, lengths, y, mean, 1)
    last, below, right = _end_row(end, dx[::-1], lengths[::-1], y[::-1], mean[::-1], -1)
    diagonal = np.concatenate([np.stack([first]), 2 * (dx[:-1] + dx[1:]), np.stack([last])])
    upper = np.concatenate([np.stack([0.0, above]), dx[:-1]])
    lower = np.concatenate([dx[1:], np.stack([below, 0.0])])
    inner = 3 * (lengths[1:] * mean[:-1] + lengths[:-1] * mean[1:])
    sides = np.concatenate([left[None], inner, right[None]])
    flat = np.reshape(sides, (n, -1))
    bands = np.stack([upper, diagonal, lower])
    return np.reshape(linalg.solve_banded((1, 1), bands, flat), sides.shape)


def _end_row(
    condition: Any, dx: Any, lengths: Any, y: Any, mean: Any, sign: int
) -> tuple[Any, Any, Any]:
    """The equation at an end, seen from there: the factors of the slope at the end and of its
    neighbour, and the right-hand side."""
    if condition is None:
        d = dx[0] + dx[1]
        side = (lengths[0] + 2 * d) * lengths[1] * mean[0] + lengths[0] ** 2 * mean[1]
        return dx[1], d, side / d
    order, value = condition
    if order == 1:
        return 1.0, 0.0, value + 0.0 * y[0]
    return 2 * dx[0], dx[0], -sign * 0.5 * value * dx[0] ** 2 + 3 * sign * (y[1] - y[0])


def _periodic_slopes(dx: Any, y: Any) -> Any:
    """The slopes of a periodic spline. Its system is tridiagonal but for two corners: the last
    unknown is found from the solutions for the others without it."""
    n = dx.shape[0] + 1
    lengths = across(dx, y.ndim)
    mean = np.diff(y, axis=0) / lengths
    if n == 2:
        return np.concatenate([mean, mean])
    if n == 3:
        slope = np.sum(mean / lengths, axis=0) / np.sum(1.0 / lengths, axis=0)
        return np.stack([slope, slope, slope])
    before = np.concatenate([lengths[-1:], lengths[:-1]])  # the interval before each point
    mean_before = np.concatenate([mean[-1:], mean[:-1]])
    sides = 3 * (before * mean + lengths * mean_before)
    last = np.concatenate([dx[-1:], dx[:-1]])
    diagonal = 2 * (last + dx)
    upper = np.concatenate([np.zeros(1), last[:-2]])
    lower = np.concatenate([dx[1:-1], np.zeros(1)])
    bands = np.stack([upper, diagonal[:-1], lower])
    count = n - 2
    corner = np.concatenate([-dx[:1], np.zeros(count - 2), -last[-2:-1]])
    flat = np.reshape(sides, (n - 1, -1))
    both = np.concatenate([flat[:-1], corner[:, None]], axis=1)
    solved = linalg.solve_banded((1, 1), bands, both)
    s1, s2 = solved[:, :-1], solved[:, -1]
    below, above = dx[-1], last[-1]
    slope = flat[-1] - above * s1[0] - below * s1[-1]
    slope = slope / (diagonal[-1] + above * s2[0] + below * s2[-1])
    inner = s1 + s2[:, None] * slope
    whole = np.concatenate([inner, slope[None], inner[:1]])
    return np.reshape(whole, y.shape)


def pchip_interpolator(x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> Any:
    """`scipy.interpolate.PchipInterpolator`: monotone where the data are (Fritsch and Butland,
    SIAM J. Sci. Stat. Comput. 5, 1984)."""
    points, _, values, place = _prepared(x, y, axis)
    if values.dtype.kind == "c":
        raise ValueError("`PchipInterpolator` only works with real values for `y`.")
    h = across(np.diff(points), values.ndim)
    m = np.diff(values, axis=0) / h
    if points.shape[0] == 2:
        slopes = np.concatenate([m, m])
    else:
        is_flat = (np.sign(m[1:]) != np.sign(m[:-1])) | (m[1:] == 0) | (m[:-1] == 0)
        w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
        below, above = np.where(is_flat, 1.0, m[:-1]), np.where(is_flat, 1.0, m[1:])
        inner = np.where(is_flat, 0.0, (w1 + w2) / (w1 / below + w2 / above))
        first = _pchip_end(h[0], h[1], m[0], m[1])
        last = _pchip_end(h[-1], h[-2], m[-1], m[-2])
        slopes = np.concatenate([first[None], inner, last[None]])
    return _hermite(points, values, slopes, True if extrapolate is None else extrapolate, place)


def _pchip_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    """The slope at an end, by three points, made to preserve the shape (Moler, "Numerical Computing
    with MATLAB", section 3.6)."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    is_steep = (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3.0 * np.abs(m0))
    return np.where(np.sign(d) != np.sign(m0), 0.0, np.where(is_steep, 3.0 * m0, d))


def akima_interpolator(
    x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: Any = None
) -> Any:
    """`scipy.interpolate.Akima1DInterpolator` (Akima, J. ACM 17, 1970), or the modified one."""
    if method not in ("akima", "makima"):
        raise NotImplementedError(f"`method`={method} is unsupported.")
    points, _, values, place = _prepared(x, y, axis)
    if values.dtype.kind == "c":
        raise ValueError("`Akima1DInterpolator` only works with real values for `y`.")
    mean = np.diff(values, axis=0) / across(np.diff(points), values.ndim)
    if points.shape[0] == 2:
        slopes = np.concatenate([mean, mean])
    else:
        left = 2.0 * mean[0] - mean[1]
        right = 2.0 * mean[-1] - mean[-2]
        outer_left, outer_right = 2.0 * left - mean[0], 2.0 * right - mean[-1]
        ends = [np.stack([outer_left, left]), mean, np.stack([right, outer_right])]
        m = np.concatenate(ends)
        change = np.abs(np.diff(m, axis=0))
        f1, f2 = change[2:], change[:-2]
        if method == "makima":
            size = np.abs(m[1:] + m[:-1])
            f1, f2 = f1 + 0.5 * size[2:], f2 + 0.5 * size[:-2]
        both = f1 + f2
        is_known = both > 1e-9 * np.max(both)
        weight = f2 / np.where(is_known, both, 1.0)
        slopes = np.where(is_known, m[1:-2] + weight * (m[2:-1] - m[1:-2]), 0.5 * (m[3:] + m[:-3]))
    return _hermite(points, values, slopes, False if extrapolate is None else extrapolate, place)
