"""Matrices and vectors, a handful of products: limited by what is read and written."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs import Array
from .program import Arguments, LoopProgram, squares


def atax(a: Array, x: Array) -> Any:
    return (a @ x) @ a


def bicg(a: Array, p: Array, r: Array) -> Any:
    return np.concatenate([r @ a, a @ p])


def mvt(x1: Array, x2: Array, y1: Array, y2: Array, a: Array) -> Any:
    x1 = x1 + a @ y1
    x2 = x2 + y2 @ a
    return np.concatenate([x1, x2])


def gesummv(alpha: float, beta: float, a: Array, b: Array, x: Array) -> Any:
    return alpha * a @ x + beta * b @ x


def gemver(
    alpha: float, beta: float, a: Array, u1: Array, v1: Array, u2: Array, v2: Array, y: Array,
    z: Array,
) -> Any:  # fmt: skip
    a = a + np.outer(u1, v1) + np.outer(u2, v2)
    x = beta * y @ a + z
    return alpha * a @ x


def mlp(x: Array, w1: Array, b1: Array, w2: Array, b2: Array, w3: Array, b3: Array) -> Any:
    """Three layers and a softmax."""
    h = np.maximum(x @ w1 + b1, 0.0)
    h = np.maximum(h @ w2 + b2, 0.0)
    s = h @ w3 + b3
    e = np.exp(s - np.max(s, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def _atax(rng: np.random.Generator, n: int) -> Arguments:
    return {"a": rng.normal(size=(n, n + 3)) / n, "x": rng.normal(size=n + 3)}


def _bicg(rng: np.random.Generator, n: int) -> Arguments:
    a = rng.normal(size=(n, n + 3)) / n
    return {"a": a, "p": rng.normal(size=n + 3), "r": rng.normal(size=n)}


def _mvt(rng: np.random.Generator, n: int) -> Arguments:
    vectors = {name: rng.normal(size=n) for name in ("x1", "x2", "y1", "y2")}
    return {**vectors, "a": rng.normal(size=(n, n)) / n}


def _gesummv(rng: np.random.Generator, n: int) -> Arguments:
    a, b = rng.normal(size=(n, n)) / n, rng.normal(size=(n, n)) / n
    return {"alpha": 1.5, "beta": 1.2, "a": a, "b": b, "x": rng.normal(size=n)}


def _gemver(rng: np.random.Generator, n: int) -> Arguments:
    vectors = {name: rng.normal(size=n) / np.sqrt(n) for name in ("u1", "v1", "u2", "v2", "y", "z")}
    return {"alpha": 1.5, "beta": 1.2, "a": rng.normal(size=(n, n)) / n, **vectors}


def _mlp(rng: np.random.Generator, n: int, rows: int) -> Arguments:
    sides = {"w1": (3, n), "w2": (n, n), "w3": (n, 10)}
    found = {"x": rng.normal(size=(rows, 3))}
    for layer, (name, side) in enumerate(sides.items(), 1):
        found |= {name: rng.normal(size=side) / np.sqrt(side[0]), f"b{layer}": np.zeros(side[1])}
    return found


PROGRAMS = (
    LoopProgram(
        atax, _atax, wrt=("a", "x"), scalar=squares, whole=True, grows=("n",),
        small={"n": 20}, middle={"n": 400}, large={"n": 4000},
    ),
    LoopProgram(
        bicg, _bicg, wrt=("a", "p", "r"), scalar=squares, whole=True, grows=("n",),
        small={"n": 20}, middle={"n": 400}, large={"n": 4000},
    ),
    LoopProgram(
        mvt, _mvt, wrt=("x1", "x2", "y1", "y2", "a"), scalar=squares, whole=True, grows=("n",),
        small={"n": 20}, middle={"n": 400}, large={"n": 4000},
    ),
    LoopProgram(
        gesummv, _gesummv, wrt=("alpha", "beta", "a", "b", "x"), scalar=squares, whole=True,
        grows=("n",),
        small={"n": 20}, middle={"n": 400}, large={"n": 4000},
    ),
    LoopProgram(
        gemver, _gemver, wrt=("alpha", "beta", "a", "u1", "v1", "u2", "v2", "y", "z"), whole=True,
        scalar=squares, grows=("n",), small={"n": 20}, middle={"n": 400}, large={"n": 3000},
    ),
    LoopProgram(
        mlp, _mlp, wrt=("w1", "b1", "w2", "b2", "w3", "b3"), scalar=squares, whole=True,
        grows=("n",),
        small={"n": 20, "rows": 4}, middle={"n": 300, "rows": 8}, large={"n": 2000, "rows": 8},
    ),
)  # fmt: skip
