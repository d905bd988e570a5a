"""Statistics of samples of `scipy.stats`: values are SciPy's up to rounding. Ranks, and p-values
that SciPy finds by counting, do not change nearby and have no derivative."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stcompile.codegen_templates.lazy import special, stats
from stcompile.library.flat import flat


def _floating(x: Any) -> Any:
    """Numbers as they are, integers in double precision."""
    values = np.asarray(x)
    return values.astype(np.float64) if values.dtype.kind in "biu" else values


def _double(x: Any) -> Any:
    """Numbers in double precision, in which SciPy computes some results."""
    return np.asarray(x).astype(np.float64)


class Significance(NamedTuple):
    """A statistic, and the probability of one as extreme."""

    statistic: Any
    pvalue: Any


class Line(NamedTuple):
    """The result of `linregress`."""

    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


class Summary(NamedTuple):
    """The result of `describe`."""

    nobs: Any
    minmax: Any
    mean: Any
    variance: Any
    skewness: Any
    kurtosis: Any


def _sample(a: Any, axis: Any) -> tuple[Any, int]:
    """An array and an axis of it; the array is a vector for ``axis=None``."""
    x = _floating(a)
    return (np.ravel(x), 0) if axis is None else (x, axis)


# --- moments -------------------------------------------------------------------------------------


def _central(x: Any, order: int, axis: int) -> Any:
    return np.mean((x - np.mean(x, axis=axis, keepdims=True)) ** order, axis=axis)


def moment(a: Any, order: int = 1, axis: Any = 0, *, center: Any = None) -> Any:
    """A moment about the mean, or about ``center``; the order is a Python integer."""
    x, place = _sample(a, axis)
    if center is not None:
        return np.mean((x - center) ** order, axis=place)
    return _central(x, order, place) if order != 1 else 0.0 * np.mean(x, axis=place)


def skew(a: Any, axis: Any = 0, bias: bool = True) -> Any:
    """The third moment, standardised."""
    x, place = _sample(a, axis)
    value = _central(x, 3, place) / _central(x, 2, place) ** 1.5
    n = x.shape[place]
    return value if bias or n < 3 else value * (math.sqrt((n - 1.0) * n) / (n - 2.0))


def kurtosis(a: Any, axis: Any = 0, fisher: bool = True, bias: bool = True) -> Any:
    """The fourth moment, standardised; with ``fisher`` less that of the normal distribution."""
    x, place = _sample(a, axis)
    value = _central(x, 4, place) / _central(x, 2, place) ** 2
    n = x.shape[place]
    if not bias and n > 3:
        value = (n * n - 1.0) * value - 3 * (n - 1.0) ** 2
        value = value / ((n - 2.0) * (n - 3.0)) + 3
    return value - 3 if fisher else value


def describe(a: Any, axis: Any = 0, ddof: int = 1, bias: bool = True) -> Any:
    """The number of observations, the range and the first four moments."""
    x, place = _sample(a, axis)
    ends = (np.min(x, axis=place), np.max(x, axis=place))
    spread = np.var(x, axis=place, ddof=ddof)
    more = skew(x, place, bias), kurtosis(x, place, bias=bias)
    return Summary(x.shape[place], ends, np.mean(x, axis=place), spread, *more)


def sem(a: Any, axis: Any = 0, ddof: int = 1) -> Any:
    """The standard error of the mean."""
    x, place = _sample(a, axis)
    return np.std(x, axis=place, ddof=ddof) / math.sqrt(x.shape[place])


def variation(a: Any, axis: Any = 0, *, ddof: int = 0) -> Any:
    """The standard deviation over the mean."""
    x, place = _sample(a, axis)
    return np.std(x, axis=place, ddof=ddof) / np.mean(x, axis=place)


def zscore(a: Any, axis: Any = 0, ddof: int = 0) -> Any:
    """The sample, standardised."""
    return zmap(a, a, axis, ddof)


def zmap(scores: Any, compare: Any, axis: Any = 0, ddof: int = 0) -> Any:
    """Scores, standardised by another sample."""
    x, sample = _floating(scores), _floating(compare)
    centre = np.mean(sample, axis=axis, keepdims=True)
    return (x - centre) / np.std(sample, axis=axis, ddof=ddof, keepdims=True)


def gzscore(a: Any, *, axis: Any = 0, ddof: int = 0) -> Any:
    """`zscore` of the logarithm."""
    return zscore(np.log(_floating(a)), axis, ddof)


# --- means ---------------------------------------------------------------------------------------


def gmean(a: Any, axis: Any = 0, weights: Any = None) -> Any:
    """The geometric mean."""
    x, place = _sample(a, axis)
    return np.exp(np.average(np.log(x), place, weights=weights))


def hmean(a: Any, axis: Any = 0, *, weights: Any = None) -> Any:
    """The harmonic mean."""
    x, place = _sample(a, axis)
    return 1 / np.average(1 / x, place, weights=weights)


def pmean(a: Any, p: Any, *, axis: Any = 0, weights: Any = None) -> Any:
    """The power mean; ``p`` is a Python number."""
    if p == 0:
        return gmean(a, axis, weights)
    x, place = _sample(a, axis)
    return np.average(x**p, place, weights=weights) ** (1 / p)


def gstd(a: Any, axis: Any = 0, ddof: int = 1) -> Any:
    """The geometric standard deviation."""
    x, place = _sample(a, axis)
    return np.exp(np.std(np.log(x), axis=place, ddof=ddof))


def trim_mean(a: Any, proportiontocut: float, axis: Any = 0) -> Any:
    """The mean without a proportion at both ends."""
    x, place = _sample(a, axis)
    ordered = np.moveaxis(np.sort(x, axis=place), place, 0)
    n = ordered.shape[0]
    cut = int(proportiontocut * n)
    if 2 * cut >= n:
        raise ValueError("Proportion too big.")
    return np.mean(ordered[cut : n - cut], axis=0)


def circmean(samples: Any, high: Any = 2 * math.pi, low: Any = 0, axis: Any = None) -> Any:
    """The mean of angles."""
    x, place = _sample(samples, axis)
    period, (sine, cosine) = high - low, _circle(x, high, low, place)
    angle = np.arctan2(sine, cosine)
    return np.where(angle < 0, angle + 2 * math.pi, angle)[()] * (period / (2 * math.pi)) + low


def circvar(samples: Any, high: Any = 2 * math.pi, low: Any = 0, axis: Any = None) -> Any:
    """The variance of angles: 1 less the length of the mean direction."""
    x, place = _sample(samples, axis)
    sine, cosine = _circle(x, high, low, place)
    return 1 - np.hypot(sine, cosine)


def circstd(
    samples: Any,
    high: Any = 2 * math.pi,
    low: Any = 0,
    axis: Any = None,
    *,
    normalize: bool = False,
) -> Any:
    """The standard deviation of angles."""
    x, place = _sample(samples, axis)
    sine, cosine = _circle(x, high, low, place)
    value = np.sqrt(-2 * np.log(np.hypot(sine, cosine)))
    return value if normalize else value * ((high - low) / (2 * math.pi))


def _circle(x: Any, high: Any, low: Any, axis: int) -> tuple[Any, Any]:
    angle = (x - low) * (2 * math.pi / (high - low))
    return np.mean(np.sin(angle), axis=axis), np.mean(np.cos(angle), axis=axis)


# --- order ---------------------------------------------------------------------------------------


def rankdata(a: Any, method: str = "average", *, axis: Any = None) -> Any:
    """The ranks, which do not change nearby."""
    x = np.ravel(_floating(a)) if axis is None else _floating(a)
    dtype = np.float64 if method == "average" else np.int64
    return flat(_ranks, (method, axis), x.shape, dtype, x)


def _ranks(method: Any, axis: Any, x: Any) -> Any:
    return stats.rankdata(x, method, axis=axis)


def iqr(x: Any, axis: Any = None, rng: Any = (25, 75), scale: Any = 1.0) -> Any:
    """The range between two percentiles."""
    if isinstance(scale, str):
        if scale != "normal":
            raise ValueError(f"{scale!r} is not a valid scale for `iqr`")
        scale = 1.3489795003921634
    values = _floating(x)
    low, high = (np.percentile(values, part, axis=axis) for part in rng)
    return (high - low) / scale


def median_abs_deviation(x: Any, axis: Any = 0, *, scale: Any = 1.0) -> Any:
    """The median distance from the median."""
    if isinstance(scale, str):
        if scale != "normal":
            raise ValueError(f"{scale!r} is not a valid scale value.")
        scale = 0.6744897501960817
    values, place = _sample(x, axis)
    away = np.abs(values - np.median(values, axis=place, keepdims=True))
    return np.median(away, axis=place) / scale


def scoreatpercentile(
    a: Any, per: Any, limit: Any = (), interpolation_method: str = "fraction", axis: Any = None
) -> Any:
    """A percentile, between its neighbours."""
    if limit != () or interpolation_method != "fraction":
        raise NotImplementedError("scoreatpercentile with a limit or a method is not supported")
    return np.percentile(_double(a), per, axis=axis)


def quantile(x: Any, p: Any, *, method: Any = "linear", axis: Any = 0) -> Any:
    """Quantiles of a vector, as `numpy.quantile` has them."""
    values = np.ravel(_floating(x)) if axis is None else _floating(x)
    if values.ndim != 1:
        raise NotImplementedError("stats.quantile is supported of a vector: write np.quantile")
    return np.quantile(values, p, method=method)


def mquantiles(
    a: Any, prob: Any = (0.25, 0.5, 0.75), alphap: float = 0.4, betap: float = 0.4, axis: Any = None
) -> Any:
    """Quantiles by the plotting positions of Hyndman & Fan, "Sample quantiles in statistical
    packages", The American Statistician 50 (1996); ``prob`` are Python numbers."""
    x, place = _sample(_double(a), axis)
    ordered = np.moveaxis(np.sort(x, axis=place), place, 0)
    n, found = ordered.shape[0], []
    for p in [prob] if isinstance(prob, int | float) else prob:
        at = n * p + alphap + p * (1 - alphap - betap)
        k = math.floor(min(max(at, 1), n - 1))
        gamma = min(max(at - k, 0.0), 1.0)
        found.append((1 - gamma) * ordered[k - 1] + gamma * ordered[k])
    return np.stack(found, axis=0 if axis is None else place)


