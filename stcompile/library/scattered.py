"""Interpolation of `scipy.interpolate` between scattered points: radial functions (Fasshauer,
"Meshfree approximation methods with Matlab", 2007), and triangles, which do not change nearby."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import interpolate, spatial
from stcompile.library.flat import flat

_DEGREES = {"multiquadric": 0, "linear": 0, "thin_plate_spline": 1, "cubic": 1, "quintic": 2}
_SCALED = ("linear", "thin_plate_spline", "cubic", "quintic")


def _radial(kernel: str, square: Any) -> Any:
    """A radial function of the squared distance."""
    if kernel == "gaussian":
        return np.exp(-square)
    if kernel == "multiquadric":
        return -np.sqrt(square + 1)
    if kernel == "inverse_multiquadric":
        return 1 / np.sqrt(square + 1)
    if kernel == "inverse_quadratic":
        return 1 / (square + 1)
    is_zero = square == 0
    inner = np.where(is_zero, 1.0, square)
    if kernel == "thin_plate_spline":
        value = 0.5 * inner * np.log(inner)
    elif kernel == "linear":
        value = -np.sqrt(inner)
    elif kernel == "cubic":
        value = inner * np.sqrt(inner)
    elif kernel == "quintic":
        value = -inner * inner * np.sqrt(inner)
    else:
        raise ValueError(f"the kernel {kernel!r} is not one of `RBFInterpolator`")
    return np.where(is_zero, 0.0, value)


def _squares(x: Any, y: Any) -> Any:
    return np.sum((x[:, None] - y[None]) ** 2, axis=-1)


class Radial:
    """`RBFInterpolator`: radial functions around the points, and a polynomial."""

    def __init__(
        self, y: Any, d: Any, smoothing: Any, kernel: str, epsilon: Any, degree: int
    ) -> None:
        self.y = y
        self.kernel = kernel
        self.epsilon = epsilon
        self.shift = (np.max(y, axis=0) + np.min(y, axis=0)) / 2
        scale = (np.max(y, axis=0) - np.min(y, axis=0)) / 2
        self.scale = np.where(scale == 0, 1.0, scale)
        exponents = itertools.product(range(degree + 1), repeat=y.shape[1])
        self.powers = [powers for powers in exponents if sum(powers) <= degree]
        self.shape = d.shape[1:]
        n, flat_d = y.shape[0], np.reshape(d, (d.shape[0], -1))
        radial = _radial(kernel, _squares(y * epsilon, y * epsilon))
        radial = radial + np.diag(np.broadcast_to(np.asarray(smoothing) + 0.0, (n,)))
        if self.powers:
            tail = self._polynomials(y)
            zeros = np.zeros((tail.shape[1], tail.shape[1]))
            top = np.concatenate([radial, tail], axis=1)
            radial = np.concatenate([top, np.concatenate([tail.T, zeros], axis=1)])
            flat_d = np.concatenate([flat_d, np.zeros((tail.shape[1], flat_d.shape[1]))])
        self.coefficients = np.linalg.solve(radial, flat_d)

    def _polynomials(self, x: Any) -> Any:
        at, columns = (x - self.shift) / self.scale, []
        for powers in self.powers:
            column = np.ones(x.shape[0])
            for axis, power in enumerate(powers):
                if power:
                    column = column * at[:, axis] ** power
            columns.append(column)
        return np.stack(columns, axis=1)

    def __call__(self, x: Any) -> Any:
        at = np.asarray(x) + 0.0
        rows = _radial(self.kernel, _squares(at * self.epsilon, self.y * self.epsilon))
        if self.powers:
            rows = np.concatenate([rows, self._polynomials(at)], axis=1)
        return np.reshape(rows @ self.coefficients, (at.shape[0], *self.shape))


def rbf_interpolator(
    y: Any,
    d: Any,
    neighbors: Any = None,
    smoothing: Any = 0.0,
    kernel: str = "thin_plate_spline",
    epsilon: Any = None,
    degree: Any = None,
) -> Any:
    """`scipy.interpolate.RBFInterpolator` of all points."""
    if neighbors is not None:
        raise NotImplementedError("RBFInterpolator with neighbors is not supported: leave it out")
    if epsilon is None and kernel not in _SCALED:
        raise ValueError(f"`epsilon` must be specified if `kernel` is not one of {_SCALED}")
    least = _DEGREES.get(kernel, -1)
    chosen = max(least, 0) if degree is None else degree
    points, values = np.asarray(y) + 0.0, np.asarray(d) + 0.0
    return Radial(points, values, smoothing, kernel, 1.0 if epsilon is None else epsilon, chosen)


class Triangles:
    """`LinearNDInterpolator`: linear in each simplex of Delaunay's triangulation."""

    def __init__(self, points: Any, values: Any, fill_value: Any) -> None:
        self.points = points
        self.values = values
        self.fill_value = fill_value

    def __call__(self, *args: Any) -> Any:
        at = _places(args, self.points.shape[1])
        rows, ndim = np.reshape(at, (-1, at.shape[-1])), self.points.shape[1]
        shape = (rows.shape[0], ndim + 1)
        found = flat(_simplices, (), shape, np.int64, self.points, rows)
        is_outside = found[:, 0] < 0
        corners = np.where(is_outside[:, None], np.arange(ndim + 1), found)
        last = self.points[corners[:, ndim]]
        sides = self.points[corners[:, :ndim]] - last[:, None]
        sides = np.where(is_outside[:, None, None], np.eye(ndim), sides)
        away = np.where(is_outside[:, None], 0.0, rows - last)
        part = np.linalg.solve(np.swapaxes(sides, 1, 2), away[:, :, None])[:, :, 0]
        weights = np.concatenate([part, 1 - np.sum(part, axis=1, keepdims=True)], axis=1)
        values = self.values[corners]
        weights = np.reshape(weights, weights.shape + (1,) * (values.ndim - 2))
        total = np.sum(weights * values, axis=1)
        is_outside = np.reshape(is_outside, (-1,) + (1,) * (total.ndim - 1))
        total = np.where(is_outside, self.fill_value, total)
        return np.reshape(total, at.shape[:-1] + self.values.shape[1:])


