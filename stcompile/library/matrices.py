"""Matrices out of vectors, parts of matrices, and products of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.library.axes import along, in_c_order, in_order_of, normal


def _zero(x: Any) -> Any:
    """Zero, of a kind that does not change the dtype."""
    return False if x.dtype == np.bool_ else 0


def diag(v: Any, k: int = 0) -> Any:
    """The matrix with a vector on its k-th diagonal, or the k-th diagonal of a matrix."""
    x = np.asarray(v)
    if x.ndim == 2:
        return np.diagonal(x, k)
    if x.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = x.shape[0] + abs(k)
    if k != 0:
        x = np.pad(x, (max(-k, 0), max(k, 0)))
    return np.where(np.eye(n, k=k, dtype=bool), x[:, None], _zero(x))


def diagflat(v: Any, k: int = 0) -> Any:
    """The matrix with the flattened array on its k-th diagonal."""
    return diag(np.ravel(v), k)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Write to the main diagonal of an array whose axes are all of one length, or of a matrix;
    ``wrap`` begins it again below a square."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and any(dim != a.shape[0] for dim in a.shape):
        raise ValueError("All dimensions of input must be of equal length")
    n = np.arange(min(a.shape))
    places = (n,) * a.ndim
    if wrap and a.ndim == 2:
        n = np.arange(0, a.size, a.shape[1] + 1)
        places = n // a.shape[1], n % a.shape[1]
    value = np.ravel(val)
    if value.shape[0] != 1:
        value = value[: n.shape[0]]
    a[places] = value


def _below(m: Any, k: int) -> Any:
    """True on and below the k-th diagonal of the last two axes."""
    rows, columns = m.shape[-2], m.shape[-1]
    return np.arange(rows)[:, None] >= np.arange(-k, columns - k)


def tri(N: int, M: Any = None, k: int = 0, dtype: Any = float) -> Any:
    """A matrix with ones on and below the k-th diagonal; its sizes are static."""
    columns = N if M is None else M
    return (np.arange(N)[:, None] >= np.arange(-k, columns - k)).astype(dtype)


def tril(m: Any, k: int = 0) -> Any:
    """The matrices with zeros above the k-th diagonal."""
    x = np.asarray(m)
    if x.ndim == 1:
        x = np.broadcast_to(x, (x.shape[0], x.shape[0]))
    return np.where(_below(x, k), x, _zero(x))


def triu(m: Any, k: int = 0) -> Any:
    """The matrices with zeros below the k-th diagonal."""
    x = np.asarray(m)
    if x.ndim == 1:
        x = np.broadcast_to(x, (x.shape[0], x.shape[0]))
    return np.where(_below(x, k - 1), _zero(x), x)


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """The powers of a vector as columns, by repeated multiplication."""
    v = np.asarray(x)
    if v.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = v.shape[0]
    columns = n if N is None else N
    dtype = np.promote_types(v.dtype, int)
    ones = np.ones((n, min(columns, 1)), dtype)
    if columns > 1:
        v = v.astype(dtype)
        powers = np.cumprod(np.broadcast_to(v[:, None], (n, columns - 1)), axis=1)
        ones = np.concatenate([ones, powers], axis=1)
    return ones if increasing else ones[:, ::-1]


def kron(a: Any, b: Any) -> Any:
    """The Kronecker product: every element of ``a`` times the array ``b``."""
    x, y = np.asarray(a), np.asarray(b)
    if x.ndim == 0 or y.ndim == 0:
        return np.multiply(x, y)
    ndim = max(x.ndim, y.ndim)
    left = (1,) * (ndim - x.ndim) + x.shape
    right = (1,) * (ndim - y.ndim) + y.shape
    spread_x = np.reshape(x, [n for dim in left for n in (dim, 1)])
    spread_y = np.reshape(y, [n for dim in right for n in (1, dim)])
    return np.reshape(spread_x * spread_y, [n * m for n, m in zip(left, right, strict=True)])


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    """The cross product of vectors of three elements."""
    if axis is not None:
        axisa, axisb, axisc = axis, axis, axis
    x, y = np.asarray(a), np.asarray(b)
    x = np.moveaxis(x, normal(axisa, x.ndim), -1)
    y = np.moveaxis(y, normal(axisb, y.ndim), -1)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError(f"cross takes vectors of dimension 3, not {x.shape[-1]} and {y.shape[-1]}")
    if x.ndim == y.ndim == 1:
        after, before = np.array([1, 2, 0]), np.array([2, 0, 1])
        return x[after] * y[before] - x[before] * y[after]
    x0, x1, x2 = x[..., 0], x[..., 1], x[..., 2]
    y0, y1, y2 = y[..., 0], y[..., 1], y[..., 2]
    parts = [x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0]
    ndim = np.ndim(parts[0]) + 1
    return np.moveaxis(in_c_order(np.stack(parts, axis=-1)), -1, normal(axisc, ndim))


def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """`numpy.linalg.cross`: of vectors of three elements along one axis."""
    return cross(x1, x2, axis=axis)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """The sum along a diagonal of two axes."""
    return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


def linalg_trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """`numpy.linalg.trace`: of the last two axes."""
    return trace(x, offset, -2, -1, dtype)


def linalg_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """`numpy.linalg.diagonal`: of the last two axes."""
    return np.diagonal(x, offset, -2, -1)


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """Append ``values`` to the array along an axis; without an axis both are flattened."""
    if axis is None:
        return np.concatenate([np.ravel(arr), np.ravel(values)])
    return np.concatenate([arr, values], axis=axis)


def _with_axis(arr: Any, axis: Any) -> tuple[Any, int, int]:
    """The array, flat without an axis; the axis, counted from the front, and its length."""
    x = np.ravel(arr) if axis is None else np.asarray(arr)
    at = normal(0 if axis is None else axis, x.ndim)
    return x, at, x.shape[at]


def _like(values: Any, x: Any) -> Any:
    """Values in the dtype of an array, with at least as many axes."""
    new = np.asarray(values).astype(x.dtype)
    return np.reshape(new, (1,) * max(x.ndim - new.ndim, 0) + new.shape)


def _positions(obj: Any, n: int, axis: int, end: int) -> Any:
    """Static positions ``obj`` on an axis of n elements, less than ``end``; negative positions
    count from the end of the axis."""
    if isinstance(obj, slice):
        return list(range(n)[obj])
    given = [obj] if isinstance(obj, int) else list(obj)
    for i in given:
        if isinstance(i, bool) or not isinstance(i, int):
            raise NotImplementedError("positions are integers known at compile time, or a slice")
        if not -n <= i < end:
            raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")
    return [i + n if i < 0 else i for i in given]


def _place(obj: int, n: int, axis: int, end: int) -> int:
    """A position that is known only at run time, from the start of the axis."""
    place = obj + n if obj < 0 else obj
    if place < 0 or place >= end:
        raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {n}")
    return place


def insert_at(arr: Any, obj: int, values: Any, axis: Any = None) -> Any:
    """``values``, one along the axis, before the elements at a position of it."""
    x, at, n = _with_axis(arr, axis)
    place = _place(obj, n, at, n + 1)
    new = _like(values, x)
    new = np.broadcast_to(np.moveaxis(new, 0, at), x.shape[:at] + (1,) + x.shape[at + 1 :])
    order = np.arange(n + 1)
    source = np.where(order == place, n, order - (order > place))
    return in_order_of(np.concatenate([x, new], axis=at)[along(at, source)], x)


def delete_at(arr: Any, obj: int, axis: Any = None) -> Any:
    """The array without the elements at a position of an axis."""
    x, at, n = _with_axis(arr, axis)
    order = np.arange(n - 1)
    return in_order_of(x[along(at, order + (order >= _place(obj, n, at, n)))], x)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """``values`` before the elements at static positions ``obj`` of an axis.

    At a single position all of ``values`` along the axis are inserted, at several positions a value
    for each. With an integer the first axis of ``values`` is the axis along which they are
    inserted.
    """
    x, at, n = _with_axis(arr, axis)
    places = _positions(obj, n, at, n + 1)
    new = _like(values, x)
    if isinstance(obj, int):
        new = np.moveaxis(new, 0, at)
    count = new.shape[at] if len(places) == 1 else len(places)
    new = np.broadcast_to(new, x.shape[:at] + (count,) + x.shape[at + 1 :])
    if len(places) == 1:
        before = x[along(at, slice(None, places[0]))]
        after = x[along(at, slice(places[0], None))]
        return in_order_of(np.concatenate([before, new, after], axis=at), x)
    order = sorted(range(count), key=lambda j: places[j])
    taken, source = 0, []
    for j in order:
        source += [*range(taken, places[j]), n + j]
        taken = places[j]
    source += list(range(taken, n))
    both = np.concatenate([x, new], axis=at)
    return in_order_of(both[along(at, np.array(source, int))], x)


def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """The array without the elements at static positions ``obj`` of an axis."""
    x, at, n = _with_axis(arr, axis)
    gone = _positions(obj, n, at, n)
    left = [i for i in range(n) if i not in gone]
    kept = x[along(at, np.array(left, int))]
    return in_order_of(kept, x) if isinstance(obj, slice) or len(gone) == 1 else kept
