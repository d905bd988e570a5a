"""Means, variances and entropies of distributions of `scipy.stats`, of their standard forms, with
location and scale. Formulas: Johnson, Kotz & Balakrishnan, Continuous univariate distributions
(1994, 1995); entropies in natural logarithms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import special
from stcompile.library.stats import float64, where_valid

_GAMMA = float(np.euler_gamma)


def mean(form: Callable[..., Any], signed: bool, shapes: Any, loc: Any, scale: Any = 1) -> Any:
    """The mean; NaN where a parameter is not valid."""
    return (form(*_valid(shapes, signed)) * _positive(scale) + loc)[()]


def var(form: Callable[..., Any], signed: bool, shapes: Any, loc: Any, scale: Any = 1) -> Any:
    """The variance."""
    positive = _positive(scale)
    return (form(*_valid(shapes, signed)) * positive * positive)[()]


def std(form: Callable[..., Any], signed: bool, shapes: Any, loc: Any, scale: Any = 1) -> Any:
    """The standard deviation."""
    return np.sqrt(var(form, signed, shapes, loc, scale))


def entropy(form: Callable[..., Any], signed: bool, shapes: Any, loc: Any, scale: Any = 1) -> Any:
    """The differential entropy, or that of counts."""
    return (form(*_valid(shapes, signed)) + np.log(_positive(scale)))[()]


def _valid(shapes: Any, signed: bool) -> Any:
    return [float64(p) if signed else _positive(p) for p in shapes]


def _positive(parameter: Any) -> Any:
    return where_valid(float64(parameter) > 0, float64(parameter))


def norm_mean() -> Any:
    return 0.0


def norm_var() -> Any:
    return 1.0


def norm_entropy() -> Any:
    return 0.5 * math.log(2 * math.pi * math.e)


def uniform_mean() -> Any:
    return 0.5


def uniform_var() -> Any:
    return 1 / 12


def uniform_entropy() -> Any:
    return 0.0


def expon_mean() -> Any:
    return 1.0


def expon_var() -> Any:
    return 1.0


def expon_entropy() -> Any:
    return 1.0


def laplace_mean() -> Any:
    return 0.0


def laplace_var() -> Any:
    return 2.0


def laplace_entropy() -> Any:
    return 1 + math.log(2)


def logistic_mean() -> Any:
    return 0.0


def logistic_var() -> Any:
    return math.pi**2 / 3


def logistic_entropy() -> Any:
    return 2.0


def gumbel_r_mean() -> Any:
    return _GAMMA


def gumbel_r_var() -> Any:
    return math.pi**2 / 6


def gumbel_r_entropy() -> Any:
    return 1 + _GAMMA


def gamma_mean(a: Any) -> Any:
    return a


def gamma_var(a: Any) -> Any:
    return a


def gamma_entropy(a: Any) -> Any:
    return a + special.gammaln(a) + (1 - a) * special.digamma(a)


def chi2_mean(df: Any) -> Any:
    return df


def chi2_var(df: Any) -> Any:
    return 2 * df


def chi2_entropy(df: Any) -> Any:
    return gamma_entropy(df / 2) + math.log(2)


def beta_mean(a: Any, b: Any) -> Any:
    return a / (a + b)


def beta_var(a: Any, b: Any) -> Any:
    total = a + b
    return a * b / (total * total * (total + 1))


def beta_entropy(a: Any, b: Any) -> Any:
    both = (a + b - 2) * special.digamma(a + b)
    parts = (a - 1) * special.digamma(a) + (b - 1) * special.digamma(b)
    return special.betaln(a, b) - parts + both


def lognorm_mean(s: Any) -> Any:
    return np.exp(s * s / 2)


def lognorm_var(s: Any) -> Any:
    return np.expm1(s * s) * np.exp(s * s)


def lognorm_entropy(s: Any) -> Any:
    return 0.5 * math.log(2 * math.pi * math.e) + np.log(s)


def weibull_min_mean(c: Any) -> Any:
    return special.gamma(1 + 1 / c)


def weibull_min_var(c: Any) -> Any:
    first = special.gamma(1 + 1 / c)
    return special.gamma(1 + 2 / c) - first * first


def weibull_min_entropy(c: Any) -> Any:
    return _GAMMA * (1 - 1 / c) - np.log(c) + 1


def t_entropy(df: Any) -> Any:
    half, more = df / 2, (df + 1) / 2
    slope = special.digamma(more) - special.digamma(half)
    return more * slope + 0.5 * np.log(df) + special.betaln(half, 0.5)


def t_mean(df: Any) -> Any:
    return np.where(df > 1, 0.0, math.inf)


def t_var(df: Any) -> Any:
    inner = np.where(df > 2, df / np.where(df > 2, df - 2, 1.0), math.inf)
    return np.where(df > 1, inner, math.nan)


def f_mean(dfn: Any, dfd: Any) -> Any:
    return np.where(dfd > 2, dfd / np.where(dfd > 2, dfd - 2, 1.0), math.inf)


def f_var(dfn: Any, dfd: Any) -> Any:
    d = np.where(dfd > 4, dfd, 5.0)
    value = 2 * d * d * (dfn + d - 2) / (dfn * (d - 2) ** 2 * (d - 4))
    return np.where(dfd > 4, value, math.inf)


def pareto_mean(b: Any) -> Any:
    return np.where(b > 1, b / np.where(b > 1, b - 1, 1.0), math.inf)


def pareto_var(b: Any) -> Any:
    inner = np.where(b > 2, b, 3.0)
    return np.where(b > 2, inner / ((inner - 1) ** 2 * (inner - 2)), math.inf)


def pareto_entropy(b: Any) -> Any:
    return 1 + 1 / b - np.log(b)


def invgamma_mean(a: Any) -> Any:
    return np.where(a > 1, 1 / np.where(a > 1, a - 1, 1.0), math.inf)


def invgamma_var(a: Any) -> Any:
    inner = np.where(a > 2, a, 3.0)
    return np.where(a > 2, 1 / ((inner - 1) ** 2 * (inner - 2)), math.inf)


def invgamma_entropy(a: Any) -> Any:
    return a + special.gammaln(a) - (1 + a) * special.digamma(a)


def invgauss_mean(mu: Any) -> Any:
    return mu


def invgauss_var(mu: Any) -> Any:
    return mu**3


def rayleigh_mean() -> Any:
    return math.sqrt(math.pi / 2)


def rayleigh_var() -> Any:
    return 2 - math.pi / 2


def rayleigh_entropy() -> Any:
    return _GAMMA / 2 + 1 - 0.5 * math.log(2)


def halfnorm_mean() -> Any:
    return math.sqrt(2 / math.pi)


def halfnorm_var() -> Any:
    return 1 - 2 / math.pi


def halfnorm_entropy() -> Any:
    return 0.5 * math.log(math.pi / 2) + 0.5


def gumbel_l_mean() -> Any:
    return -_GAMMA


def gumbel_l_var() -> Any:
    return math.pi**2 / 6


def gumbel_l_entropy() -> Any:
    return 1 + _GAMMA


def cauchy_entropy() -> Any:
    return math.log(4 * math.pi)


def skewnorm_mean(a: Any) -> Any:
    return math.sqrt(2 / math.pi) * a / np.sqrt(1 + a * a)


def skewnorm_var(a: Any) -> Any:
    return 1 - 2 / math.pi * a * a / (1 + a * a)


def vonmises_entropy(kappa: Any) -> Any:
    ratio = special.i1e(kappa) / special.i0e(kappa)
    return -kappa * ratio + math.log(2 * math.pi) + np.log(special.i0e(kappa)) + kappa


def chi_mean(df: Any) -> Any:
    return math.sqrt(2) * special.poch(df / 2, 0.5)


def chi_var(df: Any) -> Any:
    first = chi_mean(df)
    return df - first * first


def exponnorm_mean(K: Any) -> Any:
    return K


def exponnorm_var(K: Any) -> Any:
    return 1 + K * K


def triang_mean(c: Any) -> Any:
    return (c + 1) / 3


def triang_var(c: Any) -> Any:
    return (1 - c + c * c) / 18


# --- counts --------------------------------------------------------------------------------------


def poisson_mean(mu: Any) -> Any:
    return where_valid(mu >= 0, mu)


def poisson_var(mu: Any) -> Any:
    return where_valid(mu >= 0, mu)


def binom_mean(n: Any, p: Any) -> Any:
    return n * _probability(p)


def binom_var(n: Any, p: Any) -> Any:
    return n * _probability(p) * (1 - p)


def bernoulli_mean(p: Any) -> Any:
    return _probability(p)


def bernoulli_var(p: Any) -> Any:
    return _probability(p) * (1 - p)


def bernoulli_entropy(p: Any) -> Any:
    return special.entr(_probability(p)) + special.entr(1 - p)


def nbinom_mean(n: Any, p: Any) -> Any:
    return n * (1 - p) / _probability(p)


def nbinom_var(n: Any, p: Any) -> Any:
    return n * (1 - p) / _probability(p) ** 2


def geom_mean(p: Any) -> Any:
    return 1 / _probability(p)


def geom_var(p: Any) -> Any:
    return (1 - p) / _probability(p) ** 2


def _probability(p: Any) -> Any:
    return where_valid((p >= 0) & (p <= 1), p)
