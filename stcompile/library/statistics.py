"""Means, spreads, order statistics, and reductions that leave NaNs out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.library.axes import in_c_order, normal, wide

COUNT_IS_INT = isinstance(np.count_nonzero([1]), int)  # before NumPy 2.3


def ptp(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The largest less the smallest element."""
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The number of elements that are not zero."""
    x = np.asarray(a)
    total = np.sum(x if x.dtype.kind == "b" else x != 0, axis=axis, keepdims=keepdims)
    return int(total) if COUNT_IS_INT and axis is None and not keepdims else total


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """The mean, or that with weights of the array's shape or for each element of one axis."""
    x = np.asarray(a)
    for one in () if axis is None else axis if isinstance(axis, tuple) else (axis,):
        normal(one, x.ndim)
    if weights is None:
        mean = np.mean(x, axis=axis, keepdims=keepdims)
        if not returned:
            return mean
        total = np.full_like(mean, x.size / max(np.size(mean), 1))
        return mean, (total if np.ndim(mean) else total[()])
    w = np.asarray(weights)
    if w.shape != x.shape:
        if axis is None or isinstance(axis, tuple):
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        if w.ndim != 1 or w.shape[0] != x.shape[axis]:
            raise ValueError("Shape of weights must be consistent with shape of a along axis.")
        w = np.reshape(w, wide(x.ndim, normal(axis, x.ndim)))
    if x.dtype.kind in "biu":
        x = x.astype(np.float64)
    dtype = np.result_type(x.dtype, w.dtype)
    total = np.sum(w.astype(dtype), axis=axis, keepdims=keepdims)
    if np.any(total == 0.0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    mean = np.sum(x * w, axis=axis, keepdims=keepdims) / total
    if not returned:
        return mean
    shape = np.shape(mean)
    return mean, (total if np.shape(total) == shape else np.copy(np.broadcast_to(total, shape)))


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None) -> Any:
    """The covariances of variables, which are rows (``rowvar``) or columns."""
    x = _variables(m, rowvar)
    if y is not None:
        x = np.concatenate([x, _variables(y, rowvar)], axis=0)
    free = (0 if bias else 1) if ddof is None else ddof
    n = x.shape[1] - free
    centred = x - np.mean(x, axis=1)[:, None]
    scale = 1 / n if n > 0 else math.inf
    other = np.conjugate(centred.T) if np.iscomplexobj(centred) else centred.T
    return np.squeeze(np.dot(centred, other) * scale)


def _variables(m: Any, rowvar: bool) -> Any:
    x = np.asarray(m)
    if x.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    x = x.astype(np.result_type(x.dtype, np.float64))
    if x.ndim < 2:
        return np.reshape(x, (1, -1))
    return x if rowvar else x.T


def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    """The correlations of variables."""
    c = cov(x, y, rowvar)
    if c.ndim == 0:
        return c / c
    deviation = np.sqrt(np.real(np.diagonal(c)))
    c = c / deviation[:, None]
    c = c / deviation[None, :]
    if not np.iscomplexobj(c):
        return np.clip(c, -1, 1)
    c.real = np.clip(c.real, -1, 1)
    c.imag = np.clip(c.imag, -1, 1)
    return c


# --- order statistics --------------------------------------------------------------------------


def _merged(a: Any, axis: Any) -> Any:
    """The array with the reduced axes merged into its first axis."""
    x = np.asarray(a)
    if axis is None:
        return np.ravel(x)
    if isinstance(axis, tuple):
        axes = [normal(one, x.ndim) for one in axis]
        x = np.moveaxis(x, axes, list(range(len(axes))))
        return np.reshape(x, (-1, *x.shape[len(axes) :]))
    return np.moveaxis(x, normal(axis, x.ndim), 0)


def _restored(result: Any, a: Any, axis: Any, before: int) -> Any:
    """The reduced axes as axes of length 1, behind ``before`` others."""
    ndim = np.ndim(a)
    if axis is None:
        axes = tuple(range(ndim))
    else:
        axes = tuple(normal(one, ndim) for one in (axis if isinstance(axis, tuple) else (axis,)))
    return np.expand_dims(result, tuple(before + one for one in axes))


