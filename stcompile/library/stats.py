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

    def logarithm(z: Any, *shapes: Any) -> Any:
        return np.log(form(z, *shapes))

    return cdf(logarithm, facts, ends, x, shapes, loc, scale)


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


def norm_logpdf(z: Any) -> Any:
    return -0.5 * z * z - _LOG_ROOT_2PI


def t_logpdf(z: Any, df: Any) -> Any:
    constant = special.gammaln((df + 1) / 2) - special.gammaln(df / 2)
    return constant - 0.5 * np.log(df * math.pi) - (df + 1) / 2 * np.log1p(z * z / df)


def laplace_cdf(z: Any) -> Any:
    tail = 0.5 * np.exp(np.where(z > 0, -z, z))  # not of `np.abs`, which has no slope at 0
    return np.where(z > 0, 1 - tail, tail)


def laplace_logcdf(z: Any) -> Any:
    tail = 0.5 * np.exp(-np.abs(z))
    return np.where(z > 0, np.log1p(-tail), math.log(0.5) + z)


def laplace_ppf(q: Any) -> Any:
    tail = np.log(2 * np.where(q > 0.5, 1 - q, q))
    return np.where(q > 0.5, -tail, tail)


def expon_logcdf(z: Any) -> Any:
    """``log(1 - exp(-z))``, as Mächler (2012), "Accurately computing log(1 - exp(-|a|))"."""
    is_large = z > math.log(2)
    large, small = np.where(is_large, z, 1.0), np.where(is_large, 1.0, z)
    return np.where(is_large, np.log1p(-np.exp(-large)), np.log(-np.expm1(-small)))


def chi2_logpdf(z: Any, df: Any) -> Any:
    half = df / 2
    return special.xlogy(half - 1.0, z) - z / 2 - special.gammaln(half) - math.log(2) * half


def lognorm_logpdf(z: Any, s: Any) -> Any:
    log_z = np.log(z)
    return norm_logpdf(log_z / s) - np.log(s) - log_z


def beta_logpdf(z: Any, a: Any, b: Any) -> Any:
    powers = special.xlog1py(b - 1.0, -z) + special.xlogy(a - 1.0, z)
    return powers - special.betaln(a, b)


def f_logpdf(z: Any, dfn: Any, dfd: Any) -> Any:
    m, n = dfn / 2, dfd / 2
    powers = special.xlogy(m, dfn / dfd) + special.xlogy(m - 1.0, z)
    return powers - (m + n) * np.log1p(dfn / dfd * z) - special.betaln(m, n)


def f_cdf(z: Any, dfn: Any, dfd: Any) -> Any:
    finite = np.where(z == math.inf, 1.0, z)
    part = np.where(z == math.inf, 1.0, dfn * finite / (dfd + dfn * finite))
    return special.betainc(dfn / 2, dfd / 2, part)


def halfnorm_logcdf(z: Any) -> Any:
    is_large = z > 1
    large, small = np.where(is_large, z, 1.0), np.where(is_large, 1.0, z)
    tail = np.log1p(-special.erfc(large / math.sqrt(2)))
    return np.where(is_large, tail, np.log(special.erf(small / math.sqrt(2))))


def invgauss_logpdf(z: Any, mu: Any) -> Any:
    away = (z - mu) / mu * (1 / mu - 1 / z)
    return -_LOG_ROOT_2PI - 1.5 * np.log(z) - 0.5 * away


def vonmises_logpdf(z: Any, kappa: Any) -> Any:
    """The density with its largest value at 0; it is periodic."""
    half = np.sin(z / 2)
    return -2 * kappa * half * half - math.log(2 * math.pi) - np.log(special.i0e(kappa))


