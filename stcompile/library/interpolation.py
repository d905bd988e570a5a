"""Interpolation of `scipy.interpolate` on lines and on grids."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from stcompile.library.conditions import require
from stcompile.library.piecewise import spread
from stcompile.library.splines import Spline, basis, make_interp_spline

DEGREES = {"slinear": 1, "quadratic": 2, "cubic": 3}


class Interpolated:
    """Values between points on a line, as `scipy.interpolate.interp1d`."""

    def __init__(
        self, x: Any, y: Any, kind: Any, axis: int, bounds_error: Any, fill_value: Any, spline: Any
    ) -> None:
        self.x = x
        self.y = y  # the axis of interpolation is the first one
        self.kind = kind
        self.axis = axis
        self.bounds_error = bounds_error
        self.fill_value = fill_value
        self.spline = spline

    def __call__(self, x: Any) -> Any:
        at = np.asarray(x)
        at = at.astype(np.result_type(at.dtype, np.float64))
        value = self._inside(at)
        fill = self.fill_value
        is_extrapolated = isinstance(fill, str)
        if is_extrapolated and self.kind == "previous":
            fill = (np.nan, self.y[-1])
        elif is_extrapolated and self.kind == "next":
            fill = (self.y[0], np.nan)
        elif is_extrapolated:
            return spread(value, at.ndim, self.axis)
        shape = at.shape + (1,) * (self.y.ndim - 1)
        below, above = np.reshape(at < self.x[0], shape), np.reshape(at > self.x[-1], shape)
        bounds_error = not is_extrapolated if self.bounds_error is None else self.bounds_error
        if bounds_error:
            require(not np.any(below), "A value in x_new is below the interpolation range.")
            require(not np.any(above), "A value in x_new is above the interpolation range.")
        else:
            low, high = fill if isinstance(fill, tuple) else (fill, fill)
            value = np.where(below, low, np.where(above, high, value))
        return spread(value, at.ndim, self.axis)

    def _inside(self, at: Any) -> Any:
        x, y, n = self.x, self.y, self.x.shape[0]
        if self.spline is not None:
            return self.spline(at)
        if self.kind == "linear":
            high = np.clip(np.searchsorted(x, at), 1, n - 1)
            low = high - 1
            shape = at.shape + (1,) * (y.ndim - 1)
            slope = (y[high] - y[low]) / np.reshape(x[high] - x[low], shape)
            return slope * np.reshape(at - x[low], shape) + y[low]
        if self.kind in ("nearest", "nearest-up"):
            middles = x[1:] / 2.0 + x[:-1] / 2.0
            side: Any = "left" if self.kind == "nearest" else "right"
            return y[np.clip(np.searchsorted(middles, at, side=side), 0, n - 1)]
        if self.kind == "previous":
            return y[np.clip(np.searchsorted(np.nextafter(x, -np.inf), at), 1, n) - 1]
        return y[np.clip(np.searchsorted(np.nextafter(x, np.inf), at, side="right"), 0, n - 1)]


def interp1d(
    x: Any,
    y: Any,
    kind: Any = "linear",
    axis: int = -1,
    copy: bool = True,
    bounds_error: Any = None,
    fill_value: Any = np.nan,
    assume_sorted: bool = False,
) -> Any:
    """`scipy.interpolate.interp1d`."""
    points, values = np.asarray(x), np.asarray(y)
    points = points.astype(np.result_type(points.dtype, np.float64))
    values = values.astype(np.float64) if values.dtype.kind in "biu" else values
    place = axis % values.ndim
    values = np.moveaxis(values, place, 0)
    if points.ndim != 1 or values.shape[0] != points.shape[0]:
        raise ValueError("x is a vector of as many elements as y has along the axis")
    if not assume_sorted:
        order = np.argsort(points, kind="stable")
        points, values = points[order], values[order]
    if isinstance(fill_value, str):
        if fill_value != "extrapolate":
            raise ValueError(f"fill_value={fill_value!r} is not 'extrapolate'")
        if bounds_error:
            raise ValueError("Cannot extrapolate and raise at the same time.")
    degree = kind if isinstance(kind, int) else DEGREES.get(kind)
    if degree is not None:
        spline = make_interp_spline(points, values, degree)
    elif kind in ("linear", "nearest", "nearest-up", "previous", "next"):
        spline = None
    else:
        raise NotImplementedError(f"interp1d of kind={kind!r} is not supported")
    return Interpolated(points, values, kind, place, bounds_error, fill_value, spline)


def interpolated(
    x: Any, y: Any, t: Any, c: Any, degree: Any, kind: Any, axis: int, bounds_error: Any, fill: Any
) -> Any:
    """An `interp1d` that was made outside; ``y`` has its axis where it was given."""
    values = np.moveaxis(y, axis, 0)
    spline = None
    if degree is not None:
        spline = Spline(t, np.reshape(c, (-1, *values.shape[1:])), degree, True, 0)
    return Interpolated(x, values, kind, axis, bounds_error, numbers(fill), spline)


def numbers(fill: Any) -> Any:
    """The values outside of the points, in which "nan" stands for the number that is none."""
    if isinstance(fill, tuple):
        return tuple([numbers(part) for part in fill])
    if isinstance(fill, str) and fill == "several":
        raise NotImplementedError("a `fill_value` of several numbers is not supported")
    return np.nan if isinstance(fill, str) and fill == "nan" else fill


TENSOR_DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5}


def _require_method(method: Any) -> None:
    if method not in ("linear", "nearest", *TENSOR_DEGREES):
        raise NotImplementedError(
            f"method={method!r} is not supported: linear, nearest, slinear, cubic and quintic are"
        )


class OnGrid:
    """Values between the points of a grid, as `scipy.interpolate.RegularGridInterpolator`."""

    def __init__(
        self, grid: Any, values: Any, method: str, bounds_error: bool, fill_value: Any
    ) -> None:
        self.grid = grid
        self.values = values
        self.method = method
        self.bounds_error = bounds_error
        self.fill_value = fill_value

    def __call__(self, xi: Any, method: Any = None) -> Any:
        chosen = self.method if method is None else method
        _require_method(chosen)
        ndim = len(self.grid)
        if isinstance(xi, tuple):
            at = np.stack(np.broadcast_arrays(*[np.asarray(part) for part in xi]), axis=-1)
        else:
            at = np.asarray(xi)
            at = at[:, None] if at.ndim == 1 and ndim == 1 else at
        at = at.astype(np.float64)
        at = at[None] if at.ndim == 1 else at
        if at.shape[-1] != ndim:
            raise ValueError(f"xi has dimension {at.shape[-1]}, but the grid has {ndim}")
        lower, weights = [], []
        is_outside: Any = False
        for axis, points in enumerate(self.grid):
            x = at[..., axis]
            if self.bounds_error:
                is_inside = np.all((x >= points[0]) & (x <= points[-1]))
                require(is_inside, f"One of the requested xi is out of bounds in dimension {axis}")
            i = np.clip(np.searchsorted(points, x, side="right") - 1, 0, points.shape[0] - 2)
            lower.append(i)
            weights.append((x - points[i]) / (points[i + 1] - points[i]))
            is_outside = is_outside | (x < points[0]) | (x > points[-1])
        extra = self.values.ndim - ndim
        shape = at.shape[:-1] + (1,) * extra
        if chosen == "nearest":
            places = [i + (w > 0.5) for i, w in zip(lower, weights, strict=True)]
            result = self.values[tuple(places)]
        elif chosen in TENSOR_DEGREES:
            result = self._spline(at, TENSOR_DEGREES[chosen], shape)
        else:
            result = self._linear(lower, weights, shape)
        if not self.bounds_error and self.fill_value is not None:
            result = np.where(np.reshape(is_outside, shape), self.fill_value, result)
        return np.where(np.reshape(np.any(np.isnan(at), axis=-1), shape), np.nan, result)

    def _spline(self, at: Any, degree: int, shape: Any) -> Any:
        """The sum of products of B-splines, by the coefficients along one axis after another."""
        coefficients, parts = self.values, []
        for axis, points in enumerate(self.grid):
            spline = make_interp_spline(points, coefficients, degree, axis=axis)
            coefficients = np.moveaxis(spline.c, 0, axis)
            n, x = points.shape[0], at[..., axis]
            interval = np.clip(np.searchsorted(spline.t, x, side="right") - 1, degree, n - 1)
            weights = basis(spline.t, degree, x, interval)
            parts.append([(interval - degree + r, weight) for r, weight in enumerate(weights)])
        terms = []
        for corner in itertools.product(*parts):
            weight = math.prod([w for _, w in corner[1:]], start=corner[0][1])
            places = tuple([place for place, _ in corner])
            terms.append(coefficients[places] * np.reshape(weight, shape))
        return sum(terms[1:], terms[0])

    def _linear(self, lower: Any, weights: Any, shape: Any) -> Any:
        """The sum over the corners of the cell of each point."""
        terms = []
        for corner in itertools.product((0, 1), repeat=len(lower)):
            parts = [w if upper else 1 - w for upper, w in zip(corner, weights, strict=True)]
            weight = math.prod(parts[1:], start=parts[0])
            places = tuple([i + upper for i, upper in zip(lower, corner, strict=True)])
            terms.append(self.values[places] * np.reshape(weight, shape))
        return sum(terms[1:], terms[0])


def regular_grid_interpolator(
    points: Any,
    values: Any,
    method: str = "linear",
    bounds_error: bool = True,
    fill_value: Any = np.nan,
) -> Any:
    """`scipy.interpolate.RegularGridInterpolator`, not with the method pchip."""
    _require_method(method)
    grid = tuple([np.asarray(p).astype(np.float64) for p in points])
    table = np.asarray(values)
    table = table.astype(np.float64) if table.dtype.kind in "biu" else table
    for axis, p in enumerate(grid):
        if p.ndim != 1 or p.shape[0] != table.shape[axis]:
            raise ValueError(f"There are {p.shape} points and {table.shape} values on axis {axis}")
        require(np.all(np.diff(p) > 0), f"the points in dimension {axis} must be ascending")
    return OnGrid(grid, table, method, bounds_error, fill_value)


def on_grid(grid: Any, values: Any, method: str, bounds_error: bool, fill: Any) -> Any:
    """A `RegularGridInterpolator` that was made outside."""
    return OnGrid(tuple(grid), values, method, bounds_error, numbers(fill))


def interpn(
    points: Any,
    values: Any,
    xi: Any,
    method: str = "linear",
    bounds_error: bool = True,
    fill_value: Any = np.nan,
) -> Any:
    """`scipy.interpolate.interpn`, not with the method pchip."""
    return regular_grid_interpolator(points, values, method, bounds_error, fill_value)(xi)
