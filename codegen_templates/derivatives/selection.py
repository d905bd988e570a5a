"""Rules of primitives that pass one of their operands on.

Where two operands that are both differentiated tie, each takes half of the cotangent, as the
symmetric subgradient does. A tie with an operand that is not differentiated gives 0: the
derivative of ``np.maximum(x, 0)`` at 0 is that of relu. ``active`` says which operands are
differentiated. `first_maximum` is the maximum where a tie goes to the first operand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import adjoint, partials
from ..numpy import elementwise as template


@partials
def maximum(out: Any, x: Any, y: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    if active == (True, True):
        half = 0.5 * np.equal(x, y).astype(out.dtype)
        return np.greater(x, y) + half, np.less(x, y) + half
    return np.greater(x, y), np.less(x, y)


@adjoint
def first_maximum(out: Any, x: Any, y: Any, d_out: Any) -> Any:
    """The cotangent goes to the first of operands that tie, as in pooling."""
    d_y = d_out * np.less(x, y)
    return d_out - d_y, d_y


@partials
def minimum(out: Any, x: Any, y: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    if active == (True, True):
        half = 0.5 * np.equal(x, y).astype(out.dtype)
        return np.less(x, y) + half, np.greater(x, y) + half
    return np.less(x, y), np.greater(x, y)


@partials
def fmax(out: Any, x: Any, y: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    """A NaN loses against a number."""
    x_wins = np.logical_or(np.greater(x, y), np.isnan(y))
    y_wins = np.logical_or(np.less(x, y), np.isnan(x))
    if active == (True, True):
        half = 0.5 * np.equal(x, y).astype(out.dtype)
        return x_wins + half, y_wins + half
    return x_wins, y_wins


@partials
def fmin(out: Any, x: Any, y: Any, *, active: tuple[bool, ...] = (True, True)) -> Any:
    """A NaN loses against a number."""
    x_wins = np.logical_or(np.less(x, y), np.isnan(y))
    y_wins = np.logical_or(np.greater(x, y), np.isnan(x))
    if active == (True, True):
        half = 0.5 * np.equal(x, y).astype(out.dtype)
        return x_wins + half, y_wins + half
    return x_wins, y_wins


@partials
def clip(out: Any, x: Any, low: Any, high: Any) -> Any:
    """``min(max(x, low), high)``; where the bounds cross, ``high`` wins."""
    inside = np.logical_and(np.less(low, x), np.less(x, high))
    below = np.logical_and(np.less(x, low), np.less(low, high))
    above = np.logical_or(np.less(high, x), np.less(high, low))
    return inside, below, above


@adjoint
def where(out: Any, cond: Any, x: Any, y: Any, d_out: Any) -> Any:
    return None, np.where(cond, d_out, 0.0), np.where(cond, 0.0, d_out)


@adjoint
def strong_product(out: Any, x: Any, y: Any, d_out: Any) -> Any:
    """Zeros of ``x`` win over any ``y``, and zeros of cotangents over any factor."""
    return template.strong_product(d_out, y), template.strong_product(x, d_out)


@adjoint
def strong_quotient(out: Any, x: Any, y: Any, d_out: Any) -> Any:
    """Zeros of ``x`` win over any ``y``, and zeros of cotangents over any divisor."""
    slope = template.strong_quotient(-out, y)
    return template.strong_quotient(d_out, y), template.strong_product(slope, d_out)
