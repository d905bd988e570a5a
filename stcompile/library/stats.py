"""Distributions of `scipy.stats`: formulas of their standard forms, and what loc, scale and the
support make of them.

Values are SciPy's up to rounding, in float64 as they are there. Outside of the support densities
are 0 and their logarithms ``-inf``, both of them flat: gradients are 0 there, not NaN. Where a
parameter is not valid the result is NaN. Formulas: Johnson, Kotz & Balakrishnan, Continuous
univariate distributions (1994, 1995).

The formula of a method is a function of the standardised value and the shape parameters. The
``facts`` of a distribution are its support (a lower and an upper bound, None where there is none),
a number inside of it, and whether the density has no formula at the lower bound, where it is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import linalg, special

_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
Formula = Callable[..., Any]


# --- what all distributions share ----------------------------------------------------------------


def logpdf(form: Formula, facts: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """The logarithm of a density."""
    support, inside, is_open = facts
    shapes, scale = tuple([_positive(s) for s in shapes]), _positive(scale)
    z = _standardised(x, loc, scale)
    below, above = _outside(z, support, is_open)
    value = form(_within(z, below, above, inside), *shapes) - _log(scale)
    value = _placed(_placed(value, below, -math.inf), above, -math.inf)
    return value[()]


def pdf(form: Formula, facts: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """A density; ``form`` is the logarithm of the standard one."""
    support, inside, is_open = facts
    shapes, scale = tuple([_positive(s) for s in shapes]), _positive(scale)
    z = _standardised(x, loc, scale)
    below, above = _outside(z, support, is_open)
    value = np.exp(form(_within(z, below, above, inside), *shapes)) / scale
    value = _placed(_placed(value, below, 0.0), above, 0.0)
    return value[()]


def cdf(form: Formula, facts: Any, ends: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """A distribution function or one of its like, with the values ``ends`` below and above."""
    support, inside, is_open = facts
    shapes, scale = tuple([_positive(s) for s in shapes]), _positive(scale)
    z = _standardised(x, loc, scale)
    below, above = _outside(z, support, is_open)
    value = form(_within(z, below, above, inside), *shapes)
    value = _placed(_placed(value, below, ends[0]), above, ends[1])
    return value[()]


def log_cdf(form: Formula, facts: Any, ends: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """The logarithm of what has the formula ``form``."""
    support, inside, is_open = facts
    shapes, scale = tuple([_positive(s) for s in shapes]), _positive(scale)
    z = _standardised(x, loc, scale)
    below, above = _outside(z, support, is_open)
    value = np.log(form(_within(z, below, above, inside), *shapes))
    value = _placed(_placed(value, below, ends[0]), above, ends[1])
    return value[()]


def ppf(form: Formula, q: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """A quantile; NaN for what is no probability."""
    shapes, scale = tuple([_positive(s) for s in shapes]), _positive(scale)
    p = _float64(q)
    outside = (p < 0) | (p > 1)
    value = form(np.where(outside, 0.5, p), *shapes) * scale + loc
    return np.where(outside, math.nan, value)[()]


def _float64(x: Any) -> Any:
    values = np.asarray(x)
    return values if values.dtype == np.float64 else values.astype(np.float64)


def _outside(z: Any, support: Any, is_open: bool) -> Any:
    """Masks of what is below and above the support; None where there is no bound."""
    lower, upper = support
    below = None if lower is None else z <= lower if is_open else z < lower
    return below, None if upper is None else z > upper


def _within(z: Any, below: Any, above: Any, inside: float) -> Any:
    """What is in the support, something else of it in place of the rest."""
    return _placed(_placed(z, below, inside), above, inside)


def _placed(value: Any, mask: Any, number: float) -> Any:
    return value if mask is None else np.where(mask, number, value)


def _standardised(x: Any, loc: Any, scale: Any) -> Any:
    centred = _float64(x) if isinstance(loc, int) and loc == 0 else _float64(x) - loc
    return centred if isinstance(scale, int) and scale == 1 else centred / scale


def _log(scale: Any) -> Any:
    return 0.0 if isinstance(scale, int) and scale == 1 else np.log(scale)


def _positive(parameter: Any) -> Any:
    """A parameter, NaN in place of what is not positive."""
    return _where_valid(parameter > 0, parameter)


def _where_valid(valid: Any, parameter: Any) -> Any:
    return parameter if valid is True else np.where(valid, parameter, math.nan)[()]


# --- the normal distribution, and those of the whole line ----------------------------------------


def norm_logpdf(z: Any) -> Any:
    return -0.5 * z * z - _LOG_ROOT_2PI


def norm_cdf(z: Any) -> Any:
    return special.ndtr(z)


def norm_sf(z: Any) -> Any:
    return special.ndtr(-z)


def norm_logcdf(z: Any) -> Any:
    return special.log_ndtr(z)


def norm_logsf(z: Any) -> Any:
    return special.log_ndtr(-z)


def norm_ppf(q: Any) -> Any:
    return special.ndtri(q)


def norm_isf(q: Any) -> Any:
    return -special.ndtri(q)


def t_logpdf(z: Any, df: Any) -> Any:
    constant = special.gammaln((df + 1) / 2) - special.gammaln(df / 2)
    return constant - 0.5 * np.log(df * math.pi) - (df + 1) / 2 * np.log1p(z * z / df)


def t_cdf(z: Any, df: Any) -> Any:
    return special.stdtr(df, z)


def t_sf(z: Any, df: Any) -> Any:
    return special.stdtr(df, -z)


def t_ppf(q: Any, df: Any) -> Any:
    return special.stdtrit(df, q)


def t_isf(q: Any, df: Any) -> Any:
    return -special.stdtrit(df, q)


def cauchy_logpdf(z: Any) -> Any:
    return -math.log(math.pi) - np.log1p(z * z)


def cauchy_cdf(z: Any) -> Any:
    return np.arctan2(1.0, -z) / math.pi


def cauchy_sf(z: Any) -> Any:
    return np.arctan2(1.0, z) / math.pi


def cauchy_ppf(q: Any) -> Any:
    return np.tan(math.pi * q - math.pi / 2)


def cauchy_isf(q: Any) -> Any:
    return np.tan(math.pi / 2 - math.pi * q)


def laplace_logpdf(z: Any) -> Any:
    return math.log(0.5) - np.abs(z)


def laplace_cdf(z: Any) -> Any:
    tail = 0.5 * np.exp(-np.abs(z))
    return np.where(z > 0, 1 - tail, tail)


def laplace_sf(z: Any) -> Any:
    return laplace_cdf(-z)


def laplace_logcdf(z: Any) -> Any:
    tail = 0.5 * np.exp(-np.abs(z))
    return np.where(z > 0, np.log1p(-tail), math.log(0.5) + z)


def laplace_logsf(z: Any) -> Any:
    return laplace_logcdf(-z)


def laplace_ppf(q: Any) -> Any:
    tail = np.log(2 * np.minimum(q, 1 - q))
    return np.where(q > 0.5, -tail, tail)


def laplace_isf(q: Any) -> Any:
    return -laplace_ppf(q)


def logistic_logpdf(z: Any) -> Any:
    return special.log_expit(z) + special.log_expit(-z)


def logistic_cdf(z: Any) -> Any:
    return special.expit(z)


def logistic_sf(z: Any) -> Any:
    return special.expit(-z)


def logistic_logcdf(z: Any) -> Any:
    return special.log_expit(z)


def logistic_logsf(z: Any) -> Any:
    return special.log_expit(-z)


def logistic_ppf(q: Any) -> Any:
    return special.logit(q)


def logistic_isf(q: Any) -> Any:
    return -special.logit(q)


# --- positive numbers ----------------------------------------------------------------------------


def expon_logpdf(z: Any) -> Any:
    return -z


def expon_cdf(z: Any) -> Any:
    return -np.expm1(-z)


def expon_sf(z: Any) -> Any:
    return np.exp(-z)


def expon_logcdf(z: Any) -> Any:
    """``log(1 - exp(-z))``, as Mächler (2012), "Accurately computing log(1 - exp(-|a|))"."""
    is_large = z > math.log(2)
    large, small = np.where(is_large, z, 1.0), np.where(is_large, 1.0, z)
    return np.where(is_large, np.log1p(-np.exp(-large)), np.log(-np.expm1(-small)))


def expon_logsf(z: Any) -> Any:
    return -z


def expon_ppf(q: Any) -> Any:
    return -np.log1p(-q)


def expon_isf(q: Any) -> Any:
    return -np.log(q)


def gamma_logpdf(z: Any, a: Any) -> Any:
    return special.xlogy(a - 1.0, z) - z - special.gammaln(a)


def gamma_cdf(z: Any, a: Any) -> Any:
    return special.gammainc(a, z)


def gamma_sf(z: Any, a: Any) -> Any:
    return special.gammaincc(a, z)


def gamma_ppf(q: Any, a: Any) -> Any:
    return special.gammaincinv(a, q)


def gamma_isf(q: Any, a: Any) -> Any:
    return special.gammainccinv(a, q)


def chi2_logpdf(z: Any, df: Any) -> Any:
    half = df / 2
    return special.xlogy(half - 1.0, z) - z / 2 - special.gammaln(half) - math.log(2) * half


def chi2_cdf(z: Any, df: Any) -> Any:
    return special.gammainc(df / 2, z / 2)


def chi2_sf(z: Any, df: Any) -> Any:
    return special.gammaincc(df / 2, z / 2)


def chi2_ppf(q: Any, df: Any) -> Any:
    return 2 * special.gammaincinv(df / 2, q)


def chi2_isf(q: Any, df: Any) -> Any:
    return 2 * special.gammainccinv(df / 2, q)


def lognorm_logpdf(z: Any, s: Any) -> Any:
    log_z = np.log(z)
    return norm_logpdf(log_z / s) - np.log(s) - log_z


def lognorm_cdf(z: Any, s: Any) -> Any:
    return special.ndtr(np.log(z) / s)


def lognorm_sf(z: Any, s: Any) -> Any:
    return special.ndtr(-np.log(z) / s)


def lognorm_logcdf(z: Any, s: Any) -> Any:
    return special.log_ndtr(np.log(z) / s)


def lognorm_logsf(z: Any, s: Any) -> Any:
    return special.log_ndtr(-np.log(z) / s)


def lognorm_ppf(q: Any, s: Any) -> Any:
    return np.exp(s * special.ndtri(q))


def lognorm_isf(q: Any, s: Any) -> Any:
    return np.exp(-s * special.ndtri(q))


def weibull_min_logpdf(z: Any, c: Any) -> Any:
    return np.log(c) + special.xlogy(c - 1.0, z) - z**c


def weibull_min_cdf(z: Any, c: Any) -> Any:
    return -np.expm1(-(z**c))


def weibull_min_sf(z: Any, c: Any) -> Any:
    return np.exp(-(z**c))


def weibull_min_logcdf(z: Any, c: Any) -> Any:
    return expon_logcdf(z**c)


def weibull_min_logsf(z: Any, c: Any) -> Any:
    return -(z**c)


def weibull_min_ppf(q: Any, c: Any) -> Any:
    return (-np.log1p(-q)) ** (1.0 / c)


def weibull_min_isf(q: Any, c: Any) -> Any:
    return (-np.log(q)) ** (1.0 / c)


def pareto_logpdf(z: Any, b: Any) -> Any:
    return np.log(b) - (b + 1) * np.log(z)


def pareto_cdf(z: Any, b: Any) -> Any:
    return -np.expm1(-b * np.log(z))


def pareto_sf(z: Any, b: Any) -> Any:
    return z ** (-b)


def pareto_logsf(z: Any, b: Any) -> Any:
    return -b * np.log(z)


def pareto_ppf(q: Any, b: Any) -> Any:
    return (1 - q) ** (-1.0 / b)


def pareto_isf(q: Any, b: Any) -> Any:
    return q ** (-1.0 / b)


# --- bounded -------------------------------------------------------------------------------------


def beta_logpdf(z: Any, a: Any, b: Any) -> Any:
    powers = special.xlog1py(b - 1.0, -z) + special.xlogy(a - 1.0, z)
    return powers - special.betaln(a, b)


def beta_cdf(z: Any, a: Any, b: Any) -> Any:
    return special.betainc(a, b, z)


def beta_sf(z: Any, a: Any, b: Any) -> Any:
    return special.betaincc(a, b, z)


def beta_ppf(q: Any, a: Any, b: Any) -> Any:
    return special.betaincinv(a, b, q)


def uniform_logpdf(z: Any) -> Any:
    return 0.0 * z


def uniform_cdf(z: Any) -> Any:
    return z


def uniform_sf(z: Any) -> Any:
    return 1 - z


def uniform_ppf(q: Any) -> Any:
    return q


def uniform_isf(q: Any) -> Any:
    return 1 - q


# --- discrete: of an integer k, which is not differentiated ---------------------------------------


def logpmf(form: Formula, bounds: Formula, valid: Formula, k: Any, shapes: Any, loc: Any) -> Any:
    """The logarithm of a probability; ``-inf`` where there is none."""
    n = _float64(k) - loc
    lower, upper = bounds(*shapes)
    outside = (n < lower) | (np.floor(n) != n)
    if upper is not None:
        outside = outside | (n > upper)
    inside = np.where(outside, lower, np.floor(n))
    value = np.where(outside, -math.inf, form(inside, *shapes))
    return _where_valid(valid(*shapes), value)[()]


def pmf(form: Formula, bounds: Formula, valid: Formula, k: Any, shapes: Any, loc: Any) -> Any:
    """A probability."""
    return np.exp(logpmf(form, bounds, valid, k, shapes, loc))


def discrete_cdf(
    form: Formula, bounds: Formula, valid: Formula, ends: Any, k: Any, shapes: Any, loc: Any
) -> Any:
    """A distribution function or one of its like, with the values ``ends`` below and above."""
    n = _float64(k) - loc
    lower, upper = bounds(*shapes)
    below, above = n < lower, n == math.inf if upper is None else n >= upper
    value = form(np.floor(np.where(below | above, lower, n)), *shapes)
    value = np.where(below, ends[0], np.where(above, ends[1], value))
    return _where_valid(valid(*shapes), value)[()]


def discrete_log_cdf(
    form: Formula, bounds: Formula, valid: Formula, ends: Any, k: Any, shapes: Any, loc: Any
) -> Any:
    """The logarithm of what has the formula ``form``."""
    n = _float64(k) - loc
    lower, upper = bounds(*shapes)
    below, above = n < lower, n == math.inf if upper is None else n >= upper
    value = np.log(form(np.floor(np.where(below | above, lower, n)), *shapes))
    value = np.where(below, ends[0], np.where(above, ends[1], value))
    return _where_valid(valid(*shapes), value)[()]


def from_zero(*shapes: Any) -> Any:
    return 0.0, None


def from_one(*shapes: Any) -> Any:
    return 1.0, None


def binom_bounds(n: Any, p: Any) -> Any:
    return 0.0, n


def bernoulli_bounds(p: Any) -> Any:
    return 0.0, 1.0


def poisson_logpmf(k: Any, mu: Any) -> Any:
    return special.xlogy(k, mu) - special.gammaln(k + 1) - mu


def poisson_cdf(k: Any, mu: Any) -> Any:
    return special.gammaincc(k + 1, mu)


def poisson_sf(k: Any, mu: Any) -> Any:
    return special.gammainc(k + 1, mu)


def poisson_valid(mu: Any) -> Any:
    return mu >= 0


def binom_logpmf(k: Any, n: Any, p: Any) -> Any:
    ways = special.gammaln(n + 1.0) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return ways + special.xlogy(k, p) + special.xlog1py(n - k, -p)


def binom_valid(n: Any, p: Any) -> Any:
    return _all(_all(n >= 0, np.floor(n) == n), _probability(p))


def bernoulli_logpmf(k: Any, p: Any) -> Any:
    return special.xlogy(k, p) + special.xlog1py(1 - k, -p)


def bernoulli_valid(p: Any) -> Any:
    return _probability(p)


def nbinom_logpmf(k: Any, n: Any, p: Any) -> Any:
    ways = special.gammaln(n + k) - special.gammaln(k + 1) - special.gammaln(n)
    return ways + n * np.log(p) + special.xlog1py(k, -p)


def nbinom_valid(n: Any, p: Any) -> Any:
    return _all(n > 0, _all(p > 0, p <= 1))


def geom_logpmf(k: Any, p: Any) -> Any:
    return special.xlog1py(k - 1, -p) + np.log(p)


def geom_valid(p: Any) -> Any:
    return _all(p > 0, p <= 1)


def _probability(p: Any) -> Any:
    return _all(p >= 0, p <= 1)


def _all(one: Any, other: Any) -> Any:
    """Both; a static True where both are."""
    return other if one is True else one if other is True else np.logical_and(one, other)


# --- of vectors ----------------------------------------------------------------------------------


def multivariate_normal_logpdf(
    x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False
) -> Any:
    """Of one point or an array of them, their coordinates along the last axis. By the Cholesky
    factor of the covariance, of which the lower triangle is read: it has to be positive definite
    (`numpy.linalg.LinAlgError`), unless ``allow_singular``."""
    center, matrix = _mean_and_covariance(mean, cov)
    dim = center.shape[0]
    points = _float64(x)
    if points.ndim == 0:
        points = points[None]
    elif points.ndim == 1:
        points = points[:, None] if dim == 1 else points[None, :]
    flat = np.reshape(points - center, (-1, dim))
    if allow_singular:
        value = _singular_logpdf(flat, matrix)
    else:
        factor = np.linalg.cholesky(matrix)
        white = linalg.solve_triangular(factor, flat.T, lower=True)
        constant = dim * math.log(2 * math.pi) + 2 * np.sum(np.log(np.diagonal(factor)))
        value = -0.5 * (constant + np.sum(white * white, axis=0))
    return np.squeeze(np.reshape(value, points.shape[:-1]))[()]


_NEGLIGIBLE = 1e6 * float(np.finfo(np.float64).eps)
"""The eigenvalues that SciPy takes for 0, in parts of the largest one."""


def _singular_logpdf(flat: Any, matrix: Any) -> Any:
    """With the pseudo-inverse and the product of the eigenvalues that are not 0. Points outside of
    the support have ``-inf``, flat; derivatives by the covariance are those where its rank does not
    change. `ValueError` if an eigenvalue is negative."""
    eigenvalues = np.linalg.eigvalsh(matrix)
    least = _NEGLIGIBLE * np.max(np.abs(eigenvalues))
    if np.any(eigenvalues < -least):
        raise ValueError("The input matrix must be symmetric positive semidefinite.")
    is_zero = eigenvalues <= least
    half = np.tril(matrix, -1)
    symmetric = half + half.T + np.diag(np.diagonal(matrix))
    distance = np.sum((flat @ np.linalg.pinv(symmetric, _NEGLIGIBLE)) * flat, axis=-1)
    rank = np.count_nonzero(np.logical_not(is_zero))
    constant = rank * math.log(2 * math.pi) + np.sum(np.log(np.where(is_zero, 1.0, eigenvalues)))
    beside = flat @ np.where(is_zero, np.linalg.eigh(matrix)[1], 0.0)
    is_inside = np.sum(beside * beside, axis=-1) < (1e3 * least) ** 2
    is_inside = np.logical_or(is_inside, np.logical_not(np.any(is_zero)))
    return np.where(is_inside, -0.5 * (constant + distance), -math.inf)


def multivariate_normal_entropy(mean: Any = None, cov: Any = 1) -> Any:
    """The differential entropy, ``log(det(2 pi e cov)) / 2``, of a positive definite covariance."""
    center, matrix = _mean_and_covariance(mean, cov)
    constant = 0.5 * center.shape[0] * (1 + math.log(2 * math.pi))
    return constant + np.sum(np.log(np.diagonal(np.linalg.cholesky(matrix))))


def _mean_and_covariance(mean: Any, cov: Any) -> Any:
    """The mean as a vector, and the covariance as a matrix."""
    matrix = _float64(cov)
    dim = mean_size(mean, matrix)
    center = np.zeros(dim) if mean is None else np.reshape(_float64(mean), (dim,))
    if matrix.ndim == 0:
        matrix = matrix * np.eye(dim)
    elif matrix.ndim == 1:
        matrix = np.diag(matrix)
    if matrix.shape != (dim, dim):
        raise ValueError(f"a covariance of shape {matrix.shape} does not fit a mean of {dim}")
    return center, matrix


def mean_size(mean: Any, cov: Any) -> int:
    """The number of dimensions: that of the mean, or else of a matrix; 1 without either."""
    if mean is not None:
        return int(np.asarray(mean).size)
    return 1 if cov.ndim < 2 else int(cov.shape[0])


def multivariate_normal_pdf(
    x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False
) -> Any:
    return np.exp(multivariate_normal_logpdf(x, mean, cov, allow_singular))


def dirichlet_logpdf(x: Any, alpha: Any) -> Any:
    """Of points whose coordinates are along the first axis; the last one may be left out. That
    they are on the simplex is not checked."""
    points, a = _float64(x), _float64(alpha)
    if points.shape[0] + 1 == a.shape[0]:
        points = np.concatenate([points, 1 - np.sum(points, axis=0, keepdims=True)])
    if points.shape[0] != a.shape[0]:
        raise ValueError("Vector 'x' must have either the same number of entries as, or one fewer")
    constant = special.gammaln(np.sum(a)) - np.sum(special.gammaln(a))
    return (np.sum(special.xlogy(a - 1.0, points.T), axis=-1) + constant)[()]


def dirichlet_pdf(x: Any, alpha: Any) -> Any:
    return np.exp(dirichlet_logpdf(x, alpha))
