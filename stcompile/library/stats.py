"""Distributions of `scipy.stats`: formulas of their standard forms, with loc, scale and the
support.

Values are SciPy's up to rounding, in float64 as there. Outside of the support densities are 0 and
their logarithms ``-inf``, both of them flat: gradients are 0 there, not NaN. Where a parameter is
not valid the result is NaN. Formulas: Johnson, Kotz & Balakrishnan, Continuous univariate
distributions (1994, 1995).

The formula of a method is a function of the standardised value and the shape parameters. The
``facts`` of a distribution are its support (a lower and an upper bound, None where there is none),
a number inside of it, whether the density has no formula at the lower bound, where it is 0, and
whether shape parameters may be negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import special

_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
Formula = Callable[..., Any]


# --- all distributions ---------------------------------------------------------------------------


def logpdf(form: Formula, facts: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """The logarithm of a density."""
    support, inside, is_open, signed = facts
    shapes, scale = _valid(shapes, signed), _positive(scale)
    z = _standardised(x, loc, scale)
    below, above = _outside(z, support, is_open)
    value = form(_within(z, below, above, inside), *shapes) - _log(scale)
    value = _placed(_placed(value, below, -math.inf), above, -math.inf)
    return value[()]


def pdf(form: Formula, facts: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """A density; ``form`` is the logarithm of the standard one."""
    support, inside, is_open, signed = facts
    shapes, scale = _valid(shapes, signed), _positive(scale)
    z = _standardised(x, loc, scale)
    below, above = _outside(z, support, is_open)
    value = np.exp(form(_within(z, below, above, inside), *shapes)) / scale
    value = _placed(_placed(value, below, 0.0), above, 0.0)
    return value[()]


def cdf(form: Formula, facts: Any, ends: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """A distribution function or one of its like, with the values ``ends`` below and above."""
    support, inside, is_open, signed = facts
    shapes, scale = _valid(shapes, signed), _positive(scale)
    z = _standardised(x, loc, scale)
    below, above = _outside(z, support, is_open)
    value = form(_within(z, below, above, inside), *shapes)
    value = _placed(_placed(value, below, ends[0]), above, ends[1])
    return value[()]


def log_cdf(form: Formula, facts: Any, ends: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """The logarithm of the function with the formula ``form``."""
    support, inside, is_open, signed = facts
    shapes, scale = _valid(shapes, signed), _positive(scale)
    z = _standardised(x, loc, scale)
    below, above = _outside(z, support, is_open)
    value = np.log(form(_within(z, below, above, inside), *shapes))
    value = _placed(_placed(value, below, ends[0]), above, ends[1])
    return value[()]


def ppf(form: Formula, signed: bool, q: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """A quantile; NaN for numbers that are not probabilities."""
    shapes, scale = _valid(shapes, signed), _positive(scale)
    p = float64(q)
    outside = (p < 0) | (p > 1)
    value = form(np.where(outside, 0.5, p), *shapes) * scale + loc
    return np.where(outside, math.nan, value)[()]


def median(form: Formula, signed: bool, shapes: Any, loc: Any, scale: Any) -> Any:
    """The quantile of 1/2."""
    return ppf(form, signed, 0.5, shapes, loc, scale)


def interval(
    form: Formula, signed: bool, confidence: Any, shapes: Any, loc: Any, scale: Any
) -> Any:
    """The two quantiles that leave equal probabilities outside."""
    low = ppf(form, signed, (1.0 - confidence) / 2, shapes, loc, scale)
    return low, ppf(form, signed, (1.0 + confidence) / 2, shapes, loc, scale)


def float64(x: Any) -> Any:
    values = np.asarray(x)
    return values if values.dtype == np.float64 else values.astype(np.float64)


def _outside(z: Any, support: Any, is_open: bool) -> Any:
    """Masks of the points below and above the support; None for a missing bound."""
    lower, upper = support
    below = None if lower is None else z <= lower if is_open else z < lower
    return below, None if upper is None else z > upper


def _within(z: Any, below: Any, above: Any, inside: float) -> Any:
    """The points in the support, with the number ``inside`` in place of the others."""
    return _placed(_placed(z, below, inside), above, inside)


def _placed(value: Any, mask: Any, number: float) -> Any:
    return value if mask is None else np.where(mask, number, value)


def _standardised(x: Any, loc: Any, scale: Any) -> Any:
    centred = float64(x) if isinstance(loc, int) and loc == 0 else float64(x) - loc
    return centred if isinstance(scale, int) and scale == 1 else centred / scale


def _log(scale: Any) -> Any:
    return 0.0 if isinstance(scale, int) and scale == 1 else np.log(scale)


def _valid(shapes: Any, signed: bool) -> Any:
    return shapes if signed else tuple([_positive(s) for s in shapes])


def _positive(parameter: Any) -> Any:
    """A parameter, with NaN in place of numbers that are not positive."""
    return where_valid(parameter > 0, parameter)


def where_valid(valid: Any, parameter: Any) -> Any:
    return parameter if valid is True else np.where(valid, parameter, math.nan)[()]


# --- the normal distribution, and those of the whole line ----------------------------------------


def norm_logpdf(z: Any) -> Any:
    return -0.5 * z * z - _LOG_ROOT_2PI


def norm_cdf(z: Any) -> Any:
    return special.ndtr(z)


def norm_logcdf(z: Any) -> Any:
    return special.log_ndtr(z)


def norm_ppf(q: Any) -> Any:
    return special.ndtri(q)


def norm_sf(z: Any) -> Any:
    return special.ndtr(-z)


def norm_logsf(z: Any) -> Any:
    return special.log_ndtr(-z)


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


def logistic_logcdf(z: Any) -> Any:
    return special.log_expit(z)


def logistic_ppf(q: Any) -> Any:
    return special.logit(q)


def logistic_sf(z: Any) -> Any:
    return special.expit(-z)


def logistic_logsf(z: Any) -> Any:
    return special.log_expit(-z)


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


# --- others --------------------------------------------------------------------------------------


def gumbel_r_logpdf(z: Any) -> Any:
    return -z - np.exp(-z)


def gumbel_r_cdf(z: Any) -> Any:
    return np.exp(-np.exp(-z))


def gumbel_r_logcdf(z: Any) -> Any:
    return -np.exp(-z)


def gumbel_r_sf(z: Any) -> Any:
    return -np.expm1(-np.exp(-z))


def gumbel_r_logsf(z: Any) -> Any:
    return expon_logcdf(np.exp(-z))


def gumbel_r_ppf(q: Any) -> Any:
    return -np.log(-np.log(q))


def gumbel_r_isf(q: Any) -> Any:
    return -np.log(-np.log1p(-q))


def gumbel_l_logpdf(z: Any) -> Any:
    return z - np.exp(z)


def gumbel_l_cdf(z: Any) -> Any:
    return -np.expm1(-np.exp(z))


def gumbel_l_sf(z: Any) -> Any:
    return np.exp(-np.exp(z))


def gumbel_l_logcdf(z: Any) -> Any:
    return expon_logcdf(np.exp(z))


def gumbel_l_logsf(z: Any) -> Any:
    return -np.exp(z)


def gumbel_l_ppf(q: Any) -> Any:
    return np.log(-np.log1p(-q))


def gumbel_l_isf(q: Any) -> Any:
    return np.log(-np.log(q))


def invgamma_logpdf(z: Any, a: Any) -> Any:
    return -(a + 1) * np.log(z) - special.gammaln(a) - 1 / z


def invgamma_cdf(z: Any, a: Any) -> Any:
    return special.gammaincc(a, 1 / z)


def invgamma_sf(z: Any, a: Any) -> Any:
    return special.gammainc(a, 1 / z)


def invgamma_ppf(q: Any, a: Any) -> Any:
    return 1 / special.gammainccinv(a, q)


def invgamma_isf(q: Any, a: Any) -> Any:
    return 1 / special.gammaincinv(a, q)


def f_logpdf(z: Any, dfn: Any, dfd: Any) -> Any:
    m, n = dfn / 2, dfd / 2
    powers = special.xlogy(m, dfn / dfd) + special.xlogy(m - 1.0, z)
    return powers - (m + n) * np.log1p(dfn / dfd * z) - special.betaln(m, n)


def f_cdf(z: Any, dfn: Any, dfd: Any) -> Any:
    finite = np.where(z == math.inf, 1.0, z)
    part = np.where(z == math.inf, 1.0, dfn * finite / (dfd + dfn * finite))
    return special.betainc(dfn / 2, dfd / 2, part)


def f_sf(z: Any, dfn: Any, dfd: Any) -> Any:
    return special.betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * z))


def rayleigh_logpdf(z: Any) -> Any:
    return np.log(np.where(z == math.inf, 1.0, z)) - 0.5 * z * z


def rayleigh_cdf(z: Any) -> Any:
    return -np.expm1(-0.5 * z * z)


def rayleigh_logcdf(z: Any) -> Any:
    return expon_logcdf(0.5 * z * z)


def rayleigh_sf(z: Any) -> Any:
    return np.exp(-0.5 * z * z)


def rayleigh_logsf(z: Any) -> Any:
    return -0.5 * z * z


def rayleigh_ppf(q: Any) -> Any:
    return np.sqrt(-2 * np.log1p(-q))


def rayleigh_isf(q: Any) -> Any:
    return np.sqrt(-2 * np.log(q))


def halfnorm_logpdf(z: Any) -> Any:
    return 0.5 * math.log(2 / math.pi) - 0.5 * z * z


def halfnorm_cdf(z: Any) -> Any:
    return special.erf(z / math.sqrt(2))


def halfnorm_logcdf(z: Any) -> Any:
    is_large = z > 1
    large, small = np.where(is_large, z, 1.0), np.where(is_large, 1.0, z)
    tail = np.log1p(-special.erfc(large / math.sqrt(2)))
    return np.where(is_large, tail, np.log(special.erf(small / math.sqrt(2))))


def halfnorm_logsf(z: Any) -> Any:
    return math.log(2) + special.log_ndtr(-z)


def halfnorm_sf(z: Any) -> Any:
    return special.erfc(z / math.sqrt(2))


def halfnorm_ppf(q: Any) -> Any:
    return special.ndtri((1 + q) / 2.0)


def halfnorm_isf(q: Any) -> Any:
    return -special.ndtri(q / 2)


def halfcauchy_logpdf(z: Any) -> Any:
    return math.log(2 / math.pi) - np.log1p(z * z)


def halfcauchy_cdf(z: Any) -> Any:
    return 2 / math.pi * np.arctan(z)


def halfcauchy_sf(z: Any) -> Any:
    return 2 / math.pi * np.arctan2(1.0, z)


def halfcauchy_ppf(q: Any) -> Any:
    return np.tan(math.pi / 2 * q)


def invgauss_logpdf(z: Any, mu: Any) -> Any:
    away = (z - mu) / mu * (1 / mu - 1 / z)
    return -_LOG_ROOT_2PI - 1.5 * np.log(z) - 0.5 * away


def vonmises_logpdf(z: Any, kappa: Any) -> Any:
    """The density with its largest value at 0; it is periodic."""
    half = np.sin(z / 2)
    return -2 * kappa * half * half - math.log(2 * math.pi) - np.log(special.i0e(kappa))


def skewnorm_logpdf(z: Any, a: Any) -> Any:
    return math.log(2) + norm_logpdf(z) + special.log_ndtr(a * z)