FORMULAS: dict[str, Formula] = {
    # the normal distribution, and those of the whole line
    "norm.logpdf": norm_logpdf,
    "norm.cdf": lambda z: special.ndtr(z),
    "norm.logcdf": lambda z: special.log_ndtr(z),
    "norm.ppf": lambda q: special.ndtri(q),
    "norm.sf": lambda z: special.ndtr(-z),
    "norm.logsf": lambda z: special.log_ndtr(-z),
    "norm.isf": lambda q: -special.ndtri(q),
    "t.logpdf": t_logpdf,
    "t.cdf": lambda z, df: special.stdtr(df, z),
    "t.sf": lambda z, df: special.stdtr(df, -z),
    "t.ppf": lambda q, df: special.stdtrit(df, q),
    "t.isf": lambda q, df: -special.stdtrit(df, q),
    "cauchy.logpdf": lambda z: -math.log(math.pi) - np.log1p(z * z),
    "cauchy.cdf": lambda z: np.arctan2(1.0, -z) / math.pi,
    "cauchy.sf": lambda z: np.arctan2(1.0, z) / math.pi,
    "cauchy.ppf": lambda q: np.tan(math.pi * q - math.pi / 2),
    "cauchy.isf": lambda q: np.tan(math.pi / 2 - math.pi * q),
    "laplace.logpdf": lambda z: math.log(0.5) - np.abs(z),
    "laplace.cdf": laplace_cdf,
    "laplace.sf": lambda z: laplace_cdf(-z),
    "laplace.logcdf": laplace_logcdf,
    "laplace.logsf": lambda z: laplace_logcdf(-z),
    "laplace.ppf": laplace_ppf,
    "laplace.isf": lambda q: -laplace_ppf(q),
    "logistic.logpdf": lambda z: special.log_expit(z) + special.log_expit(-z),
    "logistic.cdf": lambda z: special.expit(z),
    "logistic.logcdf": lambda z: special.log_expit(z),
    "logistic.ppf": lambda q: special.logit(q),
    "logistic.sf": lambda z: special.expit(-z),
    "logistic.logsf": lambda z: special.log_expit(-z),
    "logistic.isf": lambda q: -special.logit(q),
    # positive numbers
    "expon.logpdf": lambda z: -z,
    "expon.cdf": lambda z: -np.expm1(-z),
    "expon.sf": lambda z: np.exp(-z),
    "expon.logcdf": expon_logcdf,
    "expon.logsf": lambda z: -z,
    "expon.ppf": lambda q: -np.log1p(-q),
    "expon.isf": lambda q: -np.log(q),
    "gamma.logpdf": lambda z, a: special.xlogy(a - 1.0, z) - z - special.gammaln(a),
    "gamma.cdf": lambda z, a: special.gammainc(a, z),
    "gamma.sf": lambda z, a: special.gammaincc(a, z),
    "gamma.ppf": lambda q, a: special.gammaincinv(a, q),
    "gamma.isf": lambda q, a: special.gammainccinv(a, q),
    "chi2.logpdf": chi2_logpdf,
    "chi2.cdf": lambda z, df: special.gammainc(df / 2, z / 2),
    "chi2.sf": lambda z, df: special.gammaincc(df / 2, z / 2),
    "chi2.ppf": lambda q, df: 2 * special.gammaincinv(df / 2, q),
    "chi2.isf": lambda q, df: 2 * special.gammainccinv(df / 2, q),
    "lognorm.logpdf": lognorm_logpdf,
    "lognorm.cdf": lambda z, s: special.ndtr(np.log(z) / s),
    "lognorm.sf": lambda z, s: special.ndtr(-np.log(z) / s),
    "lognorm.logcdf": lambda z, s: special.log_ndtr(np.log(z) / s),
    "lognorm.logsf": lambda z, s: special.log_ndtr(-np.log(z) / s),
    "lognorm.ppf": lambda q, s: np.exp(s * special.ndtri(q)),
    "lognorm.isf": lambda q, s: np.exp(-s * special.ndtri(q)),
    "weibull_min.logpdf": lambda z, c: np.log(c) + special.xlogy(c - 1.0, z) - z**c,
    "weibull_min.cdf": lambda z, c: -np.expm1(-(z**c)),
    "weibull_min.sf": lambda z, c: np.exp(-(z**c)),
    "weibull_min.logcdf": lambda z, c: expon_logcdf(z**c),
    "weibull_min.logsf": lambda z, c: -(z**c),
    "weibull_min.ppf": lambda q, c: (-np.log1p(-q)) ** (1.0 / c),
    "weibull_min.isf": lambda q, c: (-np.log(q)) ** (1.0 / c),
    "pareto.logpdf": lambda z, b: np.log(b) - (b + 1) * np.log(z),
    "pareto.cdf": lambda z, b: -np.expm1(-b * np.log(z)),
    "pareto.sf": lambda z, b: z ** (-b),
    "pareto.logsf": lambda z, b: -b * np.log(z),
    "pareto.ppf": lambda q, b: (1 - q) ** (-1.0 / b),
    "pareto.isf": lambda q, b: q ** (-1.0 / b),
    # bounded
    "beta.logpdf": beta_logpdf,
    "beta.cdf": lambda z, a, b: special.betainc(a, b, z),
    "beta.sf": lambda z, a, b: special.betaincc(a, b, z),
    "beta.ppf": lambda q, a, b: special.betaincinv(a, b, q),
    "uniform.logpdf": lambda z: 0.0 * z,
    "uniform.cdf": lambda z: z,
    "uniform.sf": lambda z: 1 - z,
    "uniform.ppf": lambda q: q,
    "uniform.isf": lambda q: 1 - q,
    # others
    "gumbel_r.logpdf": lambda z: -z - np.exp(-z),
    "gumbel_r.cdf": lambda z: np.exp(-np.exp(-z)),
    "gumbel_r.logcdf": lambda z: -np.exp(-z),
    "gumbel_r.sf": lambda z: -np.expm1(-np.exp(-z)),
    "gumbel_r.logsf": lambda z: expon_logcdf(np.exp(-z)),
    "gumbel_r.ppf": lambda q: -np.log(-np.log(q)),
    "gumbel_r.isf": lambda q: -np.log(-np.log1p(-q)),
    "gumbel_l.logpdf": lambda z: z - np.exp(z),
    "gumbel_l.cdf": lambda z: -np.expm1(-np.exp(z)),
    "gumbel_l.sf": lambda z: np.exp(-np.exp(z)),
    "gumbel_l.logcdf": lambda z: expon_logcdf(np.exp(z)),
    "gumbel_l.logsf": lambda z: -np.exp(z),
    "gumbel_l.ppf": lambda q: np.log(-np.log1p(-q)),
    "gumbel_l.isf": lambda q: np.log(-np.log(q)),
    "invgamma.logpdf": lambda z, a: -(a + 1) * np.log(z) - special.gammaln(a) - 1 / z,
    "invgamma.cdf": lambda z, a: special.gammaincc(a, 1 / z),
    "invgamma.sf": lambda z, a: special.gammainc(a, 1 / z),
    "invgamma.ppf": lambda q, a: 1 / special.gammainccinv(a, q),
    "invgamma.isf": lambda q, a: 1 / special.gammaincinv(a, q),
    "f.logpdf": f_logpdf,
    "f.cdf": f_cdf,
    "f.sf": lambda z, dfn, dfd: special.betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * z)),
    "rayleigh.logpdf": lambda z: np.log(np.where(z == math.inf, 1.0, z)) - 0.5 * z * z,
    "rayleigh.cdf": lambda z: -np.expm1(-0.5 * z * z),
    "rayleigh.logcdf": lambda z: expon_logcdf(0.5 * z * z),
    "rayleigh.sf": lambda z: np.exp(-0.5 * z * z),
    "rayleigh.logsf": lambda z: -0.5 * z * z,
    "rayleigh.ppf": lambda q: np.sqrt(-2 * np.log1p(-q)),
    "rayleigh.isf": lambda q: np.sqrt(-2 * np.log(q)),
    "halfnorm.logpdf": lambda z: 0.5 * math.log(2 / math.pi) - 0.5 * z * z,
    "halfnorm.cdf": lambda z: special.erf(z / math.sqrt(2)),
    "halfnorm.logcdf": halfnorm_logcdf,
    "halfnorm.logsf": lambda z: math.log(2) + special.log_ndtr(-z),
    "halfnorm.sf": lambda z: special.erfc(z / math.sqrt(2)),
    "halfnorm.ppf": lambda q: special.ndtri((1 + q) / 2.0),
    "halfnorm.isf": lambda q: -special.ndtri(q / 2),
    "halfcauchy.logpdf": lambda z: math.log(2 / math.pi) - np.log1p(z * z),
    "halfcauchy.cdf": lambda z: 2 / math.pi * np.arctan(z),
    "halfcauchy.sf": lambda z: 2 / math.pi * np.arctan2(1.0, z),
    "halfcauchy.ppf": lambda q: np.tan(math.pi / 2 * q),
    "invgauss.logpdf": invgauss_logpdf,
    "vonmises.logpdf": vonmises_logpdf,
    "skewnorm.logpdf": lambda z, a: math.log(2) + norm_logpdf(z) + special.log_ndtr(a * z),
}
