"""Distribution functions of `scipy.special` and their inverses, written with the incomplete gamma
and beta functions: values are SciPy's up to rounding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import special


def bdtr(k: Any, n: Any, p: Any) -> Any:
    """The distribution function of ``n`` trials."""
    counts = _counts(k)
    return special.betaincc(counts + 1, n - counts, p)


def bdtrc(k: Any, n: Any, p: Any) -> Any:
    """The complement of `bdtr`; 1 below 0."""
    counts = _counts(np.maximum(k, 0))
    return np.where(k < 0, 1.0, special.betainc(counts + 1, n - counts, p))[()]


def _counts(k: Any) -> Any:
    """The number rounded down; NaN below 0, as SciPy has it."""
    return np.floor(np.where(k < 0, math.nan, k))


def bdtri(k: Any, n: Any, y: Any) -> Any:
    """The probability ``p`` for which ``bdtr(k, n, p)`` is ``y``."""
    counts = _counts(k)
    return special.betainccinv(counts + 1, n - counts, y)


def fdtri(dfn: Any, dfd: Any, p: Any) -> Any:
    """The quantile of F."""
    low, high = special.betaincinv(dfn / 2, dfd / 2, p), special.betainccinv(dfd / 2, dfn / 2, p)
    return dfd * low / (dfn * high)


FUNCTIONS: dict[str, Any] = {
    # the distribution functions of chi-square, for x >= 0, of F, of gamma with the rate ``a`` and
    # the shape ``b``, of Poisson with the mean ``m``, and of failures before ``n`` successes, each
    # with its complement; the small part of 1 is exact in that of F
    "chdtr": lambda v, x: special.gammainc(v / 2, x / 2),
    "chdtrc": lambda v, x: special.gammaincc(v / 2, x / 2),
    "fdtr": lambda dfn, dfd, x: special.betainc(dfn / 2, dfd / 2, dfn * x / (dfd + dfn * x)),
    "fdtrc": lambda dfn, dfd, x: special.betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * x)),
    "gdtr": lambda a, b, x: special.gammainc(b, a * x),
    "gdtrc": lambda a, b, x: special.gammaincc(b, a * x),
    "pdtr": lambda k, m: special.gammaincc(_counts(k) + 1, m),
    "pdtrc": lambda k, m: special.gammainc(_counts(k) + 1, m),
    "nbdtr": lambda k, n, p: special.betainc(n, _counts(k) + 1, p),
    "nbdtrc": lambda k, n, p: special.betaincc(n, _counts(k) + 1, p),
    # the number above which chi-square has the probability ``p``; the quantile of gamma; the mean
    # for which ``pdtr``, and the probability for which ``nbdtr`` is ``y``
    "chdtri": lambda v, p: 2 * special.gammainccinv(v / 2, p),
    "gdtrix": lambda a, b, p: special.gammaincinv(b, p) / a,
    "pdtri": lambda k, y: special.gammainccinv(_counts(k) + 1, y),
    "nbdtri": lambda k, n, y: special.betaincinv(n, _counts(k) + 1, y),
}
