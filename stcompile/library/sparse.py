"""Sparse matrices of `scipy.sparse` that are made in a function: entries with their rows and
columns, of which several may be at one place. Everything is differentiated by the entries.

Formats are not told apart: a matrix is its entries. Where they are is not differentiated.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np


class Sparse:
    """A matrix of which the entries ``data`` are known by their ``rows`` and ``columns``. Of an old
    matrix (``is_matrix``), not an array, ``*`` is the product of matrices."""

    __array_ufunc__ = None  # an array on the left asks this class

    def __init__(self, data: Any, rows: Any, columns: Any, shape: Any, is_matrix: bool) -> None:
        self._data = data
        self._rows = rows
        self._columns = columns
        self.shape = shape
        self.ndim = 2
        self.dtype = data.dtype
        self._is_matrix = is_matrix

    @property
    def T(self) -> Any:
        return self.transpose()

    def transpose(self) -> Any:
        m, n = self.shape
        return Sparse(self._data, self._columns, self._rows, (n, m), self._is_matrix)

    def _with(self, data: Any) -> Any:
        return Sparse(data, self._rows, self._columns, self.shape, self._is_matrix)

    def toarray(self) -> Any:
        dense = np.zeros(self.shape, self.dtype)
        np.add.at(dense, (self._rows, self._columns), self._data)
        return dense

    def dot(self, other: Any) -> Any:
        return self @ other

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Sparse):
            raise NotImplementedError(
                "the product of two sparse matrices is not supported: "
                "multiply by arrays, as in A @ (B @ x), or write A @ B.toarray()"
            )
        x = np.asarray(other)
        if x.shape[0] != self.shape[1]:
            raise ValueError(f"dimension mismatch: {self.shape} and {x.shape}")
        entries = np.reshape(self._data, (-1,) + (1,) * (x.ndim - 1))
        terms = entries * x[self._columns]
        total = np.zeros((self.shape[0], *x.shape[1:]), terms.dtype)
        np.add.at(total, self._rows, terms)
        return total

    def __rmatmul__(self, other: Any) -> Any:
        x = np.asarray(other)
        return self.T @ x if x.ndim == 1 else (self.T @ x.T).T

    def __mul__(self, other: Any) -> Any:
        if np.ndim(other) == 0:
            return self._with(self._data * other)
        return self @ other if self._is_matrix else self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        if np.ndim(other) == 0:
            return self._with(other * self._data)
        return other @ self if self._is_matrix else self.multiply(other)

    def __truediv__(self, other: Any) -> Any:
        return self._with(self._data / other)

    def __neg__(self) -> Any:
        return self._with(-self._data)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Sparse):
            return self.toarray() + other
        if other.shape != self.shape:
            raise ValueError(f"inconsistent shapes: {self.shape} and {other.shape}")
        return _joined([self, other], [(0, 0), (0, 0)], self.shape)

    def __radd__(self, other: Any) -> Any:
        return other + self.toarray()

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return other - self.toarray()

    def multiply(self, other: Any) -> Any:
        """The products of entries with those of an array that broadcasts."""
        if isinstance(other, Sparse):
            other = other.toarray()
        factors = np.broadcast_to(np.asarray(other), self.shape)
        return self._with(self._data * factors[self._rows, self._columns])

    def diagonal(self, k: int = 0) -> Any:
        size = min(self.shape[0] + min(k, 0), self.shape[1] - max(k, 0))
        on = self._columns - self._rows == k
        place = np.where(on, np.minimum(self._rows, self._columns), 0)
        total = np.zeros(size, self.dtype)
        np.add.at(total, place, np.where(on, self._data, 0.0))
        return total

    def trace(self) -> Any:
        return np.sum(self.diagonal())

    def sum(self, axis: Any = None) -> Any:
        if axis is None:
            return np.sum(self._data)
        if self._is_matrix:
            raise NotImplementedError("the sum along an axis is a np.matrix: use A @ np.ones(n)")
        kept, place = (1, self._columns) if axis in (0, -2) else (0, self._rows)
        total = np.zeros(self.shape[kept], self.dtype)
        np.add.at(total, place, self._data)
        return total

    def tocsr(self) -> Any:
        return self

    tocsc = tocoo = todia = copy = tocsr

    def todense(self) -> Any:
        raise NotImplementedError("todense gives a np.matrix: write A.toarray()")


def _joined(parts: Any, starts: Any, shape: Any) -> Any:
    """The matrix of the entries of several, each at its start."""
    return Sparse(
        np.concatenate([part._data for part in parts]),
        np.concatenate([part._rows + at for part, (at, _) in zip(parts, starts, strict=True)]),
        np.concatenate([part._columns + at for part, (_, at) in zip(parts, starts, strict=True)]),
        shape,
        parts[0]._is_matrix,
    )


def _floating(x: Any) -> Any:
    values = np.asarray(x)
    return values.astype(np.float64) if values.dtype.kind in "biu" else values


# --- constructors --------------------------------------------------------------------------------


def _made(
    is_compressed: bool,
    by_columns: bool,
    is_matrix: bool,
    arg1: Any,
    shape: Any = None,
    dtype: Any = None,
    copy: bool = False,
) -> Any:
    if isinstance(arg1, Sparse):
        return Sparse(arg1._data, arg1._rows, arg1._columns, arg1.shape, is_matrix)
    if not isinstance(arg1, tuple):
        dense = _floating(arg1)
        m, n = dense.shape
        rows, columns = np.repeat(np.arange(m), n), np.tile(np.arange(n), m)
        return Sparse(np.ravel(dense), rows, columns, (m, n), is_matrix)
    if len(arg1) == 3 and is_compressed:
        data, others, starts = arg1
        data, inner = _floating(data), np.asarray(others)
        outer = np.searchsorted(np.asarray(starts), np.arange(data.shape[0]), side="right") - 1
        rows, columns = (inner, outer) if by_columns else (outer, inner)
    elif isinstance(arg1[1], tuple | list) and len(arg1) == 2:
        data, (rows, columns) = arg1
        data, rows, columns = _floating(data), np.asarray(rows), np.asarray(columns)
    else:
        raise NotImplementedError(
            "a sparse matrix is supported of (data, (rows, columns)), of (data, indices, indptr) "
            "and of a dense matrix"
        )
    if shape is None:
        raise NotImplementedError("a sparse matrix that varies needs its shape: shape=(m, n)")
    m, n = shape
    return Sparse(data, rows, columns, (int(m), int(n)), is_matrix)


def from_entries(data: Any, rows: Any, columns: Any, shape: Any, is_matrix: bool) -> Any:
    """A sparse matrix that was made outside."""
    return Sparse(_floating(data), rows, columns, shape, is_matrix)


def _of_diagonals(
    diagonals: Any, offsets: Any, shape: Any, is_matrix: bool, is_cut: bool = False
) -> Any:
    """A matrix with these diagonals, of which the last entries may be missing (``is_cut``)."""
    places = [offsets] if isinstance(offsets, int) else list(offsets)
    if isinstance(offsets, int) and not isinstance(diagonals, list | tuple):
        rows = [_floating(diagonals)]
        rows = [rows[0][0]] if rows[0].ndim == 2 else rows
    elif isinstance(offsets, int) and np.ndim(diagonals[0]) == 0:
        rows = [_floating(diagonals)]
    else:
        rows = [_floating(diagonals[i]) for i in range(len(places))]
    rows = [np.atleast_1d(row) for row in rows]
    if shape is None:
        size = rows[0].shape[0] + abs(places[0])
        shape = (size, size)
    m, n = shape
    data, at, across = [], [], []
    for row, k in zip(rows, places, strict=True):
        length = row.shape[0] if is_cut else min(m + min(k, 0), n - max(k, 0))
        if row.shape[0] not in (1, length):
            raise ValueError(f"Diagonal length (at offset {k}) does not agree with array size")
        data.append(np.broadcast_to(row, (length,)))
        at.append(np.arange(length) - min(k, 0))
        across.append(np.arange(length) + max(k, 0))
    entries = np.concatenate(data)
    return Sparse(entries, np.concatenate(at), np.concatenate(across), (m, n), is_matrix)


def _dia(
    is_matrix: bool, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False
) -> Any:
    """A matrix of rows of diagonals, each entry in the column where it is; the offsets are Python
    integers."""
    if not isinstance(arg1, tuple):
        return _made(False, False, is_matrix, arg1, shape)
    if shape is None:
        raise NotImplementedError("a sparse matrix that varies needs its shape: shape=(m, n)")
    rows, places = np.atleast_2d(_floating(arg1[0])), arg1[1]
    places = [places] if isinstance(places, int) else list(places)
    kept = []
    for row, k in enumerate(places):
        first, last = max(k, 0), min(shape[1], rows.shape[1], shape[0] + k)
        kept.append(rows[row, first:last])
    return _of_diagonals(kept, places, shape, is_matrix, True)


def diags(
    diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> Any:
    return _of_diagonals(diagonals, offsets, shape, True)


def diags_array(
    diagonals: Any,
    /,
    *,
    offsets: Any = 0,
    shape: Any = None,
    format: Any = None,
    dtype: Any = None,
) -> Any:
    return _of_diagonals(diagonals, offsets, shape, False)


def eye(m: int, n: Any = None, k: int = 0, dtype: Any = float, format: Any = None) -> Any:
    return _of_diagonals([[1.0]], [k], (m, m if n is None else n), True)


def eye_array(m: int, n: Any = None, *, k: int = 0, dtype: Any = float, format: Any = None) -> Any:
    return _of_diagonals([[1.0]], [k], (m, m if n is None else n), False)


def identity(n: int, dtype: Any = "d", format: Any = None) -> Any:
    return eye(n)


# --- of several ----------------------------------------------------------------------------------


def _sparse(A: Any) -> Any:
    return A if isinstance(A, Sparse) else _made(False, False, False, A)


def kron(A: Any, B: Any, format: Any = None) -> Any:
    """The Kronecker product."""
    a, b = _sparse(A), _sparse(B)
    shape = (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
    rows = a._rows[:, None] * b.shape[0] + b._rows
    columns = a._columns[:, None] * b.shape[1] + b._columns
    entries = np.ravel(a._data[:, None] * b._data)
    is_matrix = a._is_matrix and b._is_matrix
    return Sparse(entries, np.ravel(rows), np.ravel(columns), shape, is_matrix)


def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    return bmat([list(blocks)])


def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    return bmat([[block] for block in blocks])


def block_diag(mats: Any, format: Any = None, dtype: Any = None) -> Any:
    parts, starts, at = [_sparse(each) for each in mats], [], (0, 0)
    for part in parts:
        starts.append(at)
        at = (at[0] + part.shape[0], at[1] + part.shape[1])
    return _joined(parts, starts, at)


def bmat(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """The matrix of blocks, of which None is one of zeros."""
    grid = [[None if each is None else _sparse(each) for each in row] for row in blocks]
    heights = [max([each.shape[0] for each in row if each is not None]) for row in grid]
    columns = [[row[j] for row in grid] for j in range(len(grid[0]))]
    widths = [max([each.shape[1] for each in column if each is not None]) for column in columns]
    parts, starts = [], []
    for i, row in enumerate(grid):
        for j, part in enumerate(row):
            if part is not None:
                parts.append(part)
                starts.append((sum(heights[:i]), sum(widths[:j])))
    return _joined(parts, starts, (sum(heights), sum(widths)))


def block_array(blocks: Any, *, format: Any = None, dtype: Any = None) -> Any:
    return bmat(blocks)


def issparse(x: Any) -> bool:
    return isinstance(x, Sparse)


def isspmatrix(x: Any) -> bool:
    return isinstance(x, Sparse) and x._is_matrix


def tril(A: Any, k: int = 0, format: Any = None) -> Any:
    """The entries on and below a diagonal, and zeros."""
    part = _sparse(A)
    return part._with(np.where(part._columns - part._rows <= k, part._data, 0.0))


def triu(A: Any, k: int = 0, format: Any = None) -> Any:
    """The entries on and above a diagonal, and zeros."""
    part = _sparse(A)
    return part._with(np.where(part._columns - part._rows >= k, part._data, 0.0))


# --- systems -------------------------------------------------------------------------------------


def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True) -> Any:
    """``x`` of ``A @ x = b``, by SciPy's own call; so is its adjoint, with the transpose."""
    matrix = _sparse(A)
    right = b.toarray() if isinstance(b, Sparse) else _floating(b)
    if right.ndim == 2 and right.shape[1] == 1:
        right = right[:, 0]
    if matrix._data.dtype.kind == "c" or right.dtype.kind == "c":
        raise NotImplementedError("spsolve of complex numbers is not supported")
    if matrix.shape != (right.shape[0], right.shape[0]):
        raise ValueError(f"a matrix of shape {matrix.shape} does not fit {right.shape}")
    return solved(matrix._data, matrix._rows, matrix._columns, right)


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
) -> tuple[Any, int]:
    """The solution itself, to which SciPy's iteration comes near, and 0, the number of success."""
    return spsolve(A, b), 0


