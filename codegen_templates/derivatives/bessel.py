"""Partial derivatives of Bessel functions of `scipy.special`, and of Airy's, Kelvin's and Struve's.

Formulas: chapters 9 to 11 of the NIST Digital Library of Mathematical Functions. An input that has
``None`` is refused if it is differentiated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lazy import special
from ..marks import Table, partials
from ..numpy import special as template

PARTIALS: Table = {
    # Bessel functions: by their neighbours, which are finite at 0
    "i0": lambda out, x: special.i1(x),
    "i1": lambda out, x: 0.5 * (special.i0(x) + special.iv(2.0, x)),
    "i0e": lambda out, x: special.i1e(x) - np.sign(x) * out,
    "i1e": lambda out, x: 0.5 * (special.i0e(x) + special.ive(2.0, x)) - np.sign(x) * out,
    "j0": lambda out, x: -special.j1(x),
    "j1": lambda out, x: 0.5 * (special.j0(x) - special.jv(2.0, x)),
    "y0": lambda out, x: -special.y1(x),
    "y1": lambda out, x: 0.5 * (special.y0(x) - special.yv(2.0, x)),
    "k0": lambda out, x: -special.k1(x),
    "k1": lambda out, x: -special.k0(x) - out / x,
    "k0e": lambda out, x: out - special.k1e(x),
    "k1e": lambda out, x: out - special.k0e(x) - out / x,
    "yn": lambda out, n, x: (None, 0.5 * (special.yn(n - 1, x) - special.yn(n + 1, x))),
    # Airy and Kelvin functions
    "ber": lambda out, x: special.berp(x),
    "bei": lambda out, x: special.beip(x),
    "ker": lambda out, x: special.kerp(x),
    "kei": lambda out, x: special.keip(x),
    "berp": lambda out, x: -special.bei(x) - np.where(x == 0, 0.0, out / np.where(x == 0, 1.0, x)),
    "beip": lambda out, x: special.ber(x) - np.where(x == 0, 0.5, out / np.where(x == 0, 1.0, x)),
    "kerp": lambda out, x: -special.kei(x) - out / x,
    "keip": lambda out, x: special.ker(x) - out / x,
}

# --- Bessel functions: by their neighbours, which are finite at 0 -----------------------------


@partials
def iv(out: Any, v: Any, x: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    by_v = template.iv_by_v(v, x) if active[0] else None
    return by_v, 0.5 * (special.iv(v - 1.0, x) + special.iv(v + 1.0, x))


@partials
def iv_by_v(out: Any, v: Any, x: Any) -> Any:
    below, above = template.iv_by_v(v - 1.0, x), template.iv_by_v(v + 1.0, x)
    return None, 0.5 * (below + above)


@partials
def ive(out: Any, v: Any, x: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    by_v = template.ive_by_v(v, x) if active[0] else None
    return by_v, 0.5 * (special.ive(v - 1.0, x) + special.ive(v + 1.0, x)) - np.sign(x) * out


@partials
def ive_by_v(out: Any, v: Any, x: Any) -> Any:
    below, above = template.ive_by_v(v - 1.0, x), template.ive_by_v(v + 1.0, x)
    return None, 0.5 * (below + above) - np.sign(x) * out


@partials
def jv(out: Any, v: Any, x: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    by_v = template.jv_by_v(v, x) if active[0] else None
    return by_v, 0.5 * (special.jv(v - 1.0, x) - special.jv(v + 1.0, x))


@partials
def jv_by_v(out: Any, v: Any, x: Any) -> Any:
    below, above = template.jv_by_v(v - 1.0, x), template.jv_by_v(v + 1.0, x)
    return None, 0.5 * (below - above)


@partials
def yv(out: Any, v: Any, x: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    by_v = template.yv_by_v(v, x) if active[0] else None
    return by_v, 0.5 * (special.yv(v - 1.0, x) - special.yv(v + 1.0, x))


@partials
def yv_by_v(out: Any, v: Any, x: Any) -> Any:
    below, above = template.yv_by_v(v - 1.0, x), template.yv_by_v(v + 1.0, x)
    return None, 0.5 * (below - above)


@partials
def kv(out: Any, v: Any, x: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    by_v = template.kv_by_v(v, x) if active[0] else None
    return by_v, -0.5 * (special.kv(v - 1.0, x) + special.kv(v + 1.0, x))


@partials
def kv_by_v(out: Any, v: Any, x: Any) -> Any:
    below, above = template.kv_by_v(v - 1.0, x), template.kv_by_v(v + 1.0, x)
    return None, -0.5 * (below + above)


@partials
def kve(out: Any, v: Any, x: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    by_v = template.kve_by_v(v, x) if active[0] else None
    return by_v, out - 0.5 * (special.kve(v - 1.0, x) + special.kve(v + 1.0, x))


@partials
def kve_by_v(out: Any, v: Any, x: Any) -> Any:
    below, above = template.kve_by_v(v - 1.0, x), template.kve_by_v(v + 1.0, x)
    return None, out - 0.5 * (below + above)


@partials
def struve(out: Any, v: Any, x: Any) -> Any:
    """DLMF 11.4.29."""
    return None, special.struve(v - 1.0, x) - v * out / x


@partials
def modstruve(out: Any, v: Any, x: Any) -> Any:
    """DLMF 11.4.30."""
    return None, special.modstruve(v - 1.0, x) - v * out / x


# --- Airy and Kelvin functions ------------------------------------------------------------------


@partials
def airy(out: Any, x: Any, *, part: str) -> Any:
    if part in ("Aip", "Bip"):
        return x * template.airy(x, part=part[:2])
    return template.airy(x, part=part + "p")


# --- spherical Bessel functions, DLMF 10.51.2: of integers n -------------------------------------


@partials
def spherical_jn(out: Any, n: Any, z: Any) -> Any:
    below = n * special.spherical_jn(n - (n != 0), z)
    return None, (below - (n + 1) * special.spherical_jn(n + 1, z)) / (2 * n + 1)


@partials
def spherical_yn(out: Any, n: Any, z: Any) -> Any:
    below = n * special.spherical_yn(n - (n != 0), z)
    return None, (below - (n + 1) * special.spherical_yn(n + 1, z)) / (2 * n + 1)


@partials
def spherical_in(out: Any, n: Any, z: Any) -> Any:
    below = n * special.spherical_in(n - (n != 0), z)
    return None, (below + (n + 1) * special.spherical_in(n + 1, z)) / (2 * n + 1)


@partials
def spherical_kn(out: Any, n: Any, z: Any) -> Any:
    below = n * special.spherical_kn(n - (n != 0), z)
    return None, -(below + (n + 1) * special.spherical_kn(n + 1, z)) / (2 * n + 1)
