"""Bessel functions of `scipy.special` written with those that are primitives: Hankel's and
Kelvin's, and derivatives by the argument, DLMF 10.6.7 and 10.29.5, of real numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import special


def hankel1(v: Any, z: Any) -> Any:
    """``jv + 1j * yv``, of a positive argument."""
    return special.jv(v, z) + 1j * special.yv(v, z)


def hankel2(v: Any, z: Any) -> Any:
    """``jv - 1j * yv``, of a positive argument."""
    return special.jv(v, z) - 1j * special.yv(v, z)


def hankel1e(v: Any, z: Any) -> Any:
    """`hankel1` times ``exp(-1j * z)``."""
    return hankel1(v, z) * np.exp(-1j * z)


def hankel2e(v: Any, z: Any) -> Any:
    """`hankel2` times ``exp(1j * z)``."""
    return hankel2(v, z) * np.exp(1j * z)


def kelvin(x: Any) -> Any:
    """Kelvin's functions and their derivatives, as complex numbers."""
    of_j = special.ber(x) + 1j * special.bei(x), special.berp(x) + 1j * special.beip(x)
    of_k = special.ker(x) + 1j * special.kei(x), special.kerp(x) + 1j * special.keip(x)
    return of_j[0], of_k[0], of_j[1], of_k[1]


def jvp(v: Any, z: Any, n: int = 1) -> Any:
    """The n-th derivative of ``jv``; ``n`` is static."""
    return _derivative(special.jv, -1, v, z, n)


def yvp(v: Any, z: Any, n: int = 1) -> Any:
    """The n-th derivative of ``yv``."""
    return _derivative(special.yv, -1, v, z, n)


def ivp(v: Any, z: Any, n: int = 1) -> Any:
    """The n-th derivative of ``iv``."""
    return _derivative(special.iv, 1, v, z, n)


def kvp(v: Any, z: Any, n: int = 1) -> Any:
    """The n-th derivative of ``kv``."""
    return (-1) ** n * _derivative(special.kv, 1, v, z, n)


def h1vp(v: Any, z: Any, n: int = 1) -> Any:
    """The n-th derivative of ``hankel1``."""
    return jvp(v, z, n) + 1j * yvp(v, z, n)


def h2vp(v: Any, z: Any, n: int = 1) -> Any:
    """The n-th derivative of ``hankel2``."""
    return jvp(v, z, n) - 1j * yvp(v, z, n)


def _derivative(function: Any, sign: int, v: Any, z: Any, n: int) -> Any:
    terms = [sign**k * math.comb(n, k) * function(v - n + 2.0 * k, z) for k in range(n + 1)]
    return sum(terms[1:], terms[0]) / 2**n
