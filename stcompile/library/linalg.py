"""Linear algebra made of products, roots and factorisations."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.library.axes import flat_as_stored, normal


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The products of vectors along an axis; the vectors of the first operand are conjugated."""
    x, y = np.asarray(x1), np.asarray(x2)
    if x.ndim == 0 or y.ndim == 0:
        raise ValueError("vecdot: an operand has no axis")
    if x.shape[axis] != y.shape[axis]:
        raise ValueError(f"vecdot: axes of lengths {x.shape[axis]} and {y.shape[axis]}")
    x, y = np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1)
    return np.matmul(_conjugate(x)[..., None, :], y[..., :, None])[..., 0, 0][()]


def matvec(x1: Any, x2: Any, /) -> Any:
    """The products of matrices and vectors."""
    x, y = np.asarray(x1), np.asarray(x2)
    if x.ndim < 2 or y.ndim == 0 or x.shape[-1] != y.shape[-1]:
        raise ValueError(f"matvec: {x.shape} and {y.shape} do not fit (m,n),(n)->(m)")
    return np.matmul(x, y[..., :, None])[..., 0]


def vecmat(x1: Any, x2: Any, /) -> Any:
    """The products of vectors, conjugated, and matrices."""
    x, y = np.asarray(x1), np.asarray(x2)
    if y.ndim < 2 or x.ndim == 0 or x.shape[-1] != y.shape[-2]:
        raise ValueError(f"vecmat: {x.shape} and {y.shape} do not fit (n),(n,m)->(m)")
    return np.matmul(_conjugate(x)[..., None, :], y)[..., 0, :]


