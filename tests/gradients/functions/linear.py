"""Products, matrices, `np.linalg`, and complex numbers on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from stcompile.base.numpys import eigenvalues_are_complex
from tests.gradients import arguments as a
from tests.gradients.functions.case import (
    COLUMNS,
    GRID,
    GRID_AND_ROW,
    ROW,
    TWO_ROWS,
    Case,
    alone,
    real_alone,
)

LINEAR = (
    Case("x @ y", lambda x, y: x @ y, a.matmul()),
    Case("matmul", lambda x, y: np.matmul(x, y), a.matmul()),
    Case("dot", lambda x, y: np.dot(x, y), a.dot()),
    alone("tensordot", lambda x, y: np.tensordot(x, y, 1), a.of_shapes((2, 3), (3, 2))),
    alone("einsum", lambda x, y: np.einsum("ij,jk->ki", x, y), a.of_shapes((2, 3), (3, 2))),
    alone(
        "einsum, diagonal",
        lambda x: np.einsum("iij->j", x) * np.einsum("iii", x),
        a.of_shapes((3, 3, 3)),
    ),
    alone("einsum, sums", lambda x: np.einsum("ij->", x) * np.einsum("ij->j", x), GRID),
    alone(
        "einsum, three",
        lambda x, y: np.einsum("ij,jk,kl->li", x, y, x),
        a.of_shapes((3, 2), (2, 3)),
    ),
    alone("einsum, vectors", lambda v, w: np.einsum("i,i,j->ij", v, w, v), TWO_ROWS),
    alone(
        "einsum, lone axes",
        lambda x, y: np.einsum("ij,kl->il", x, y),
        a.of_shapes((2, 3), (3, 2)),
    ),
    Case("inner", lambda x, y: np.inner(x, y), a.inner()),
    alone("outer", lambda x, y: np.outer(x, y), a.broadcasting()),
    *(
        real_alone(name, lambda x, y, function=getattr(np, name): function(x, y), drawn)
        for name, drawn in (
            ("vecdot", a.of_shapes((2, 1, 3), (2, 3))),
            ("matvec", a.of_shapes((2, 3, 4), (4,))),
            ("vecmat", a.of_shapes((3,), (2, 3, 2))),
        )
        if hasattr(np, name)
    ),
    real_alone("vecdot, axis", lambda x, y: np.linalg.vecdot(x, y, axis=0), COLUMNS),
    real_alone("vdot", lambda x, y: np.vdot(x, y), a.stacking(axis=False)),
    Case("x @ x.T", lambda x: x @ x.T, a.array(2, 2)),
    Case("x.T @ y @ x", lambda x, y: x.T @ y @ x, a.of_shapes((3, 2), (3, 3))),
    Case("products of slices", lambda x, y: x[1:] @ y[:, ::2], a.of_shapes((3, 2), (2, 3))),
)


def write_diagonal(x: Any) -> Any:
    y = x * x
    np.fill_diagonal(y, 3 * x[0, 0])
    return y * x


MATRICES = (
    alone("diag", lambda x, v: np.diag(v, 1)[:3, :4] * np.diag(v, -1)[1:4, :4] + np.diag(x)[0],
          GRID_AND_ROW),
    alone("diag, square", lambda v: np.diag(v) @ np.diagflat(v), ROW),
    alone("diagonal", lambda x: np.diagonal(x, 1) * x.diagonal(), GRID),
    alone("diagonal, axes", lambda x, k: np.diagonal(x, k, 2, -3), a.of_shapes((2, 3, 4)).flatmap(
        lambda drawn: st.tuples(st.just(drawn[0]), st.integers(-5, 5)))),
    real_alone("fill_diagonal", write_diagonal, GRID),
    alone("trace", lambda x: np.trace(x) * x.trace(1), GRID),
    alone("trace, axes", lambda x: np.trace(x, 0, 2, 0), a.of_shapes((2, 3, 4))),
    alone("tri", lambda x: np.tri(3, 4, -1) * x + np.tri(3)[0, 0], GRID),
    alone("tril", lambda x, k: np.tril(x, k) * 2 + np.triu(x, k) * x, a.array(2).flatmap(
        lambda drawn: st.tuples(st.just(drawn[0]), st.integers(-3, 3)))),
    alone("tril, vector", lambda v: np.tril(v) @ np.triu(v, 1), ROW),
    real_alone("vander", lambda v: np.vander(v) * np.vander(v, 4, increasing=True), ROW),
    alone("kron", lambda x, y: np.kron(x, y), a.broadcasting()),
    alone("cross", lambda x, y: np.cross(x, y), a.of_shapes((2, 3), (3,))),
    alone(
        "cross, axes",
        lambda x, y: np.cross(x, y, axisa=0, axisc=0),
        a.of_shapes((3, 2), (2, 3)),
    ),
    alone("append", lambda x, y, axis: np.append(x, y, axis), a.joining()),
    alone("append, flat", lambda x, y: np.append(x, y), a.rows()),
    alone("insert", lambda x: np.insert(x, 1, x[0, 0]) * 2, GRID),
    alone("insert, several", lambda x: np.insert(x, [0, -1, 2], 2 * x[:, :3], axis=1), GRID),
    real_alone("insert, row", lambda x, v: np.insert(x, 3, v * v, axis=0), GRID_AND_ROW),
    alone("delete", lambda x: np.delete(x, [0, -1], 1) * np.delete(x, slice(1, 3), 1), GRID),
    alone("delete, flat", lambda x: np.delete(x, 3), GRID),
)  # fmt: skip

# Far from singular, with eigenvalues and singular values that are far apart.
PILLARS = 4.0 * np.diag([1.0, 3.0, 6.0])

SQUARE = a.of_shapes((3, 3)).map(lambda drawn: (drawn[0] + PILLARS,))
SQUARES = a.of_shapes((2, 3, 3)).map(lambda drawn: (drawn[0] + PILLARS,))
TALL = a.of_shapes((4, 3)).map(lambda drawn: (drawn[0] + np.eye(4, 3) @ PILLARS,))
WIDE = a.of_shapes((2, 3, 4)).map(lambda drawn: (drawn[0] + PILLARS @ np.eye(3, 4),))
SYSTEM = a.of_shapes((3, 3), (3,)).map(lambda drawn: (drawn[0] + PILLARS, drawn[1]))
SYSTEMS = a.of_shapes((2, 3, 3), (3, 2)).map(lambda drawn: (drawn[0] + PILLARS, drawn[1]))

OBSERVED = a.of_shapes((4, 3), (4, 2)).map(
    lambda drawn: (drawn[0] + np.eye(4, 3) @ PILLARS, drawn[1])
)

FACTORS = a.of_shapes((2, 3), (3, 4), (4, 2), (2,))

LINALG = (
    real_alone("inv", lambda x: np.linalg.inv(x), SQUARES),
    real_alone("solve", lambda x, y: np.linalg.solve(x, y), SYSTEM),
    real_alone("solve, several", lambda x, y: np.linalg.solve(x, y), SYSTEMS),
    real_alone("solve, stacks", lambda x, y: np.linalg.solve(x, y[:, 0]), SYSTEMS),
    real_alone("det", lambda x: np.linalg.det(x) * np.linalg.det(x[0]) / 1e3, SQUARES),
    real_alone("slogdet", lambda x: [part * 1.0 for part in np.linalg.slogdet(x)], SQUARES),
    real_alone("cholesky", lambda x: np.linalg.cholesky(x), SQUARES),
    real_alone("eigh", lambda x: np.linalg.eigh(x).eigenvalues, SQUARES),
    real_alone("eigh, vectors", lambda x: np.linalg.eigh(x)[1] ** 2, SQUARES),
    real_alone("eigh, upper", lambda x: np.linalg.eigh(x, "U")[1][..., 0] ** 2, SQUARE),
    real_alone("eigvalsh", lambda x: np.linalg.eigvalsh(x) * np.linalg.eigvalsh(x, "U"), SQUARE),
    real_alone("svd, U", lambda x: np.linalg.svd(x, full_matrices=False)[0] ** 2, TALL),
    real_alone("svd, Vh", lambda x: np.linalg.svd(x, False).Vh ** 2, TALL),
    real_alone("svd, wide", lambda x: np.linalg.svd(x, full_matrices=False).U ** 2, WIDE),
    real_alone("svd, wide Vh", lambda x: np.linalg.svd(x, full_matrices=False)[2] ** 2, WIDE),
    real_alone("svd, S", lambda x: np.linalg.svd(x)[1] * np.linalg.svd(x, False, False), SQUARES),
    real_alone("svdvals", lambda x: np.linalg.svdvals(x), WIDE),
    real_alone("qr, Q", lambda x: np.linalg.qr(x)[0], TALL),
    real_alone("qr, R", lambda x: np.linalg.qr(x).R * np.linalg.qr(x, "r"), SQUARES),
    real_alone("pinv", lambda x: np.linalg.pinv(x), TALL),
    real_alone("pinv, wide", lambda x: np.linalg.pinv(x), WIDE),
    real_alone("lstsq", lambda x, y: np.linalg.lstsq(x, y)[0], OBSERVED),
    real_alone(
        "lstsq, rcond",
        lambda x, y: np.linalg.lstsq(x, y, rcond=None)[0] + np.linalg.lstsq(x, y, rcond=-1)[0],
        OBSERVED,
    ),
    real_alone("lstsq, one", lambda x, y: np.linalg.lstsq(x, y[:, 0])[0], OBSERVED),
    real_alone("norm", lambda x: np.linalg.norm(x) * np.linalg.norm(x[0]), TALL),
    real_alone(
        "norm, vectors",
        lambda x: np.linalg.norm(x, axis=0) * np.linalg.norm(x, 3, 1, keepdims=True),
        TALL,
    ),
    real_alone(
        "norm, sums",
        lambda x: np.linalg.norm(x, 1, 0) * np.linalg.norm(x, np.inf, 0),
        TALL,
    ),
    real_alone(
        "norm, least",
        lambda x: np.linalg.norm(x, -np.inf, 0) * np.linalg.norm(x, 0, 0),
        TALL,
    ),
    real_alone("norm, matrix", lambda x: np.linalg.norm(x, 1) * np.linalg.norm(x, np.inf), TALL),
    real_alone("norm, spectral", lambda x: np.linalg.norm(x, 2) * np.linalg.norm(x, "nuc"), SQUARE),
    real_alone("matrix_norm", lambda x: np.linalg.matrix_norm(x, ord=-2, keepdims=True), WIDE),
    real_alone(
        "vector_norm",
        lambda x: np.linalg.vector_norm(x) * np.linalg.norm(x, None, (0, 2)),
        WIDE,
    ),
    real_alone("cond", lambda x: np.linalg.cond(x) * np.linalg.cond(x, -2), SQUARES),
    real_alone("cond, fro", lambda x: np.linalg.cond(x, "fro"), SQUARES),
    real_alone("matrix_rank", lambda x: np.linalg.matrix_rank(x)[:, None, None] * x, SQUARES),
    real_alone("matrix_power", lambda x: [np.linalg.matrix_power(x / 9, n) for n in (0, 1, 2, 5)],
               SQUARES),
    real_alone("matrix_power, inverse", lambda x: np.linalg.matrix_power(x, -2), SQUARE),
    real_alone(
        "multi_dot",
        lambda x, y, z, v: np.linalg.multi_dot([x, y, z, x]) * v[:, None],
        FACTORS,
    ),
    real_alone(
        "multi_dot, vectors",
        lambda x, y, z, v: np.linalg.multi_dot([v, x, y, z, v]),
        FACTORS,
    ),
    real_alone("multi_dot, three", lambda x, y, z, v: np.linalg.multi_dot([x, y, z]), FACTORS),
    real_alone("tensorinv", lambda x: np.linalg.tensorinv(x[:, None], 2), SQUARE),
    real_alone("tensorsolve", lambda x, y: np.linalg.tensorsolve(x, y), SYSTEM),
    real_alone("linalg aliases",
        lambda x, v: np.linalg.trace(x) * np.linalg.diagonal(x) * np.linalg.outer(v, v)
        * np.linalg.cross(v, x[0]) * np.linalg.matmul(x, x) / 1e3
        * np.linalg.tensordot(x, x, axes=1) * np.linalg.matrix_transpose(x) / 1e3,
        SYSTEM),
)  # fmt: skip


def with_parts(x: Any) -> Any:
    z = np.zeros(x.shape, complex)
    z.real = x
    z.imag[1:] = x[1:] * x[:-1]
    z.real += 1.0
    return z


# Real or complex before NumPy 2.5, which the values decide: refused there.
EIGENVALUES_OF_REAL = (
    real_alone("eig, real", lambda x: np.abs(np.linalg.eig(x).eigenvalues) ** 2, SQUARES),
    real_alone("eig, vectors, real", lambda x: np.abs(np.linalg.eig(x)[1]) ** 2, SQUARES),
    real_alone("eigvals, real", lambda x: np.real(np.linalg.eigvals(x) ** 2), SQUARE),
)

# Complex numbers on the way; test_complex.py has more of them.
COMPLEX = (
    real_alone("complex conjugate", lambda x: np.abs(np.conjugate(x * 1j) + x), a.unary(0.2, 1.5)),
    real_alone("complex parts", lambda x: np.real(x * 1j + x) * np.imag((1 - 2j) * x), a.unary()),
    real_alone("complex sign", lambda x: np.sign(x + 2j).real, a.unary()),
    real_alone("eig", lambda x: np.abs(np.linalg.eig(x * (1 + 0.5j)).eigenvalues), SQUARES),
    real_alone("eig, vectors", lambda x: np.abs(np.linalg.eig(x + 0.5j * x.mT)[1]) ** 2, SQUARES),
    real_alone("eigvals", lambda x: np.linalg.eigvals(x * (2 - 1j)).imag, SQUARE),
    *(EIGENVALUES_OF_REAL if eigenvalues_are_complex() else ()),
    real_alone("eigh, complex", lambda x: np.abs(np.linalg.eigh(x * (1 + 0.5j))[1]) ** 2, SQUARES),
    real_alone("svd, complex", lambda x: np.abs(np.linalg.svd(x + 0.5j * x.mT)[0]) ** 2, SQUARES),
    real_alone("pinv, rcond", lambda x: np.linalg.pinv(np.outer(x[0], x[:, 0]), 1e-3) * 99, SQUARE),
    real_alone("z.real = x", lambda x: np.abs(with_parts(x)), a.array(1, 1)),
    real_alone("fft, ifft", lambda x: np.abs(np.fft.ifft(np.fft.fft(x, 4) ** 2)), GRID),
    *(
        real_alone(
            f"complex convolve, correlate, {mode}",
            lambda x, m=mode: (
                np.abs(np.convolve(x[0] * (1 + 2j), x[1] * 1j - 0.5, m)) ** 2
                + np.correlate(x[0] * (1 + 2j), x[1] * 1j - 0.5, m).imag ** 3
            ),
            GRID,
        )
        for mode in ("full", "same", "valid")
    ),
    real_alone("rfft, irfft", lambda x: np.fft.irfft(np.fft.rfft(x) * 1j, 5), GRID),
)
