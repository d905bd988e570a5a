"""Partial derivatives of elliptic integrals and of functions of them.

Formulas: the NIST Digital Library of Mathematical Functions, 19.4 (Legendre's integrals), 19.18
(Carlson's) and 22.13 (Jacobi's functions), in forms that do not cancel where m is small.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..lazy import special
from ..marks import Table, partials
from ..numpy import special as template

_NEAR = 0.05  # relative distance of operands below which the series is used
_SERIES = ((3.0, 1.0), (5.0, 1.5), (7.0, 1.875), (9.0, 2.1875), (11.0, 2.4609375))
"""Powers of the denominator, and the coefficients of the power series of (1 - x) ** -1.5."""

PARTIALS: Table = {
    "ellipk": lambda out, m: math.pi / 8 * special.hyp2f1(1.5, 1.5, 2.0, m),
    "ellipe": lambda out, m: -math.pi / 8 * special.hyp2f1(0.5, 1.5, 2.0, m),
    "ellipkm1": lambda out, p: -0.5 * (out - special.elliprd(0.0, p, 1.0) / 3) / p,
}


@partials
def ellipkinc(out: Any, phi: Any, m: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    sine = np.sin(phi)
    return 1 / np.sqrt(1 - m * sine * sine), _ellipkinc_by_m(phi, m) if active[1] else None


def _ellipkinc_by_m(phi: Any, m: Any) -> Any:
    """From Carlson's form, of the angle that is left of whole half turns."""
    sine, cosine = np.sin(phi), np.cos(phi)
    turns = np.rint(phi / math.pi)
    part = np.where(np.rint(turns / 2) * 2 == turns, sine, -sine)
    whole = math.pi / 4 * turns * special.hyp2f1(1.5, 1.5, 2.0, np.where(turns == 0, 0.0, m))
    rest = 1 - m * sine * sine
    return part**3 / 6 * special.elliprd(cosine * cosine, 1.0, rest) + whole


@partials
def ellipj(out: Any, u: Any, m: Any, *, part: str, active: tuple[bool, ...] = (True, True)) -> Any:
    """The amplitude is the inverse of `ellipkinc`, and the others are functions of it."""
    sine, cosine = template.ellipj(u, m, part="sn"), template.ellipj(u, m, part="cn")
    delta = template.ellipj(u, m, part="dn")
    by_m = None
    if active[1]:
        by_m = -delta * _ellipkinc_by_m(template.ellipj(u, m, part="ph"), m)
    if part == "ph":
        return delta, by_m
    if part == "dn":
        slope = -m * sine * cosine / delta
        direct = -sine * sine / (2 * delta)
        return slope * delta, direct + slope * by_m if active[1] else None
    slope = cosine if part == "sn" else -sine
    return slope * delta, slope * by_m if active[1] else None


@partials
def ellipeinc(out: Any, phi: Any, m: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    """By m from Carlson's form, of the angle that is left of whole half turns."""
    sine, cosine = np.sin(phi), np.cos(phi)
    rest = 1 - m * sine * sine
    by_m = None
    if active[1]:
        turns = np.rint(phi / math.pi)
        part = np.where(np.rint(turns / 2) * 2 == turns, sine, -sine)
        whole = math.pi / 4 * turns * special.hyp2f1(0.5, 1.5, 2.0, np.where(turns == 0, 0.0, m))
        by_m = -(part**3) / 6 * special.elliprd(cosine * cosine, rest, 1.0) - whole
    return np.sqrt(rest), by_m


@partials
def elliprf(out: Any, x: Any, y: Any, z: Any) -> Any:
    by_x, by_y = special.elliprd(y, z, x), special.elliprd(x, z, y)
    return -by_x / 6, -by_y / 6, -special.elliprd(x, y, z) / 6


@partials
def elliprd(out: Any, x: Any, y: Any, z: Any) -> Any:
    """By z from those by x and y: the function is homogeneous, of degree -3/2. For ``x = 0``, where
    its slope is infinite, x times the slope is 0."""
    by_x, by_y = _elliprd_by_first(out, x, y, z), _elliprd_by_first(out, y, x, z)
    along_x = x * np.where(x == 0, 0.0, by_x)
    along_y = y * np.where(y == 0, 0.0, by_y)
    return by_x, by_y, -(1.5 * out + along_x + along_y) / z


def _elliprd_by_first(out: Any, x: Any, y: Any, z: Any) -> Any:
    """The divided difference of DLMF 19.18.9, or its series where x is near z.

    Of ``d = (z - x) / 2`` and ``c = (z + x) / 2``, the integrand over t has
    ``((t + x) * (t + z)) ** -1.5``, which is ``(t + c) ** -3 * (1 - (d / (t + c)) ** 2) ** -1.5``:
    a power series, of which each term is a hypergeometric function."""
    is_near = np.abs(z - x) <= _NEAR * z
    gap = np.where(is_near, 1.0, z - x)
    far = (out - special.elliprd(y, z, x)) / (2 * gap)
    centre, other = np.where(is_near, 0.5 * (x + z), 1.0), np.where(is_near, y, 1.0)
    distance = np.where(is_near, 0.5 * (z - x), 0.0) / centre
    total = 0.0
    for power, coefficient in reversed(_SERIES):
        function = special.hyp2f1(power - 0.5, 0.5, power + 0.5, 1 - other / centre)
        total = total * (distance * distance) + coefficient / (power - 0.5) * function
    return np.where(is_near, -0.75 * total / centre**2.5, far)
