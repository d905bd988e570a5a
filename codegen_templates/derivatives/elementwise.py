"""Partial derivatives of elementwise primitives: one formula for each input.

Formulas: Abramowitz & Stegun, chapters 4.1 to 4.6. A rule reads the result ``out`` where that
saves work, and keeps the dtype of its operands: every constant is a weak Python number.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..lazy import special
from ..marks import Table, partials
from ..numpy import elementwise as template
from .axes import one_to_divide

PARTIALS: Table = {
    # arithmetic
    "negative": lambda out, x: -1.0,
    "add": lambda out, x, y: (1.0, 1.0),
    "subtract": lambda out, x, y: (1.0, -1.0),
    "multiply": lambda out, x, y, *, spelling="*": (y, x),
    "divide": lambda out, x, y: (one_to_divide(out, y) / y, -out / y),
    "floor_divide": lambda out, x, y: (0.0, 0.0),
    "remainder": lambda out, x, y: (1.0, -(x // y)),
    "ldexp": lambda out, x, y: (np.ldexp(np.ones_like(x), y), None),
    "square": lambda out, x: 2 * x,
    "reciprocal": lambda out, x: -out * out,
    "copysign": lambda out, x, y: (np.sign(x) * np.copysign(1.0, y), 0.0),
    "heaviside": lambda out, x, y: (0.0, np.equal(x, 0)),
    # exponentials and roots
    "exp": lambda out, x: out,
    "exp2": lambda out, x: out * math.log(2),
    "expm1": lambda out, x: out + 1,
    "log": lambda out, x: 1 / x,
    "log2": lambda out, x: 1 / (x * math.log(2)),
    "log10": lambda out, x: 1 / (x * math.log(10)),
    "log1p": lambda out, x: 1 / (1 + x),
    "logaddexp": lambda out, x, y: (np.exp(_share(out, x)), np.exp(_share(out, y))),
    "logaddexp2": lambda out, x, y: (np.exp2(_share(out, x)), np.exp2(_share(out, y))),
    "sqrt": lambda out, x: 0.5 / out,
    "cbrt": lambda out, x: 1 / (3 * out * out),
    # trigonometric and hyperbolic functions
    "sin": lambda out, x: np.cos(x),
    "cos": lambda out, x: -np.sin(x),
    "tan": lambda out, x: 1 + out * out,
    "arcsin": lambda out, x: 1 / np.sqrt(1 - x * x),
    "arccos": lambda out, x: -1 / np.sqrt(1 - x * x),
    "arctan": lambda out, x: 1 / (1 + x * x),
    "sinh": lambda out, x: np.cosh(x),
    "cosh": lambda out, x: np.sinh(x),
    "tanh": lambda out, x: 1 - out * out,
    "arcsinh": lambda out, x: 1 / np.sqrt(x * x + 1),
    "arctanh": lambda out, x: 1 / (1 - x * x),
    "deg2rad": lambda out, x: math.pi / 180,
    "rad2deg": lambda out, x: 180 / math.pi,
}

# --- arithmetic ------------------------------------------------------------------------------


@partials
def power(
    out: Any,
    x: Any,
    y: Any,
    *,
    spelling: str = "**",
    static: tuple[bool, ...] = (False, False),
) -> Any:
    """Constants (``static``) get the formula of a textbook; the general one is finite at x = 0.

    There ``y - (y != 0)`` makes the derivative of x ** 0 zero, not zero times infinity, and
    ``x + (x == 0)`` that of 0 ** y, for y > 0. A negative base has no derivative in y.
    """
    if static[1] and y == 0:
        return 0.0, None
    if static[1] and y == 1:
        return 1.0, None
    if static[1] and y == 2:
        return 2 * x, None
    if static[1] and y == 0.5:
        return 0.5 / out, None
    if static[1]:
        return y * x ** (y - 1), None
    if np.iscomplexobj(out):  # real numbers are converted first: negative ones have a logarithm
        base = x if np.iscomplexobj(x) else x + 0j
        return y * base ** (y - (y != 0)), out * np.log(base + (base == 0))
    if static[0] and x > 0:
        return None, out * math.log(x)
    return y * x ** (y - (y != 0)), out * np.log(x + (x == 0))


@partials
def float_power(out: Any, x: Any, y: Any, *, static: tuple[bool, ...] = (False, False)) -> Any:
    return power(out, x, y, static=static)


@partials
def fmod(out: Any, x: Any, y: Any) -> Any:
    """The quotient is computed as ``(x - out) / y``, since ``x / y`` may be rounded up to the next
    integer."""
    return 1.0, -np.rint((x - out) / y)


@partials
def absolute(out: Any, x: Any, *, spelling: str = "np.abs") -> Any:
    """The derivative for complex numbers is conj(z) / abs(z), and 0 at 0."""
    if np.iscomplexobj(x):
        return np.conjugate(x) / (out + (out == 0))
    return np.sign(x)


@partials
def hypot(out: Any, x: Any, y: Any) -> Any:
    """0 at 0, where there is a kink."""
    norm = out + (out == 0)
    return x / norm, y / norm


def _share(out: Any, x: Any) -> Any:
    """The logarithm of the share that x has in a sum of exponentials: 0 for inf, and -inf for -inf,
    where both terms are 0 as well."""
    return np.where(np.isinf(x), np.minimum(x, 0.0), x - out)


# --- trigonometric and hyperbolic functions --------------------------------------------------


@partials
def sinc(out: Any, x: Any) -> Any:
    """The quotient cancels near 0. There the derivative is that of the Taylor polynomial of sin(pi
    x) / (pi x), whose own derivatives are right as well."""
    is_small = np.abs(x) < 0.05
    u = np.where(is_small, x, 0.0)
    v = np.where(is_small, 1.0, x)
    t = (math.pi * u) ** 2
    series = 4 / 362880 - t * (5 / 39916800 - t * (6 / 6227020800))
    series = 1 / 6 - t * (2 / 120 - t * (3 / 5040 - t * series))
    series = -2 * math.pi**2 * u * series
    quotient = (np.cos(math.pi * v) - np.sin(math.pi * v) / (math.pi * v)) / v
    return np.where(is_small, series, quotient)


@partials
def arctan2(out: Any, x: Any, y: Any) -> Any:
    """0 at 0, where there is no derivative."""
    square = x * x + y * y
    square = square + (square == 0)
    return y / square, -x / square


@partials
def arccosh(out: Any, x: Any) -> Any:
    if np.iscomplexobj(x):  # the root of the product is another branch
        return 1 / (np.sqrt(x - 1) * np.sqrt(x + 1))
    return 1 / np.sqrt(x * x - 1)


# --- steps: flat wherever they have a derivative ---------------------------------------------


@partials
def sign(out: Any, x: Any) -> Any:
    return 0.0


floor = ceil = trunc = rint = spacing = sign


@partials
def nextafter(out: Any, x: Any, y: Any) -> Any:
    """The next number moves with the first operand; the second operand only gives the direction."""
    return 1.0, 0.0


@partials
def frexp(out: Any, x: Any, *, part: str) -> Any:
    """The exponent is an integer."""
    return np.ldexp(np.ones_like(x), -template.frexp(x, part="exponent"))


@partials
def i0(out: Any, x: Any) -> Any:
    """The derivative is another Bessel function, which NumPy does not have: this needs SciPy."""
    return special.i1(x)
