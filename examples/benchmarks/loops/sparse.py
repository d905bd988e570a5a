"""Products with sparse matrices, as their formats suggest them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs import Array
from .program import Arguments, LoopProgram, squares


def csr_product(pointers: Array, columns: Array, values: Array, x: Array) -> Any:
    """A row's values lie between two pointers."""
    y = np.zeros(pointers.shape[0] - 1)
    for i in range(pointers.shape[0] - 1):
        first, last = pointers[i], pointers[i + 1]
        y[i] = values[first:last] @ x[columns[first:last]]
    return y


def csr_scalars(pointers: Array, columns: Array, values: Array, x: Array) -> Any:
    """The same number by number."""
    y = np.zeros(pointers.shape[0] - 1)
    for i in range(pointers.shape[0] - 1):
        total = 0.0
        for k in range(pointers[i], pointers[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total
    return y


def coo_product(rows: Array, columns: Array, values: Array, x: Array) -> Any:
    """Each value with its row and its column."""
    y = np.zeros_like(x)
    for k in range(values.shape[0]):
        y[rows[k]] += values[k] * x[columns[k]]
    return y


def ell_product(columns: Array, values: Array, x: Array) -> Any:
    """As many values in each row."""
    y = np.zeros(values.shape[0])
    for i in range(values.shape[0]):
        y[i] = np.dot(values[i], x[columns[i]])
    return y


def _csr(rng: np.random.Generator, n: int, filled: int) -> Arguments:
    counts = rng.integers(1, 2 * filled, n)
    pointers = np.concatenate([[0], np.cumsum(counts)])
    columns = np.concatenate([np.sort(rng.permutation(n)[:c]) for c in counts])
    pointers[-1] = columns.size  # a row has at most n
    pointers = np.minimum(pointers, columns.size)
    values = rng.normal(size=columns.size)
    return {"pointers": pointers, "columns": columns, "values": values, "x": rng.normal(size=n)}


def _coo(rng: np.random.Generator, n: int, filled: int) -> Arguments:
    rows, columns = rng.integers(0, n, n * filled), rng.integers(0, n, n * filled)
    values = rng.normal(size=n * filled)
    return {"rows": rows, "columns": columns, "values": values, "x": rng.normal(size=n)}


def _ell(rng: np.random.Generator, n: int, filled: int) -> Arguments:
    columns, values = rng.integers(0, n, (n, filled)), rng.normal(size=(n, filled))
    return {"columns": columns, "values": values, "x": rng.normal(size=n)}


PROGRAMS = (
    LoopProgram(
        csr_product, _csr, wrt=("values", "x"), scalar=squares, grows=("n",),
        small={"n": 20, "filled": 4}, middle={"n": 500, "filled": 12},
        large={"n": 10000, "filled": 25},
    ),
    LoopProgram(
        csr_scalars, _csr, wrt=("values", "x"), scalar=squares, grows=("n",),
        small={"n": 20, "filled": 3}, middle={"n": 200, "filled": 8},
        large={"n": 5000, "filled": 25},
    ),
    LoopProgram(
        coo_product, _coo, wrt=("values", "x"), scalar=squares, grows=("n",),
        small={"n": 10, "filled": 3}, middle={"n": 300, "filled": 8},
        large={"n": 5000, "filled": 10},
    ),
    LoopProgram(
        ell_product, _ell, wrt=("values", "x"), scalar=squares, whole=True, grows=("n",),
        small={"n": 20, "filled": 4}, middle={"n": 500, "filled": 12},
        large={"n": 10000, "filled": 25},
    ),
)  # fmt: skip