def _conjugate(x: Any) -> Any:
    return np.conjugate(x) if np.iscomplexobj(x) else x


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of vectors or matrices. At a zero vector, where a norm has a kink, the derivative is
    0."""
    values = np.asarray(x)
    if values.dtype.kind in "biu":
        values = values.astype(np.float64)
    ndim = values.ndim
    if axis is None:
        is_plain = ord is None or (ord in ("f", "fro") and ndim == 2) or (ord == 2 and ndim == 1)
        if is_plain:
            flat = flat_as_stored(values)
            if np.iscomplexobj(flat):
                squares = np.dot(flat.real, flat.real) + np.dot(flat.imag, flat.imag)
            else:
                squares = np.dot(flat, flat)
            result = _root(squares)
            return np.reshape(result, (1,) * ndim) if keepdims else result
        axes = tuple(range(ndim))
    elif isinstance(axis, tuple | list):
        axes = tuple(normal(one, ndim) for one in axis)
    else:
        axes = (normal(axis, ndim),)
    if len(axes) == 1:
        return _vector_norm(values, 2 if ord is None else ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if axes[0] == axes[1]:
        raise ValueError("Duplicate axes given.")
    return _matrix_norm(values, "fro" if ord is None else ord, axes, keepdims)


def _root(squares: Any) -> Any:
    """The root of a sum of squares, flat at 0."""
    return np.where(squares == 0, squares, np.sqrt(squares))[()]


def _squares(x: Any) -> Any:
    return (np.conjugate(x) * x).real if np.iscomplexobj(x) else x * x


def _greatest(x: Any, axis: int, keepdims: bool) -> Any:
    """The greatest of numbers that are not negative; 0 of none."""
    if x.shape[axis]:
        return np.max(x, axis=axis, keepdims=keepdims)
    return np.sum(x, axis=axis, keepdims=keepdims)


def _vector_norm(x: Any, ord: Any, axis: int, keepdims: bool) -> Any:
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == np.inf:
        return _greatest(np.abs(x), axis, keepdims)
    if ord == -np.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(x.real.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 2:
        return _root(np.sum(_squares(x), axis=axis, keepdims=keepdims))
    total = np.sum(np.abs(x) ** ord, axis=axis, keepdims=keepdims)
    return np.where(total == 0, total, total ** (1 / np.asarray(ord).astype(x.real.dtype)[()]))[()]


def _matrix_norm(x: Any, ord: Any, axes: Any, keepdims: bool) -> Any:
    row, column = axes
    if ord in ("fro", "f"):
        return _root(np.sum(_squares(x), axis=axes, keepdims=keepdims))
    if ord in (1, -1, np.inf, -np.inf):
        summed, other = (row, column) if ord in (1, -1) else (column, row)
        sums = np.sum(np.abs(x), axis=summed, keepdims=True)
        is_greatest = ord in (1, np.inf)
        result = (
            _greatest(sums, other, True) if is_greatest else np.min(sums, axis=other, keepdims=True)
        )
    elif ord in (2, -2, "nuc"):
        s = svdvals(np.moveaxis(x, axes, (-2, -1)))
        reduce: Any = np.sum if ord == "nuc" else np.min
        reduced = _greatest(s, -1, False) if ord == 2 else reduce(s, axis=-1)
        result = np.expand_dims(reduced, tuple(sorted(axes)))
    else:
        raise ValueError("Invalid norm order for matrices.")
    return result if keepdims else np.squeeze(result, axes)[()]


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norm of all elements as a vector, or along axes."""
    values = np.asarray(x)
    if axis is None:
        result = norm(np.ravel(values), ord, 0)
        return np.reshape(result, (1,) * values.ndim) if keepdims else result
    if isinstance(axis, tuple):
        raise NotImplementedError("vector_norm over several axes is not supported: reshape first")
    return norm(values, ord, axis, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of the last two axes."""
    return norm(x, ord, (-2, -1), keepdims)


def svdvals(x: Any) -> Any:
    """The singular values, in descending order."""
    return np.linalg.svd(x, compute_uv=False)


def cond(x: Any, p: Any = None) -> Any:
    """The condition number."""
    matrix = np.asarray(x)
    if p in (None, 2, -2):
        s = svdvals(matrix)
        result = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        wide = matrix.astype(np.result_type(matrix, np.float64))  # as NumPy, in float32 too
        sign, _ = np.linalg.slogdet(wide)
        has_inverse = (np.asarray(sign) != 0)[..., None, None]
        inverse = np.linalg.inv(np.where(has_inverse, wide, np.eye(matrix.shape[-1])))
        inverse = np.where(has_inverse, inverse, np.inf)
        result = norm(matrix, p, (-2, -1)) * norm(inverse, p, (-2, -1))
        if matrix.dtype in (np.float32, np.complex64):
            result = result.astype(np.float32)
    is_undefined = np.logical_and(
        np.isnan(result), np.logical_not(np.any(np.isnan(matrix), axis=(-2, -1)))
    )
    return np.where(is_undefined, np.inf, result)[()]


def matrix_rank(A: Any, tol: Any = None) -> Any:
    """The number of singular values above a tolerance."""
    matrix = np.asarray(A)
    if matrix.ndim < 2:
        return (np.any(matrix != 0)).astype(int)
    s = svdvals(matrix)
    if tol is None:
        eps = np.finfo(s.dtype).eps
        tol = np.max(s, axis=-1, keepdims=True) * (max(matrix.shape[-2:]) * eps)
    return np.count_nonzero(s > tol, axis=-1)


def matrix_power(a: Any, n: int) -> Any:
    """The n-th power of square matrices, by repeated squaring."""
    x = np.asarray(a)
    if isinstance(n, float):
        raise TypeError("exponent must be an integer")
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise np.linalg.LinAlgError(f"matrix_power takes square matrices, not shape {x.shape}")
    if n == 0:
        identity = np.empty_like(x)
        identity[...] = np.eye(x.shape[-1], dtype=x.dtype)
        return identity
    if n < 0:
        x, n = np.linalg.inv(x), -n
    if n == 1:
        return x
    if n == 2:
        return np.matmul(x, x)
    if n == 3:
        return np.matmul(np.matmul(x, x), x)
    square, result = None, None
    while n > 0:
        square = x if square is None else np.matmul(square, square)
        n, bit = n // 2, n % 2
        if bit:
            result = square if result is None else np.matmul(result, square)
    return result


def multi_dot(arrays: Any) -> Any:
    """The product of matrices, in the order that costs the least; the first and the last may be
    vectors."""
    given = [np.asarray(array) for array in arrays]
    n = len(given)
    if n < 2:
        raise ValueError("Expecting at least two arrays.")
    if n == 2:
        return np.dot(given[0], given[1])
    if given[0].ndim not in (1, 2) or given[-1].ndim not in (1, 2):
        raise np.linalg.LinAlgError("the first and the last array are vectors or matrices")
    if any(array.ndim != 2 for array in given[1:-1]):
        raise np.linalg.LinAlgError("the arrays in between are matrices")
    matrices = list(given)
    if given[0].ndim == 1:
        matrices[0] = given[0][None, :]
    if given[-1].ndim == 1:
        matrices[-1] = given[-1][:, None]
    result = _product(matrices, _order([m.shape[0] for m in matrices] + [matrices[-1].shape[1]]))
    if given[0].ndim == 1 and given[-1].ndim == 1:
        return result[0, 0]
    return np.ravel(result) if 1 in (given[0].ndim, given[-1].ndim) else result


def _product(matrices: Any, order: Any) -> Any:
    if isinstance(order, int):
        return matrices[order]
    return np.dot(_product(matrices, order[0]), _product(matrices, order[1]))


def _order(dims: Any) -> Any:
    """The order in which factors are paired: nested pairs of their numbers. For three factors as
    NumPy does it, for more by dynamic programming (Cormen et al., Introduction to Algorithms, ch.
    15.2)."""
    n = len(dims) - 1
    if n == 3:
        d0, d1, d2, d3 = dims
        first = d0 * d2 * (d1 + d3)
        return ((0, 1), 2) if first < d1 * d3 * (d0 + d2) else (0, (1, 2))
    cost = [[0] * n for _ in range(n)]
    best = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            tries = [
                cost[i][k] + cost[k + 1][j] + dims[i] * dims[k + 1] * dims[j + 1]
                for k in range(i, j)
            ]
            cost[i][j] = min(tries)
            best[i][j] = i + tries.index(min(tries))
    return _split(best, 0, n - 1)


def _split(best: Any, i: int, j: int) -> Any:
    if i == j:
        return i
    return (_split(best, i, best[i][j]), _split(best, best[i][j] + 1, j))


def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse for products over the last axes."""
    x = np.asarray(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    size = 1
    for dim in x.shape[ind:]:
        size *= dim
    return np.reshape(np.linalg.inv(np.reshape(x, (size, -1))), x.shape[ind:] + x.shape[:ind])


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """The tensor whose product with ``a`` over its last axes, ``axes`` behind the others, is
    ``b``."""
    x, y = np.asarray(a), np.asarray(b)
    if axes is not None:
        order = list(range(x.ndim))
        for axis in axes:
            order = [i for i in order if i != axis] + [axis]
        x = np.transpose(x, order)
    shape = x.shape[y.ndim :]
    matrix = np.reshape(x, (y.size, -1))
    return np.reshape(np.linalg.solve(matrix, np.ravel(y)), shape)


def linalg_outer(x1: Any, x2: Any, /) -> Any:
    """`numpy.linalg.outer`: of two vectors."""
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        raise ValueError("Input arrays must be one-dimensional")
    return np.outer(x1, x2)


def linalg_matmul(x1: Any, x2: Any, /) -> Any:
    """`numpy.linalg.matmul`."""
    return np.matmul(x1, x2)


def linalg_tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """`numpy.linalg.tensordot`."""
    return np.tensordot(x1, x2, axes)


def linalg_matrix_transpose(x: Any, /) -> Any:
    """`numpy.linalg.matrix_transpose`."""
    return np.matrix_transpose(x)
