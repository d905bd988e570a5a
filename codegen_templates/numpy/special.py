"""Spellings of functions of `scipy.special` that have several results, and of derivatives by shapes
and orders, which it has not: `gammaincc_by_a` is that of `gammaincc` by ``a``."""

from __future__ import annotations

from typing import Any

from ..by_shape import (
    betainc_slope,
    betaincc_slope,
    gammaincc_slope,
    iv_slope,
    ive_slope,
    jv_slope,
    kv_slope,
    kve_slope,
    stdtr_slope,
    yv_slope,
    zeta_slope,
)
from ..lazy import special
from ..marks import fresh
from .calls import call, part_of, with_function


@fresh
def gammaincc_by_a(a: Any, x: Any) -> Any:
    return gammaincc_slope(a, x)


@fresh
def betaincc_by_a(a: Any, b: Any, x: Any) -> Any:
    return betaincc_slope(a, b, x)


@fresh
def betainc_by_b(a: Any, b: Any, x: Any) -> Any:
    return betainc_slope(a, b, x)


@fresh
def stdtr_by_df(df: Any, t: Any) -> Any:
    return stdtr_slope(df, t)


@fresh
def jv_by_v(v: Any, x: Any) -> Any:
    return jv_slope(v, x)


@fresh
def yv_by_v(v: Any, x: Any) -> Any:
    return yv_slope(v, x)


@fresh
def iv_by_v(v: Any, x: Any) -> Any:
    return iv_slope(v, x)


@fresh
def ive_by_v(v: Any, x: Any) -> Any:
    return ive_slope(v, x)


@fresh
def kv_by_v(v: Any, x: Any) -> Any:
    return kv_slope(v, x)


@fresh
def kve_by_v(v: Any, x: Any) -> Any:
    return kve_slope(v, x)


@fresh
def zeta_by_x(x: Any, q: Any) -> Any:
    return zeta_slope(x, q)


@fresh
def airy(x: Any, *, part: str) -> Any:
    if part == "Ai":
        return special.airy(x)[0]
    if part == "Aip":
        return special.airy(x)[1]
    if part == "Bi":
        return special.airy(x)[2]
    return special.airy(x)[3]


@fresh
def ellipj(u: Any, m: Any, *, part: str) -> Any:
    if part == "sn":
        return special.ellipj(u, m)[0]
    if part == "cn":
        return special.ellipj(u, m)[1]
    if part == "dn":
        return special.ellipj(u, m)[2]
    return special.ellipj(u, m)[3]


# Functions that have several results. Rules call those above, and know plain functions alone.
sici = with_function(part_of, "special.sici", names=("Si", "Ci"))
shichi = with_function(part_of, "special.shichi", names=("Shi", "Chi"))
fresnel = with_function(part_of, "special.fresnel", names=("S", "C"))

# Functions of Python, which write into no array.
spherical_jn = with_function(call, "special.spherical_jn")
spherical_yn = with_function(call, "special.spherical_yn")
spherical_in = with_function(call, "special.spherical_in")
spherical_kn = with_function(call, "special.spherical_kn")
lambertw = with_function(call, "special.lambertw")
