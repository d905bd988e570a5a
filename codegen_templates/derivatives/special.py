"""Partial derivatives of functions of `scipy.special`.

Formulas: the NIST Digital Library of Mathematical Functions, chapters 5 (gamma), 6 (exponential
integrals), 7 (error functions), 8 (incomplete gamma and beta) and 25 (zeta).
A rule is written so that it, and its own derivatives, do not cancel where the textbook's would. An
input that has ``None`` is refused if it is differentiated.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..lazy import special
from ..marks import Table, partials
from ..numpy import special as template

_ROOT_PI = math.sqrt(math.pi)
_ROOT_2PI = math.sqrt(2 * math.pi)


def _series(coefficients: Any, x: Any) -> Any:
    """The polynomial with these coefficients, the highest power first."""
    first, *rest = coefficients
    total = first
    for coefficient in rest:
        total = total * x + coefficient
    return total


PARTIALS: Table = {
    # error functions, the normal distribution
    "erf": lambda out, x: (2 / _ROOT_PI) * np.exp(-x * x),
    "erfc": lambda out, x: (-2 / _ROOT_PI) * np.exp(-x * x),
    "erfi": lambda out, x: (2 / _ROOT_PI) * np.exp(x * x),
    "erfinv": lambda out, x: (_ROOT_PI / 2) * np.exp(out * out),
    "erfcinv": lambda out, x: (-_ROOT_PI / 2) * np.exp(out * out),
    "ndtr": lambda out, x: np.exp(-0.5 * x * x) / _ROOT_2PI,
    "ndtri": lambda out, x: _ROOT_2PI * np.exp(0.5 * out * out),
    # the gamma function and its like
    "gamma": lambda out, x: out * special.digamma(x),
    "gammaln": lambda out, x: special.digamma(x),
    "loggamma": lambda out, x: special.digamma(x),
    "gammasgn": lambda out, x: 0.0,
    "digamma": lambda out, x: special.zeta(2.0, x),
    # logistic functions
    "expit": lambda out, x: out * special.expit(-x),
    "logit": lambda out, x: 1 / (x * (1 - x)),
    "log_expit": lambda out, x: special.expit(-x),
    # exponential integrals and others
    "exp1": lambda out, x: -np.exp(-x) / x,
    "expi": lambda out, x: np.exp(x) / x,
    "exprel": lambda out, x: _exprel_slope(out, x),
    "cosm1": lambda out, x: -np.sin(x),
    "expm1": lambda out, x: out + 1,
    "log1p": lambda out, x: 1 / (1 + x),
    "cbrt": lambda out, x: 1 / (3 * out * out),
    "exp2": lambda out, x: out * math.log(2),
    "exp10": lambda out, x: out * math.log(10),
    "ndtri_exp": lambda out, y: _ROOT_2PI * np.exp(y + 0.5 * out * out),
    "wrightomega": lambda out, z: out / (1 + out),
    "powm1": lambda out, x, y: (y * x ** (y - 1.0), (out + 1) * np.log(x)),
    # hypergeometric functions, by the argument
    "hyp0f1": lambda out, v, z: (None, special.hyp0f1(v + 1.0, z) / v),
    "hyp1f1": lambda out, a, b, x: (None, None, a / b * special.hyp1f1(a + 1.0, b + 1.0, x)),
    "hyperu": lambda out, a, b, x: (None, None, -a * special.hyperu(a + 1.0, b + 1.0, x)),
    # polynomials, DLMF 18.9.15-28: of integers n
    "eval_chebyt": lambda out, n, x: (None, n * special.eval_chebyu(n - (n != 0), x)),
    "eval_hermite": lambda out, n, x: (None, 2 * n * special.eval_hermite(n - (n != 0), x)),
    "eval_hermitenorm": lambda out, n, x: (None, n * special.eval_hermitenorm(n - (n != 0), x)),
}

# --- error functions, the normal distribution ------------------------------------------------


# (2k - 1)!! (2k + 1) / 2^k, for k = 10, ..., 0: of DLMF 7.12.1, differentiated
_TAIL = tuple(math.prod(range(1, 2 * k, 2)) * (2 * k + 1) / 2**k for k in range(10, -1, -1))


@partials
def erfcx(out: Any, x: Any) -> Any:
    """The derivative; its terms cancel for large x, so that the asymptotic series is used there."""
    is_large = x > 15
    u = np.where(is_large, x, 15.0)
    v = np.where(is_large, 0.0, x)
    w = 1 / (u * u)
    series = -w / _ROOT_PI * _series(_TAIL, -w)
    return np.where(is_large, series, 2 * v * out - 2 / _ROOT_PI)


@partials
def dawsn(out: Any, x: Any) -> Any:
    """The derivative; its terms cancel for large x, so that the asymptotic series is used there."""
    is_large = np.abs(x) > 15
    u = np.where(is_large, x, 15.0)
    v = np.where(is_large, 0.0, x)
    w = 1 / (u * u)
    series = -w / 2 * _series(_TAIL, w)
    return np.where(is_large, series, 1 - 2 * v * out)


@partials
def log_ndtr(out: Any, x: Any) -> Any:
    """The density over the distribution function, which both vanish far to the left."""
    is_left = x < -1
    u = np.where(is_left, x, -1.0)
    v = np.where(is_left, -1.0, x)
    left = math.sqrt(2 / math.pi) / special.erfcx(-u / math.sqrt(2))
    right = np.exp(-0.5 * v * v) / (_ROOT_2PI * special.ndtr(v))
    return np.where(is_left, left, right)


@partials
def wofz(out: Any, z: Any) -> Any:
    """The derivative, DLMF 7.10.2; far from 0, where its terms cancel, the asymptotic series. Below
    the real axis it is that of ``2 exp(-z * z) - wofz(-z)``."""
    is_low = np.imag(z) < 0
    u = np.where(is_low, -z, z)
    is_far = np.abs(u) > 15
    far, near = np.where(is_far, u, 15.0), np.where(is_far, 0.0, u)
    w = 1 / (far * far)
    series = -1j * w / _ROOT_PI * _series(_TAIL, w)
    slope = np.where(is_far, series, 2j / _ROOT_PI - 2 * near * special.wofz(near))
    low = np.where(is_low, z, 0.0)
    return slope - 4 * low * np.exp(-low * low)


# --- the gamma function and its like ---------------------------------------------------------


@partials
def rgamma(out: Any, x: Any) -> Any:
    """Below 1/2 by the reflection ``sin(pi x) gamma(1 - x) / pi``: the digamma function has poles
    where the result is 0."""
    is_low = x < 0.5
    u = np.where(is_low, x, 0.5)
    v = np.where(is_low, 0.5, x)
    turned = np.cos(math.pi * u) - np.sin(math.pi * u) * special.digamma(1 - u) / math.pi
    return np.where(is_low, special.gamma(1 - u) * turned, -special.digamma(v) * special.rgamma(v))


@partials
def zeta(out: Any, x: Any, q: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    by_x = template.zeta_by_x(x, q) if active[0] else None
    return by_x, -x * special.zeta(x + 1.0, q)


@partials
def zeta_by_x(out: Any, x: Any, q: Any) -> Any:
    return None, -special.zeta(x + 1.0, q) - x * template.zeta_by_x(x + 1.0, q)


@partials
def beta(out: Any, a: Any, b: Any) -> Any:
    both = special.digamma(a + b)
    return out * (special.digamma(a) - both), out * (special.digamma(b) - both)


@partials
def betaln(out: Any, a: Any, b: Any) -> Any:
    both = special.digamma(a + b)
    return special.digamma(a) - both, special.digamma(b) - both


@partials
def poch(out: Any, z: Any, m: Any) -> Any:
    both = special.digamma(z + m)
    return out * (both - special.digamma(z)), out * both


@partials
def binom(out: Any, x: Any, y: Any) -> Any:
    """``gamma(x + 1) / gamma(y + 1)`` times ``rgamma(x - y + 1)``, whose slope below 1/2 is that of
    the reflection: the result is 0, or nearly so, where the digamma function has poles."""
    rest = x - y + 1
    is_low = rest < 0.5
    u = np.where(is_low, rest, 0.5)
    v = np.where(is_low, 0.5, rest)
    w = np.where(is_low, x + 1, 1.0)
    turned = np.cos(math.pi * u) - np.sin(math.pi * u) * special.digamma(1 - u) / math.pi
    slope = np.where(is_low, special.beta(w, 1 - u) * turned, -out * special.digamma(v))
    return out * special.digamma(x + 1) + slope, -slope - out * special.digamma(y + 1)


def _gamma_density(a: Any, x: Any) -> Any:
    return np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))


@partials
def gammainc(out: Any, a: Any, x: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    return -template.gammaincc_by_a(a, x) if active[0] else None, _gamma_density(a, x)


@partials
def gammaincc(out: Any, a: Any, x: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    return template.gammaincc_by_a(a, x) if active[0] else None, -_gamma_density(a, x)


@partials
def gammaincc_by_a(out: Any, a: Any, x: Any) -> Any:
    return None, -_gamma_density(a, x) * (np.log(x) - special.digamma(a))


@partials
def gammaincinv(out: Any, a: Any, y: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    slope = 1 / _gamma_density(a, out)
    return template.gammaincc_by_a(a, out) * slope if active[0] else None, slope


@partials
def gammainccinv(out: Any, a: Any, y: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    slope = 1 / _gamma_density(a, out)
    return template.gammaincc_by_a(a, out) * slope if active[0] else None, -slope


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    powers = special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x)
    return np.exp(powers - special.betaln(a, b))


def _by_shapes(a: Any, b: Any, x: Any, factor: Any, active: tuple[bool, ...]) -> Any:
    """The derivatives of the incomplete beta function by its shapes, times a factor."""
    by_a = -template.betaincc_by_a(a, b, x) * factor if active[0] else None
    by_b = template.betainc_by_b(a, b, x) * factor if active[1] else None
    return by_a, by_b


_ALL = (True, True, True)


@partials
def betainc(out: Any, a: Any, b: Any, x: Any, *, active: tuple[bool, ...] = _ALL) -> Any:
    by_a, by_b = _by_shapes(a, b, x, 1.0, active)
    return by_a, by_b, _beta_density(a, b, x)


@partials
def betaincc(out: Any, a: Any, b: Any, x: Any, *, active: tuple[bool, ...] = _ALL) -> Any:
    by_a, by_b = _by_shapes(a, b, x, -1.0, active)
    return by_a, by_b, -_beta_density(a, b, x)


@partials
def betaincc_by_a(out: Any, a: Any, b: Any, x: Any) -> Any:
    slope = np.log(x) - special.digamma(a) + special.digamma(a + b)
    return None, None, -_beta_density(a, b, x) * slope


@partials
def betainc_by_b(out: Any, a: Any, b: Any, x: Any) -> Any:
    slope = np.log1p(-x) - special.digamma(b) + special.digamma(a + b)
    return None, None, _beta_density(a, b, x) * slope


@partials
def betaincinv(out: Any, a: Any, b: Any, y: Any, *, active: tuple[bool, ...] = _ALL) -> Any:
    slope = 1 / _beta_density(a, b, out)
    by_a, by_b = _by_shapes(a, b, out, -slope, active)
    return by_a, by_b, slope


@partials
def betainccinv(out: Any, a: Any, b: Any, y: Any, *, active: tuple[bool, ...] = _ALL) -> Any:
    slope = 1 / _beta_density(a, b, out)
    by_a, by_b = _by_shapes(a, b, out, -slope, active)
    return by_a, by_b, -slope


def _t_density(df: Any, t: Any) -> Any:
    """The density of Student's distribution."""
    constant = special.gammaln((df + 1.0) / 2) - special.gammaln(df / 2.0)
    power = (df + 1.0) / 2 * np.log1p(t * t / df)
    return np.exp(constant - power) / np.sqrt(math.pi * df)


