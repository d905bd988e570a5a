"""Adjoints of reductions; ``axis`` is a tuple of axes in ascending order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import adjoint
from .axes import at_least_one, count, lengthened, part, per_degree


def _kept(reduced: Any, axis: Any, keepdims: bool) -> Any:
    """A reduced value with its axes back, so that it broadcasts against the operand."""
    if keepdims or np.ndim(reduced) == 0:
        return reduced
    return np.expand_dims(reduced, axis)


def _conjugate(x: Any) -> Any:
    return np.conjugate(x) if np.iscomplexobj(x) else x


@adjoint
def sum(out: Any, x: Any, d_out: Any, *, axis: Any, keepdims: bool) -> Any:
    return np.broadcast_to(_kept(d_out, axis, keepdims), x.shape)


@adjoint
def mean(out: Any, x: Any, d_out: Any, *, axis: Any, keepdims: bool) -> Any:
    elements = at_least_one(count(x.shape, axis))  # a mean of nothing has no derivative
    return np.broadcast_to(_kept(d_out / elements, axis, keepdims), x.shape)


@adjoint
def prod(out: Any, x: Any, d_out: Any, *, axis: Any, keepdims: bool) -> Any:
    """The derivative for a factor is the product of all others.

    It is taken without a division, so that it is exact where factors are zero, and so are its own
    derivatives.
    """
    d_x = _kept(d_out, axis, keepdims)
    for i in axis:
        d_x = d_x * _product_of_others(x, i)
        x = np.prod(x, axis=(i,), keepdims=True)
    return d_x


def _product_of_others(x: Any, axis: int) -> Any:
    """For each element the product of the elements before it and of those after it.

    Both are running products, taken in log2(n) steps that double their reach (Hillis & Steele,
    1986).
    """
    length = x.shape[axis]
    x = lengthened(x, axis, 1)
    n = x.shape[axis]
    one = np.ones([1 if i == axis else d for i, d in enumerate(x.shape)], x.dtype)
    if n < 2:
        return one
    before = np.concatenate([one, x[part(axis, 0, n - 1)]], axis=axis)
    after = np.concatenate([x[part(axis, 1, n)], one], axis=axis)
    reach = 1
    while reach < n:
        reached = before[part(axis, reach, n)] * before[part(axis, 0, n - reach)]
        before = np.concatenate([before[part(axis, 0, reach)], reached], axis=axis)
        reached = after[part(axis, 0, n - reach)] * after[part(axis, reach, n)]
        after = np.concatenate([reached, after[part(axis, n - reach, n)]], axis=axis)
        reach = 2 * reach
    return (before * after)[part(axis, 0, length)]


@adjoint
def max(out: Any, x: Any, d_out: Any, *, axis: Any, keepdims: bool) -> Any:
    """Elements that tie share the cotangent evenly."""
    return _shared(out, x, d_out, axis, keepdims)


@adjoint
def min(out: Any, x: Any, d_out: Any, *, axis: Any, keepdims: bool) -> Any:
    """Elements that tie share the cotangent evenly."""
    return _shared(out, x, d_out, axis, keepdims)


def _shared(out: Any, x: Any, d_out: Any, axis: Any, keepdims: bool) -> Any:
    """The cotangent, where x is ``out``. The mask is cast first, because it is added up as well."""
    winners = (x == _kept(out, axis, keepdims)).astype(x.dtype)
    ties = np.sum(winners, axis=axis, keepdims=True)
    return winners * (_kept(d_out, axis, keepdims) / ties)


@adjoint
def var(out: Any, x: Any, d_out: Any, *, axis: Any, keepdims: bool, ddof: int) -> Any:
    scale = 2 * per_degree(x.shape, axis, ddof)
    deviation = x - np.mean(x, axis=axis, keepdims=True)
    return _kept(d_out * scale, axis, keepdims) * _conjugate(deviation)


@adjoint
def std(out: Any, x: Any, d_out: Any, *, axis: Any, keepdims: bool, ddof: int) -> Any:
    """0 where all elements are equal, where there is a kink."""
    scale = per_degree(x.shape, axis, ddof)
    deviation = x - np.mean(x, axis=axis, keepdims=True)
    if count(x.shape, axis) == 1:
        return _kept(d_out * scale, axis, keepdims) * _conjugate(deviation)
    return _kept(d_out * scale / (out + (out == 0)), axis, keepdims) * _conjugate(deviation)


@adjoint
def cumsum(out: Any, x: Any, d_out: Any, *, axis: int) -> Any:
    """Each element counts in all later sums: a sum from the end."""
    turned = part(axis, None, None, -1)
    return np.cumsum(d_out[turned], axis=axis)[turned]


@adjoint
def cumprod(out: Any, x: Any, d_out: Any, *, axis: int) -> Any:
    """``d_x[i]`` is the product of all elements before i, times g[i] = d_out[i] + x[i + 1] * g[i +
    1].

    No division, so that factors may be zero. The recurrence is a scan of affine maps, in log2(n)
    steps that double their reach (Hillis & Steele, 1986; Blelloch, 1990).
    """
    length = x.shape[axis]
    x, out, g = lengthened(x, axis, 1), lengthened(out, axis, 0), lengthened(d_out, axis, 0)
    n = x.shape[axis]
    if n < 2:
        return d_out
    one = np.ones([1 if i == axis else d for i, d in enumerate(x.shape)], x.dtype)
    before = np.concatenate([one, out[part(axis, 0, n - 1)]], axis=axis)
    factor = np.concatenate([x[part(axis, 1, n)], 0.0 * one], axis=axis)
    reach = 1
    while reach < n:
        near, far = part(axis, 0, n - reach), part(axis, reach, n)
        last = part(axis, n - reach, n)
        g = np.concatenate([g[near] + factor[near] * g[far], g[last]], axis=axis)
        factor = np.concatenate([factor[near] * factor[far], factor[last]], axis=axis)
        reach = 2 * reach
    return (before * g)[part(axis, 0, length)]
