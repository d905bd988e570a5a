"""Splines of `scipy.interpolate` by their B-splines: `BSpline`, interpolation, and FITPACK's names.

Values are sums of coefficients times the B-splines that are not zero at a point, which follow from
de Boor's recurrence ("A Practical Guide to Splines", chapter X, (8)).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import linalg
from stcompile.library.conditions import require
from stcompile.library.piecewise import across, spread


class Spline:
    """A spline of degree ``k`` with knots ``t``, as `scipy.interpolate.BSpline`; the axis of the
    coefficients is the first one."""

    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any, axis: int) -> None:
        self.t = t
        self.c = c
        self.k = k
        self.extrapolate = extrapolate
        self.axis = axis

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        chosen = self.extrapolate if extrapolate is None else extrapolate
        at = np.asarray(x).astype(np.float64)
        t, k = self.t, self.k
        n = t.shape[0] - k - 1
        if chosen == "periodic":
            at = t[k] + (at - t[k]) % (t[n] - t[k])
        of = self.derivative(nu) if nu else self
        value = _value(of.t, of.c, of.k, at)
        if chosen is False:
            is_outside = (at < t[k]) | (at > t[n])
            shape = at.shape + (1,) * (value.ndim - at.ndim)
            value = np.where(np.reshape(is_outside, shape), np.nan, value)
        return spread(value, at.ndim, self.axis)

    def derivative(self, nu: int = 1) -> Any:
        """The nu-th derivative; the antiderivative if nu is negative."""
        if nu < 0:
            return self.antiderivative(-nu)
        t, c, k = self.t, self.c, self.k
        for _ in range(nu):
            t, c, k = _derivative(t, c, k)
        return Spline(t, c, k, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> Any:
        """The nu-th antiderivative, 0 at the first knot."""
        if nu < 0:
            return self.derivative(-nu)
        t, c, k = self.t, self.c, self.k
        for _ in range(nu):
            t, c, k = _antiderivative(t, c, k)
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return Spline(t, c, k, extrapolate, self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from a to b; without extrapolation over the part inside of the knots."""
        chosen = self.extrapolate if extrapolate is None else extrapolate
        if chosen == "periodic":
            raise NotImplementedError("integrate with extrapolate='periodic' is not supported")
        ends = np.stack([a, b]).astype(np.float64)
        if not chosen:
            ends = np.clip(ends, self.t[self.k], self.t[self.t.shape[0] - self.k - 1])
        t, c, k = _antiderivative(self.t, self.c, self.k)
        values = _value(t, c, k, ends)
        return values[1] - values[0]


def _interval(t: Any, n: int, k: int, at: Any) -> Any:
    """The number of the knot before each point, where ``n`` B-splines are."""
    return np.clip(np.searchsorted(t, at, side="right") - 1, k, n - 1)


def basis(t: Any, k: int, at: Any, interval: Any) -> list[Any]:
    """The k + 1 B-splines that are not zero between a knot and the next knot, at each point."""
    values = [np.ones_like(at)]
    for degree in range(1, k + 1):
        saved: Any = None
        found = []
        for r in range(degree):
            left, right = _knot(t, interval, 1 - degree + r), t[interval + (r + 1)]
            part = values[r] / (right - left)
            found.append((right - at) * part if r == 0 else saved + (right - at) * part)
            saved = (at - left) * part
        values = [*found, saved]
    return values


def _knot(t: Any, interval: Any, offset: int) -> Any:
    return t[interval + offset] if offset else t[interval]


def _value(t: Any, c: Any, k: int, at: Any) -> Any:
    n = t.shape[0] - k - 1
    interval = _interval(t, n, k, at)
    total: Any = None
    for r, weight in enumerate(basis(t, k, at, interval)):
        term = np.reshape(weight, at.shape + (1,) * (c.ndim - 1)) * _knot(c, interval, r - k)
        total = term if total is None else total + term
    if k == 0:
        total = total + 0.0 * np.reshape(at, at.shape + (1,) * (c.ndim - 1))  # NaN of NaN
    return total


