"""Differences, derivatives and integrals of sampled functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.library.axes import along, normal, wide


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The n-th differences of neighbours along an axis, which gets n elements shorter."""
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    x = np.asarray(a)
    if x.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    at = normal(axis, x.ndim)
    parts = [_one(prepend, x, at), x, _one(append, x, at)]
    given = [part for part in parts if part is not None]
    if len(given) > 1:
        x = np.concatenate(given, axis=at)
    for _ in range(n):
        if x.dtype == np.bool_:
            x = np.not_equal(x[along(at, slice(1, None))], x[along(at, slice(None, -1))])
        else:
            x = x[along(at, slice(1, None))] - x[along(at, slice(None, -1))]
    return x


def _one(value: Any, x: Any, axis: int) -> Any:
    """The array put before or behind ``x``: a number becomes a single element of the axis."""
    if value is None:
        return None
    v = np.asarray(value)
    if v.ndim > 0:
        return v
    return np.broadcast_to(v, x.shape[:axis] + (1,) + x.shape[axis + 1 :])


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours of the flattened array, in the dtype of it."""
    x = np.ravel(ary)
    differences = x[1:] - x[:-1]
    first = [] if to_begin is None else [_end("to_begin", to_begin, x.dtype)]
    last = [] if to_end is None else [_end("to_end", to_end, x.dtype)]
    if not first and not last:
        return differences
    return np.concatenate([*first, differences, *last])


def _end(name: str, value: Any, dtype: Any) -> Any:
    """The values put before or behind differences of a dtype."""
    end = np.ravel(value)
    if not np.can_cast(end.dtype, dtype, "same_kind"):
        raise TypeError(
            f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
        )
    return end.astype(dtype)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral along an axis by the trapezoidal rule."""
    values = np.asarray(y)
    at = normal(axis, values.ndim)
    if x is None:
        d = dx
    elif np.ndim(x) == 1:
        d = np.reshape(diff(x), wide(values.ndim, at))
    else:
        d = diff(x, axis=axis)
    pairs = values[along(at, slice(1, None))] + values[along(at, slice(None, -1))]
    return np.sum(d * pairs / 2.0, axis=at)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Second-order central differences inside, one-sided differences of ``edge_order`` at the
    edges.

    The spacing is a number, or a number for each axis, or the coordinates along an axis as a
    vector. Where NumPy finds at run time that coordinates are evenly spaced, it uses the formula of
    a number; here a vector is always taken as uneven, which gives the same up to rounding.
    """
    values = np.asarray(f)
    if values.dtype.kind in "iu":
        values = values.astype(np.float64)
    ndim = values.ndim
    if axis is None:
        axes = list(range(ndim))
    elif isinstance(axis, tuple):
        axes = [normal(one, ndim) for one in axis]
    else:
        axes = [normal(axis, ndim)]
    if len(varargs) == 0:
        spacings = [1.0] * len(axes)
    elif len(varargs) == 1 and np.ndim(varargs[0]) == 0:
        spacings = [varargs[0]] * len(axes)
    elif len(varargs) == len(axes):
        spacings = list(varargs)
    else:
        raise TypeError("gradient takes one spacing, or one for each axis")
    if edge_order not in (1, 2):
        raise NotImplementedError("'edge_order' greater than 2 not supported")
    results = [_slope(values, h, at, edge_order) for at, h in zip(axes, spacings, strict=True)]
    return results[0] if len(results) == 1 else tuple(results)


def _slope(f: Any, h: Any, axis: int, edge_order: int) -> Any:
    if f.shape[axis] < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) "
            "elements are required."
        )
    out = np.empty_like(f)
    inside = along(axis, slice(1, -1))
    if np.ndim(h) == 0:
        after, before = f[along(axis, slice(2, None))], f[along(axis, slice(None, -2))]
        out[inside] = (after - before) / (2.0 * h)
        first, last = [h, h], [h, h]
    else:
        steps = diff(h)
        if np.ndim(h) != 1 or np.shape(h)[0] != f.shape[axis]:
            raise ValueError(
                "when 1d, distances must match the length of the corresponding dimension"
            )
        one, two = steps[:-1], steps[1:]
        shape = wide(f.ndim, axis)
        a = np.reshape(-two / (one * (one + two)), shape)
        b = np.reshape((two - one) / (one * two), shape)
        c = np.reshape(one / (two * (one + two)), shape)
        out[inside] = (
            a * f[along(axis, slice(None, -2))] + b * f[inside] + c * f[along(axis, slice(2, None))]
        )
        first, last = [steps[0], steps[min(1, f.shape[axis] - 2)]], [steps[-2:][0], steps[-1]]
    if edge_order == 1:
        out[along(axis, 0)] = (f[along(axis, 1)] - f[along(axis, 0)]) / first[0]
        out[along(axis, -1)] = (f[along(axis, -1)] - f[along(axis, -2)]) / last[1]
        return out
    if np.ndim(h) == 0:
        start = (-1.5 / h, 2.0 / h, -0.5 / h)
        end = (0.5 / h, -2.0 / h, 1.5 / h)
    else:
        one, two = first
        start = (
            -(2.0 * one + two) / (one * (one + two)),
            (one + two) / (one * two),
            -one / (two * (one + two)),
        )
        one, two = last
        end = (
            two / (one * (one + two)),
            -(two + one) / (one * two),
            (2.0 * two + one) / (two * (one + two)),
        )
    out[along(axis, 0)] = (
        start[0] * f[along(axis, 0)] + start[1] * f[along(axis, 1)] + start[2] * f[along(axis, 2)]
    )
    out[along(axis, -1)] = (
        end[0] * f[along(axis, -3)] + end[1] * f[along(axis, -2)] + end[2] * f[along(axis, -1)]
    )
    return out


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * np.pi) -> Any:
    """Jumps larger than half a period are taken out by multiples of the period."""
    x = np.asarray(p)
    at = normal(axis, x.ndim)
    steps = diff(x, axis=at)
    dtype = np.result_type(steps, period)
    if dtype.kind in "iu":
        high, odd = divmod(period, 2)
    else:
        high, odd = period / 2, 0
    wrapped = np.mod(steps - -high, period) + -high
    if odd == 0:  # half a period up or down is the same: the direction stays
        wrapped = np.where((wrapped == -high) & (steps > 0), high, wrapped)
    is_small = np.abs(steps) < (period / 2 if discont is None else discont)
    correction = np.where(is_small, 0, wrapped - steps)
    out = x.astype(dtype)
    later = along(at, slice(1, None))
    out[later] = x[later] + np.cumsum(correction, axis=at)
    return out


def polyval(p: Any, x: Any) -> Any:
    """The polynomial with coefficients ``p``, highest power first, by Horner's rule."""
    coefficients, at = np.asarray(p), np.asarray(x)
    y = np.zeros_like(at)
    for i in range(coefficients.shape[0]):
        y = y * at + coefficients[i]
    return y


