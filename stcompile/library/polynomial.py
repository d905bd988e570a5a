"""Series of `numpy.polynomial`: their values, sums, products and matrices.

Coefficients stand lowest degree first. The recurrences are NumPy's, term by term. Where NumPy drops
leading coefficients that are zero, the length of the result is that of coefficients that are not,
and a zero is an error of the compiled function.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from stcompile.library.axes import in_c_order


def coefficients(c: Any) -> Any:
    """Coefficients as floats, at least one axis."""
    given = np.atleast_1d(np.asarray(c))
    return given.astype(np.float64) if given.dtype.kind in "biu" else given


def _spread(c: Any, x: Any, tensor: bool) -> Any:
    """Coefficients with axes of length 1 for the axes of the points."""
    return np.reshape(c, c.shape + (1,) * np.ndim(x)) if tensor and np.ndim(x) else c


def _points(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, list | tuple) else x


# --- values --------------------------------------------------------------------------------------


def polyval(x: Any, c: Any, tensor: bool = True) -> Any:
    """The sum of c[n] x**n, by Horner's rule."""
    at = _points(x)
    a = _spread(coefficients(c), at, tensor)
    y = a[-1] + at * 0
    for i in range(2, a.shape[0] + 1):
        y = a[-i] + y * at
    return y


def polyvalfromroots(x: Any, r: Any, tensor: bool = True) -> Any:
    """The product of x - r[n]."""
    at = _points(x)
    roots = coefficients(r)
    if tensor:
        roots = _spread(roots, at, True)
    elif np.ndim(at) >= roots.ndim:
        raise ValueError("x.ndim must be < r.ndim when tensor == False")
    return np.prod(at - roots, axis=0)


def _clenshaw(first: Any, step: Any, x: Any, c: Any, tensor: bool = True) -> Any:
    """Evaluate a series by Clenshaw's recurrence. From the points ``first`` makes the polynomial of
    degree 1, and the factor for ``step``."""
    at = _points(x)
    a = _spread(coefficients(c), at, tensor)
    n = a.shape[0]
    one, factor = first(at)
    if n < 3:
        return a[0] + (a[1] if n > 1 else 0) * one
    low, high = a[-2], a[-1]
    for i in range(3, n + 1):
        low, high = step(a[-i], low, high, factor, n - i + 2)
    return low + high * one


# --- sums and products ---------------------------------------------------------------------------


def led(c: Any, name: str) -> Any:
    """Coefficients as floats, of which the last, that of the highest degree, is not zero."""
    a = coefficients(c)
    if a.ndim != 1 or a.shape[0] == 0:
        raise ValueError("Coefficient array is not 1-d")
    if a.shape[0] > 1 and a[-1] == 0:
        raise ValueError(f"{name}: the leading coefficient is zero, which NumPy drops")
    return a


def _padded(c: Any, length: int) -> Any:
    return (
        c if c.shape[0] == length else np.concatenate([c, np.zeros(length - c.shape[0], c.dtype)])
    )


def add(c1: Any, c2: Any) -> Any:
    """The coefficients of the sum of two series of one kind."""
    a, b = led(c1, "add"), led(c2, "add")
    length = max(a.shape[0], b.shape[0])
    return led(_padded(a, length) + _padded(b, length), "add")


def subtract(c1: Any, c2: Any) -> Any:
    """The coefficients of the difference of two series of one kind."""
    a, b = led(c1, "sub"), led(c2, "sub")
    length = max(a.shape[0], b.shape[0])
    return led(_padded(a, length) - _padded(b, length), "sub")


def polymul(c1: Any, c2: Any) -> Any:
    """The coefficients of the product of two polynomials."""
    return led(np.convolve(led(c1, "polymul"), led(c2, "polymul")), "polymul")


def chebmul(c1: Any, c2: Any) -> Any:
    """… of two Chebyshev series: that of their series in powers of z, with x = (z + 1/z) / 2."""
    product = np.convolve(_in_z(led(c1, "chebmul")), _in_z(led(c2, "chebmul")))
    n = (product.shape[0] + 1) // 2
    return led(np.concatenate([product[n - 1 : n], product[n:] * 2]), "chebmul")


# Kinds of series by their recurrences: P[n + 1] = (a(n) x + b(n)) P[n] - c(n) P[n - 1].
_RECURRENCES: dict[str, Any] = {
    "leg": (lambda n: (2 * n + 1) / (n + 1), lambda n: 0.0, lambda n: n / (n + 1)),
    "herm": (lambda n: 2.0, lambda n: 0.0, lambda n: 2.0 * n),
    "herme": (lambda n: 1.0, lambda n: 0.0, lambda n: 1.0 * n),
    "lag": (lambda n: -1 / (n + 1), lambda n: (2 * n + 1) / (n + 1), lambda n: n / (n + 1)),
}


