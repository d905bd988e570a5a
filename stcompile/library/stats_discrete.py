"""Discrete distributions of `scipy.stats`: of an integer k, which is not differentiated.

The formulas are those of the standard forms, as in `stcompile.library.stats`; the ``bounds`` of a
distribution are its least and greatest value (None: there is none), and ``valid`` says whether its
parameters are. Formulas: Johnson, Kemp & Kotz, Univariate discrete distributions (2005).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import special, stats
from stcompile.library.flat import flat
from stcompile.library.stats import Formula, float64, where_valid


def logpmf(form: Formula, bounds: Formula, valid: Formula, k: Any, shapes: Any, loc: Any) -> Any:
    """The logarithm of a probability; ``-inf`` outside of the support."""
    n = float64(k) - loc
    lower, upper = bounds(*shapes)
    outside = (n < lower) | (np.floor(n) != n)
    if upper is not None:
        outside = outside | (n > upper)
    inside = np.where(outside, lower, np.floor(n))
    value = np.where(outside, -math.inf, form(inside, *shapes))
    return where_valid(valid(*shapes), value)[()]


def pmf(form: Formula, bounds: Formula, valid: Formula, k: Any, shapes: Any, loc: Any) -> Any:
    """A probability."""
    return np.exp(logpmf(form, bounds, valid, k, shapes, loc))


def cdf(
    form: Formula, bounds: Formula, valid: Formula, ends: Any, k: Any, shapes: Any, loc: Any
) -> Any:
    """A distribution function or one of its like, with the values ``ends`` below and above."""
    n = float64(k) - loc
    lower, upper = bounds(*shapes)
    below, above = n < lower, n == math.inf if upper is None else n >= upper
    value = form(np.floor(np.where(below | above, lower, n)), *shapes)
    value = np.where(below, ends[0], np.where(above, ends[1], value))
    return where_valid(valid(*shapes), value)[()]


def log_cdf(
    form: Formula, bounds: Formula, valid: Formula, ends: Any, k: Any, shapes: Any, loc: Any
) -> Any:
    """The logarithm of the function with the formula ``form``."""

    def logarithm(n: Any, *shapes: Any) -> Any:
        return np.log(form(n, *shapes))

    return cdf(logarithm, bounds, valid, ends, k, shapes, loc)


def from_zero(*shapes: Any) -> Any:
    return 0.0, None


def from_one(*shapes: Any) -> Any:
    return 1.0, None


def binom_logpmf(k: Any, n: Any, p: Any) -> Any:
    ways = special.gammaln(n + 1.0) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return ways + special.xlogy(k, p) + special.xlog1py(n - k, -p)


def nbinom_logpmf(k: Any, n: Any, p: Any) -> Any:
    ways = special.gammaln(n + k) - special.gammaln(k + 1) - special.gammaln(n)
    return ways + n * np.log(p) + special.xlog1py(k, -p)


def _probability(p: Any) -> Any:
    return _all(p >= 0, p <= 1)


def _all(one: Any, other: Any) -> Any:
    """Both; a static True where both are."""
    return other if one is True else one if other is True else np.logical_and(one, other)


def betabinom_logpmf(k: Any, n: Any, a: Any, b: Any) -> Any:
    ways = -np.log(n + 1) - special.betaln(n - k + 1, k + 1)
    return ways + special.betaln(k + a, n - k + b) - special.betaln(a, b)


def hypergeom_logpmf(k: Any, M: Any, n: Any, N: Any) -> Any:
    good = special.betaln(k + 1, n - k + 1) + special.betaln(N - k + 1, M - n - N + k + 1)
    ways = special.betaln(M - N + 1, N + 1) - special.betaln(M + 1, 1)
    return special.betaln(n + 1, 1) + special.betaln(M - n + 1, 1) + ways - good


def ppf(name: str, own: str, q: Any, shapes: Any, loc: Any) -> Any:
    """A quantile, SciPy's own: an integer, which does not change nearby."""
    arrays = [float64(value) for value in (q, *shapes)]
    shape = np.broadcast_shapes(*[value.shape for value in arrays])
    return flat(_quantiles, (name, own), shape, np.float64, *arrays) + loc