def polyder(p: Any, m: int = 1) -> Any:
    """The coefficients of the m-th derivative of a polynomial."""
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    y = np.asarray(p)
    for _ in range(m):
        n = y.shape[0] - 1
        y = y[:-1] * np.arange(n, 0, -1)
    return y


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """The coefficients of the m-th integral of a polynomial, with constants ``k``."""
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    y = np.asarray(p)
    constants = [0.0] * m if k is None else k if isinstance(k, list | tuple) else [k] * m
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for one in constants[:m]:
        y = np.concatenate([y / np.arange(y.shape[0], 0, -1), np.reshape(one, (1,))])
    return y


def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: Any = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    """The coefficients of the polynomial of degree ``deg`` that fits best, by least squares; with
    ``cov`` their covariances, with ``full`` the residuals and the singular values besides."""
    at, values = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    left = np.vander(at, deg + 1)
    if w is not None:
        weights = np.asarray(w) + 0.0
        left = left * weights[:, None]
        values = values * (weights[:, None] if values.ndim == 2 else weights)
    scale = np.sqrt(np.sum(left * left, axis=0))
    left = left / scale
    if rcond is None and full:
        rcond = at.shape[0] * float(np.finfo(at.dtype).eps)
    solution = np.linalg.lstsq(left, values, rcond)[0]
    found = (solution.T / scale).T
    if not full and not cov:
        return found
    free = at.shape[0] - deg - 1
    misfit = values - np.dot(left, solution)
    squares = np.atleast_1d(np.sum(misfit * misfit, axis=0))
    if full:
        s = np.linalg.svdvals(left)
        rank = np.sum(s > rcond * s[0]).astype(np.int32)
        if rank <= deg:
            raise ValueError("polyfit: the matrix has not full rank, where NumPy has no residuals")
        return found, squares if free > 0 else squares[:0], rank, s, rcond
    base = np.linalg.inv(np.dot(left.T, left)) / np.outer(scale, scale)
    if cov == "unscaled":
        factor: Any = 1
    elif free <= 0:
        raise ValueError(
            "the number of data points must exceed order to scale the covariance matrix"
        )
    else:
        factor = squares / free
    return found, (base if values.ndim == 1 else base[:, :, None]) * factor


