"""Filters of `scipy.ndimage`: correlations of an array that goes on beyond its ends.

SciPy computes in double precision and rounds to the dtype of the input after each axis, and so does
this module: values are SciPy's up to rounding.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from stcompile.library.conditions import is_known

PADDING: dict[str, Any] = {  # names of SciPy -> of np.pad
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "wrap": "wrap",
    "grid-wrap": "wrap",
    "constant": "constant",
    "grid-constant": "constant",
}


def _image(input: Any, name: str) -> Any:
    x = np.asarray(input)
    if x.dtype.kind != "f":
        raise NotImplementedError(
            f"{name} of {x.dtype} is not supported: convert the array, as in x.astype(float)"
        )
    return x


def _padded(x: Any, widths: Any, mode: Any, cval: Any) -> Any:
    if mode not in PADDING:
        raise NotImplementedError(f"mode={mode!r} is not supported")
    return padded(x, widths, PADDING[mode], cval)


def padded(x: Any, widths: Any, mode: Any, cval: Any) -> Any:
    """`np.pad`, by a number that may be known at run time only."""
    if mode != "constant":
        return np.pad(x, widths, mode)
    if is_known(cval):
        return np.pad(x, widths, "constant", constant_values=cval)
    is_inside = np.pad(np.ones(x.shape, bool), widths)
    return np.where(is_inside, np.pad(x, widths), np.asarray(cval).astype(x.dtype))


def _widths(size: int, origin: int) -> tuple[int, int]:
    """The numbers of elements before and behind an element that its window reaches."""
    before = size // 2 + origin
    if not 0 <= before < size:
        raise ValueError(
            "Invalid origin; origin must satisfy -(len(weights) // 2) <= origin <= "
            "(len(weights)-1) // 2"
        )
    return before, size - 1 - before


def _each(value: Any, count: int) -> list[Any]:
    """A value for each axis: a sequence of as many, or the same for all."""
    if isinstance(value, list | tuple):
        if len(value) != count:
            raise RuntimeError("sequence argument must have length equal to input rank")
        return list(value)
    return [value] * count


def _axes(axes: Any, ndim: int) -> list[int]:
    if axes is None:
        return list(range(ndim))
    return [axis % ndim for axis in ([axes] if isinstance(axes, int) else axes)]


# --- along an axis -------------------------------------------------------------------------------


def correlate1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    *,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """The sums of the windows along an axis, each element times its weight."""
    x = _image(input, "correlate1d")
    factors = np.asarray(weights)
    if factors.ndim != 1 or factors.shape[0] < 1:
        raise RuntimeError("no filter weights given")
    moved = np.moveaxis(x, axis, -1).astype(np.float64)
    size = factors.shape[0]
    widths = [(0, 0)] * (x.ndim - 1) + [_widths(size, origin)]
    longer = _padded(moved, widths, mode, cval)
    windows = np.lib.stride_tricks.sliding_window_view(longer, size, axis=-1)
    return np.moveaxis(windows @ factors.astype(np.float64), -1, axis).astype(x.dtype)


def uniform_filter1d(
    input: Any,
    size: int,
    axis: int = -1,
    *,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """The means of the windows along an axis."""
    weights = np.full(size, 1.0 / size)
    return correlate1d(input, weights, axis, mode=mode, cval=cval, origin=origin)


def gaussian_filter1d(
    input: Any,
    sigma: Any,
    axis: int = -1,
    order: int = 0,
    *,
    mode: str = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    radius: Any = None,
) -> Any:
    """A correlation with a Gaussian bell, or a derivative of it. ``sigma`` may be known at run time
    only if ``radius`` is given."""
    if radius is None:
        if not is_known(sigma):
            raise NotImplementedError(
                "a sigma that is known at run time only is supported if the radius is given"
            )
        reach = int(truncate * float(sigma) + 0.5)
    else:
        reach = radius
    weights = _bell(sigma, order, reach)[::-1]
    return correlate1d(input, weights, axis, mode=mode, cval=cval)


def _bell(sigma: Any, order: int, radius: int) -> Any:
    """A Gaussian bell whose sum is 1, or its derivative, by the recurrence of Hermite's
    polynomials (DLMF 18.9.1)."""
    if order < 0:
        raise ValueError("order must be non-negative")
    x = np.arange(-float(radius), radius + 1.0)
    variance = sigma * sigma
    bell = np.exp(-0.5 / variance * x**2)
    before, now = np.zeros_like(bell), bell / np.sum(bell)
    for n in range(order):
        before, now = now, -(x * now + n * before) / variance
    return now


def _slope(
    weights: Any, input: Any, axis: int = -1, *, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    """Differences along an axis, with weights along all the others."""
    x = _image(input, "sobel")
    place = axis % x.ndim
    modes = _each(mode, x.ndim)
    y = correlate1d(x, [-1.0, 0.0, 1.0], place, mode=modes[place], cval=cval)
    for other in range(x.ndim):
        if other != place:
            y = correlate1d(y, weights, other, mode=modes[other], cval=cval)
    return y


# --- along several axes --------------------------------------------------------------------------


def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    *,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    radius: Any = None,
    axes: Any = None,
) -> Any:
    """`gaussian_filter1d` along each axis."""
    x = _image(input, "gaussian_filter")
    places = _axes(axes, x.ndim)
    options = [_each(value, len(places)) for value in (sigma, order, mode, radius)]
    for axis, width, degree, kind, reach in zip(places, *options, strict=True):
        if not is_known(width) or width > 1e-15:
            x = gaussian_filter1d(
                x, width, axis, degree, mode=kind, cval=cval, truncate=truncate, radius=reach
            )
    return x


def uniform_filter(
    input: Any,
    size: Any = 3,
    *,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    axes: Any = None,
) -> Any:
    """`uniform_filter1d` along each axis."""
    x = _image(input, "uniform_filter")
    places = _axes(axes, x.ndim)
    options = [_each(value, len(places)) for value in (size, mode, origin)]
    for axis, width, kind, start in zip(places, *options, strict=True):
        if width > 1:
            x = uniform_filter1d(x, int(width), axis, mode=kind, cval=cval, origin=start)
    return x


def correlate(
    input: Any,
    weights: Any,
    *,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """The sums of the windows, each element times its weight."""
    x, factors = _image(input, "correlate"), np.asarray(weights)
    if factors.ndim != x.ndim:
        raise RuntimeError(f"weights.ndim ({factors.ndim}) must match that of input ({x.ndim})")
    origins = _each(origin, x.ndim)
    widths = [_widths(n, start) for n, start in zip(factors.shape, origins, strict=True)]
    longer = _padded(x.astype(np.float64), widths, mode, cval)
    windows = np.lib.stride_tricks.sliding_window_view(longer, factors.shape)
    return np.tensordot(windows, factors.astype(np.float64), x.ndim).astype(x.dtype)


def _starts(weights: Any, origin: Any) -> Any:
    """The origins for weights that are turned backwards along all axes."""
    sizes = np.shape(weights)
    origins = _each(origin, len(sizes))
    return [-s if n % 2 else -s - 1 for n, s in zip(sizes, origins, strict=True)]


def laplace(input: Any, *, mode: Any = "reflect", cval: Any = 0.0, axes: Any = None) -> Any:
    """The sum of the second differences along the axes."""
    x = _image(input, "laplace")
    places = _axes(axes, x.ndim)
    modes = _each(mode, len(places))
    terms = [
        correlate1d(x, [1.0, -2.0, 1.0], axis, mode=kind, cval=cval)
        for axis, kind in zip(places, modes, strict=True)
    ]
    return _sum(terms)


def _of_derivatives(
    name: str,
    order: int,
    result: Any,
    input: Any,
    sigma: Any,
    *,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    radius: Any = None,
) -> Any:
    """The result that is made of the derivatives of a smoothed array along each axis."""
    x = _image(input, name)
    degrees = [[order if other == axis else 0 for other in range(x.ndim)] for axis in range(x.ndim)]
    options = {"mode": mode, "cval": cval, "truncate": truncate, "radius": radius}
    return result([gaussian_filter(x, sigma, degree, **options) for degree in degrees])


def _sum(terms: list[Any]) -> Any:
    return sum(terms[1:], terms[0])


def _along_one(
    measure: Any,
    input: Any,
    size: int,
    axis: int = -1,
    *,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """A measure of the windows along an axis."""
    x = np.asarray(input)
    place = axis % x.ndim
    widths = [_widths(size, origin) if other == place else (0, 0) for other in range(x.ndim)]
    longer = _padded(x, widths, mode, cval)
    return measure(np.lib.stride_tricks.sliding_window_view(longer, size, axis=place), axis=-1)


def _along_all(
    measure: Any,
    input: Any,
    size: Any = None,
    *,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """A measure of the windows along all axes."""
    x = np.asarray(input)
    if size is None:
        raise RuntimeError("no size is given; a footprint is not supported")
    options = [_each(value, x.ndim) for value in (size, mode, origin)]
    for axis, (width, kind, start) in enumerate(zip(*options, strict=True)):
        x = _along_one(measure, x, width, axis, mode=kind, cval=cval, origin=start)
    return x


def windows_of(input: Any, size: Any, mode: Any, cval: Any) -> Any:
    """The windows of all elements, each a row along the last axis."""
    x = np.asarray(input)
    sizes = _each(size, x.ndim)
    longer = _padded(x, [_widths(n, 0) for n in sizes], mode, cval)
    windows = np.lib.stride_tricks.sliding_window_view(longer, tuple(sizes))
    return np.reshape(windows, (*x.shape, -1))


FUNCTIONS: dict[str, Any] = {
    # correlations with the weights backwards
    "convolve1d": lambda input, weights, axis=-1, *, mode="reflect", cval=0.0, origin=0: (
        correlate1d(
            input, np.flip(weights), axis, mode=mode, cval=cval, origin=_starts(weights, origin)[0]
        )
    ),
    "convolve": lambda input, weights, *, mode="reflect", cval=0.0, origin=0: correlate(
        input, np.flip(weights), mode=mode, cval=cval, origin=_starts(weights, origin)
    ),
    # the sum of the second derivatives of a smoothed array, and the length of its gradient
    "gaussian_laplace": partial(_of_derivatives, "gaussian_laplace", 2, _sum),
    "gaussian_gradient_magnitude": partial(
        _of_derivatives,
        "gaussian_gradient_magnitude",
        1,
        lambda terms: np.sqrt(_sum([t * t for t in terms])),
    ),
    # differences along an axis, with weights along the others
    "sobel": partial(_slope, (1.0, 2.0, 1.0)),
    "prewitt": partial(_slope, (1.0, 1.0, 1.0)),
    # the largest and the smallest elements of windows
    "maximum_filter1d": partial(_along_one, np.max),
    "minimum_filter1d": partial(_along_one, np.min),
    "maximum_filter": partial(_along_all, np.max),
    "minimum_filter": partial(_along_all, np.min),
}
