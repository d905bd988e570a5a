"""Means, variances and entropies of distributions of `scipy.stats`, of their standard forms, with
location and scale. Formulas: Johnson, Kotz & Balakrishnan, Continuous univariate distributions
(1994, 1995); entropies in natural logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import special
from stcompile.library.stats import Formula, float64, where_valid

_GAMMA = float(np.euler_gamma)


def mean(form: Formula, signed: bool, shapes: Any, loc: Any, scale: Any = 1) -> Any:
    """The mean; NaN where a parameter is not valid."""
    return (form(*_valid(shapes, signed)) * _positive(scale) + loc)[()]


def var(form: Formula, signed: bool, shapes: Any, loc: Any, scale: Any = 1) -> Any:
    """The variance."""
    positive = _positive(scale)
    return (form(*_valid(shapes, signed)) * positive * positive)[()]


def std(form: Formula, signed: bool, shapes: Any, loc: Any, scale: Any = 1) -> Any:
    """The standard deviation."""
    return np.sqrt(var(form, signed, shapes, loc, scale))


def entropy(form: Formula, signed: bool, shapes: Any, loc: Any, scale: Any = 1) -> Any:
    """The differential entropy, or that of counts."""
    return (form(*_valid(shapes, signed)) + np.log(_positive(scale)))[()]


def _valid(shapes: Any, signed: bool) -> Any:
    return [float64(p) if signed else _positive(p) for p in shapes]


def _positive(parameter: Any) -> Any:
    return where_valid(float64(parameter) > 0, float64(parameter))


def gamma_entropy(a: Any) -> Any:
    return a + special.gammaln(a) + (1 - a) * special.digamma(a)


def beta_var(a: Any, b: Any) -> Any:
    total = a + b
    return a * b / (total * total * (total + 1))


def beta_entropy(a: Any, b: Any) -> Any:
    both = (a + b - 2) * special.digamma(a + b)
    parts = (a - 1) * special.digamma(a) + (b - 1) * special.digamma(b)
    return special.betaln(a, b) - parts + both


def weibull_min_var(c: Any) -> Any:
    first = special.gamma(1 + 1 / c)
    return special.gamma(1 + 2 / c) - first * first


def t_entropy(df: Any) -> Any:
    half, more = df / 2, (df + 1) / 2
    slope = special.digamma(more) - special.digamma(half)
    return more * slope + 0.5 * np.log(df) + special.betaln(half, 0.5)


def t_var(df: Any) -> Any:
    inner = np.where(df > 2, df / np.where(df > 2, df - 2, 1.0), math.inf)
    return np.where(df > 1, inner, math.nan)


def f_var(dfn: Any, dfd: Any) -> Any:
    d = np.where(dfd > 4, dfd, 5.0)
    value = 2 * d * d * (dfn + d - 2) / (dfn * (d - 2) ** 2 * (d - 4))
    return np.where(dfd > 4, value, math.inf)


def pareto_var(b: Any) -> Any:
    inner = np.where(b > 2, b, 3.0)
    return np.where(b > 2, inner / ((inner - 1) ** 2 * (inner - 2)), math.inf)


def invgamma_var(a: Any) -> Any:
    inner = np.where(a > 2, a, 3.0)
    return np.where(a > 2, 1 / ((inner - 1) ** 2 * (inner - 2)), math.inf)


def vonmises_entropy(kappa: Any) -> Any:
    ratio = special.i1e(kappa) / special.i0e(kappa)
    return -kappa * ratio + math.log(2 * math.pi) + np.log(special.i0e(kappa)) + kappa


def chi_mean(df: Any) -> Any:
    return math.sqrt(2) * special.poch(df / 2, 0.5)


def chi_var(df: Any) -> Any:
    first = chi_mean(df)
    return df - first * first


def _probability(p: Any) -> Any:
    return where_valid((p >= 0) & (p <= 1), p)


MOMENTS: dict[str, Formula] = {
    "norm.mean": lambda: 0.0,
    "norm.var": lambda: 1.0,
    "norm.entropy": lambda: 0.5 * math.log(2 * math.pi * math.e),
    "uniform.mean": lambda: 0.5,
    "uniform.var": lambda: 1 / 12,
    "uniform.entropy": lambda: 0.0,
    "expon.mean": lambda: 1.0,
    "expon.var": lambda: 1.0,
    "expon.entropy": lambda: 1.0,
    "laplace.mean": lambda: 0.0,
    "laplace.var": lambda: 2.0,
    "laplace.entropy": lambda: 1 + math.log(2),
    "logistic.mean": lambda: 0.0,
    "logistic.var": lambda: math.pi**2 / 3,
    "logistic.entropy": lambda: 2.0,
    "gumbel_r.mean": lambda: _GAMMA,
    "gumbel_r.var": lambda: math.pi**2 / 6,
    "gumbel_r.entropy": lambda: 1 + _GAMMA,
    "gamma.mean": lambda a: a,
    "gamma.var": lambda a: a,
    "gamma.entropy": gamma_entropy,
    "chi2.mean": lambda df: df,
    "chi2.var": lambda df: 2 * df,
    "chi2.entropy": lambda df: gamma_entropy(df / 2) + math.log(2),
    "beta.mean": lambda a, b: a / (a + b),
    "beta.var": beta_var,
    "beta.entropy": beta_entropy,
    "lognorm.mean": lambda s: np.exp(s * s / 2),
    "lognorm.var": lambda s: np.expm1(s * s) * np.exp(s * s),
    "lognorm.entropy": lambda s: 0.5 * math.log(2 * math.pi * math.e) + np.log(s),
    "weibull_min.mean": lambda c: special.gamma(1 + 1 / c),
    "weibull_min.var": weibull_min_var,
    "weibull_min.entropy": lambda c: _GAMMA * (1 - 1 / c) - np.log(c) + 1,
    "t.entropy": t_entropy,
    "t.mean": lambda df: np.where(df > 1, 0.0, math.inf),
    "t.var": t_var,
    "f.mean": lambda dfn, dfd: np.where(dfd > 2, dfd / np.where(dfd > 2, dfd - 2, 1.0), math.inf),
    "f.var": f_var,
    "pareto.mean": lambda b: np.where(b > 1, b / np.where(b > 1, b - 1, 1.0), math.inf),
    "pareto.var": pareto_var,
    "pareto.entropy": lambda b: 1 + 1 / b - np.log(b),
    "invgamma.mean": lambda a: np.where(a > 1, 1 / np.where(a > 1, a - 1, 1.0), math.inf),
    "invgamma.var": invgamma_var,
    "invgamma.entropy": lambda a: a + special.gammaln(a) - (1 + a) * special.digamma(a),
    "invgauss.mean": lambda mu: mu,
    "invgauss.var": lambda mu: mu**3,
    "rayleigh.mean": lambda: math.sqrt(math.pi / 2),
    "rayleigh.var": lambda: 2 - math.pi / 2,
    "rayleigh.entropy": lambda: _GAMMA / 2 + 1 - 0.5 * math.log(2),
    "halfnorm.mean": lambda: math.sqrt(2 / math.pi),
    "halfnorm.var": lambda: 1 - 2 / math.pi,
    "halfnorm.entropy": lambda: 0.5 * math.log(math.pi / 2) + 0.5,
    "gumbel_l.mean": lambda: -_GAMMA,
    "gumbel_l.var": lambda: math.pi**2 / 6,
    "gumbel_l.entropy": lambda: 1 + _GAMMA,
    "cauchy.entropy": lambda: math.log(4 * math.pi),
    "skewnorm.mean": lambda a: math.sqrt(2 / math.pi) * a / np.sqrt(1 + a * a),
    "skewnorm.var": lambda a: 1 - 2 / math.pi * a * a / (1 + a * a),
    "vonmises.entropy": vonmises_entropy,
    "chi.mean": chi_mean,
    "chi.var": chi_var,
    "exponnorm.mean": lambda K: K,
    "exponnorm.var": lambda K: 1 + K * K,
    "triang.mean": lambda c: (c + 1) / 3,
    "triang.var": lambda c: (1 - c + c * c) / 18,
    # counts
    "poisson.mean": lambda mu: where_valid(mu >= 0, mu),
    "poisson.var": lambda mu: where_valid(mu >= 0, mu),
    "binom.mean": lambda n, p: n * _probability(p),
    "binom.var": lambda n, p: n * _probability(p) * (1 - p),
    "bernoulli.mean": lambda p: _probability(p),
    "bernoulli.var": lambda p: _probability(p) * (1 - p),
    "bernoulli.entropy": lambda p: special.entr(_probability(p)) + special.entr(1 - p),
    "nbinom.mean": lambda n, p: n * (1 - p) / _probability(p),
    "nbinom.var": lambda n, p: n * (1 - p) / _probability(p) ** 2,
    "geom.mean": lambda p: 1 / _probability(p),
    "geom.var": lambda p: (1 - p) / _probability(p) ** 2,
}
