"""Factorisations and systems, written row by row: what is left gets shorter with every step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs import Array
from .program import Arguments, LoopProgram, cubes, squares


def cholesky(a: Array) -> Any:
    """The lower factor of a symmetric positive matrix."""
    a = a.copy()
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])
    return np.tril(a)


def lu(a: Array) -> Any:
    """Both factors in one matrix, without pivots."""
    a = a.copy()
    for k in range(a.shape[0] - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


def lu_rows(a: Array) -> Any:
    """The same element by element, each an inner product."""
    a = a.copy()
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def forward_substitution(lower: Array, b: Array) -> Any:
    x = np.zeros_like(b)
    for i in range(b.shape[0]):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return x


def back_substitution(upper: Array, b: Array) -> Any:
    n = b.shape[0]
    x = np.zeros_like(b)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - np.dot(upper[i, i + 1 :], x[i + 1 :])) / upper[i, i]
    return x


def levinson_durbin(r: Array) -> Any:
    """The prediction filter of a series with these correlations."""
    n = r.shape[0]
    y = np.zeros(n)
    y[0] = -r[0]
    beta, alpha = 1.0, -r[0]
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(r[k - 1 :: -1], y[:k])) / beta
        y[:k] += alpha * y[k - 1 :: -1]
        y[k] = alpha
    return y


def gram_schmidt(a: Array) -> Any:
    """An orthonormal basis of the columns, one after the other taken out of those that follow."""
    a = a.copy()
    q = np.zeros_like(a)
    for k in range(a.shape[1]):
        q[:, k] = a[:, k] / np.sqrt(np.dot(a[:, k], a[:, k]))
        for j in range(k + 1, a.shape[1]):
            a[:, j] -= np.dot(q[:, k], a[:, j]) * q[:, k]
    return q


def thomas(lower: Array, diagonal: Array, upper: Array, b: Array) -> Any:
    """A tridiagonal system for each column of air: elimination upwards, substitution downwards."""
    n = b.shape[0]
    c, d = np.zeros_like(b), np.zeros_like(b)
    c[0] = upper[0] / diagonal[0]
    d[0] = b[0] / diagonal[0]
    for k in range(1, n):
        pivot = diagonal[k] - lower[k] * c[k - 1]
        c[k] = upper[k] / pivot
        d[k] = (b[k] - lower[k] * d[k - 1]) / pivot
    x = np.zeros_like(b)
    x[n - 1] = d[n - 1]
    for k in range(n - 2, -1, -1):
        x[k] = d[k] - c[k] * x[k + 1]
    return x


def _positive(rng: np.random.Generator, n: int) -> Arguments:
    a = rng.normal(size=(n, n))
    return {"a": a @ a.T / n + 2 * np.eye(n)}


def _lower(rng: np.random.Generator, n: int) -> Arguments:
    lower = np.tril(rng.normal(size=(n, n))) / np.sqrt(n) + 2 * np.eye(n)
    return {"lower": lower, "b": rng.normal(size=n)}


def _upper(rng: np.random.Generator, n: int) -> Arguments:
    upper = np.triu(rng.normal(size=(n, n))) / np.sqrt(n) + 2 * np.eye(n)
    return {"upper": upper, "b": rng.normal(size=n)}


def _correlations(rng: np.random.Generator, n: int) -> Arguments:
    return {"r": 0.5 ** np.arange(1, n + 1) * (1 + 0.1 * rng.random(n))}


def _tall(rng: np.random.Generator, n: int) -> Arguments:
    return {"a": rng.normal(size=(2 * n, n))}


def _columns(rng: np.random.Generator, levels: int, columns: int) -> Arguments:
    off = {name: rng.normal(size=(levels, columns)) for name in ("lower", "upper")}
    diagonal = 4 + rng.random((levels, columns))
    b = rng.normal(size=(levels, columns))
    return {"lower": off["lower"], "diagonal": diagonal, "upper": off["upper"], "b": b}


PROGRAMS = (
    LoopProgram(
        cholesky, _positive, wrt=("a",), scalar=squares, grows=("n",),
        small={"n": 18}, middle={"n": 100}, large={"n": 400},
    ),
    LoopProgram(
        lu, _positive, wrt=("a",), scalar=squares, grows=("n",),
        small={"n": 18}, middle={"n": 100}, large={"n": 400},
    ),
    LoopProgram(
        lu_rows, _positive, wrt=("a",), scalar=squares, grows=("n",),
        small={"n": 18}, middle={"n": 60}, large={"n": 200},
    ),
    LoopProgram(
        forward_substitution, _lower, wrt=("lower", "b"), scalar=squares, grows=("n",),
        small={"n": 18}, middle={"n": 200}, large={"n": 2000},
    ),
    LoopProgram(
        back_substitution, _upper, wrt=("upper", "b"), scalar=squares, grows=("n",),
        small={"n": 18}, middle={"n": 200}, large={"n": 2000},
    ),
    LoopProgram(
        levinson_durbin, _correlations, wrt=("r",), scalar=squares, grows=("n",),
        small={"n": 18}, middle={"n": 200}, large={"n": 2000},
    ),
    LoopProgram(
        gram_schmidt, _tall, wrt=("a",), scalar=cubes, grows=("n",),
        small={"n": 18}, middle={"n": 60}, large={"n": 240},
    ),
    LoopProgram(
        thomas, _columns, wrt=("lower", "diagonal", "upper", "b"), scalar=squares, whole=True,
        grows=("levels",), small={"levels": 20, "columns": 5},
        middle={"levels": 90, "columns": 128}, large={"levels": 180, "columns": 4096},
    ),
)  # fmt: skip
