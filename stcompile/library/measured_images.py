"""Images of `scipy.ndimage` at other sizes, ranks in windows, and measurements of labelled parts.
Labels and distances from a mask do not change nearby."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import ndimage
from stcompile.library.conditions import is_known
from stcompile.library.flat import flat
from stcompile.library.images import FUNCTIONS as FILTERS
from stcompile.library.images import windows_of
from stcompile.library.warping import map_coordinates

# --- other sizes and places ----------------------------------------------------------------------


def zoom(
    input: Any,
    zoom: Any,
    *,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """The image at another size; the factors are known at compile time."""
    x = np.asarray(input)
    factors = [zoom] * x.ndim if isinstance(zoom, int | float) else list(zoom)
    sizes = [round(n * factor) for n, factor in zip(x.shape, factors, strict=True)]
    places = []
    for axis, (n, m) in enumerate(zip(x.shape, sizes, strict=True)):
        at = np.minimum(np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 1.0), n - 1.0)
        shape = [m if other == axis else 1 for other in range(x.ndim)]
        places.append(np.broadcast_to(np.reshape(at, shape), sizes))
    return map_coordinates(
        x, np.stack(places), order=order, mode=mode, cval=cval, prefilter=prefilter
    )


def affine_transform(
    input: Any,
    matrix: Any,
    offset: Any = 0.0,
    output_shape: Any = None,
    *,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """The image at the places ``matrix @ place + offset``, which are differentiated as well."""
    x, linear = np.asarray(input), np.asarray(matrix) + 0.0
    ndim = x.ndim
    sizes = x.shape if output_shape is None else tuple(output_shape)
    start = np.asarray(offset) + 0.0
    if linear.ndim == 1:
        linear = np.diag(linear)
    elif linear.shape[1] == ndim + 1:
        linear, start = linear[:ndim, :ndim], linear[:ndim, ndim]
    grid = np.stack(np.meshgrid(*[np.arange(float(n)) for n in sizes], indexing="ij"))
    places = np.tensordot(linear, grid, 1)
    places = places + np.reshape(np.broadcast_to(start, (ndim,)), (ndim,) + (1,) * ndim)
    return map_coordinates(x, places, order=order, mode=mode, cval=cval, prefilter=prefilter)


def rotate(
    input: Any,
    angle: Any,
    axes: Any = (1, 0),
    reshape: bool = True,
    *,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """A matrix turned by an angle in degrees, which may vary if ``reshape`` is False."""
    x = np.asarray(input)
    if x.ndim != 2:
        raise NotImplementedError("rotate is supported of matrices")
    radians = angle * (math.pi / 180)
    cosine, sine = np.cos(radians), np.sin(radians)
    n, m = x.shape
    rows, columns = n, m
    if reshape:
        if not is_known(angle):
            raise NotImplementedError(
                "rotate by an angle that varies has an image of another size: write reshape=False"
            )
        c, s = math.cos(angle * math.pi / 180), math.sin(angle * math.pi / 180)
        firsts, seconds = [0.0, s * m, c * n, c * n + s * m], [0.0, c * m, -s * n, c * m - s * n]
        rows = int(max(firsts) - min(firsts) + 0.5)
        columns = int(max(seconds) - min(seconds) + 0.5)
    turn = np.reshape(np.stack([cosine, sine, -sine, cosine]), (2, 2))
    middle = turn @ np.array([(rows - 1) / 2, (columns - 1) / 2])
    start = np.array([(n - 1) / 2, (m - 1) / 2]) - middle
    return affine_transform(
        x, turn, start, (rows, columns), order=order, mode=mode, cval=cval, prefilter=prefilter
    )


# --- ranks in windows ----------------------------------------------------------------------------


def rank_filter(
    input: Any, rank: int, size: Any = None, *, mode: str = "reflect", cval: Any = 0.0
) -> Any:
    """The elements of that rank in windows of odd sizes; from the largest if it is negative."""
    if size is None:
        raise RuntimeError("no size is given; a footprint is not supported")
    return np.sort(windows_of(input, size, mode, cval), axis=-1)[..., rank]


def median_filter(input: Any, size: Any = None, *, mode: str = "reflect", cval: Any = 0.0) -> Any:
    """The medians of windows."""
    return _at_part(input, 0.5, size, mode, cval)


def percentile_filter(
    input: Any, percentile: float, size: Any = None, *, mode: str = "reflect", cval: Any = 0.0
) -> Any:
    """The elements of windows that are as large as a percentage of the others."""
    part = percentile + 100.0 if percentile < 0 else percentile
    return _at_part(input, part / 100, size, mode, cval)


def _at_part(input: Any, part: float, size: Any, mode: str, cval: Any) -> Any:
    if size is None:
        raise RuntimeError("no size is given; a footprint is not supported")
    windows = windows_of(input, size, mode, cval)
    count = windows.shape[-1]
    return np.sort(windows, axis=-1)[..., -1 if part == 1 else int(count * part)]


def _grey(
    filters: Any, input: Any, size: Any = None, *, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    """Filters by the smallest and the largest elements of windows, one after the other."""
    sizes = [size] if isinstance(size, int) else list(size or [0])
    if any(n % 2 == 0 for n in sizes):
        raise NotImplementedError("morphology is supported with a size that is odd")
    for name in filters:
        input = FILTERS[name](input, size, mode=mode, cval=cval)
    return input


# --- labels and masks, which do not change nearby ------------------------------------------------


def label(input: Any, structure: Any = None) -> Any:
    """The numbers of connected parts, and how many there are."""
    x = np.asarray(input)
    labels = flat(_labels, (structure,), x.shape, np.int32, x)
    return labels, np.max(labels, initial=0)


def _labels(structure: Any, x: Any) -> Any:
    return ndimage.label(x, structure)[0]


def distance_transform_edt(input: Any, sampling: Any = None) -> Any:
    """The distances of the places that are not 0 from the nearest that is."""
    x = np.asarray(input)
    return flat(_distances, (sampling,), x.shape, np.float64, x)


def _distances(sampling: Any, x: Any) -> Any:
    return ndimage.distance_transform_edt(x, sampling)


def _mask(name: str, input: Any, structure: Any = None, iterations: Any = 1) -> Any:
    x = np.asarray(input)
    return flat(_morphed, (name, structure, iterations), x.shape, np.bool_, x)


def _morphed(name: str, structure: Any, iterations: Any, x: Any) -> Any:
    more = {} if iterations is None else {"iterations": iterations}
    return getattr(ndimage, name)(x, structure, **more)


# --- measurements --------------------------------------------------------------------------------


def _parts(measure: Any, input: Any, labels: Any = None, index: Any = None) -> Any:
    """The measure of the elements with each label, given a mask; an index is an integer or a list
    of them."""
    x = np.asarray(input)
    x = x.astype(np.float64) if x.dtype.kind in "biu" else x
    if labels is None:
        return measure(x, np.ones(x.shape, bool))
    marks = np.asarray(labels)
    if index is None:
        return measure(x, marks > 0)
    if isinstance(index, int):
        return measure(x, marks == index)
    return np.stack([measure(x, marks == index[i]) for i in range(len(index))])


def _sum(x: Any, mask: Any) -> Any:
    return np.sum(np.where(mask, x, 0.0))


def _mean(x: Any, mask: Any) -> Any:
    return _sum(x, mask) / np.sum(mask)


def _variance(x: Any, mask: Any) -> Any:
    return _mean((x - _mean(x, mask)) ** 2, mask)


def _centre(x: Any, mask: Any) -> Any:
    weights = np.where(mask, x, 0.0)
    total, found = np.sum(weights), []
    for axis in range(x.ndim):
        shape = [x.shape[axis] if other == axis else 1 for other in range(x.ndim)]
        found.append(np.sum(weights * np.reshape(np.arange(float(x.shape[axis])), shape)) / total)
    return np.stack(found)


def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The means of the places, weighted by the elements: a tuple, or a list of them."""
    found = _parts(_centre, input, labels, index)
    if found.ndim == 1:
        return tuple([found[i] for i in range(found.shape[0])])
    return [tuple([row[i] for i in range(found.shape[1])]) for row in found]