def _derivative(t: Any, c: Any, k: int) -> tuple[Any, Any, int]:
    """The knots, coefficients and degree of the derivative (de Boor, chapter X, (15))."""
    n = t.shape[0] - k - 1
    if k == 0:
        return t, 0 * c[:n], 0
    width = t[k + 1 : n + k] - t[1:n]
    is_empty = width == 0
    steps = k * (c[1:n] - c[: n - 1]) / across(np.where(is_empty, 1.0, width), c.ndim)
    return t[1:-1], np.where(across(is_empty, c.ndim), 0.0, steps), k - 1


def _antiderivative(t: Any, c: Any, k: int) -> tuple[Any, Any, int]:
    """The same of the antiderivative (de Boor, chapter X, (22))."""
    n = t.shape[0] - k - 1
    parts = c[:n] * across((t[k + 1 :] - t[:n]) / (k + 1), c.ndim)
    sums = np.concatenate([np.zeros_like(parts[:1]), np.cumsum(parts, axis=0)])
    return np.concatenate([t[:1], t, t[-1:]]), sums, k + 1


def b_spline(t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> Any:
    """`scipy.interpolate.BSpline`."""
    knots, coefficients = np.asarray(t).astype(np.float64), np.asarray(c)
    if knots.ndim != 1 or knots.shape[0] < 2 * k + 2:
        raise ValueError(f"Need at least {2 * k + 2} knots for degree {k}")
    kind = np.result_type(coefficients.dtype, np.float64)
    place = axis % coefficients.ndim
    moved = np.moveaxis(coefficients.astype(kind), place, 0)
    if moved.shape[0] < knots.shape[0] - k - 1:
        raise ValueError("Knots, coefficients and degree are inconsistent.")
    require(np.all(np.diff(knots) >= 0), "Knots must be in a non-decreasing order.")
    return Spline(knots, moved, k, extrapolate, place)


# --- interpolation -------------------------------------------------------------------------------


def make_interp_spline(
    x: Any,
    y: Any,
    k: int = 3,
    t: Any = None,
    bc_type: Any = None,
    axis: int = 0,
    check_finite: bool = True,
) -> Any:
    """`scipy.interpolate.make_interp_spline` with SciPy's own knots, and with no condition at the
    ends but that the second point, and more for higher degrees, is no knot."""
    if t is not None:
        raise NotImplementedError("make_interp_spline with knots (t) is not supported")
    if bc_type is not None and not (isinstance(bc_type, str) and bc_type == "not-a-knot"):
        raise NotImplementedError(
            f"make_interp_spline with bc_type={bc_type!r} is not supported: CubicSpline takes it"
        )
    points, values = np.asarray(x).astype(np.float64), np.asarray(y)
    values = values.astype(np.result_type(values.dtype, np.float64))
    place = axis % values.ndim
    return _interpolating(points, np.moveaxis(values, place, 0), k, place)


def _interpolating(x: Any, y: Any, k: int, axis: int) -> Any:
    """The spline of degree k through values along the first axis: the system for its coefficients
    has as many diagonals as B-splines overlap."""
    n = x.shape[0]
    if k < 1:
        raise NotImplementedError(f"splines of degree {k} are not supported: 1 and more are")
    if n < k + 1 or y.shape[0] != n:
        raise ValueError(f"x and y need {k + 1} points or more, as many as each other")
    require(np.all(np.diff(x) > 0), "Expect x to be a 1D strictly increasing sequence")
    half = k // 2
    inner = x if k % 2 else (x[1:] + x[:-1]) / 2
    inner = inner[(k + 1) // 2 : n - (k + 1) // 2] if k % 2 else inner[half : n - 1 - half]
    t = np.concatenate([np.stack([x[0]] * (k + 1)), inner, np.stack([x[-1]] * (k + 1))])
    at = np.arange(n)
    interval = k + np.clip(at - half, 0, n - k - 1)  # how many of the knots inside are not after x
    bands = np.zeros((2 * k + 1, n))
    for r, weight in enumerate(basis(t, k, x, interval)):
        columns = interval - k + r
        bands[k + at - columns, columns] = weight
    flat = np.reshape(y, (n, -1))
    c = np.reshape(linalg.solve_banded((k, k), bands, flat), y.shape)
    return Spline(t, c, k, True, axis)


def splrep(x: Any, y: Any, w: Any = None, *, k: int = 3, s: Any = None) -> tuple[Any, Any, int]:
    """`scipy.interpolate.splrep` of an interpolating spline: knots, coefficients and degree."""
    if w is not None or (s is not None and s != 0):
        raise NotImplementedError("splrep interpolates: weights (w) and smoothing (s) are refused")
    points, values = np.asarray(x).astype(np.float64), np.asarray(y).astype(np.float64)
    made = _interpolating(points, values, k, 0)
    return made.t, np.concatenate([made.c, np.zeros(k + 1)]), k


def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """`scipy.interpolate.splev`: the values of a spline, or of a derivative."""
    if isinstance(tck, Spline):
        return tck(x, der)
    t, c, k = tck
    made = Spline(np.asarray(t), np.asarray(c), k, True, 0)
    return _extended(made, np.asarray(x).astype(np.float64), der, ext)


def _extended(spline: Any, x: Any, der: int, ext: Any) -> Any:
    """The values, outside of the knots as ``ext`` says."""
    low, high = spline.t[spline.k], spline.t[spline.t.shape[0] - spline.k - 1]
    is_outside = (x < low) | (x > high)
    if ext in (3, "const"):
        if der:
            raise NotImplementedError("derivatives with ext=3 are not supported")
        return spline(np.clip(x, low, high), der)
    values = spline(x, der)
    if ext in (1, "zeros"):
        return np.where(is_outside, 0.0, values)
    if ext in (2, "raise"):
        require(not np.any(is_outside), "a point is outside of the knots, and ext=2")
        return values
    if ext not in (0, "extrapolate"):
        raise ValueError(f"ext = {ext} not in (0, 1, 2, 3)")
    return values


def splint(a: Any, b: Any, tck: Any) -> Any:
    """`scipy.interpolate.splint`: the integral of a spline, which is 0 outside of the knots."""
    if isinstance(tck, Spline):
        return tck.integrate(a, b, extrapolate=False)
    t, c, k = tck
    return Spline(np.asarray(t), np.asarray(c), k, False, 0).integrate(a, b)


# --- FITPACK's objects ---------------------------------------------------------------------------


class UnivariateSpline:
    """A spline of one variable, as `scipy.interpolate.UnivariateSpline`."""

    def __init__(self, spline: Any, ext: Any) -> None:
        self.spline = spline
        self.ext = ext

    def __call__(self, x: Any, nu: int = 0, ext: Any = None) -> Any:
        at = np.asarray(x).astype(np.float64)
        return _extended(self.spline, at, nu, self.ext if ext is None else ext)

    def derivative(self, n: int = 1) -> Any:
        """The n-th derivative."""
        ext = 1 if self.ext in (3, "const") else self.ext
        return UnivariateSpline(self.spline.derivative(n), ext)

    def antiderivative(self, n: int = 1) -> Any:
        """The n-th antiderivative."""
        return UnivariateSpline(self.spline.antiderivative(n), self.ext)

    def integral(self, a: Any, b: Any) -> Any:
        """The integral from a to b; the spline is 0 outside of the knots."""
        return self.spline.integrate(a, b, extrapolate=False)


def fitted(t: Any, c: Any, k: int, ext: Any) -> Any:
    """A spline of one variable that was fitted outside."""
    return UnivariateSpline(Spline(t, c, k, True, 0), ext)


def interpolated_univariate_spline(
    x: Any, y: Any, w: Any = None, *, k: int = 3, ext: Any = 0, check_finite: bool = False
) -> Any:
    """`scipy.interpolate.InterpolatedUnivariateSpline`."""
    if w is not None:
        raise NotImplementedError("weights (w) are not supported")
    points, values = np.asarray(x).astype(np.float64), np.asarray(y).astype(np.float64)
    return UnivariateSpline(_interpolating(points, values, k, 0), ext)


def univariate_spline(
    x: Any,
    y: Any,
    w: Any = None,
    *,
    k: int = 3,
    s: Any = None,
    ext: Any = 0,
    check_finite: bool = False,
) -> Any:
    """`scipy.interpolate.UnivariateSpline`, which interpolates (s=0)."""
    if s is None or s != 0:
        raise NotImplementedError("UnivariateSpline is supported with s=0, or made outside")
    return interpolated_univariate_spline(x, y, w, k=k, ext=ext)


class BivariateSpline:
    """A spline of two variables, as `scipy.interpolate.RectBivariateSpline`. The points are kept
    within the knots."""

    def __init__(self, tx: Any, ty: Any, c: Any, kx: int, ky: int) -> None:
        self.tx = tx
        self.ty = ty
        self.c = c
        self.kx = kx
        self.ky = ky

    def __call__(self, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
        at_x, at_y = np.asarray(x).astype(np.float64), np.asarray(y).astype(np.float64)
        if grid:
            if at_x.ndim > 1 or at_y.ndim > 1:
                raise ValueError("x and y must be vectors if grid is True")
            at_x, at_y = np.atleast_1d(at_x)[:, None], np.atleast_1d(at_y)
        by_x, columns = _one_way(self.tx, self.kx, at_x, dx)
        by_y, rows = _one_way(self.ty, self.ky, at_y, dy)
        terms = [
            a * b * self.c[column, row]
            for a, column in zip(by_x, columns, strict=True)
            for b, row in zip(by_y, rows, strict=True)
        ]
        return sum(terms[1:], terms[0])

    def ev(self, xi: Any, yi: Any, dx: int = 0, dy: int = 0) -> Any:
        """The values at single points."""
        return self(xi, yi, dx, dy, grid=False)


def _one_way(t: Any, k: int, at: Any, nu: int) -> tuple[list[Any], list[Any]]:
    """The B-splines of a variable, or their derivatives, and the numbers of their coefficients
    (de Boor, chapter X, (15))."""
    n = t.shape[0] - k - 1
    at = np.clip(at, t[k], t[n])
    interval = _interval(t, n, k, at)
    values = basis(t, k - nu, at, interval)
    for degree in range(k - nu + 1, k + 1):
        slopes: list[Any] = []
        for r in range(degree + 1):
            slope: Any = None
            if r > 0:
                left, right = t[interval + (r - degree)], t[interval + r]
                slope = degree * values[r - 1] / (right - left)
            if r < degree:
                left, right = t[interval + (r - degree + 1)], t[interval + (r + 1)]
                fall = degree * values[r] / (right - left)
                slope = -fall if slope is None else slope - fall
            slopes.append(slope)
        values = slopes
    return values, [interval + (r - k) for r in range(k + 1)]


def rect_bivariate_spline(x: Any, y: Any, z: Any, *, kx: int = 3, ky: int = 3, s: Any = 0) -> Any:
    """`scipy.interpolate.RectBivariateSpline`, which interpolates (s=0)."""
    if s != 0:
        raise NotImplementedError("RectBivariateSpline is supported with s=0, or made outside")
    at_x, at_y = np.asarray(x).astype(np.float64), np.asarray(y).astype(np.float64)
    values = np.asarray(z).astype(np.float64)
    by_x = _interpolating(at_x, values, kx, 0)
    by_y = _interpolating(at_y, np.transpose(by_x.c), ky, 0)
    return BivariateSpline(by_x.t, by_y.t, np.transpose(by_y.c), kx, ky)


def fitted_surface(tx: Any, ty: Any, c: Any, kx: int, ky: int) -> Any:
    """A spline of two variables that was fitted outside."""
    shape = (tx.shape[0] - kx - 1, ty.shape[0] - ky - 1)
    return BivariateSpline(tx, ty, np.reshape(c, shape), kx, ky)