def median(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The middle element, or the mean of the two in the middle; NaN if there is a NaN."""
    x = _merged(a, axis)
    # NumPy's mean of no elements is NaN, with a warning.
    result = _middle(x) if x.shape[0] else np.mean(x, axis=0)
    return _restored(result, a, axis, 0) if keepdims else result


def _middle(x: Any) -> Any:
    """The median along the first axis, of one element or more."""
    n = x.shape[0]
    ordered = np.sort(x, axis=0)
    result = np.mean(ordered[(n - 1) // 2 : n // 2 + 1], axis=0)
    return np.where(np.isnan(ordered[-1]), np.nan, result)[()] if x.dtype.kind in "fc" else result


def percentile(
    a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False
) -> Any:
    """Quantiles, in per cent."""
    if isinstance(q, list | tuple):
        return quantile(a, [p / 100 for p in q], axis, method=method, keepdims=keepdims)
    if not isinstance(q, int | float):
        raise NotImplementedError("percentages are single numbers, or a list of them")
    return quantile(a, q / 100, axis, method=method, keepdims=keepdims)


def quantile(
    a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False
) -> Any:
    """Quantiles by linear interpolation between neighbours in order; NaN if there is a NaN."""
    x = _merged(in_c_order(np.asarray(a)), axis)
    if x.shape[0] == 0:  # as NumPy says it
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    if x.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    ordered = np.sort(x, axis=0)
    if isinstance(q, list | tuple):
        is_float = method != "linear" or any(isinstance(one, float) for one in q)
        parts = [np.float64(one) if is_float else one for one in q]
        result = np.stack([np.asarray(_quantile(ordered, one, method)) for one in parts])
        return _restored(result, a, axis, 1) if keepdims else result
    if not isinstance(q, int | float):
        raise NotImplementedError("quantiles are single numbers, or a list of them")
    result = _quantile(ordered, q, method)
    return _restored(result, a, axis, 0) if keepdims else result


def _quantile(ordered: Any, q: Any, method: str) -> Any:
    if not 0 <= q <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    last = ordered.shape[0] - 1
    place = _place(last + 1, q, method)
    if isinstance(place, int):
        result = ordered[max(place, 0)]
    else:
        below = min(max(math.floor(place), 0), last)
        above = 0 if place < 0 else min(below + 1, last)
        weight = _weight(place, method)
        low, high = ordered[below], ordered[above]
        step = high - low
        result = high - step * (1 - weight) if weight >= 0.5 else low + step * weight
    if ordered.dtype.kind == "f":
        result = np.where(np.isnan(ordered[-1]), np.nan, result)[()]
    return result


# Methods that interpolate between neighbours, by alpha and beta of Hyndman and Fan, Sample
# quantiles in statistical packages, The American Statistician 50 (1996).
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}


def _place(n: int, q: Any, method: str) -> Any:
    """The position of the quantile among ``n`` elements in order: a float between two elements, an
    int at an element, negative for the first."""
    if method == "linear":
        return (n - 1) * q  # of the type of ``q``, which decides about the dtype
    at = (n - 1) * q + 0.0
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        return n * q + (alpha + q * (1 - alpha - beta)) - 1.0
    if method == "averaged_inverted_cdf":
        return n * q - 1.0
    if method == "midpoint":
        return 0.5 * (math.floor(at) + math.ceil(at)) + 0.0 * at
    if method == "lower":
        return math.floor(at)
    if method == "higher":
        return math.ceil(at)
    if method == "nearest":
        return round(at)
    if method == "inverted_cdf":
        return math.ceil(n * q - 1)
    if method == "closest_observation":
        place = n * q - 1.5
        return math.floor(place) + (0 if place % 2 == 1 else 1)
    raise ValueError(f"{method!r} is not a valid method of quantiles")


def _weight(place: Any, method: str) -> Any:
    """The weight of the upper neighbour."""
    weight = place - math.floor(place)
    if method == "averaged_inverted_cdf":
        return 0.0 * weight + (0.5 if weight == 0 else 1.0)
    if method == "midpoint":
        return 0.0 * weight + (0.5 if weight else 0.0)
    return weight


def nanmedian(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The median of the elements that are not NaN; NaN if there are none."""
    x = _merged(a, axis)
    if x.shape[0] == 0:
        result = np.full(x.shape[1:], np.nan)[()]
        return _restored(result, a, axis, 0) if keepdims else result
    ordered = np.sort(x, axis=0)
    count = np.sum(np.logical_not(np.isnan(x)), axis=0, keepdims=True)
    low = np.take_along_axis(ordered, (count - 1) // 2, axis=0)
    high = np.take_along_axis(ordered, np.minimum(count // 2, x.shape[0] - 1), axis=0)
    high = np.where(count % 2 == 0, high, low)
    result = np.mean(np.concatenate([low, high], axis=0), axis=0)
    return _restored(result, a, axis, 0) if keepdims else result


def nanpercentile(a: Any, q: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Percentiles of the elements that are not NaN."""
    parts = [one / 100 for one in q] if isinstance(q, list | tuple) else q / 100
    return nanquantile(a, parts, axis, keepdims=keepdims)


def nanquantile(a: Any, q: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Quantiles of the elements that are not NaN, by linear interpolation; NaN if there are
    none. In float32 the last bit may differ from NumPy's, which rounds ``q`` elsewhere."""
    x = _merged(a, axis)
    if x.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if x.size == 0:
        return nanmean(a, axis, keepdims=keepdims)
    ordered = np.sort(x, axis=0)
    last = np.sum(np.logical_not(np.isnan(x)), axis=0, keepdims=True) - 1
    if isinstance(q, list | tuple):
        parts = [np.asarray(_nanquantile(ordered, last.astype(float), one)) for one in q]
        result = np.moveaxis(in_c_order(np.stack(parts, axis=-1)), -1, 0)
        return _restored(result, a, axis, 1) if keepdims else result
    floating = ordered.dtype if ordered.dtype.kind == "f" else np.float64
    result = in_c_order(_nanquantile(ordered, last.astype(floating), q))[()]
    return _restored(result, a, axis, 0) if keepdims else result


def _nanquantile(ordered: Any, last: Any, q: Any) -> Any:
    """``last`` is where the last element that is not NaN is; its dtype is that of the weights."""
    if not 0 <= q <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    place = last * float(q)
    below = np.floor(place)
    weight = place - below
    above = np.maximum(np.minimum(below + 1, last), 0).astype(int)
    below = below.astype(int)
    low = np.take_along_axis(ordered, below, axis=0)
    high = np.take_along_axis(ordered, above, axis=0)
    step = high - low
    return np.where(weight >= 0.5, high - step * (1 - weight), low + step * weight)[0]


# --- without NaNs ------------------------------------------------------------------------------


def _filled(a: Any, value: Any) -> Any:
    """The array with a value in place of NaNs."""
    x = np.asarray(a)
    return np.where(np.isnan(x), value, x) if x.dtype.kind in "fc" else x


def nansum(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The sum of the elements that are not NaN."""
    return np.sum(_filled(a, 0), axis=axis, keepdims=keepdims)


def nanprod(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The product of the elements that are not NaN."""
    return np.prod(_filled(a, 1), axis=axis, keepdims=keepdims)


def nancumsum(a: Any, axis: Any = None) -> Any:
    """Running sums with 0 in place of NaNs."""
    return np.cumsum(_filled(a, 0), axis=axis)


def nancumprod(a: Any, axis: Any = None) -> Any:
    """Running products with 1 in place of NaNs."""
    return np.cumprod(_filled(a, 1), axis=axis)


def nanmax(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The largest element that is not NaN; NaN if there is none."""
    return _extreme(np.max, -np.inf, a, axis, keepdims)


def nanmin(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The smallest element that is not NaN; NaN if there is none."""
    return _extreme(np.min, np.inf, a, axis, keepdims)


def _ordered(a: Any) -> Any:
    x = np.asarray(a)
    if np.iscomplexobj(x):
        raise NotImplementedError("extrema without NaNs are not supported for complex numbers")
    return x


def _extreme(reduce: Any, neutral: float, a: Any, axis: Any, keepdims: bool) -> Any:
    x = _ordered(a)
    if x.dtype.kind != "f":
        return reduce(x, axis=axis, keepdims=keepdims)
    result = reduce(_filled(x, neutral), axis=axis, keepdims=keepdims)
    none = np.all(np.isnan(x), axis=axis, keepdims=keepdims)
    return np.where(none, np.nan, result)[()]


def nanargmax(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The position of the largest element that is not NaN; `ValueError` if there is none."""
    x = _ordered(a)
    if x.dtype.kind == "f" and np.any(np.all(np.isnan(x), axis=axis)):
        raise ValueError("All-NaN slice encountered")
    return np.argmax(_filled(x, -np.inf), axis=axis, keepdims=keepdims)


def nanargmin(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The position of the smallest element that is not NaN; `ValueError` if there is none."""
    x = _ordered(a)
    if x.dtype.kind == "f" and np.any(np.all(np.isnan(x), axis=axis)):
        raise ValueError("All-NaN slice encountered")
    return np.argmin(_filled(x, np.inf), axis=axis, keepdims=keepdims)


def _over(total: Any, count: Any) -> Any:
    """``total / count``, in the dtype of the total."""
    return (total / count).astype(total.dtype)


def nanmean(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The mean of the elements that are not NaN; NaN if there are none."""
    x = np.asarray(a)
    if x.dtype.kind not in "fc":
        return np.mean(x, axis=axis, keepdims=keepdims)
    return mean_where(x, axis, keepdims, np.logical_not(np.isnan(x)))


def nanvar(a: Any, axis: Any = None, ddof: int = 0, *, keepdims: bool = False) -> Any:
    """The variance of the elements that are not NaN; NaN without degrees of freedom."""
    x = np.asarray(a)
    if x.dtype.kind not in "fc":
        return np.var(x, axis=axis, ddof=ddof, keepdims=keepdims)
    present = np.logical_not(np.isnan(x))
    total, count = _squares(x, axis, keepdims, present, None)
    free = count - ddof
    return np.where(free <= 0, np.nan, _over(total, free))[()]


def mean_where(x: Any, axis: Any, keepdims: bool, where: Any) -> Any:
    """The mean of the elements where a condition holds; NaN if it holds nowhere."""
    x = x if x.dtype.kind in "fc" else x.astype(float)
    count = np.sum(_fitting(where, x), axis=axis, keepdims=keepdims)
    return _over(np.sum(np.where(where, x, 0), axis=axis, keepdims=keepdims), count)


def var_where(x: Any, axis: Any, ddof: Any, keepdims: bool, where: Any, mean: Any) -> Any:
    """The variance of the elements where a condition holds, about a given mean, if any."""
    x = x if x.dtype.kind in "fc" else x.astype(float)
    total, count = _squares(x, axis, keepdims, where, mean)
    return _over(total, np.maximum(count - ddof, 0))


def std_where(x: Any, axis: Any, ddof: Any, keepdims: bool, where: Any, mean: Any) -> Any:
    """The square root of `var_where`."""
    return np.sqrt(var_where(x, axis, ddof, keepdims, where, mean))


def _squares(x: Any, axis: Any, keepdims: bool, where: Any, mean: Any) -> Any:
    """The sum of squared deviations where a condition holds, and how many there are."""
    present = _fitting(where, x)
    filled = np.where(present, x, 0)
    if mean is None:
        mean = mean_where(x, axis, True, present)
    deviation = np.where(present, filled - mean, 0)
    if np.iscomplexobj(x):
        squares = (deviation * np.conjugate(deviation)).real
    else:
        squares = deviation * deviation
    count = np.sum(present, axis=axis, keepdims=keepdims)
    return np.sum(squares, axis=axis, keepdims=keepdims), count


def _fitting(where: Any, x: Any) -> Any:
    return where if np.shape(where) == x.shape else np.broadcast_to(where, x.shape)


def nanstd(a: Any, axis: Any = None, ddof: int = 0, *, keepdims: bool = False) -> Any:
    """The standard deviation of the elements that are not NaN."""
    return np.sqrt(nanvar(a, axis, ddof, keepdims=keepdims))


# --- running -----------------------------------------------------------------------------------


def cumulative_sum(x: Any, /, *, axis: Any = None, include_initial: bool = False) -> Any:
    """Running sums along the only axis, or along ``axis``."""
    return _running(np.cumsum, 0, x, axis, include_initial)


def cumulative_prod(x: Any, /, *, axis: Any = None, include_initial: bool = False) -> Any:
    """Running products along the only axis, or along ``axis``."""
    return _running(np.cumprod, 1, x, axis, include_initial)


def _running(scan: Any, neutral: int, x: Any, axis: Any, include_initial: bool) -> Any:
    values = np.atleast_1d(x)
    if axis is None and values.ndim != 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` is required.")
    at = normal(0 if axis is None else axis, values.ndim)
    result = scan(values, axis=at)
    if not include_initial:
        return result
    first = np.full(result.shape[:at] + (1,) + result.shape[at + 1 :], neutral, result.dtype)
    return np.concatenate([first, result], axis=at)