def _quantiles(name: str, own: str, q: Any, *shapes: Any) -> Any:
    return getattr(getattr(stats, name), own)(q, *shapes)


FORMULAS: dict[str, Formula] = {
    "poisson.bounds": from_zero,
    "poisson.valid": lambda mu: mu >= 0,
    "poisson.logpmf": lambda k, mu: special.xlogy(k, mu) - special.gammaln(k + 1) - mu,
    "poisson.cdf": lambda k, mu: special.gammaincc(k + 1, mu),
    "poisson.sf": lambda k, mu: special.gammainc(k + 1, mu),
    "binom.bounds": lambda n, p: (0.0, n),
    "binom.valid": lambda n, p: _all(_all(n >= 0, np.floor(n) == n), _probability(p)),
    "binom.logpmf": binom_logpmf,
    "binom.cdf": lambda k, n, p: special.betaincc(k + 1, n - k, p),
    "binom.sf": lambda k, n, p: special.betainc(k + 1, n - k, p),
    "bernoulli.bounds": lambda p: (0.0, 1.0),
    "bernoulli.valid": lambda p: _probability(p),
    "bernoulli.logpmf": lambda k, p: special.xlogy(k, p) + special.xlog1py(1 - k, -p),
    "nbinom.bounds": from_zero,
    "nbinom.valid": lambda n, p: _all(n > 0, _all(p > 0, p <= 1)),
    "nbinom.logpmf": nbinom_logpmf,
    "nbinom.cdf": lambda k, n, p: special.betainc(n, k + 1, p),
    "nbinom.sf": lambda k, n, p: special.betaincc(n, k + 1, p),
    "geom.bounds": from_one,
    "geom.valid": lambda p: _all(p > 0, p <= 1),
    "geom.logpmf": lambda k, p: special.xlog1py(k - 1, -p) + np.log(p),
    "geom.cdf": lambda k, p: -np.expm1(special.xlog1py(k, -p)),
    "geom.sf": lambda k, p: np.exp(special.xlog1py(k, -p)),
    "betabinom.bounds": lambda n, a, b: (0.0, n),
    "betabinom.valid": lambda n, a, b: _all(_all(n >= 0, np.floor(n) == n), _all(a > 0, b > 0)),
    "betabinom.logpmf": betabinom_logpmf,
    "logser.bounds": from_one,
    "logser.valid": lambda p: _all(p > 0, p < 1),
    "logser.logpmf": lambda k, p: k * np.log(p) - np.log(k) - np.log(-np.log1p(-p)),
    "zipf.bounds": from_one,
    "zipf.valid": lambda a: a > 1,
    "zipf.logpmf": lambda k, a: -a * np.log(k) - np.log(special.zeta(a, 1.0)),
    "planck.bounds": from_zero,
    "planck.valid": lambda lambda_: lambda_ > 0,
    "planck.logpmf": lambda k, lambda_: np.log(-np.expm1(-lambda_)) - lambda_ * k,
    "planck.cdf": lambda k, lambda_: -np.expm1(-lambda_ * (k + 1)),
    "planck.sf": lambda k, lambda_: np.exp(-lambda_ * (k + 1)),
    "hypergeom.bounds": lambda M, n, N: (np.maximum(N - (M - n), 0), np.minimum(n, N)),
    "hypergeom.valid": lambda M, n, N: _all(_all(n >= 0, n <= M), _all(N >= 0, N <= M)),
    "hypergeom.logpmf": hypergeom_logpmf,
    "randint.bounds": lambda low, high: (low, high - 1),
    "randint.valid": lambda low, high: high > low,
    "randint.logpmf": lambda k, low, high: 0.0 * k - np.log(high - low),
}