@partials
def stdtr(out: Any, df: Any, t: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    return template.stdtr_by_df(df, t) if active[0] else None, _t_density(df, t)


@partials
def stdtr_by_df(out: Any, df: Any, t: Any) -> Any:
    constant = special.digamma((df + 1.0) / 2) - special.digamma(df / 2.0) - 1 / df
    square = t * t / df
    power = (df + 1.0) / df * square / (1 + square) - np.log1p(square)
    return None, 0.5 * _t_density(df, t) * (constant + power)


@partials
def stdtrit(out: Any, df: Any, p: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    slope = 1 / _t_density(df, out)
    return -template.stdtr_by_df(df, out) * slope if active[0] else None, slope


# --- entropies: products that are 0 where a factor is, whatever the other one ------------------


@partials
def xlogy(out: Any, x: Any, y: Any) -> Any:
    """The derivatives; if x is 0, so is the derivative in y, and that in x where the logarithm has
    no value."""
    log_y = np.log(np.where((x == 0) & (y <= 0), 1.0, y))
    return log_y, x / np.where((x == 0) & (y == 0), 1.0, y)


@partials
def xlog1py(out: Any, x: Any, y: Any) -> Any:
    """The derivatives have the same limits as those of `xlogy`."""
    log_y = np.log1p(np.where((x == 0) & (y <= -1), 0.0, y))
    return log_y, x / (1 + np.where((x == 0) & (y == -1), 0.0, y))


@partials
def entr(out: Any, x: Any) -> Any:
    """The derivative: infinite at 0, as the graph is steep there; 0 below, where the value is
    constant."""
    inside = x >= 0
    return np.where(inside, -1 - np.log(np.where(inside, x, 1.0)), 0.0)


@partials
def rel_entr(out: Any, x: Any, y: Any) -> Any:
    """0 where the value is constant: outside, and for y at x = 0."""
    inside = (x >= 0) & (y > 0)
    u, v = np.where(inside, x, 1.0), np.where(inside, y, 1.0)
    return np.where(inside, np.log(u / v) + 1, 0.0), np.where(inside, -u / v, 0.0)


@partials
def kl_div(out: Any, x: Any, y: Any) -> Any:
    """0 outside, where the value is constant."""
    inside = (x >= 0) & (y > 0)
    u, v = np.where(inside, x, 1.0), np.where(inside, y, 1.0)
    return np.where(inside, np.log(u / v), 0.0), np.where(inside, 1 - u / v, 0.0)


# --- exponential integrals and others ---------------------------------------------------------


@partials
def expn(out: Any, n: Any, x: Any, *, static: tuple[bool, ...] = (False, False)) -> Any:
    """Below order 0, where SciPy has none, it is ``(1 + x) exp(-x) / x ** 2``."""
    if static[0] and n == 0:
        return None, -(1 + x) * np.exp(-x) / (x * x)
    return None, -special.expn(n - 1, x)


@partials
def sici(out: Any, x: Any, *, part: str) -> Any:
    if part == "Si":
        return np.sinc(x / math.pi)
    return np.cos(x) / x


_LOG = tuple((-1) ** k / (k + 1) for k in range(13, -1, -1))  # of log(1 + x) / x


@partials
def spence(out: Any, x: Any) -> Any:
    """``log(x) / (1 - x)``, near 1 by its series."""
    w = x - 1
    is_small = np.abs(w) < 0.05
    u = np.where(is_small, w, 0.0)
    v = np.where(is_small, 1.0, w)
    return -np.where(is_small, _series(_LOG, u), np.log1p(v) / v)


_EXPREL = tuple((k + 1) / math.factorial(k + 2) for k in range(15, -1, -1))


def _exprel_slope(out: Any, x: Any) -> Any:
    """The derivative of ``out = (exp(x) - 1) / x``, near 0 by its series."""
    is_small = np.abs(x) < 0.5
    u = np.where(is_small, x, 0.0)
    v = np.where(is_small, 1.0, x)
    return np.where(is_small, _series(_EXPREL, u), out * (1 - 1 / v) + 1 / v)


@partials
def boxcox(out: Any, x: Any, lmbda: Any) -> Any:
    """The result is ``log(x) * exprel(lmbda * log(x))``."""
    log_x = np.log(x)
    t = lmbda * log_x
    slope = _exprel_slope(special.exprel(t), t)
    return np.exp((lmbda - 1.0) * log_x), log_x * log_x * slope


@partials
def boxcox1p(out: Any, x: Any, lmbda: Any) -> Any:
    log_x = np.log1p(x)
    t = lmbda * log_x
    slope = _exprel_slope(special.exprel(t), t)
    return np.exp((lmbda - 1.0) * log_x), log_x * log_x * slope


_INVERSE = tuple((-1) ** k * k / (k + 1) for k in range(17, 0, -1))


def _inverse_slope(w: Any) -> Any:
    """``(w / (1 + w) - log(1 + w)) / w ** 2``, near 0 by its series."""
    is_small = np.abs(w) < 0.1
    u = np.where(is_small, w, 0.0)
    v = np.where(is_small, 1.0, w)
    return np.where(is_small, _series(_INVERSE, u), (v / (1 + v) - np.log1p(v)) / (v * v))


@partials
def inv_boxcox(out: Any, y: Any, lmbda: Any) -> Any:
    w = lmbda * y
    return out / (1 + w), out * y * y * _inverse_slope(w)


@partials
def inv_boxcox1p(out: Any, y: Any, lmbda: Any) -> Any:
    w = lmbda * y
    return (out + 1) / (1 + w), (out + 1) * y * y * _inverse_slope(w)


@partials
def huber(out: Any, delta: Any, r: Any) -> Any:
    inside = delta >= 0
    slope = np.maximum(np.minimum(r, delta), -delta)
    return np.where(inside, np.maximum(np.abs(r) - delta, 0.0), 0.0), np.where(inside, slope, 0.0)


@partials
def pseudo_huber(out: Any, delta: Any, r: Any) -> Any:
    """At ``delta = r = 0`` it is 0."""
    inside = delta >= 0
    h = np.sqrt(delta * delta + r * r + ((delta == 0) & (r == 0)))
    ratio = r * r / (h + np.abs(delta))
    return np.where(inside, ratio * ratio / h, 0.0), np.where(inside, r * delta / h, 0.0)


@partials
def lambertw(out: Any, z: Any, k: Any) -> Any:
    """DLMF 4.13.4, in a form that holds at 0."""
    return np.exp(-out) / (1 + out), None


@partials
def owens_t(out: Any, h: Any, a: Any) -> Any:
    power = 1 + a * a
    by_h = -0.5 / _ROOT_2PI * np.exp(-0.5 * h * h) * special.erf(a * h / math.sqrt(2))
    return by_h, np.exp(-0.5 * h * h * power) / (2 * math.pi * power)


# --- hypergeometric functions, by the argument ------------------------------------------------


@partials
def hyp2f1(out: Any, a: Any, b: Any, c: Any, z: Any) -> Any:
    return None, None, None, a * b / c * special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)


# --- functions with several results -------------------------------------------------------------


@partials
def fresnel(out: Any, x: Any, *, part: str) -> Any:
    angle = math.pi / 2 * x * x
    return np.sin(angle) if part == "S" else np.cos(angle)


@partials
def shichi(out: Any, x: Any, *, part: str) -> Any:
    if part == "Shi":
        return np.where(x == 0, 1.0, np.sinh(x) / np.where(x == 0, 1.0, x))
    return np.cosh(x) / x


# --- polynomials, DLMF 18.9.15-28: of integers n -------------------------------------------------


@partials
def eval_legendre(out: Any, n: Any, x: Any) -> Any:
    return None, (n != 0) * special.eval_gegenbauer(n - (n != 0), 1.5, x)


@partials
def eval_chebyu(out: Any, n: Any, x: Any) -> Any:
    return None, 2.0 * (n != 0) * special.eval_gegenbauer(n - (n != 0), 2.0, x)


@partials
def eval_laguerre(out: Any, n: Any, x: Any) -> Any:
    return None, -1.0 * (n != 0) * special.eval_genlaguerre(n - (n != 0), 1.0, x)


@partials
def eval_genlaguerre(out: Any, n: Any, alpha: Any, x: Any) -> Any:
    lower = special.eval_genlaguerre(n - (n != 0), alpha + 1.0, x)
    return None, None, -1.0 * (n != 0) * lower


@partials
def eval_gegenbauer(out: Any, n: Any, alpha: Any, x: Any) -> Any:
    lower = special.eval_gegenbauer(n - (n != 0), alpha + 1.0, x)
    return None, None, 2.0 * (n != 0) * alpha * lower


@partials
def eval_jacobi(out: Any, n: Any, alpha: Any, beta: Any, x: Any) -> Any:
    lower = special.eval_jacobi(n - (n != 0), alpha + 1.0, beta + 1.0, x)
    return None, None, None, 0.5 * (n != 0) * (n + alpha + beta + 1.0) * lower
