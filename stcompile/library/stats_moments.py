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


def mean(form: Callable[..., Any], shapes: Any, loc: Any, scale: Any) -> Any:
    """The mean; NaN where a parameter is not valid."""
    return (form(*_positive(shapes)) * _positive([scale])[0] + loc)[()]


def var(form: Callable[..., Any], shapes: Any, loc: Any, scale: Any) -> Any:
    """The variance."""
    (positive,) = _positive([scale])
    return (form(*_positive(shapes)) * positive * positive)[()]


def std(form: Callable[..., Any], shapes: Any, loc: Any, scale: Any) -> Any:
    """The standard deviation."""
    return np.sqrt(var(form, shapes, loc, scale))


def entropy(form: Callable[..., Any], shapes: Any, loc: Any, scale: Any) -> Any:
    """The differential entropy."""
    return (form(*_positive(shapes)) + np.log(_positive([scale])[0]))[()]


def _positive(parameters: Any) -> Any:
    return [where_valid(float64(p) > 0, float64(p)) for p in parameters]


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
