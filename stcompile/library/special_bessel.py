"""Bessel functions of `scipy.special` written with those that are primitives: Hankel's and
Kelvin's, and derivatives by the argument, DLMF 10.6.7 and 10.29.5, of real numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import special


def kelvin(x: Any) -> Any:
    """Kelvin's functions and their derivatives, as complex numbers."""
    of_j = special.ber(x) + 1j * special.bei(x), special.berp(x) + 1j * special.beip(x)
    of_k = special.ker(x) + 1j * special.kei(x), special.kerp(x) + 1j * special.keip(x)
    return of_j[0], of_k[0], of_j[1], of_k[1]


def _derivative(function: Any, sign: int, v: Any, z: Any, n: int) -> Any:
    """The n-th derivative of a function; ``n`` is static."""
    terms = [sign**k * math.comb(n, k) * function(v - n + 2.0 * k, z) for k in range(n + 1)]
    return sum(terms[1:], terms[0]) / 2**n


FUNCTIONS: dict[str, Any] = {
    # ``jv`` plus or minus ``1j * yv``, of a positive argument; and times ``exp`` of ``1j * z``
    "hankel1": lambda v, z: special.jv(v, z) + 1j * special.yv(v, z),
    "hankel2": lambda v, z: special.jv(v, z) - 1j * special.yv(v, z),
    "hankel1e": lambda v, z: (special.jv(v, z) + 1j * special.yv(v, z)) * np.exp(-1j * z),
    "hankel2e": lambda v, z: (special.jv(v, z) - 1j * special.yv(v, z)) * np.exp(1j * z),
    # the n-th derivatives of ``jv``, ``yv``, ``iv``, ``kv``, ``hankel1`` and ``hankel2``
    "jvp": lambda v, z, n=1: _derivative(special.jv, -1, v, z, n),
    "yvp": lambda v, z, n=1: _derivative(special.yv, -1, v, z, n),
    "ivp": lambda v, z, n=1: _derivative(special.iv, 1, v, z, n),
    "kvp": lambda v, z, n=1: (-1) ** n * _derivative(special.kv, 1, v, z, n),
    "h1vp": lambda v, z, n=1: (
        _derivative(special.jv, -1, v, z, n) + 1j * _derivative(special.yv, -1, v, z, n)
    ),
    "h2vp": lambda v, z, n=1: (
        _derivative(special.jv, -1, v, z, n) - 1j * _derivative(special.yv, -1, v, z, n)
    ),
}
