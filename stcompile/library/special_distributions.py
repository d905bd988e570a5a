"""Distribution functions of `scipy.special` and their inverses, written with the incomplete gamma
and beta functions: values are SciPy's up to rounding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import special


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


# --- inverses ------------------------------------------------------------------------------------


def chdtri(v: Any, p: Any) -> Any:
    """The number above which chi-square has the probability ``p``."""
    return 2 * special.gammainccinv(v / 2, p)


def fdtri(dfn: Any, dfd: Any, p: Any) -> Any:
    """The quantile of F."""
    low, high = special.betaincinv(dfn / 2, dfd / 2, p), special.betainccinv(dfd / 2, dfn / 2, p)
    return dfd * low / (dfn * high)


def gdtrix(a: Any, b: Any, p: Any) -> Any:
    """The quantile of gamma, of the rate ``a`` and the shape ``b``."""
    return special.gammaincinv(b, p) / a


def bdtri(k: Any, n: Any, y: Any) -> Any:
    """The probability ``p`` for which ``bdtr(k, n, p)`` is ``y``."""
    counts = _counts(k)
    return special.betainccinv(counts + 1, n - counts, y)


def pdtri(k: Any, y: Any) -> Any:
    """The mean ``m`` for which ``pdtr(k, m)`` is ``y``."""
    return special.gammainccinv(_counts(k) + 1, y)


def nbdtri(k: Any, n: Any, y: Any) -> Any:
    """The probability ``p`` for which ``nbdtr(k, n, p)`` is ``y``."""
    return special.betaincinv(n, _counts(k) + 1, y)
