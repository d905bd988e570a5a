"""Associated Legendre functions and spherical harmonics of `scipy.special`, of degrees and orders
that are Python integers, by the recurrence DLMF 14.10.3 of what is left without the power of the
sine: it has derivatives of all orders, at the poles as well."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.library.conditions import is_known


def lpmv(m: Any, v: Any, x: Any) -> Any:
    """The associated Legendre function of the degree v and the order m, for ``-1 < x < 1``."""
    _require_integers("lpmv", v, m)
    at = np.asarray(x)
    if m < 0:
        factor = (-1.0) ** m * math.factorial(v + m) / math.factorial(v - m) if -m <= v else 0.0
        return factor * lpmv(-m, v, x)
    power = np.sqrt(1 - at * at) ** m
    return ((-1.0) ** m * power * _without_power(m, v, at))[()]


def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any) -> Any:
    """The spherical harmonic of the degree n and the order m, at the polar angle theta and the
    azimuth phi, DLMF 14.30.1."""
    _require_integers("sph_harm_y", n, m)
    polar, azimuth = np.asarray(theta), np.asarray(phi)
    order = abs(m)
    if order > n:
        return 0j * (polar + azimuth)[()]
    factor = (2 * n + 1) / (4 * math.pi) * math.factorial(n - order) / math.factorial(n + order)
    sign = (-1.0) ** order if m >= 0 else 1.0
    part = np.sin(polar) ** order * _without_power(order, n, np.cos(polar))
    return (sign * math.sqrt(factor) * part * np.exp(1j * m * azimuth))[()]


def _require_integers(name: str, n: Any, m: Any) -> None:
    if not (is_known(n) and is_known(m) and isinstance(n, int) and isinstance(m, int)) or n < 0:
        raise NotImplementedError(f"{name} takes a degree and an order that are Python integers")


def _without_power(m: int, n: int, x: Any) -> Any:
    """The associated Legendre function over ``(-1) ** m * (1 - x * x) ** (m / 2)``."""
    if m > n:
        return 0.0 * x
    before, now = 0.0 * x, float(math.prod(range(1, 2 * m, 2))) + 0.0 * x
    for k in range(m + 1, n + 1):
        before, now = now, ((2 * k - 1) * x * now - (k + m - 1) * before) / (k - m)
    return now