def gmres(A: Any, b: Any, x0: Any = None, **options: Any) -> tuple[Any, int]:
    """The solution itself, as `cg`."""
    return spsolve(A, b), 0


def bicgstab(A: Any, b: Any, x0: Any = None, **options: Any) -> tuple[Any, int]:
    """The solution itself, as `cg`."""
    return spsolve(A, b), 0


class Factors:
    """The result of `splu` and of `factorized`: it solves with the matrix itself."""

    def __init__(self, A: Any) -> None:
        self._matrix = _sparse(A)
        self.shape = self._matrix.shape

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        matrix = self._matrix if trans == "N" else self._matrix.T
        right = np.asarray(rhs)
        return np.reshape(spsolve(matrix, right), right.shape)

    def __call__(self, b: Any) -> Any:
        return self.solve(b)


def splu(A: Any, **options: Any) -> Any:
    return Factors(A)


def factorized(A: Any) -> Any:
    return Factors(A)


def norm(x: Any, ord: Any = None) -> Any:
    """The Frobenius norm."""
    if ord not in (None, "fro"):
        raise NotImplementedError("the Frobenius norm of a sparse matrix is supported")
    return np.linalg.norm(_sparse(x).toarray())


def solved(data: Any, rows: Any, columns: Any, b: Any) -> Any:
    """``x`` of ``A @ x = b``. Frontends know how."""
    raise NotImplementedError("sparse systems are known to the compiler only")


def solved_adjoint(x: Any, data: Any, rows: Any, columns: Any, b: Any, d_x: Any) -> Any:
    """The cotangents of the entries and of the right-hand side: ``-w x^T`` at the entries, and
    ``w``, which solves the transposed system (Giles, "An extended collection of matrix derivative
    results", 2008, section 2.3.1)."""
    w = solved(data, columns, rows, d_x)
    terms = w[rows] * x[columns]
    return -(terms if terms.ndim == 1 else np.sum(terms, axis=1)), None, None, w


FUNCTIONS: dict[str, Any] = {
    "csr_matrix": partial(_made, True, False, True),
    "csr_array": partial(_made, True, False, False),
    "csc_matrix": partial(_made, True, True, True),
    "csc_array": partial(_made, True, True, False),
    "coo_matrix": partial(_made, False, False, True),
    "coo_array": partial(_made, False, False, False),
    "dia_matrix": partial(_dia, True),
    "dia_array": partial(_dia, False),
}