FUNCTIONS: dict[str, Any] = {
    # erosions and dilations: the smallest and the largest elements of windows
    "grey_erosion": partial(_grey, ("minimum_filter",)),
    "grey_dilation": partial(_grey, ("maximum_filter",)),
    "grey_opening": partial(_grey, ("minimum_filter", "maximum_filter")),
    "grey_closing": partial(_grey, ("maximum_filter", "minimum_filter")),
    # … of masks
    "binary_erosion": partial(_mask, "binary_erosion"),
    "binary_dilation": partial(_mask, "binary_dilation"),
    "binary_opening": partial(_mask, "binary_opening"),
    "binary_closing": partial(_mask, "binary_closing"),
    "binary_fill_holes": lambda input, structure=None: _mask(
        "binary_fill_holes", input, structure, None
    ),
    # measures of labelled parts
    "sum": partial(_parts, _sum),
    "sum_labels": partial(_parts, _sum),
    "mean": partial(_parts, _mean),
    "variance": partial(_parts, _variance),
    "standard_deviation": lambda input, labels=None, index=None: np.sqrt(
        _parts(_variance, input, labels, index)
    ),
    "maximum": partial(_parts, lambda x, mask: np.max(np.where(mask, x, -math.inf))),
    "minimum": partial(_parts, lambda x, mask: np.min(np.where(mask, x, math.inf))),
}
