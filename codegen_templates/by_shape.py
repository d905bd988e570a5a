"""Derivatives by shape parameters and by orders, as integrals: functions of plain NumPy that
generated code calls. Their text is printed beside it.

Under each integral is a function that does not change its sign, so that nothing cancels: of a
distribution function the tail is taken in which it does not. The rule of quadrature is that of
Takahasi & Mori (1974), "Double exponential formulas for numerical integration", on an interval that
ends where the function is negligible. Formulas: the NIST Digital Library of Mathematical Functions
(DLMF), sections 8.2, 8.17, 10.32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .lazy import special
from .marks import helper


@helper
def in_blocks(function: Any, *operands: Any) -> Any:
    """A function of columns, of operands of any shapes: block by block, as it needs a hundred times
    the memory. NaN where a result is not finite."""
    operands = np.broadcast_arrays(*operands)
    columns = [np.array(operand, np.float64).reshape(-1, 1) for operand in operands]
    made = np.empty(operands[0].size)
    with np.errstate(all="ignore"):
        for start in range(0, made.size, 1024):
            part = slice(start, start + 1024)
            made[part] = function(*[column[part] for column in columns])[:, 0]
    return np.where(np.isfinite(made), made, np.nan).reshape(operands[0].shape)[()]


@helper
def unit_nodes(count: Any) -> Any:
    """The nodes and the weights of the double exponential rule between 0 and 1."""
    t = np.linspace(-3.2, 3.2, count)
    grown = np.exp(np.pi * np.sinh(t))
    nodes = grown / (1 + grown)
    return nodes, 6.4 / (count - 1) * np.pi * np.cosh(t) * nodes / (1 + grown)


@helper
def weighted_sum(values: Any, weights: Any) -> Any:
    """The integral as a column, from a row of values for each of its elements."""
    return np.sum(values * weights, axis=-1, keepdims=True)


# --- the incomplete gamma function -----------------------------------------------------------


@helper
def gammaincc_slope(a: Any, x: Any) -> Any:
    """The derivative of `special.gammaincc` by its shape."""
    return in_blocks(lambda *parts: gammaincc_slopes(*parts), a, x)


@helper
def gammaincc_slopes(a: Any, x: Any) -> Any:
    """With t = x exp(v) it is x**a exp(-x) / gamma(a) times the integral of exp(a v - x expm1(v))
    |log(t) - digamma(a)| from 0 to the side on which the logarithm does not change its sign. Up to
    x = 1/2 it is the series of DLMF 8.7.1, term by term."""
    log_x = np.log(x)
    gap = log_x - special.digamma(a)
    series, term = 0.0, -np.exp(a * log_x - special.gammaln(a))
    for n in range(22):
        series = series + term * (gap / (a + n) - 1 / (a + n) ** 2)
        term = -term * x / (n + 1)
    big = np.maximum(x, 0.5)
    d = 2 * np.maximum(a - big, -0.5) - 42
    down = 168 / (d + np.sqrt(d * d + 336 * a))  # there the function is less than exp(-42)
    up = 84 / (big - a + np.sqrt((big - a) ** 2 + 84 * big))
    for _ in range(4):
        up = np.log1p((42 + a * up) / big)
    length = np.where(gap < 0, -down, up)
    nodes, weights = unit_nodes(97)
    v = length * nodes
    values = np.exp(a * v - big * np.expm1(v)) * (gap + v)
    rest = gamma_weight(a, big) * length * weighted_sum(values, weights)
    value = np.where(x <= 0.5, series, rest)
    edge = (x == 0) | np.isinf(x)  # the function is 1 or 0 there, whatever the shape is
    return np.where((a > 0) & edge, 0.0, np.where((a > 0) & (x > 0), value, np.nan))


@helper
def gamma_weight(a: Any, x: Any) -> Any:
    """x**a exp(-x) / gamma(a); for large shapes by Stirling's series, DLMF 5.11.1, where a log(a)
    has cancelled."""
    big = np.maximum(a, 16.0)
    away = (x - big) / big
    w = 1 / (big * big)
    series = (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w / 1680))) / big
    stirling = 0.5 * np.log(big / (2 * np.pi)) - series - big * (away - np.log1p(away))
    plain = a * np.log(x) - x - special.gammaln(a)
    return np.exp(np.where(a < 16, plain, stirling))


# --- the incomplete beta function, Student's distribution ------------------------------------


@helper
def betaincc_slope(a: Any, b: Any, x: Any) -> Any:
    """The derivative of `special.betaincc` by its first shape."""
    return in_blocks(lambda *parts: betaincc_slopes(*parts), a, b, x, np.subtract(1.0, x))


@helper
def betainc_slope(a: Any, b: Any, x: Any) -> Any:
    """The derivative of `special.betainc` by its second shape: of `special.betaincc` with x and
    1 - x and the shapes exchanged."""
    return in_blocks(lambda *parts: betaincc_slopes(*parts), b, a, np.subtract(1.0, x), x)


@helper
def betaincc_slopes(a: Any, b: Any, x: Any, y: Any) -> Any:
    """For y = 1 - x. At the ends the function is 1 or 0, whatever the shapes are."""
    log_x = np.where(x < 0.5, np.log(x), np.log1p(-y))
    log_y = np.where(y < 0.5, np.log(y), np.log1p(-x))
    weight = np.exp(a * log_x + b * log_y - special.betaln(a, b))
    value = weight * beta_ratio(a, b, x, y, log_x, log_y)
    valid = (a > 0) & (b > 0) & (x >= 0) & (y >= 0)
    return np.where(valid, np.where((x == 0) | (y == 0), 0.0, value), np.nan)


@helper
def beta_ratio(a: Any, b: Any, x: Any, y: Any, log_x: Any, log_y: Any) -> Any:
    """The derivative of `special.betaincc` by its first shape over x**a y**b / beta(a, b).

    The recurrences DLMF 8.17.20-21 raise the shape that gives the length of the tail. Then, for a
    left tail, t/x = exp(-v - r) and (1 - t)/(1 - x) = exp(-r) with r = log1p(x expm1(-v)), and for
    the right one the same with x and 1 - x exchanged. Their logarithms change most at logit(x),
    where the interval is divided."""
    gap = special.digamma(a) - special.digamma(a + b) - log_x
    left = gap > 0
    p, z, rest = np.where(left, a, b), np.where(left, x, y), np.where(left, y, x)
    log_rest = np.where(left, log_y, log_x)
    first = np.where(left, gap + 1 / a, -gap) / p
    gap = gap + np.where(left, 1 / a, 0.0) - 1 / (a + b)
    factor, p, s = z * (a + b) / p, p + 1, a + b + 1
    length = beta_length(p, s, z, rest, log_rest)
    middle = np.clip(special.logit(z), 0.0, length)
    nodes, weights = unit_nodes(97)
    total = 0.0
    for start, width in ((0.0, middle), (middle, length - middle)):
        v = start + width * nodes
        r = np.where(v < 0.5, np.log1p(z * np.expm1(-v)), np.log(rest + z * np.exp(-v)))
        values = np.exp(-p * v - s * r) * np.where(left, gap + v + r, -gap - r)
        total = total + width * weighted_sum(values, weights)
    return first + factor * total


@helper
def beta_length(p: Any, s: Any, z: Any, rest: Any, log_rest: Any) -> Any:
    """The v from which on exp(-p v - s r) is less than exp(-42): by Newton's method from the right,
    of a convex function. Here ``rest`` is 1 - z."""
    length = (42 - s * log_rest) / p
    for _ in range(12):
        r = np.log(rest + z * np.exp(-length))
        rate = np.maximum(p - s * z * np.exp(-length - r), 1e-300)
        shorter = length - (p * length + s * r - 42) / rate
        length = np.clip(shorter, 0.1 * length, length)
    return length


@helper
def stdtr_slope(df: Any, t: Any) -> Any:
    """The derivative of `special.stdtr` by the degrees of freedom."""
    return in_blocks(lambda *parts: stdtr_slopes(*parts), df, t)


@helper
def stdtr_slopes(df: Any, t: Any) -> Any:
    """From DLMF 8.17.1 with a = df / 2, b = 1 / 2, x = df / (df + t t): the left tail is half of
    the incomplete beta function, of which x changes with df as well. The slope of that is under the
    integral, too (`bend`), so that what is left over is small where df is large. Around t = 0, up
    to where it changes its sign, the integral is one from there."""
    a, square = df / 2, t * t / df
    x, rest = 1 / (1 + square), square / (1 + square)
    log_x, log_rest = -np.log1p(square), np.log(rest)
    big = np.maximum(a, 20.0)
    w = 1 / (big * big)
    series = w * (1 / 8 - w * (1 / 64 - w * (1 / 128 - w * (17 / 2048 - w * 31 / 2048))))
    gap = np.where(a < 20, special.digamma(a + 0.5) - special.digamma(a) - 0.5 / a, series)
    length = beta_length(a, a + 0.5, x, rest, log_rest)
    middle = np.clip(special.logit(x), 0.0, length)
    nodes, weights = unit_nodes(97)
    total = 0.0
    for start, width in ((0.0, middle), (middle, length - middle)):
        v = start + width * nodes
        inner = rest + x * np.exp(-v)
        r = np.where(v < 0.5, np.log1p(x * np.expm1(-v)), np.log(inner))
        bend = stdtr_bend(a, rest / inner, log_x - v - r) + gap
        values = np.exp(-a * v - (a + 0.5) * r) * bend
        total = total + width * weighted_sum(values, weights)
    total = total * np.exp(a * log_x)
    near = rest * nodes * nodes
    log_near = np.log1p(-near)
    bend = stdtr_bend(a, near, log_near) + gap
    inside = -2 * weighted_sum(np.exp((a - 1) * log_near) * bend, weights)
    total = np.where(stdtr_bend(a, rest, log_x) + gap > 0, inside, total)
    value = -0.25 * np.sign(t) * np.sqrt(rest) * np.exp(-special.betaln(a, 0.5)) * total
    return np.where(df > 0, np.where((t == 0) | np.isinf(t), 0.0, value), np.nan)


@helper
def stdtr_bend(a: Any, away: Any, log: Any) -> Any:
    """``away + log(1 - away) + away / (2 a)``, with the given logarithm."""
    return np.where(away < 0.5, away + np.log1p(-away), away + log) + away / (2 * a)


# --- Bessel functions --------------------------------------------------------------------------


@helper
def kv_slope(v: Any, x: Any) -> Any:
    """The derivative of `special.kv` by its order."""
    return in_blocks(lambda *parts: kv_slopes(*parts), v, x, 0.0)


@helper
def kve_slope(v: Any, x: Any) -> Any:
    """The derivative of `special.kve` by its order."""
    return in_blocks(lambda *parts: kv_slopes(*parts), v, x, x)


@helper
def kv_slopes(v: Any, x: Any, shift: Any) -> Any:
    """exp(shift) times the integral of t sinh(v t) exp(-x cosh(t)) from 0, of DLMF 10.32.9. It is
    divided where exp(-x cosh(t)) vanishes, and written with the distance from the largest value."""
    order, s = np.abs(v), np.hypot(v, x)
    peak = np.arcsinh(order / x)
    stop = peak + np.arccosh(1 + 42 / s)
    start = np.maximum(peak - (21 + np.sqrt(441 + 84 * s)) / s, 0.0)
    middle = np.clip(np.arcsinh(np.maximum(order, 1.0) / x), start, stop)
    nodes, weights = unit_nodes(97)
    total = 0.0
    for low, width in ((start, middle - start), (middle, stop - middle)):
        t = low + width * nodes
        away = t - peak
        drop = 2 * s * np.sinh(away / 2) ** 2 + order * (np.sinh(away) - away)
        values = -0.5 * t * np.expm1(-2 * order * t) * np.exp(-drop)
        total = total + width * weighted_sum(values, weights)
    value = np.sign(v) * np.exp(order * peak - s + shift) * total
    return np.where(x > 0, value, np.nan)


@helper
def iv_slope(v: Any, x: Any) -> Any:
    """The derivative of `special.iv` by its order."""
    return in_blocks(lambda *parts: iv_slopes(*parts), v, x, 0.0)


@helper
def ive_slope(v: Any, x: Any) -> Any:
    """The derivative of `special.ive` by its order."""
    return in_blocks(lambda *parts: iv_slopes(*parts), v, x, x)


@helper
def iv_slopes(v: Any, x: Any, shift: Any) -> Any:
    """exp(-shift) times the derivative of DLMF 10.32.12: the path goes from the saddle, at
    arcsinh(v / x), up to pi i above it, and then to the right. Of a negative order by DLMF 10.27.2.
    """
    order, s = np.abs(v), np.hypot(v, x)
    saddle = np.arcsinh(order / x)
    nodes, weights = unit_nodes(193)
    widest = np.arccos(np.maximum(1 - 42 / s, -1.0))
    angle = widest * nodes
    phase = order * (np.sin(angle) - angle)
    values = angle * np.sin(phase) - saddle * np.cos(phase)
    upwards = weighted_sum(values * np.exp(-2 * s * np.sin(angle / 2) ** 2), weights) * widest
    stop = np.minimum(np.arccosh(1 + 42 / s), 21 / order)
    middle = np.minimum(np.arccosh(1 + 1 / s), stop)
    sine, cosine = np.sin(np.pi * order), np.cos(np.pi * order)
    sideways = 0.0
    for low, width in ((0.0, middle), (middle, stop - middle)):
        t = low + width * nodes
        values = np.exp(-2 * s * np.sinh(t / 2) ** 2 - order * (np.sinh(t) + t))
        values = values * (sine * (saddle + t) / np.pi - cosine)
        sideways = sideways + width * weighted_sum(values, weights)
    base = -order * saddle - shift
    value = np.exp(base + s) * upwards / np.pi + np.exp(base - s) * sideways
    other = np.pi * cosine * special.kve(order, x)
    other = (other + sine * kv_slopes(order, x, x)) * np.exp(-x - shift) * 2 / np.pi
    value = np.where(v < 0, -value - other, value)
    return np.where(x > 0, value, np.where((x == 0) & (v > 0), 0.0, np.nan))


@helper
def jv_slope(v: Any, x: Any) -> Any:
    """The derivative of `special.jv` by its order."""
    return in_blocks(lambda *parts: jv_slopes(*parts), v, x)


@helper
def yv_slope(v: Any, x: Any) -> Any:
    """The derivative of `special.yv` by its order."""
    return in_blocks(lambda *parts: yv_slopes(*parts), v, x)


@helper
def jv_slopes(v: Any, x: Any) -> Any:
    """Connect negative orders with positive ones, DLMF 10.4.7."""
    order = np.abs(v)
    of_j, of_y = hankel_slopes(order, x)
    sine, cosine = np.sin(np.pi * order), np.cos(np.pi * order)
    turned = np.pi * (sine * special.jv(order, x) + cosine * special.yv(order, x))
    value = np.where(v < 0, turned - cosine * of_j + sine * of_y, of_j)
    return np.where(x > 0, value, np.where((x == 0) & (v > 0), 0.0, np.nan))


@helper
def yv_slopes(v: Any, x: Any) -> Any:
    """Connect negative orders with positive ones, DLMF 10.4.7."""
    order = np.abs(v)
    of_j, of_y = hankel_slopes(order, x)
    sine, cosine = np.sin(np.pi * order), np.cos(np.pi * order)
    turned = np.pi * (sine * special.yv(order, x) - cosine * special.jv(order, x))
    return np.where(x > 0, np.where(v < 0, turned - sine * of_j - cosine * of_y, of_y), np.nan)


@helper
def hankel_slopes(v: Any, x: Any) -> Any:
    """The derivatives of J and Y by an order that is not negative: of Sommerfeld's integral for the
    Hankel function, DLMF 10.9.18, on paths that lead down from the saddle."""
    is_order = (v > x)[:, 0]
    of_j, of_y = np.empty_like(v), np.empty_like(v)
    of_j[is_order], of_y[is_order] = hankel_slope_of_order(v[is_order], x[is_order])
    both = hankel_slope_of_argument(v[~is_order], x[~is_order])
    of_j[~is_order], of_y[~is_order] = both.real, both.imag
    return of_j, of_y


@helper
def hankel_slope_of_argument(v: Any, x: Any) -> Any:
    """For v <= x: from the saddle at i b with cos(b) = v / x to the left, towards the real axis,
    and to the right, towards pi i."""
    b = np.arctan2(np.sqrt((x - v) * (x + v)), v)
    nodes, weights = unit_nodes(193)
    total = 0.0
    for side, end in ((-1.0, 0.0), (1.0, np.pi)):
        turn = np.abs(end - b)
        turn = np.maximum(turn, 1e-300)
        stop = 6 + np.arcsinh(60 / x)
        for _ in range(60):
            half = 0.5 * stop
            height = end - side * turn * np.exp(-half / turn)
            down = v * half - x * np.sinh(half) * np.cos(height)
            down = np.where(side < 0, -down, down)
            stop = np.where(down > 42, half, stop)
        middle = np.minimum(np.arcsinh(1 / x), stop)
        for low, width in ((0.0, middle), (middle, stop - middle)):
            t = low + width * nodes
            rest = np.exp(-t / turn)
            w = side * t + 1j * (end - side * turn * rest)
            values = -w * np.exp(x * np.sinh(w) - v * w) * (1 + 1j * rest)
            total = total + width * weighted_sum(values, weights)
    return total / (np.pi * 1j)


@helper
def hankel_slope_of_order(v: Any, x: Any) -> Any:
    """For v >= x, those of J and Y: along the real axis to the saddle at arccosh(v / x), and then
    where the exponent stays real, cosh(Re(w)) = (v / x) Im(w) / sin(Im(w)), towards pi i."""
    more = (v - x) / x
    saddle = np.arcsinh(np.sqrt(more * (more + 2)))
    nodes, weights = unit_nodes(193)
    angle = np.pi * nodes
    sine = np.sin(np.pi * np.minimum(nodes, nodes[::-1]))  # the nodes are symmetric
    lag = angle - sine
    small = angle < 0.3
    w = np.where(small, angle, 0.0) ** 2
    lag = np.where(small, angle * w / 6 * (1 - w / 20 * (1 - w / 42 * (1 - w / 72))), lag)
    grown = (more * angle + lag) / sine  # cosh(u) - 1
    u = 2 * np.arcsinh(np.sqrt(grown / 2))
    turned = np.where(small, angle * w / 3 * (1 - w / 10 * (1 - w / 28 * (1 - w / 54))), 0.0)
    turned = np.where(small, turned, sine - angle * np.cos(angle))
    rate = (1 + more) * turned / (sine * sine * np.sqrt(grown * (grown + 2)))
    level = np.exp(x * np.sinh(u) * np.cos(angle) - v * u)
    of_j = -weighted_sum(level * (u + angle * rate), weights)
    of_y = -weighted_sum(level * (angle - u * rate), weights)
    s = x * np.sinh(saddle)
    excess = 2 * x * x / (v + s)  # 2 (v - s)
    total = 0.0
    for side, stop in ((-1.0, 6 + np.arcsinh(60 / x)), (1.0, 2 * saddle)):
        for _ in range(60):
            half = 0.5 * stop
            drop = v * (np.expm1(-side * half) + side * half)
            drop = drop - excess * np.sinh(half / 2) ** 2
            stop = np.where(drop > 42, half, stop)
        middle = np.clip(np.arcsinh(1 / x) - saddle, 0.0, stop)
        for low, width in ((0.0, middle), (middle, stop - middle)):
            t = low + width * nodes
            drop = v * (np.expm1(-side * t) + side * t) - excess * np.sinh(t / 2) ** 2
            values = (side * t - saddle) * np.exp(-drop)
            total = total + width * weighted_sum(values, weights)
    return of_j, of_y + np.exp(v * saddle - s) * total / np.pi


# --- the zeta function -------------------------------------------------------------------------


@helper
def zeta_slope(x: Any, q: Any) -> Any:
    """The derivative of `special.zeta` by its first operand."""
    return in_blocks(lambda *parts: zeta_slopes(*parts), x, q)


@helper
def zeta_slopes(x: Any, q: Any) -> Any:
    """The formula of Euler and Maclaurin, DLMF 25.11.5 and 25.11.7, term by term: 20 terms of the
    sum, its integral, and 8 corrections of the Bernoulli numbers over factorials."""
    n = q + np.arange(20)
    total = -np.sum(np.log(n) * n**-x, axis=-1, keepdims=True)
    a = q + 20
    log_a, power = np.log(a), a**-x
    total = total - power * (a * (log_a + 1 / (x - 1)) / (x - 1) + log_a / 2)
    factor, slope = x / a, 1 / x  # of x (x + 1) ... and its logarithm
    numbers = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
    scale = 1.0
    for k, number in enumerate(numbers, 1):
        scale = scale * (2 * k - 1) * (2 * k)
        total = total + number / scale * factor * power * (slope - log_a)
        for j in (2 * k - 1, 2 * k):
            factor, slope = factor * (x + j) / a, slope + 1 / (x + j)
    return np.where((x > 1) & (q > 0), total, np.nan)


HELPERS = {
    own: value
    for own, value in [*globals().items()]
    if getattr(value, "__dict__", {}).get("mark") == "helper"
}
"""The functions of this module, by their names."""