def wasserstein_distance(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Any:
    """The integral of the distance between the distribution functions of two samples."""
    return np.sum(_between_samples(u_values, v_values, u_weights, v_weights, 1))


def energy_distance(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Any:
    """The root of twice the integral of the squared distance of the distribution functions."""
    return np.sqrt(2 * np.sum(_between_samples(u_values, v_values, u_weights, v_weights, 2)))


def _between_samples(u: Any, v: Any, u_weights: Any, v_weights: Any, power: int) -> Any:
    x, y = _floating(u), _floating(v)
    first = np.full(x.shape, 1 / x.shape[0]) if u_weights is None else _floating(u_weights)
    second = np.full(y.shape, 1 / y.shape[0]) if v_weights is None else _floating(v_weights)
    every = np.concatenate([x, y])
    steps = np.concatenate([first / np.sum(first), -second / np.sum(second)])
    order = np.argsort(every, kind="stable")
    return np.abs(np.cumsum(steps[order])[:-1]) ** power * np.diff(every[order])


# --- dependence ----------------------------------------------------------------------------------


def pearsonr(x: Any, y: Any) -> Any:
    """Pearson's correlation of two vectors, and its p-value by the beta distribution."""
    r, n = _correlation(_floating(x), _floating(y)), np.asarray(x).shape[0]
    half = n / 2 - 1.0
    return Significance(r, 2 * special.betaincc(half, half, 0.5 * (np.abs(r) + 1)))


def _correlation(x: Any, y: Any) -> Any:
    if x.ndim != 1 or x.shape != y.shape:
        raise NotImplementedError("the correlation of two vectors is supported")
    u, v = x - np.mean(x), y - np.mean(y)
    return np.sum(u / np.linalg.norm(u) * (v / np.linalg.norm(v)))


def spearmanr(a: Any, b: Any) -> Any:
    """The correlation of the ranks of two vectors: it does not change nearby."""
    r, n = _correlation(rankdata(a), rankdata(b)), np.asarray(a).shape[0]
    return Significance(r, _of_t(r * np.sqrt((n - 2) / ((1 + r) * (1 - r))), n - 2.0))


def kendalltau(x: Any, y: Any) -> Any:
    """Kendall's correlation of two vectors: it does not change nearby."""
    found = flat(_kendall, (), (2,), np.float64, _floating(x), _floating(y))
    return Significance(found[0], found[1])


def _kendall(x: Any, y: Any) -> Any:
    found = stats.kendalltau(x, y)
    return found.statistic, found.pvalue


def linregress(x: Any, y: Any) -> Any:
    """The line of least squares through points."""
    u, v = _double(x), _double(y)
    n = u.shape[0]
    du, dv = u - np.mean(u), v - np.mean(v)
    uu, uv, vv = np.mean(du * du), np.mean(du * dv), np.mean(dv * dv)
    r, slope = uv / np.sqrt(uu * vv), uv / uu
    t = r * np.sqrt((n - 2) / ((1.0 - r) * (1.0 + r)))
    error = np.sqrt((1 - r * r) * vv / uu / (n - 2))
    return Line(slope, np.mean(v) - slope * np.mean(u), r, _of_t(t, n - 2.0), error)


# --- tests ---------------------------------------------------------------------------------------


def _of_t(t: Any, df: Any) -> Any:
    """The probability of a larger number of either sign, by Student's distribution."""
    return 2 * special.stdtr(df, -np.abs(t))


def ttest_1samp(a: Any, popmean: Any, axis: Any = 0) -> Any:
    """The t-test of a mean."""
    x, place = _sample(a, axis)
    n = x.shape[place]
    error = np.std(x, axis=place, ddof=1) / math.sqrt(n)
    t = (np.mean(x, axis=place) - popmean) / error
    return Significance(t, _of_t(t, n - 1.0))


def ttest_rel(a: Any, b: Any, axis: Any = 0) -> Any:
    """The t-test of the differences of two samples."""
    return ttest_1samp(_floating(a) - _floating(b), 0.0, axis)


def ttest_ind(a: Any, b: Any, *, axis: Any = 0, equal_var: bool = True) -> Any:
    """The t-test of two means; without ``equal_var`` Welch's."""
    (x, place), (y, _) = _sample(a, axis), _sample(b, axis)
    n, m = x.shape[place], y.shape[place]
    first, second = np.var(x, axis=place, ddof=1), np.var(y, axis=place, ddof=1)
    if equal_var:
        df: Any = n + m - 2.0
        squared = ((n - 1) * first + (m - 1) * second) / df * (1 / n + 1 / m)
    else:
        u, v = first / n, second / m
        squared = u + v
        df = squared * squared / (u * u / (n - 1) + v * v / (m - 1))
    t = (np.mean(x, axis=place) - np.mean(y, axis=place)) / np.sqrt(squared)
    return Significance(t, _of_t(t, df))


def f_oneway(*samples: Any) -> Any:
    """The analysis of variance of several samples."""
    groups = [_floating(sample) for sample in samples]
    every = np.concatenate(groups)
    count, total = len(groups), every.shape[0]
    within = sum([np.sum((g - np.mean(g)) ** 2) for g in groups])
    between = sum([g.shape[0] * (np.mean(g) - np.mean(every)) ** 2 for g in groups])
    first, second = count - 1.0, total - count + 0.0
    f = between / first / (within / second)
    return Significance(f, special.fdtrc(first, second, f))


def chisquare(f_obs: Any, f_exp: Any = None, ddof: int = 0) -> Any:
    """Pearson's test of frequencies, which are not checked."""
    seen = _floating(f_obs)
    expected = np.mean(seen) + 0.0 * seen if f_exp is None else _floating(f_exp)
    value = np.sum((seen - expected) ** 2 / expected)
    return Significance(value, special.chdtrc(seen.shape[0] - 1.0 - ddof, value))


def jarque_bera(x: Any) -> Any:
    """Jarque and Bera's test of normality."""
    sample = np.ravel(_floating(x))
    value = sample.shape[0] / 6 * (skew(sample) ** 2 + kurtosis(sample) ** 2 / 4)
    return Significance(value, special.chdtrc(2.0, value))


# --- entropy, transforms -------------------------------------------------------------------------


def entropy(pk: Any, qk: Any = None, base: Any = None, axis: int = 0) -> Any:
    """The entropy of frequencies, or with ``qk`` Kullback and Leibler's divergence."""
    p = _floating(pk)
    p = p / np.sum(p, axis=axis, keepdims=True)
    if qk is None:
        terms = special.entr(p)
    else:
        q = _floating(qk)
        terms = special.rel_entr(p, q / np.sum(q, axis=axis, keepdims=True))
    total = np.sum(terms, axis=axis)
    return total if base is None else total / math.log(base)


def boxcox(x: Any, lmbda: Any = None) -> Any:
    """Box and Cox's transform with a given parameter."""
    if lmbda is None:
        raise NotImplementedError("stats.boxcox is supported with a given lmbda: boxcox(x, lmbda)")
    return special.boxcox(_floating(x), lmbda)


def boxcox_llf(lmb: Any, data: Any) -> Any:
    """The logarithm of the likelihood of the parameter of Box and Cox's transform."""
    x = _floating(data)
    spread = np.var(special.boxcox(x, lmb), axis=0)
    return (lmb - 1) * np.sum(np.log(x), axis=0) - x.shape[0] / 2 * np.log(spread)


def yeojohnson(x: Any, lmbda: Any = None) -> Any:
    """Yeo and Johnson's transform with a given parameter (Biometrika 87, 2000)."""
    if lmbda is None:
        raise NotImplementedError(
            "stats.yeojohnson is supported with a given lmbda: yeojohnson(x, lmbda)"
        )
    values = _floating(x)
    is_positive = values >= 0
    high = special.boxcox1p(np.where(is_positive, values, 0.0), lmbda)
    low = -special.boxcox1p(-np.where(is_positive, 0.0, values), 2 - lmbda)
    return np.where(is_positive, high, low)


# --- estimates -----------------------------------------------------------------------------------


class Kernels:
    """`gaussian_kde`: a sum of normal densities around points, with their covariance."""

    def __init__(self, dataset: Any, factor: Any, weights: Any) -> None:
        self.dataset = dataset
        self.d, self.n = dataset.shape
        self.weights = weights
        self.neff = 1 / np.sum(weights * weights)
        if factor is None or factor == "scott":
            self.factor = self.neff ** (-1.0 / (self.d + 4))
        elif factor == "silverman":
            self.factor = (self.neff * (self.d + 2.0) / 4.0) ** (-1.0 / (self.d + 4))
        else:
            self.factor = factor
        away = dataset - np.sum(dataset * weights, axis=1, keepdims=True)
        self.covariance = (away * weights) @ away.T * self.neff / (self.neff - 1) * self.factor**2

    def __call__(self, points: Any) -> Any:
        return np.exp(self.logpdf(points))

    def evaluate(self, points: Any) -> Any:
        return self(points)

    def pdf(self, x: Any) -> Any:
        return self(x)

    def logpdf(self, x: Any) -> Any:
        at = np.atleast_2d(_double(x))
        if at.shape[0] != self.d and at.shape[1] == self.d and at.shape[0] == 1:
            at = at.T
        factor = np.linalg.cholesky(self.covariance)
        away = np.reshape(at[:, :, None] - self.dataset[:, None, :], (self.d, -1))
        white = np.reshape(np.linalg.solve(factor, away), (self.d, at.shape[1], self.n))
        constant = np.sum(np.log(np.diagonal(factor))) + 0.5 * self.d * math.log(2 * math.pi)
        terms = np.log(self.weights) - 0.5 * np.sum(white * white, axis=0)
        return special.logsumexp(terms, axis=1) - constant


def gaussian_kde(dataset: Any, bw_method: Any = None, weights: Any = None) -> Any:
    """An estimate of the density of points, which are columns or a vector."""
    points = np.atleast_2d(_double(dataset))
    n = points.shape[1]
    parts = np.full(n, 1 / n) if weights is None else _double(weights) / np.sum(_double(weights))
    return Kernels(points, bw_method, parts)


def kernels(dataset: Any, weights: Any, factor: Any) -> Any:
    """A `gaussian_kde` that was made outside."""
    return Kernels(dataset, factor, weights)


def norm_fit(data: Any) -> Any:
    """The mean and the standard deviation, the most likely parameters."""
    return np.mean(_floating(data)), np.std(_floating(data))


def expon_fit(data: Any) -> Any:
    """The least number, and the mean distance from it."""
    x = _double(data)
    return np.min(x), np.mean(x) - np.min(x)


def laplace_fit(data: Any) -> Any:
    """The median, and the mean distance from it."""
    x = _floating(data)
    return np.median(x), np.mean(np.abs(x - np.median(x)))
