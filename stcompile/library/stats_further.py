"""More distributions of `scipy.stats`: formulas as in `stcompile.library.stats`, which see."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import special
from stcompile.library.stats import expon_logcdf, invgauss_logpdf, norm_logpdf

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)

# --- the whole line ------------------------------------------------------------------------------


def exponnorm_logpdf(z: Any, K: Any) -> Any:
    return (0.5 / K - z) / K - np.log(K) + special.log_ndtr(z - 1 / K)


def exponnorm_cdf(z: Any, K: Any) -> Any:
    return special.ndtr(z) - K * np.exp(exponnorm_logpdf(_not_below(z), K))


def exponnorm_sf(z: Any, K: Any) -> Any:
    return special.ndtr(-z) + K * np.exp(exponnorm_logpdf(_not_below(z), K))


def _not_below(z: Any) -> Any:
    """Numbers with the least one in place of the negative infinity."""
    return np.maximum(z, -1e300)


def genlogistic_logpdf(z: Any, c: Any) -> Any:
    inner = _not_below(z)
    value = np.log(c) - inner + (c + 1) * special.log_expit(inner)
    return np.where(z == -math.inf, -math.inf, value)


def genlogistic_logcdf(z: Any, c: Any) -> Any:
    return c * special.log_expit(z)


def genlogistic_cdf(z: Any, c: Any) -> Any:
    return np.exp(c * special.log_expit(z))


def genlogistic_sf(z: Any, c: Any) -> Any:
    return -np.expm1(c * special.log_expit(z))


def genlogistic_ppf(q: Any, c: Any) -> Any:
    return -np.log(np.expm1(-np.log(q) / c))


def hypsecant_logpdf(z: Any) -> Any:
    return math.log(2 / math.pi) - np.logaddexp(z, -z)


def hypsecant_cdf(z: Any) -> Any:
    return 2 / math.pi * np.arctan(np.exp(z))


def hypsecant_sf(z: Any) -> Any:
    return 2 / math.pi * np.arctan(np.exp(-z))


def hypsecant_ppf(q: Any) -> Any:
    return np.log(np.tan(math.pi / 2 * q))


def hypsecant_isf(q: Any) -> Any:
    return -np.log(np.tan(math.pi / 2 * q))


def johnsonsu_logpdf(z: Any, a: Any, b: Any) -> Any:
    return np.log(b) - 0.5 * np.log1p(z * z) + norm_logpdf(a + b * np.arcsinh(z))


def johnsonsu_cdf(z: Any, a: Any, b: Any) -> Any:
    return special.ndtr(a + b * np.arcsinh(z))


def johnsonsu_sf(z: Any, a: Any, b: Any) -> Any:
    return special.ndtr(-a - b * np.arcsinh(z))


def johnsonsu_ppf(q: Any, a: Any, b: Any) -> Any:
    return np.sinh((special.ndtri(q) - a) / b)


def johnsonsu_isf(q: Any, a: Any, b: Any) -> Any:
    return np.sinh((-special.ndtri(q) - a) / b)


def laplace_asymmetric_logpdf(z: Any, kappa: Any) -> Any:
    return np.where(z >= 0, -z * kappa, z / kappa) - np.log(kappa + 1 / kappa)


def laplace_asymmetric_cdf(z: Any, kappa: Any) -> Any:
    total, is_right = kappa + 1 / kappa, z >= 0
    right = 1 - np.exp(-np.where(is_right, z, 0.0) * kappa) / kappa / total
    return np.where(is_right, right, np.exp(np.where(is_right, 0.0, z) / kappa) * kappa / total)


def laplace_asymmetric_sf(z: Any, kappa: Any) -> Any:
    total, is_right = kappa + 1 / kappa, z >= 0
    right = np.exp(-np.where(is_right, z, 0.0) * kappa) / kappa / total
    return np.where(is_right, right, 1 - np.exp(np.where(is_right, 0.0, z) / kappa) * kappa / total)


def loggamma_logpdf(z: Any, c: Any) -> Any:
    return c * z - np.exp(z) - special.gammaln(c)


def loggamma_cdf(z: Any, c: Any) -> Any:
    return special.gammainc(c, np.exp(z))


def loggamma_sf(z: Any, c: Any) -> Any:
    return special.gammaincc(c, np.exp(z))


def loggamma_ppf(q: Any, c: Any) -> Any:
    return np.log(special.gammaincinv(c, q))


def loggamma_isf(q: Any, c: Any) -> Any:
    return np.log(special.gammainccinv(c, q))


def moyal_logpdf(z: Any) -> Any:
    return -0.5 * (z + np.exp(-z)) - _HALF_LOG_2PI


def moyal_cdf(z: Any) -> Any:
    return special.erfc(np.exp(-0.5 * z) / math.sqrt(2))


def moyal_sf(z: Any) -> Any:
    return special.erf(np.exp(-0.5 * z) / math.sqrt(2))


def moyal_ppf(q: Any) -> Any:
    return -np.log(2 * special.erfcinv(q) ** 2)


def gennorm_logpdf(z: Any, beta: Any) -> Any:
    return np.log(0.5 * beta) - special.gammaln(1 / beta) - np.abs(z) ** beta


def gennorm_cdf(z: Any, beta: Any) -> Any:
    half = 0.5 * special.gammaincc(1 / beta, np.abs(z) ** beta)
    return np.where(z > 0, 1 - half, half)


def gennorm_sf(z: Any, beta: Any) -> Any:
    return gennorm_cdf(-z, beta)


def skewnorm_cdf(z: Any, a: Any) -> Any:
    return np.maximum(special.ndtr(z) - 2 * special.owens_t(z, a), 0.0)


def skewnorm_sf(z: Any, a: Any) -> Any:
    return np.maximum(special.ndtr(-z) + 2 * special.owens_t(z, a), 0.0)


# --- positive numbers ----------------------------------------------------------------------------


def chi_logpdf(z: Any, df: Any) -> Any:
    constant = math.log(2) * (1 - 0.5 * df) - special.gammaln(0.5 * df)
    return constant + special.xlogy(df - 1.0, z) - 0.5 * z * z


def chi_cdf(z: Any, df: Any) -> Any:
    return special.gammainc(0.5 * df, 0.5 * z * z)


def chi_sf(z: Any, df: Any) -> Any:
    return special.gammaincc(0.5 * df, 0.5 * z * z)


def chi_ppf(q: Any, df: Any) -> Any:
    return np.sqrt(2 * special.gammaincinv(0.5 * df, q))


def chi_isf(q: Any, df: Any) -> Any:
    return np.sqrt(2 * special.gammainccinv(0.5 * df, q))


def maxwell_logpdf(z: Any) -> Any:
    return 0.5 * math.log(2 / math.pi) + 2 * np.log(z) - 0.5 * z * z


def maxwell_cdf(z: Any) -> Any:
    return special.gammainc(1.5, 0.5 * z * z)


def maxwell_sf(z: Any) -> Any:
    return special.gammaincc(1.5, 0.5 * z * z)


def maxwell_ppf(q: Any) -> Any:
    return np.sqrt(2 * special.gammaincinv(1.5, q))


def maxwell_isf(q: Any) -> Any:
    return np.sqrt(2 * special.gammainccinv(1.5, q))


def fisk_logpdf(z: Any, c: Any) -> Any:
    return np.log(c) - (c + 1) * np.log(z) - 2 * np.log1p(z ** (-c))


def fisk_cdf(z: Any, c: Any) -> Any:
    return special.expit(c * np.log(z))


def fisk_sf(z: Any, c: Any) -> Any:
    return special.expit(-c * np.log(z))


def fisk_ppf(q: Any, c: Any) -> Any:
    return np.exp(special.logit(q) / c)


def fisk_isf(q: Any, c: Any) -> Any:
    return np.exp(-special.logit(q) / c)


def burr12_logpdf(z: Any, c: Any, d: Any) -> Any:
    powers = special.xlogy(c - 1.0, z) - (d + 1) * np.log1p(z**c)
    return np.log(c) + np.log(d) + powers


def burr12_cdf(z: Any, c: Any, d: Any) -> Any:
    return -np.expm1(-d * np.log1p(z**c))


def burr12_sf(z: Any, c: Any, d: Any) -> Any:
    return np.exp(-d * np.log1p(z**c))


def burr12_logsf(z: Any, c: Any, d: Any) -> Any:
    return -d * np.log1p(z**c)


def burr12_ppf(q: Any, c: Any, d: Any) -> Any:
    return np.expm1(-np.log1p(-q) / d) ** (1 / c)


def burr12_isf(q: Any, c: Any, d: Any) -> Any:
    return np.expm1(-np.log(q) / d) ** (1 / c)


def lomax_logpdf(z: Any, c: Any) -> Any:
    return np.log(c) - (c + 1) * np.log1p(z)


def lomax_cdf(z: Any, c: Any) -> Any:
    return -np.expm1(-c * np.log1p(z))


def lomax_sf(z: Any, c: Any) -> Any:
    return np.exp(-c * np.log1p(z))


def lomax_logsf(z: Any, c: Any) -> Any:
    return -c * np.log1p(z)


def lomax_ppf(q: Any, c: Any) -> Any:
    return np.expm1(-np.log1p(-q) / c)


def lomax_isf(q: Any, c: Any) -> Any:
    return np.expm1(-np.log(q) / c)


def gompertz_logpdf(z: Any, c: Any) -> Any:
    return np.log(c) + z - c * np.expm1(z)


def gompertz_cdf(z: Any, c: Any) -> Any:
    return -np.expm1(-c * np.expm1(z))


def gompertz_sf(z: Any, c: Any) -> Any:
    return np.exp(-c * np.expm1(z))


def gompertz_logsf(z: Any, c: Any) -> Any:
    return -c * np.expm1(z)


def gompertz_ppf(q: Any, c: Any) -> Any:
    return np.log1p(-np.log1p(-q) / c)


def gompertz_isf(q: Any, c: Any) -> Any:
    return np.log1p(-np.log(q) / c)


def halflogistic_logpdf(z: Any) -> Any:
    return math.log(2) - z - 2 * np.log1p(np.exp(-z))


def halflogistic_cdf(z: Any) -> Any:
    return np.tanh(0.5 * z)


def halflogistic_sf(z: Any) -> Any:
    return 2 * special.expit(-z)


def halflogistic_ppf(q: Any) -> Any:
    return 2 * np.arctanh(q)


def halflogistic_isf(q: Any) -> Any:
    return -special.logit(0.5 * q)


def invweibull_logpdf(z: Any, c: Any) -> Any:
    return np.log(c) - (c + 1) * np.log(z) - z ** (-c)


def invweibull_cdf(z: Any, c: Any) -> Any:
    return np.exp(-(z ** (-c)))


def invweibull_logcdf(z: Any, c: Any) -> Any:
    return -(z ** (-c))


def invweibull_sf(z: Any, c: Any) -> Any:
    return -np.expm1(-(z ** (-c)))


def invweibull_logsf(z: Any, c: Any) -> Any:
    return expon_logcdf(z ** (-c))


def invweibull_ppf(q: Any, c: Any) -> Any:
    return (-np.log(q)) ** (-1 / c)


def invweibull_isf(q: Any, c: Any) -> Any:
    return (-np.log1p(-q)) ** (-1 / c)


def levy_logpdf(z: Any) -> Any:
    return -_HALF_LOG_2PI - 1.5 * np.log(z) - 0.5 / z


def levy_cdf(z: Any) -> Any:
    return special.erfc(np.sqrt(0.5 / z))


def levy_sf(z: Any) -> Any:
    return special.erf(np.sqrt(0.5 / z))


def levy_ppf(q: Any) -> Any:
    return 0.5 / special.erfcinv(q) ** 2


def levy_isf(q: Any) -> Any:
    return 0.5 / special.erfinv(q) ** 2


def nakagami_logpdf(z: Any, nu: Any) -> Any:
    constant = math.log(2) + special.xlogy(nu, nu) - special.gammaln(nu)
    return constant + special.xlogy(2 * nu - 1.0, z) - nu * z * z


def nakagami_cdf(z: Any, nu: Any) -> Any:
    return special.gammainc(nu, nu * z * z)


def nakagami_sf(z: Any, nu: Any) -> Any:
    return special.gammaincc(nu, nu * z * z)


def nakagami_ppf(q: Any, nu: Any) -> Any:
    return np.sqrt(special.gammaincinv(nu, q) / nu)


def nakagami_isf(q: Any, nu: Any) -> Any:
    return np.sqrt(special.gammainccinv(nu, q) / nu)


def rice_logpdf(z: Any, b: Any) -> Any:
    root = np.sqrt(b) ** 2  # NaN for a negative number
    return np.log(z) - 0.5 * (z - root) ** 2 + np.log(special.i0e(z * b))


def gengamma_logpdf(z: Any, a: Any, c: Any) -> Any:
    return np.log(np.abs(c)) + special.xlogy(c * a - 1.0, z) - z**c - special.gammaln(a)


def gengamma_cdf(z: Any, a: Any, c: Any) -> Any:
    return np.where(c > 0, special.gammainc(a, z**c), special.gammaincc(a, z**c))


def gengamma_sf(z: Any, a: Any, c: Any) -> Any:
    return np.where(c > 0, special.gammaincc(a, z**c), special.gammainc(a, z**c))


def betaprime_logpdf(z: Any, a: Any, b: Any) -> Any:
    return special.xlogy(a - 1.0, z) - (a + b) * np.log1p(z) - special.betaln(a, b)


def betaprime_cdf(z: Any, a: Any, b: Any) -> Any:
    return special.betaincc(b, a, 1 / (1 + z))


def betaprime_sf(z: Any, a: Any, b: Any) -> Any:
    return special.betainc(b, a, 1 / (1 + z))


def exponweib_logpdf(z: Any, a: Any, c: Any) -> Any:
    power = z**c
    inner = special.xlogy(a - 1.0, -np.expm1(-power)) + special.xlogy(c - 1.0, z)
    return np.log(a) + np.log(c) + inner - power


def exponweib_cdf(z: Any, a: Any, c: Any) -> Any:
    return (-np.expm1(-(z**c))) ** a


def exponweib_sf(z: Any, a: Any, c: Any) -> Any:
    return -np.expm1(a * expon_logcdf(z**c))


def exponweib_ppf(q: Any, a: Any, c: Any) -> Any:
    return (-np.log1p(-(q ** (1 / a)))) ** (1 / c)


def invgauss_cdf(z: Any, mu: Any) -> Any:
    """Giner & Smyth, "statmod: probability calculations for the inverse Gaussian distribution", The
    R Journal 8 (2016)."""
    first, second = _tails(z, mu, 1.0)
    return np.exp(first) + np.exp(second)


def invgauss_sf(z: Any, mu: Any) -> Any:
    first, second = _tails(z, mu, -1.0)
    return np.exp(first) - np.exp(second)


def _tails(z: Any, mu: Any, sign: float) -> Any:
    root = 1 / np.sqrt(z)
    first = special.log_ndtr(sign * root * (z / mu - 1))
    return first, 2 / mu + special.log_ndtr(-root * (z / mu + 1))


def wald_logpdf(z: Any) -> Any:
    return invgauss_logpdf(z, 1.0)


def wald_cdf(z: Any) -> Any:
    return invgauss_cdf(z, 1.0)


def wald_sf(z: Any) -> Any:
    return invgauss_sf(z, 1.0)


def ncx2_logpdf(z: Any, df: Any, nc: Any) -> Any:
    half, gap = df / 2.0 - 1.0, np.sqrt(z) - np.sqrt(nc)
    bessel = np.log(special.ive(half, np.sqrt(nc * z)) / 2.0)
    return special.xlogy(half / 2.0, z / nc) - 0.5 * gap * gap + bessel


# --- bounded -------------------------------------------------------------------------------------


def weibull_max_logpdf(z: Any, c: Any) -> Any:
    return np.log(c) + special.xlogy(c - 1.0, -z) - (-z) ** c


def weibull_max_cdf(z: Any, c: Any) -> Any:
    return np.exp(-((-z) ** c))


def weibull_max_logcdf(z: Any, c: Any) -> Any:
    return -((-z) ** c)


def weibull_max_sf(z: Any, c: Any) -> Any:
    return -np.expm1(-((-z) ** c))


def weibull_max_ppf(q: Any, c: Any) -> Any:
    return -((-np.log(q)) ** (1 / c))


def weibull_max_isf(q: Any, c: Any) -> Any:
    return -((-np.log1p(-q)) ** (1 / c))


def powerlaw_logpdf(z: Any, a: Any) -> Any:
    return np.log(a) + special.xlogy(a - 1.0, z)


def powerlaw_cdf(z: Any, a: Any) -> Any:
    return z**a


def powerlaw_sf(z: Any, a: Any) -> Any:
    return -np.expm1(special.xlogy(a, z))


def powerlaw_logcdf(z: Any, a: Any) -> Any:
    return a * np.log(z)


def powerlaw_ppf(q: Any, a: Any) -> Any:
    return q ** (1 / a)


def powerlaw_isf(q: Any, a: Any) -> Any:
    return (1 - q) ** (1 / a)


def arcsine_logpdf(z: Any) -> Any:
    return -math.log(math.pi) - 0.5 * (np.log(z) + np.log1p(-z))


def arcsine_cdf(z: Any) -> Any:
    return 2 / math.pi * np.arcsin(np.sqrt(z))


def arcsine_sf(z: Any) -> Any:
    return 2 / math.pi * np.arccos(np.sqrt(z))


def arcsine_ppf(q: Any) -> Any:
    return np.sin(math.pi / 2 * q) ** 2


def semicircular_logpdf(z: Any) -> Any:
    return math.log(2 / math.pi) + 0.5 * np.log1p(-z * z)


def semicircular_cdf(z: Any) -> Any:
    return 0.5 + (z * np.sqrt(1 - z * z) + np.arcsin(z)) / math.pi


def semicircular_sf(z: Any) -> Any:
    return 0.5 - (z * np.sqrt(1 - z * z) + np.arcsin(z)) / math.pi


def triang_logpdf(z: Any, c: Any) -> Any:
    is_left = z < c
    left = np.log(2 * np.where(is_left, z, 1.0) / c)
    right = np.log(2 * (1 - np.where(is_left, 0.0, z)) / (1 - c))
    return np.where(is_left, left, right)


def triang_cdf(z: Any, c: Any) -> Any:
    return np.where(z < c, z * z / c, 1 - (1 - z) ** 2 / (1 - c))


def triang_sf(z: Any, c: Any) -> Any:
    return np.where(z < c, 1 - z * z / c, (1 - z) ** 2 / (1 - c))


def triang_ppf(q: Any, c: Any) -> Any:
    is_left = q < c
    left = np.sqrt(c * np.where(is_left, q, 0.5))
    return np.where(is_left, left, 1 - np.sqrt((1 - c) * (1 - np.where(is_left, 0.5, q))))


# --- quantiles of distributions of `stats` --------------------------------------------------------


def f_ppf(q: Any, dfn: Any, dfd: Any) -> Any:
    low, high = special.betaincinv(dfn / 2, dfd / 2, q), special.betainccinv(dfd / 2, dfn / 2, q)
    return dfd * low / (dfn * high)


def f_isf(q: Any, dfn: Any, dfd: Any) -> Any:
    low, high = special.betainccinv(dfn / 2, dfd / 2, q), special.betaincinv(dfd / 2, dfn / 2, q)
    return dfd * low / (dfn * high)


def beta_isf(q: Any, a: Any, b: Any) -> Any:
    return special.betainccinv(a, b, q)


def halfcauchy_isf(q: Any) -> Any:
    return 1 / np.tan(math.pi / 2 * q)
