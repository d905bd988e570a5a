"""Distances of `scipy.spatial.distance`: between two vectors, and between the rows of matrices.

The formulas are those of SciPy's documentation. Values are SciPy's up to rounding. A distance of 0
has no derivative: that of a root, of the length of no vector, is taken to be 0.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from stcompile.library.conditions import require


def _floating(x: Any) -> Any:
    values = np.asarray(x)
    return values.astype(np.float64) if values.dtype.kind in "biu" else values


def _root(x: Any) -> Any:
    """The square root, whose derivative at 0 is taken to be 0."""
    is_zero = x == 0
    return np.where(is_zero, 0.0, np.sqrt(np.where(is_zero, 1.0, x)))


def _weighted(terms: Any, w: Any) -> Any:
    return np.sum(terms if w is None else np.asarray(w) * terms, axis=-1)


def _chebyshev(u: Any, v: Any, w: Any = None) -> Any:
    apart = np.abs(u - v)
    if w is not None:
        apart = np.where(np.asarray(w) > 0, apart, 0.0)
    return np.max(apart, axis=-1)


def _minkowski(u: Any, v: Any, p: Any = 2, w: Any = None) -> Any:
    apart = np.abs(u - v)
    is_zero = apart == 0
    powers = np.where(is_zero, 0.0, np.where(is_zero, 1.0, apart) ** p)
    total = _weighted(powers, w)
    is_none = total == 0
    return np.where(is_none, 0.0, np.where(is_none, 1.0, total) ** (1 / p))


def _canberra(u: Any, v: Any, w: Any = None) -> Any:
    size = np.abs(u) + np.abs(v)
    is_zero = size == 0
    return _weighted(np.where(is_zero, 0.0, np.abs(u - v) / np.where(is_zero, 1.0, size)), w)


def _cosine(u: Any, v: Any, w: Any = None) -> Any:
    size = np.sqrt(_weighted(u * u, w) * _weighted(v * v, w))
    return 1.0 - _weighted(u * v, w) / size


def _correlation(u: Any, v: Any, w: Any = None) -> Any:
    if w is None:
        u, v = u - np.mean(u, axis=-1, keepdims=True), v - np.mean(v, axis=-1, keepdims=True)
    else:
        share = np.asarray(w) / np.sum(w)
        u = u - np.sum(share * u, axis=-1)[..., None]
        v = v - np.sum(share * v, axis=-1)[..., None]
    return _cosine(u, v, w)


def _jensenshannon(u: Any, v: Any, base: Any = None) -> Any:
    p, q = u / np.sum(u, axis=-1)[..., None], v / np.sum(v, axis=-1)[..., None]
    middle = (p + q) / 2.0
    half = np.sum(_relative(p, middle) + _relative(q, middle), axis=-1)
    scaled = half if base is None else half / np.log(base)
    return _root(np.maximum(scaled, 0.0) / 2.0)


def _relative(p: Any, q: Any) -> Any:
    """The terms of the relative entropy."""
    is_zero = p == 0
    ratio = np.where(is_zero, 1.0, p) / np.where(is_zero, 1.0, q)
    return np.where(is_zero, 0.0, p * np.log(ratio))


def _mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    apart = u - v
    return _root(np.sum((apart @ np.asarray(VI)) * apart, axis=-1))


# --- between two vectors -------------------------------------------------------------------------


def _two(u: Any, v: Any) -> tuple[Any, Any]:
    x, y = _floating(u), _floating(v)
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError("Input vector should be 1-D.")
    return x, y


def _between(metric: Any, u: Any, v: Any, w: Any = None) -> Any:
    return metric(*_two(u, v), w)


def minkowski(u: Any, v: Any, p: Any = 2, w: Any = None) -> Any:
    """The norm of order p of the difference."""
    return _minkowski(*_two(u, v), p, w)


def correlation(u: Any, v: Any, w: Any = None, centered: bool = True) -> Any:
    """1 minus the correlation."""
    return _correlation(*_two(u, v), w) if centered else _cosine(*_two(u, v), w)


def jensenshannon(
    p: Any, q: Any, base: Any = None, *, axis: int = 0, keepdims: bool = False
) -> Any:
    """The root of the divergence of Jensen and Shannon."""
    x, y = np.moveaxis(_floating(p), axis, -1), np.moveaxis(_floating(q), axis, -1)
    found = _jensenshannon(x, y, base)
    return np.expand_dims(found, axis) if keepdims else found


# --- between rows --------------------------------------------------------------------------------

METRICS: dict[str, Any] = {
    # the length of the difference, its square, and that in the metric of an inverse covariance or
    # each part by its standard deviation
    "euclidean": lambda u, v, w=None: _root(_weighted((u - v) ** 2, w)),
    "sqeuclidean": lambda u, v, w=None: _weighted((u - v) ** 2, w),
    "mahalanobis": _mahalanobis,
    "seuclidean": lambda u, v, V: _root(np.sum((u - v) ** 2 / np.asarray(V), axis=-1)),
    # the sum of the absolute differences; the largest; the sum of each by the absolute values, and
    # by that of the absolute sums
    "cityblock": lambda u, v, w=None: _weighted(np.abs(u - v), w),
    "chebyshev": _chebyshev,
    "canberra": _canberra,
    "braycurtis": lambda u, v, w=None: _weighted(np.abs(u - v), w) / _weighted(np.abs(u + v), w),
    "minkowski": _minkowski,
    "cosine": _cosine,  # 1 minus the cosine of the angle
    "correlation": _correlation,
    "jensenshannon": _jensenshannon,
}
FUNCTIONS: dict[str, Any] = {
    "euclidean": partial(_between, METRICS["euclidean"]),
    "sqeuclidean": partial(_between, METRICS["sqeuclidean"]),
    "cityblock": partial(_between, METRICS["cityblock"]),
    "chebyshev": partial(_between, _chebyshev),
    "canberra": partial(_between, _canberra),
    "braycurtis": partial(_between, METRICS["braycurtis"]),
    "cosine": partial(_between, _cosine),
    "mahalanobis": lambda u, v, VI: _mahalanobis(*_two(u, v), VI),
    "seuclidean": lambda u, v, V: METRICS["seuclidean"](*_two(u, v), V),
}


def cdist(XA: Any, XB: Any, metric: Any = "euclidean", **kwargs: Any) -> Any:
    """The distances between each row of one matrix and each row of another."""
    x, y = _floating(XA), _floating(XB)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise ValueError("XA and XB must be matrices with the same number of columns")
    options = _options(metric, kwargs, lambda: np.concatenate([x, y]))
    return METRICS[metric](x[:, None], y[None], **options)


def pdist(X: Any, metric: Any = "euclidean", **kwargs: Any) -> Any:
    """The distances between the rows of a matrix, of each pair once."""
    x = _floating(X)
    if x.ndim != 2:
        raise ValueError("A 2-dimensional array must be passed.")
    options = _options(metric, kwargs, lambda: x)
    first, second = np.triu_indices(x.shape[0], 1)
    return METRICS[metric](x[first], x[second], **options)


def _options(metric: Any, given: Any, rows: Any) -> Any:
    """The arguments of a metric; those that SciPy takes from the rows if they are not given."""
    if not isinstance(metric, str) or metric not in METRICS:
        raise NotImplementedError(f"metric={metric!r} is not supported")
    if metric == "seuclidean" and "V" not in given:
        return {"V": np.var(rows(), axis=0, ddof=1)}
    if metric == "mahalanobis" and "VI" not in given:
        return {"VI": np.linalg.inv(np.cov(rows().T)).T}
    return given


def squareform(X: Any, force: str = "no", checks: bool = True) -> Any:
    """The matrix of the distances of all pairs, or these distances from the matrix."""
    x = np.asarray(X)
    if (x.ndim == 1 and force != "tomatrix" and force != "no") or x.ndim > 2:
        raise NotImplementedError(f"squareform of {x.ndim} axes with force={force!r}")
    if x.ndim == 1:
        n = int(np.ceil(np.sqrt(x.shape[0] * 2))) if x.shape[0] else 1
        if n * (n - 1) != 2 * x.shape[0]:
            raise ValueError("Incompatible vector size: it is no binomial coefficient n choose 2.")
        numbers = np.zeros((n, n), int)
        first, second = np.triu_indices(n, 1)
        numbers[first, second] = np.arange(1, x.shape[0] + 1)
        numbers = numbers + numbers.T
        return np.concatenate([np.zeros(1, x.dtype), x])[numbers]
    if force == "tomatrix" or x.shape[0] != x.shape[1]:
        raise ValueError("The matrix argument must be square.")
    if checks:
        require(np.all(np.abs(x - x.T) <= 1e-8), "Distance matrix 'X' must be symmetric.")
        require(np.all(np.diagonal(x) == 0), "Distance matrix 'X' diagonal must be zero.")
    return x[np.triu_indices(x.shape[0], 1)]


def distance_matrix(x: Any, y: Any, p: Any = 2, threshold: Any = None) -> Any:
    """Minkowski's distances between each row of one matrix and each row of another."""
    return cdist(x, y, "minkowski", p=p)
