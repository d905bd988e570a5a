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
    x = np.atleast_1d(_floating(a))
    shift = _shift(x if b is None else np.where(b == 0, -np.inf, x), axis)
    terms = np.exp(x - shift)
    total = np.sum(terms if b is None else b * terms, axis=axis, keepdims=True)
    if return_sign:
        size, sign = np.abs(total), np.sign(total)
        result = np.where(total == 0, -np.inf, np.log(np.where(total == 0, 1.0, size)) + shift)
        if keepdims:
            return result, sign
        return np.squeeze(result, axis)[()], np.squeeze(sign, axis)[()]
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


# --- short ones ----------------------------------------------------------------------------------


def voigt_profile(x: Any, sigma: Any, gamma: Any) -> Any:
    """The convolution of a normal density with Cauchy's, DLMF 7.19.1; for ``sigma = 0`` that."""
    is_sharp = sigma == 0
    width = np.where(is_sharp, 1.0, sigma)
    z = (x + 1j * gamma) / (width * math.sqrt(2))
    smooth = np.real(special.wofz(z)) / (width * math.sqrt(2 * math.pi))
    off = np.where(is_sharp, gamma, 1.0)
    sharp = off / (math.pi * (x * x + off * off))
    return np.where(is_sharp, sharp, smooth)[()]


def agm(a: Any, b: Any) -> Any:
    """The arithmetic-geometric mean of positive numbers, DLMF 19.8.5."""
    ratio = 2 * np.sqrt(a) * np.sqrt(b) / (a + b)
    return math.pi / 4 * (a + b) / special.ellipkm1(ratio * ratio)


def diric(x: Any, n: int) -> Any:
    """Dirichlet's function, ``sin(n x / 2) / (n sin(x / 2))``; ``n`` is static. Written as a sum of
    cosines, which has no gaps where the quotient is 0 / 0."""
    terms = [np.cos(k * x) for k in np.arange((1 - n) / 2, (n + 1) / 2).tolist()]
    return sum(terms[1:], terms[0]) / n


FUNCTIONS: dict[str, Any] = {
    "softplus": lambda x: np.logaddexp(0.0, x),  # ``log(1 + exp(x))``, without overflow
    # of angles in degrees
    "cosdg": lambda x: np.cos(np.asarray(x) * (math.pi / 180))[()],
    "sindg": lambda x: np.sin(np.asarray(x) * (math.pi / 180))[()],
    "tandg": lambda x: np.tan(np.asarray(x) * (math.pi / 180))[()],
    "cotdg": lambda x: 1 / np.tan(np.asarray(x) * (math.pi / 180))[()],
    # polynomials on the interval from 0 to 1, DLMF 18.1.2, and Chebyshev's on that from -2 to 2
    "eval_sh_legendre": lambda n, x: special.eval_legendre(n, 2 * x - 1),
    "eval_sh_chebyt": lambda n, x: special.eval_chebyt(n, 2 * x - 1),
    "eval_sh_chebyu": lambda n, x: special.eval_chebyu(n, 2 * x - 1),
    "eval_chebyc": lambda n, x: 2 * special.eval_chebyt(n, x / 2),
    "eval_chebys": lambda n, x: special.eval_chebyu(n, x / 2),
    "eval_sh_jacobi": lambda n, p, q, x: (
        special.eval_jacobi(n, p - q, q - 1, 2 * x - 1) / special.binom(2 * n + p - 1, n)
    ),
}
