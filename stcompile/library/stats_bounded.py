"""Distributions of `scipy.stats` whose support depends on their shapes: formulas as in
`stcompile.library.stats`, which see."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import special
from stcompile.library.stats import float64, norm_logpdf


def truncnorm_logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """The density of a normal distribution between ``a`` and ``b``, which are in units of the
    scale, from the location; ``-inf`` and flat outside, NaN unless a < b and the scale is positive.
    """
    z, valid = _standardised(x, loc, scale, a < b)
    outside = (z < a) | (z > b)
    value = norm_logpdf(np.where(outside, 0.0, z)) - np.log(scale) - _log_mass(a, b)
    return np.where(valid, np.where(outside, -math.inf, value), math.nan)[()]


def truncnorm_pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return np.exp(truncnorm_logpdf(x, a, b, loc, scale))


def truncnorm_logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """The logarithm of the distribution function, exact in the left tail."""
    z, valid = _standardised(x, loc, scale, a < b)
    below, above = z <= a, z >= b
    inside = np.where(below | above, 0.5 * a + 0.5 * b, z)
    value = _log_mass(a, inside) - _log_mass(a, b)
    value = np.where(below, -math.inf, np.where(above, 0.0, value))
    return np.where(valid, value, math.nan)[()]


def truncnorm_logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """The logarithm of the survival function, exact in the right tail."""
    z, valid = _standardised(x, loc, scale, a < b)
    below, above = z <= a, z >= b
    inside = np.where(below | above, 0.5 * a + 0.5 * b, z)
    value = _log_mass(inside, b) - _log_mass(a, b)
    value = np.where(below, 0.0, np.where(above, -math.inf, value))
    return np.where(valid, value, math.nan)[()]


def truncnorm_cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return np.exp(truncnorm_logcdf(x, a, b, loc, scale))


def truncnorm_sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return np.exp(truncnorm_logsf(x, a, b, loc, scale))


def _log_mass(a: Any, b: Any) -> Any:
    """The logarithm of the normal probability of [a, b], on the side where it is small."""
    is_right = a > 0
    low, high = np.where(is_right, -b, a), np.where(is_right, -a, b)
    larger = special.log_ndtr(high)
    return larger + np.log(-np.expm1(special.log_ndtr(low) - larger))


def genextreme_logpdf(x: Any, c: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """The density of the generalised extreme value distribution, with SciPy's sign of the shape:
    the support is c z <= 1, outside of which it is ``-inf`` and flat."""
    t, outside, valid = _reduced(x, c, loc, scale)
    inner = np.where(outside, 0.0, t)
    value = np.where(outside, -math.inf, (1 - c) * -inner - np.exp(-inner) - np.log(scale))
    return np.where(valid, value, math.nan)[()]


def genextreme_pdf(x: Any, c: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return np.exp(genextreme_logpdf(x, c, loc, scale))


def genextreme_logcdf(x: Any, c: Any, loc: Any = 0, scale: Any = 1) -> Any:
    """The logarithm of the distribution function: ``-exp(-t)``."""
    t, outside, valid = _reduced(x, c, loc, scale)
    end = np.where(c > 0, 0.0, -math.inf)
    value = np.where(outside, end, -np.exp(-np.where(outside, 0.0, t)))
    return np.where(valid, value, math.nan)[()]


def genextreme_cdf(x: Any, c: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return np.exp(genextreme_logcdf(x, c, loc, scale))


def genextreme_sf(x: Any, c: Any, loc: Any = 0, scale: Any = 1) -> Any:
    return -np.expm1(genextreme_logcdf(x, c, loc, scale))


def _reduced(x: Any, c: Any, loc: Any, scale: Any) -> Any:
    """``-log(1 - c z) / c``, which is z where c is 0, with masks of points outside of the support
    and of valid parameters."""
    z, valid = _standardised(x, loc, scale, True)
    outside = c * z >= 1
    inner = np.where(outside, 0.0, c * z)
    return z * _log_ratio(inner), outside, valid


def _log_ratio(w: Any) -> Any:
    """``-log(1 - w) / w``, near 0 by its series, so that its derivatives do not cancel."""
    is_small = np.abs(w) < 0.03
    u, v = np.where(is_small, w, 0.0), np.where(is_small, 0.5, w)
    series = 1 / 12 + 0.0 * u
    for k in range(11, 0, -1):
        series = series * u + 1 / k
    return np.where(is_small, series, -np.log1p(-v) / v)


def _standardised(x: Any, loc: Any, scale: Any, valid: Any) -> Any:
    is_scale = scale > 0
    return (float64(x) - loc) / np.where(is_scale, scale, math.nan), is_scale & valid
