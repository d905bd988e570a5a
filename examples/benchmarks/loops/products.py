"""Products of which one operand is symmetric or triangular: only half of it is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs import Array
from .program import Arguments, LoopProgram, squares


def syrk(alpha: float, beta: float, c: Array, a: Array) -> Any:
    """The lower half of beta C + alpha A Aᵀ."""
    c = c.copy()
    n, m = a.shape
    for i in range(n):
        c[i, : i + 1] *= beta
        for k in range(m):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]
    return c


def syr2k(alpha: float, beta: float, c: Array, a: Array, b: Array) -> Any:
    """The lower half of beta C + alpha (A Bᵀ + B Aᵀ)."""
    c = c.copy()
    n, m = a.shape
    for i in range(n):
        c[i, : i + 1] *= beta
        for k in range(m):
            c[i, : i + 1] += alpha * (a[: i + 1, k] * b[i, k] + b[: i + 1, k] * a[i, k])
    return c


def trmm(alpha: float, a: Array, b: Array) -> Any:
    """The product alpha Aᵀ B for a lower A with ones on its diagonal, in B's place."""
    b = b.copy()
    n, m = b.shape
    for i in range(n):
        for j in range(m):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= alpha
    return b


def symm(alpha: float, beta: float, c: Array, a: Array, b: Array) -> Any:
    """The sum beta C + alpha A B for a symmetric A, of which the lower half is given."""
    c = c.copy()
    n, m = c.shape
    c *= beta
    for i in range(n):
        for j in range(m):
            c[:i, j] += alpha * b[i, j] * a[i, :i]
            c[i, j] += alpha * b[i, j] * a[i, i] + alpha * np.dot(b[:i, j], a[i, :i])
    return c


def covariance(data: Array) -> Any:
    """The covariances of columns, each pair once."""
    n, m = data.shape
    data = data - np.mean(data, axis=0)
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i:, i] = data[:, i] @ data[:, i:] / (n - 1.0)
        cov[i, i:] = cov[i:, i]
    return cov


def _rank_k(rng: np.random.Generator, n: int, m: int) -> Arguments:
    c, a = rng.normal(size=(n, n)), rng.normal(size=(n, m))
    return {"alpha": 1.5, "beta": 1.2, "c": c, "a": a}


def _rank_2k(rng: np.random.Generator, n: int, m: int) -> Arguments:
    return {**_rank_k(rng, n, m), "b": rng.normal(size=(n, m))}


def _triangular(rng: np.random.Generator, n: int, m: int) -> Arguments:
    return {"alpha": 1.5, "a": rng.normal(size=(n, n)), "b": rng.normal(size=(n, m))}


def _symmetric(rng: np.random.Generator, n: int, m: int) -> Arguments:
    sides = {"c": (n, m), "a": (n, n), "b": (n, m)}
    arrays = {name: rng.normal(size=side) for name, side in sides.items()}
    return {"alpha": 1.5, "beta": 1.2, **arrays}


def _samples(rng: np.random.Generator, n: int, m: int) -> Arguments:
    return {"data": rng.normal(size=(n, m))}


PROGRAMS = (
    LoopProgram(
        syrk, _rank_k, wrt=("alpha", "beta", "c", "a"), scalar=squares, grows=("n", "m"),
        small={"n": 18, "m": 17}, middle={"n": 70, "m": 60}, large={"n": 300, "m": 200},
    ),
    LoopProgram(
        syr2k, _rank_2k, wrt=("alpha", "beta", "c", "a", "b"), scalar=squares, grows=("n", "m"),
        small={"n": 18, "m": 17}, middle={"n": 60, "m": 50}, large={"n": 250, "m": 180},
    ),
    LoopProgram(
        trmm, _triangular, wrt=("alpha", "a", "b"), scalar=squares, grows=("n", "m"),
        small={"n": 18, "m": 17}, middle={"n": 65, "m": 80}, large={"n": 250, "m": 300},
    ),
    LoopProgram(
        symm, _symmetric, wrt=("alpha", "beta", "c", "a", "b"), scalar=squares, grows=("n", "m"),
        small={"n": 18, "m": 17}, middle={"n": 60, "m": 50}, large={"n": 200, "m": 240},
    ),
    LoopProgram(
        covariance, _samples, wrt=("data",), scalar=squares, grows=("n", "m"),
        small={"n": 20, "m": 18}, middle={"n": 300, "m": 100}, large={"n": 1400, "m": 400},
    ),
)  # fmt: skip