def _mul(kind: str, c1: Any, c2: Any) -> Any:
    """The product of two series by Clenshaw's recurrence, which sums the first one with the
    multiplication of the second by x in place of x."""
    first, second = led(c1, f"{kind}mul"), led(c2, f"{kind}mul")
    a, b, c = _RECURRENCES[kind]
    n, length = first.shape[0], first.shape[0] + second.shape[0] - 1
    whole = _padded(second, length)
    ahead, beyond = np.zeros(length, whole.dtype), np.zeros(length, whole.dtype)
    for k in range(n - 1, -1, -1):
        step = a(k) * _times_x(kind, ahead) + b(k) * ahead - c(k + 1) * beyond
        ahead, beyond = first[k] * whole + step, ahead
    return led(ahead, f"{kind}mul")


def _times_x(kind: str, coefficients: Any) -> Any:
    """The series multiplied by x; the last coefficient is 0."""
    a, b, c = _RECURRENCES[kind]
    n = np.arange(coefficients.shape[0])
    up, same, down = (part(n) + 0.0 * n for part in (a, b, c))
    over = coefficients / up
    moved = np.concatenate([np.zeros(1), over[:-1]]) - over * same
    return moved + np.concatenate([(over * down)[1:], np.zeros(1)])


def _in_z(c: Any) -> Any:
    half = c / 2
    return np.concatenate([half[:0:-1], c[:1], half[1:]])


# --- matrices ------------------------------------------------------------------------------------


def _vander(first: Any, later: Any, x: Any, deg: int) -> Any:
    """1, ``first`` and the polynomials that ``later`` makes of the two before, along the last
    axis."""
    if deg < 0:
        raise ValueError("deg must be non-negative")
    at = np.atleast_1d(np.asarray(x)) + 0.0
    columns = [at * 0 + 1]
    if deg > 0:
        columns.append(first(at))
    for i in range(2, deg + 1):
        columns.append(later(columns[-1], columns[-2], at, i))
    return np.moveaxis(in_c_order(np.stack(columns)), 0, -1)


FUNCTIONS: dict[str, Any] = {
    # series of Chebyshev, Legendre, Hermite (the physicists' and the probabilists') and Laguerre
    "chebval": partial(_clenshaw, lambda t: (t, 2 * t), lambda a, v, w, t, d: (a - w, v + w * t)),
    "legval": partial(
        _clenshaw,
        lambda t: (t, t),
        lambda a, v, w, t, d: (a - w * ((d - 1) / d), v + w * t * ((2 * d - 1) / d)),
    ),
    "hermval": partial(
        _clenshaw, lambda t: (t * 2,) * 2, lambda a, v, w, t, d: (a - w * (2 * (d - 1)), v + w * t)
    ),
    "hermeval": partial(
        _clenshaw, lambda t: (t, t), lambda a, v, w, t, d: (a - w * (d - 1), v + w * t)
    ),
    "lagval": partial(
        _clenshaw,
        lambda t: (1 - t, t),
        lambda a, v, w, t, d: (a - (w * (d - 1)) / d, v + (w * ((2 * d - 1) - t)) / d),
    ),
    # the coefficients of the products of two series
    "legmul": partial(_mul, "leg"),
    "hermmul": partial(_mul, "herm"),
    "hermemul": partial(_mul, "herme"),
    "lagmul": partial(_mul, "lag"),
    # the polynomials up to a degree at each point, along the last axis
    "polyvander": partial(_vander, lambda t: t, lambda v, w, t, i: v * t),
    "chebvander": partial(_vander, lambda t: t, lambda v, w, t, i: v * (2 * t) - w),
    "legvander": partial(
        _vander, lambda t: t, lambda v, w, t, i: (v * t * (2 * i - 1) - w * (i - 1)) / i
    ),
    "hermvander": partial(
        _vander, lambda t: t * 2, lambda v, w, t, i: v * (t * 2) - w * (2 * (i - 1))
    ),
    "hermevander": partial(_vander, lambda t: t, lambda v, w, t, i: v * t - w * (i - 1)),
    "lagvander": partial(
        _vander, lambda t: 1 - t, lambda v, w, t, i: (v * (2 * i - 1 - t) - w * (i - 1)) / i
    ),
}
