"""More distributions of `scipy.stats`: formulas as in `stcompile.library.stats`, which see."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import special
from stcompile.library.stats import Formula, expon_logcdf, invgauss_logpdf, norm_logpdf

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def exponnorm_logpdf(z: Any, K: Any) -> Any:
    return (0.5 / K - z) / K - np.log(K) + special.log_ndtr(z - 1 / K)


def _not_below(z: Any) -> Any:
    """Numbers with the least one in place of the negative infinity."""
    return np.maximum(z, -1e300)


def genlogistic_logpdf(z: Any, c: Any) -> Any:
    inner = _not_below(z)
    value = np.log(c) - inner + (c + 1) * special.log_expit(inner)
    return np.where(z == -math.inf, -math.inf, value)


def johnsonsu_logpdf(z: Any, a: Any, b: Any) -> Any:
    return np.log(b) - 0.5 * np.log1p(z * z) + norm_logpdf(a + b * np.arcsinh(z))


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


def gennorm_logpdf(z: Any, beta: Any) -> Any:
    return np.log(0.5 * beta) - special.gammaln(1 / beta) - np.abs(z) ** beta


def gennorm_cdf(z: Any, beta: Any) -> Any:
    """By the incomplete gamma function, whose slope by a power of z is no number at the centre;
    there by the tangent, of which the slope is the density."""
    is_centre = z == 0
    off = np.where(is_centre, 1.0, z)
    half = 0.5 * special.gammaincc(1 / beta, np.abs(off) ** beta)
    tangent = 0.5 + z * (0.5 * beta / special.gamma(1 / beta))
    return np.where(is_centre, tangent, np.where(z > 0, 1 - half, half))


def chi_logpdf(z: Any, df: Any) -> Any:
    constant = math.log(2) * (1 - 0.5 * df) - special.gammaln(0.5 * df)
    return constant + special.xlogy(df - 1.0, z) - 0.5 * z * z


def burr12_logpdf(z: Any, c: Any, d: Any) -> Any:
    powers = special.xlogy(c - 1.0, z) - (d + 1) * np.log1p(z**c)
    return np.log(c) + np.log(d) + powers


def nakagami_logpdf(z: Any, nu: Any) -> Any:
    constant = math.log(2) + special.xlogy(nu, nu) - special.gammaln(nu)
    return constant + special.xlogy(2 * nu - 1.0, z) - nu * z * z


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


def exponweib_logpdf(z: Any, a: Any, c: Any) -> Any:
    power = z**c
    inner = special.xlogy(a - 1.0, -np.expm1(-power)) + special.xlogy(c - 1.0, z)
    return np.log(a) + np.log(c) + inner - power


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


def ncx2_logpdf(z: Any, df: Any, nc: Any) -> Any:
    half, gap = df / 2.0 - 1.0, np.sqrt(z) - np.sqrt(nc)
    bessel = np.log(special.ive(half, np.sqrt(nc * z)) / 2.0)
    return special.xlogy(half / 2.0, z / nc) - 0.5 * gap * gap + bessel


def triang_logpdf(z: Any, c: Any) -> Any:
    is_left = z < c
    left = np.log(2 * np.where(is_left, z, 1.0) / c)
    right = np.log(2 * (1 - np.where(is_left, 0.0, z)) / (1 - c))
    return np.where(is_left, left, right)


def triang_ppf(q: Any, c: Any) -> Any:
    is_left = q < c
    left = np.sqrt(c * np.where(is_left, q, 0.5))
    return np.where(is_left, left, 1 - np.sqrt((1 - c) * (1 - np.where(is_left, 0.5, q))))


def f_ppf(q: Any, dfn: Any, dfd: Any) -> Any:
    low, high = special.betaincinv(dfn / 2, dfd / 2, q), special.betainccinv(dfd / 2, dfn / 2, q)
    return dfd * low / (dfn * high)


def f_isf(q: Any, dfn: Any, dfd: Any) -> Any:
    low, high = special.betainccinv(dfn / 2, dfd / 2, q), special.betaincinv(dfd / 2, dfn / 2, q)
    return dfd * low / (dfn * high)


FORMULAS: dict[str, Formula] = {
    # the whole line
    "exponnorm.logpdf": exponnorm_logpdf,
    "exponnorm.cdf": lambda z, K: special.ndtr(z) - K * np.exp(exponnorm_logpdf(_not_below(z), K)),
    "exponnorm.sf": lambda z, K: special.ndtr(-z) + K * np.exp(exponnorm_logpdf(_not_below(z), K)),
    "genlogistic.logpdf": genlogistic_logpdf,
    "genlogistic.logcdf": lambda z, c: c * special.log_expit(z),
    "genlogistic.cdf": lambda z, c: np.exp(c * special.log_expit(z)),
    "genlogistic.sf": lambda z, c: -np.expm1(c * special.log_expit(z)),
    "genlogistic.ppf": lambda q, c: -np.log(np.expm1(-np.log(q) / c)),
    "hypsecant.logpdf": lambda z: math.log(2 / math.pi) - np.logaddexp(z, -z),
    "hypsecant.cdf": lambda z: 2 / math.pi * np.arctan(np.exp(z)),
    "hypsecant.sf": lambda z: 2 / math.pi * np.arctan(np.exp(-z)),
    "hypsecant.ppf": lambda q: np.log(np.tan(math.pi / 2 * q)),
    "hypsecant.isf": lambda q: -np.log(np.tan(math.pi / 2 * q)),
    "johnsonsu.logpdf": johnsonsu_logpdf,
    "johnsonsu.cdf": lambda z, a, b: special.ndtr(a + b * np.arcsinh(z)),
    "johnsonsu.sf": lambda z, a, b: special.ndtr(-a - b * np.arcsinh(z)),
    "johnsonsu.ppf": lambda q, a, b: np.sinh((special.ndtri(q) - a) / b),
    "johnsonsu.isf": lambda q, a, b: np.sinh((-special.ndtri(q) - a) / b),
    "laplace_asymmetric.logpdf": laplace_asymmetric_logpdf,
    "laplace_asymmetric.cdf": laplace_asymmetric_cdf,
    "laplace_asymmetric.sf": laplace_asymmetric_sf,
    "loggamma.logpdf": lambda z, c: c * z - np.exp(z) - special.gammaln(c),
    "loggamma.cdf": lambda z, c: special.gammainc(c, np.exp(z)),
    "loggamma.sf": lambda z, c: special.gammaincc(c, np.exp(z)),
    "loggamma.ppf": lambda q, c: np.log(special.gammaincinv(c, q)),
    "loggamma.isf": lambda q, c: np.log(special.gammainccinv(c, q)),
    "moyal.logpdf": lambda z: -0.5 * (z + np.exp(-z)) - _HALF_LOG_2PI,
    "moyal.cdf": lambda z: special.erfc(np.exp(-0.5 * z) / math.sqrt(2)),
    "moyal.sf": lambda z: special.erf(np.exp(-0.5 * z) / math.sqrt(2)),
    "moyal.ppf": lambda q: -np.log(2 * special.erfcinv(q) ** 2),
    "gennorm.logpdf": gennorm_logpdf,
    "gennorm.cdf": gennorm_cdf,
    "gennorm.sf": lambda z, beta: gennorm_cdf(-z, beta),
    "skewnorm.cdf": lambda z, a: np.maximum(special.ndtr(z) - 2 * special.owens_t(z, a), 0.0),
    "skewnorm.sf": lambda z, a: np.maximum(special.ndtr(-z) + 2 * special.owens_t(z, a), 0.0),
    # positive numbers
    "chi.logpdf": chi_logpdf,
    "chi.cdf": lambda z, df: special.gammainc(0.5 * df, 0.5 * z * z),
    "chi.sf": lambda z, df: special.gammaincc(0.5 * df, 0.5 * z * z),
    "chi.ppf": lambda q, df: np.sqrt(2 * special.gammaincinv(0.5 * df, q)),
    "chi.isf": lambda q, df: np.sqrt(2 * special.gammainccinv(0.5 * df, q)),
    "maxwell.logpdf": lambda z: 0.5 * math.log(2 / math.pi) + 2 * np.log(z) - 0.5 * z * z,
    "maxwell.cdf": lambda z: special.gammainc(1.5, 0.5 * z * z),
    "maxwell.sf": lambda z: special.gammaincc(1.5, 0.5 * z * z),
    "maxwell.ppf": lambda q: np.sqrt(2 * special.gammaincinv(1.5, q)),
    "maxwell.isf": lambda q: np.sqrt(2 * special.gammainccinv(1.5, q)),
    "fisk.logpdf": lambda z, c: np.log(c) - (c + 1) * np.log(z) - 2 * np.log1p(z ** (-c)),
    "fisk.cdf": lambda z, c: special.expit(c * np.log(z)),
    "fisk.sf": lambda z, c: special.expit(-c * np.log(z)),
    "fisk.ppf": lambda q, c: np.exp(special.logit(q) / c),
    "fisk.isf": lambda q, c: np.exp(-special.logit(q) / c),
    "burr12.logpdf": burr12_logpdf,
    "burr12.cdf": lambda z, c, d: -np.expm1(-d * np.log1p(z**c)),
    "burr12.sf": lambda z, c, d: np.exp(-d * np.log1p(z**c)),
    "burr12.logsf": lambda z, c, d: -d * np.log1p(z**c),
    "burr12.ppf": lambda q, c, d: np.expm1(-np.log1p(-q) / d) ** (1 / c),
    "burr12.isf": lambda q, c, d: np.expm1(-np.log(q) / d) ** (1 / c),
    "lomax.logpdf": lambda z, c: np.log(c) - (c + 1) * np.log1p(z),
    "lomax.cdf": lambda z, c: -np.expm1(-c * np.log1p(z)),
    "lomax.sf": lambda z, c: np.exp(-c * np.log1p(z)),
    "lomax.logsf": lambda z, c: -c * np.log1p(z),
    "lomax.ppf": lambda q, c: np.expm1(-np.log1p(-q) / c),
    "lomax.isf": lambda q, c: np.expm1(-np.log(q) / c),
    "gompertz.logpdf": lambda z, c: np.log(c) + z - c * np.expm1(z),
    "gompertz.cdf": lambda z, c: -np.expm1(-c * np.expm1(z)),
    "gompertz.sf": lambda z, c: np.exp(-c * np.expm1(z)),
    "gompertz.logsf": lambda z, c: -c * np.expm1(z),
    "gompertz.ppf": lambda q, c: np.log1p(-np.log1p(-q) / c),
    "gompertz.isf": lambda q, c: np.log1p(-np.log(q) / c),
    "halflogistic.logpdf": lambda z: math.log(2) - z - 2 * np.log1p(np.exp(-z)),
    "halflogistic.cdf": lambda z: np.tanh(0.5 * z),
    "halflogistic.sf": lambda z: 2 * special.expit(-z),
    "halflogistic.ppf": lambda q: 2 * np.arctanh(q),
    "halflogistic.isf": lambda q: -special.logit(0.5 * q),
    "invweibull.logpdf": lambda z, c: np.log(c) - (c + 1) * np.log(z) - z ** (-c),
    "invweibull.cdf": lambda z, c: np.exp(-(z ** (-c))),
    "invweibull.logcdf": lambda z, c: -(z ** (-c)),
    "invweibull.sf": lambda z, c: -np.expm1(-(z ** (-c))),
    "invweibull.logsf": lambda z, c: expon_logcdf(z ** (-c)),
    "invweibull.ppf": lambda q, c: (-np.log(q)) ** (-1 / c),
    "invweibull.isf": lambda q, c: (-np.log1p(-q)) ** (-1 / c),
    "levy.logpdf": lambda z: -_HALF_LOG_2PI - 1.5 * np.log(z) - 0.5 / z,
    "levy.cdf": lambda z: special.erfc(np.sqrt(0.5 / z)),
    "levy.sf": lambda z: special.erf(np.sqrt(0.5 / z)),
    "levy.ppf": lambda q: 0.5 / special.erfcinv(q) ** 2,
    "levy.isf": lambda q: 0.5 / special.erfinv(q) ** 2,
    "nakagami.logpdf": nakagami_logpdf,
    "nakagami.cdf": lambda z, nu: special.gammainc(nu, nu * z * z),
    "nakagami.sf": lambda z, nu: special.gammaincc(nu, nu * z * z),
    "nakagami.ppf": lambda q, nu: np.sqrt(special.gammaincinv(nu, q) / nu),
    "nakagami.isf": lambda q, nu: np.sqrt(special.gammainccinv(nu, q) / nu),
    "rice.logpdf": rice_logpdf,
    "gengamma.logpdf": gengamma_logpdf,
    "gengamma.cdf": gengamma_cdf,
    "gengamma.sf": gengamma_sf,
    "betaprime.logpdf": betaprime_logpdf,
    "betaprime.cdf": lambda z, a, b: special.betaincc(b, a, 1 / (1 + z)),
    "betaprime.sf": lambda z, a, b: special.betainc(b, a, 1 / (1 + z)),
    "exponweib.logpdf": exponweib_logpdf,
    "exponweib.cdf": lambda z, a, c: (-np.expm1(-(z**c))) ** a,
    "exponweib.sf": lambda z, a, c: -np.expm1(a * expon_logcdf(z**c)),
    "exponweib.ppf": lambda q, a, c: (-np.log1p(-(q ** (1 / a)))) ** (1 / c),
    "invgauss.cdf": invgauss_cdf,
    "invgauss.sf": invgauss_sf,
    "wald.logpdf": lambda z: invgauss_logpdf(z, 1.0),
    "wald.cdf": lambda z: invgauss_cdf(z, 1.0),
    "wald.sf": lambda z: invgauss_sf(z, 1.0),
    "ncx2.logpdf": ncx2_logpdf,
    # bounded
    "weibull_max.logpdf": lambda z, c: np.log(c) + special.xlogy(c - 1.0, -z) - (-z) ** c,
    "weibull_max.cdf": lambda z, c: np.exp(-((-z) ** c)),
    "weibull_max.logcdf": lambda z, c: -((-z) ** c),
    "weibull_max.sf": lambda z, c: -np.expm1(-((-z) ** c)),
    "weibull_max.ppf": lambda q, c: -((-np.log(q)) ** (1 / c)),
    "weibull_max.isf": lambda q, c: -((-np.log1p(-q)) ** (1 / c)),
    "powerlaw.logpdf": lambda z, a: np.log(a) + special.xlogy(a - 1.0, z),
    "powerlaw.cdf": lambda z, a: z**a,
    "powerlaw.sf": lambda z, a: -np.expm1(special.xlogy(a, z)),
    "powerlaw.logcdf": lambda z, a: a * np.log(z),
    "powerlaw.ppf": lambda q, a: q ** (1 / a),
    "powerlaw.isf": lambda q, a: (1 - q) ** (1 / a),
    "arcsine.logpdf": lambda z: -math.log(math.pi) - 0.5 * (np.log(z) + np.log1p(-z)),
    "arcsine.cdf": lambda z: 2 / math.pi * np.arcsin(np.sqrt(z)),
    "arcsine.sf": lambda z: 2 / math.pi * np.arccos(np.sqrt(z)),
    "arcsine.ppf": lambda q: np.sin(math.pi / 2 * q) ** 2,
    "semicircular.logpdf": lambda z: math.log(2 / math.pi) + 0.5 * np.log1p(-z * z),
    "semicircular.cdf": lambda z: 0.5 + (z * np.sqrt(1 - z * z) + np.arcsin(z)) / math.pi,
    "semicircular.sf": lambda z: 0.5 - (z * np.sqrt(1 - z * z) + np.arcsin(z)) / math.pi,
    "triang.logpdf": triang_logpdf,
    "triang.cdf": lambda z, c: np.where(z < c, z * z / c, 1 - (1 - z) ** 2 / (1 - c)),
    "triang.sf": lambda z, c: np.where(z < c, 1 - z * z / c, (1 - z) ** 2 / (1 - c)),
    "triang.ppf": triang_ppf,
    # quantiles of distributions of `stats`
    "f.ppf": f_ppf,
    "f.isf": f_isf,
    "beta.isf": lambda q, a, b: special.betainccinv(a, b, q),
    "halfcauchy.isf": lambda q: 1 / np.tan(math.pi / 2 * q),
}
