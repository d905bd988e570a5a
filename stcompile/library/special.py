"""Functions of `scipy.special` written with other functions: their value is SciPy's up to
rounding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import special
from stcompile.library import softmax as formulas


def polygamma(n: int, x: Any) -> Any:
    """The n-th derivative of the digamma function; ``n`` is static."""
    values = np.asarray(x).astype(np.float64)
    if n == 0:
        return np.asarray(special.digamma(values))
    factor = (-1.0) ** (n + 1) * math.gamma(n + 1)
    return np.asarray(factor * special.zeta(n + 1.0, values))


def multigammaln(a: Any, d: int) -> Any:
    """The logarithm of the multivariate gamma function, in double precision; ``d`` is static.
    `ValueError` where it is not defined."""
    values = np.asarray(a)
    if values.dtype.kind == "c":
        raise TypeError("multigammaln takes real numbers")
    if np.any(values <= 0.5 * (d - 1)):
        raise ValueError("condition a > 0.5 * (d-1) not met")
    total = special.loggamma(values - 0.0)
    for j in range(2, d + 1):
        total = total + special.loggamma(values - (j - 1.0) / 2)
    return np.float64(d * (d - 1) * 0.25 * math.log(math.pi)) + total


def softplus(x: Any) -> Any:
    """``log(1 + exp(x))``, without overflow."""
    return np.logaddexp(0.0, x)


def comb(N: Any, k: Any) -> Any:
    """The number of combinations, for real numbers; 0 outside ``0 <= k <= N``."""
    inside = (k <= N) & (N >= 0) & (k >= 0)
    ways = special.binom(np.where(inside, N, 1.0), np.where(inside, k, 0.0))
    return np.where(inside, ways, 0.0)[()]


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """``log(sum(b * exp(a)))`` without overflow. Where the sum is 0 it is ``-inf`` and flat, where
    the sum is negative NaN."""
    if return_sign:
        raise NotImplementedError("return_sign=True is not supported")
    x = np.atleast_1d(_floating(a))
    shift = _shift(x if b is None else np.where(b == 0, -np.inf, x), axis)
    terms = np.exp(x - shift)
    total = np.sum(terms if b is None else b * terms, axis=axis, keepdims=True)
    result = np.where(total == 0, -np.inf, np.log(np.where(total == 0, 1.0, total)) + shift)
    return result if keepdims else np.squeeze(result, axis)[()]


def softmax(x: Any, axis: Any = None) -> Any:
    """``exp(x) / sum(exp(x))`` without overflow."""
    values = _floating(x)
    return formulas.softmax(values, _shift(values, axis), axis)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """The logarithm of the softmax, also where that underflows."""
    values = _floating(x)
    return formulas.log_softmax(values, _shift(values, axis), axis)


def _floating(x: Any) -> Any:
    values = np.asarray(x)
    if values.dtype.kind == "b":
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported")
    return values.astype(np.float64) if values.dtype.kind in "iu" else values


def _shift(x: Any, axis: Any) -> Any:
    """The number that is subtracted before the exponential: any one near the largest will do. It is
    rounded down because the floor has no derivative: that of the maximum would cancel in the
    end."""
    largest = np.floor(np.max(x, axis=axis, keepdims=True))
    return np.where(np.isfinite(largest), largest, 0.0)


def spherical_slope(function: Any, sign: float, n: Any, z: Any) -> Any:
    """The derivative of a spherical Bessel function by its argument, DLMF 10.51.2 and 10.51.5."""
    first = -1.0 if function is special.spherical_kn else 1.0
    below = n * function(n - (n != 0), z)
    return (first * below + sign * (n + 1) * function(n + 1, z)) / (2 * n + 1)


# --- distribution functions: of the incomplete gamma and beta functions --------------------------


def chdtr(v: Any, x: Any) -> Any:
    """The distribution function of chi-square, for x >= 0."""
    return special.gammainc(v / 2, x / 2)


def chdtrc(v: Any, x: Any) -> Any:
    """The complement of `chdtr`."""
    return special.gammaincc(v / 2, x / 2)


def fdtr(dfn: Any, dfd: Any, x: Any) -> Any:
    """The distribution function of F."""
    return special.betainc(dfn / 2, dfd / 2, dfn * x / (dfd + dfn * x))


def fdtrc(dfn: Any, dfd: Any, x: Any) -> Any:
    """The complement of `fdtr`, of which the small part of 1 is exact."""
    return special.betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * x))


def gdtr(a: Any, b: Any, x: Any) -> Any:
    """The distribution function of gamma, of the rate ``a`` and the shape ``b``."""
    return special.gammainc(b, a * x)


def gdtrc(a: Any, b: Any, x: Any) -> Any:
    """The complement of `gdtr`."""
    return special.gammaincc(b, a * x)


def pdtr(k: Any, m: Any) -> Any:
    """The distribution function of Poisson, of the mean ``m``."""
    return special.gammaincc(_counts(k) + 1, m)


def pdtrc(k: Any, m: Any) -> Any:
    """The complement of `pdtr`."""
    return special.gammainc(_counts(k) + 1, m)


def bdtr(k: Any, n: Any, p: Any) -> Any:
    """The distribution function of ``n`` trials."""
    counts = _counts(k)
    return special.betaincc(counts + 1, n - counts, p)


def bdtrc(k: Any, n: Any, p: Any) -> Any:
    """The complement of `bdtr`; 1 below 0."""
    counts = _counts(np.maximum(k, 0))
    return np.where(k < 0, 1.0, special.betainc(counts + 1, n - counts, p))[()]


def nbdtr(k: Any, n: Any, p: Any) -> Any:
    """The distribution function of failures before ``n`` successes."""
    return special.betainc(n, _counts(k) + 1, p)


def nbdtrc(k: Any, n: Any, p: Any) -> Any:
    """The complement of `nbdtr`."""
    return special.betaincc(n, _counts(k) + 1, p)


def _counts(k: Any) -> Any:
    """The number rounded down; NaN below 0, as SciPy has it."""
    return np.floor(np.where(k < 0, math.nan, k))