def _simplices(points: Any, at: Any) -> Any:
    """The corners of the simplex that each place is in; -1 outside."""
    triangles = spatial.Delaunay(points)
    found = triangles.find_simplex(at)
    return np.where((found < 0)[:, None], -1, triangles.simplices[found])


class Nearest:
    """`NearestNDInterpolator`: the value of the nearest point."""

    def __init__(self, points: Any, values: Any) -> None:
        self.points = points
        self.values = values

    def __call__(self, *args: Any) -> Any:
        at = _places(args, self.points.shape[1])
        return self.values[flat(_nearest, (), at.shape[:-1], np.int64, self.points, at)]


def _nearest(points: Any, at: Any) -> Any:
    count = np.arange(points.shape[0])
    return interpolate.NearestNDInterpolator(points, count)(at)


def _places(args: Any, ndim: int) -> Any:
    given = args[0] if len(args) == 1 else args
    if isinstance(given, tuple):
        return np.stack(np.broadcast_arrays(*[np.asarray(part) + 0.0 for part in given]), axis=-1)
    at = np.asarray(given) + 0.0
    return at[..., None] if ndim == 1 and (at.ndim == 0 or at.shape[-1] != 1) else at


def _points(points: Any) -> Any:
    if isinstance(points, tuple):
        return np.stack([np.asarray(part) + 0.0 for part in points], axis=-1)
    found = np.asarray(points) + 0.0
    return found[:, None] if found.ndim == 1 else found


def linear_nd_interpolator(
    points: Any, values: Any, fill_value: Any = math.nan, rescale: bool = False
) -> Any:
    """`scipy.interpolate.LinearNDInterpolator`."""
    if rescale:
        raise NotImplementedError("rescale=True is not supported")
    return Triangles(_points(points), np.asarray(values) + 0.0, fill_value)


def nearest_nd_interpolator(x: Any, y: Any) -> Any:
    """`scipy.interpolate.NearestNDInterpolator`."""
    return Nearest(_points(x), np.asarray(y))


def griddata(
    points: Any,
    values: Any,
    xi: Any,
    method: str = "linear",
    fill_value: Any = math.nan,
    rescale: bool = False,
) -> Any:
    """`scipy.interpolate.griddata` with the methods linear and nearest, of several variables."""
    if _points(points).shape[1] == 1:
        raise NotImplementedError("griddata of one variable is not supported: write interp1d")
    if method == "nearest":
        return nearest_nd_interpolator(points, values)(xi)
    if method != "linear":
        raise NotImplementedError(
            f"griddata with method={method!r} is not supported: linear and nearest are, and "
            "RBFInterpolator is smooth"
        )
    return linear_nd_interpolator(points, values, fill_value, rescale)(xi)