def roots(p: Any) -> Any:
    """The roots of a polynomial, of which neither the first nor the last coefficient is zero: the
    eigenvalues of its companion matrix."""
    given = np.atleast_1d(p)
    if given.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    if given[0] == 0 or given[-1] == 0:
        raise ValueError("roots: the first or the last coefficient is zero, which NumPy drops")
    if not np.iscomplexobj(given):
        raise NotImplementedError(
            "the roots of real coefficients are real or complex, which depends on their values: "
            "make the coefficients complex, p.astype(complex)"
        )
    n = given.shape[0] - 1
    if n == 0:
        return np.zeros(0)
    below = np.eye(n - 1, n, dtype=given.dtype)
    return np.linalg.eigvals(np.concatenate([(-given[1:] / given[0])[None], below]))


def polydiv(u: Any, v: Any) -> Any:
    """The quotient and the remainder of two polynomials, of which the remainder's first
    coefficient is not zero."""
    left, right = np.atleast_1d(u) + 0.0, np.atleast_1d(v) + 0.0
    m, n = left.shape[0] - 1, right.shape[0] - 1
    quotient = np.zeros(max(m - n + 1, 1), (left[0] + right[0]).dtype)
    rest = left.astype(quotient.dtype)
    scale = 1.0 / right[0]
    for k in range(m - n + 1):
        quotient[k] = scale * rest[k]
        rest[k : k + n + 1] -= quotient[k] * right
    rest = rest[max(min(m, m - n + 1), 0) :]
    if rest.shape[0] > 1 and np.allclose(rest[0], 0, rtol=1e-14):
        raise ValueError("polydiv: the remainder begins with zero, which NumPy drops")
    return quotient, rest


def polyadd(a1: Any, a2: Any) -> Any:
    """The coefficients of the sum of two polynomials."""
    x, y = _aligned(a1, a2)
    return x + y


def polysub(a1: Any, a2: Any) -> Any:
    """The coefficients of the difference of two polynomials."""
    x, y = _aligned(a1, a2)
    return x - y


def polymul(a1: Any, a2: Any) -> Any:
    """The coefficients of the product of two polynomials, of which the first are not zero."""
    x, y = np.atleast_1d(a1), np.atleast_1d(a2)
    if (x.shape[0] > 1 and x[0] == 0) or (y.shape[0] > 1 and y[0] == 0):
        raise ValueError("polymul: the leading coefficient is zero, which NumPy drops")
    return np.convolve(x, y)


def _aligned(a1: Any, a2: Any) -> Any:
    x, y = np.atleast_1d(a1), np.atleast_1d(a2)
    longer = max(x.shape[0], y.shape[0])
    return (
        x if x.shape[0] == longer else np.concatenate([np.zeros(longer - x.shape[0], x.dtype), x]),
        y if y.shape[0] == longer else np.concatenate([np.zeros(longer - y.shape[0], y.dtype), y]),
    )
