"""Recursions along a series: each value from those before it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs import Array
from .program import Arguments, LoopProgram, squares


def biquad(x: Array, b: Array, a: Array) -> Any:
    """A recursive filter of second order, number by number."""
    y = np.zeros_like(x)
    for t in range(2, x.shape[0]):
        y[t] = b[0] * x[t] + b[1] * x[t - 1] + b[2] * x[t - 2] - a[0] * y[t - 1] - a[1] * y[t - 2]
    return y


def all_pole(x: Array, a: Array) -> Any:
    """A recursive filter of any order: an inner product with the last values."""
    p = a.shape[0]
    y = np.zeros(x.shape[0] + p)
    for t in range(x.shape[0]):
        y[t + p] = x[t] - np.dot(a, y[t : t + p])
    return y[p:]


def garch(returns: Array, omega: float, alpha: float, beta: float) -> Any:
    """Minus the log-likelihood of returns whose variance follows them."""
    variance = np.mean(returns * returns)
    total = 0.0
    for t in range(returns.shape[0]):
        total += np.log(variance) + returns[t] ** 2 / variance
        variance = omega + alpha * returns[t] ** 2 + beta * variance
    return 0.5 * total


def smoothed(x: Array, up: float, down: float) -> Any:
    """An envelope: it follows quickly upwards and slowly downwards."""
    y = np.zeros_like(x)
    last = 0.0
    for t in range(x.shape[0]):
        rate = up if x[t] > last else down
        last = last + rate * (x[t] - last)
        y[t] = last
    return y


def windowed(x: Array, width: int) -> Any:
    """Each value less the mean of those before it, as far as there are any."""
    y = np.zeros_like(x)
    for t in range(1, x.shape[0]):
        y[t] = x[t] - np.mean(x[max(0, t - width) : t]) * x[t - 1]
    return y


def kalman(z: Array, f: Array, h: Array, q: Array, r: Array) -> Any:
    """Minus the log-likelihood of observations, as a Kalman filter sums it up."""
    n = f.shape[0]
    x, p = np.zeros(n), np.eye(n)
    total = 0.0
    for t in range(z.shape[0]):
        x = f @ x
        p = f @ p @ f.T + q
        s = h @ p @ h.T + r
        e = z[t] - h @ x
        total += np.log(np.linalg.det(s)) + e @ np.linalg.solve(s, e)
        k = p @ h.T @ np.linalg.inv(s)
        x = x + k @ e
        p = p - k @ h @ p
    return 0.5 * total


def _series(rng: np.random.Generator, n: int) -> Arguments:
    return {"x": rng.normal(size=n), "b": np.array([0.2, 0.4, 0.2]), "a": np.array([-0.6, 0.2])}


def _poles(rng: np.random.Generator, n: int, order: int) -> Arguments:
    return {"x": rng.normal(size=n), "a": 0.5 * rng.normal(size=order) / order}


def _returns(rng: np.random.Generator, n: int) -> Arguments:
    return {"returns": rng.normal(size=n), "omega": 0.1, "alpha": 0.1, "beta": 0.8}


def _envelope(rng: np.random.Generator, n: int) -> Arguments:
    return {"x": np.abs(rng.normal(size=n)), "up": 0.5, "down": 0.05}


def _windows(rng: np.random.Generator, n: int, width: int) -> Arguments:
    return {"x": rng.normal(size=n), "width": width}


def _observed(rng: np.random.Generator, n: int, states: int) -> Arguments:
    f = np.eye(states) + 0.1 * rng.normal(size=(states, states)) - 0.3 * np.eye(states)
    h = rng.normal(size=(2, states))
    return {
        "z": rng.normal(size=(n, 2)), "f": f, "h": h, "q": 0.1 * np.eye(states), "r": np.eye(2),
    }  # fmt: skip


PROGRAMS = (
    LoopProgram(
        biquad, _series, wrt=("x", "b", "a"), scalar=squares, grows=("n",),
        small={"n": 30}, middle={"n": 2000}, large={"n": 50000},
    ),
    LoopProgram(
        all_pole, _poles, wrt=("x", "a"), scalar=squares, grows=("n",),
        small={"n": 30, "order": 4}, middle={"n": 2000, "order": 16},
        large={"n": 20000, "order": 64},
    ),
    LoopProgram(
        garch, _returns, wrt=("returns", "omega", "alpha", "beta"), grows=("n",),
        small={"n": 30}, middle={"n": 2000}, large={"n": 50000},
    ),
    LoopProgram(
        smoothed, _envelope, wrt=("x", "up", "down"), scalar=squares, grows=("n",),
        small={"n": 30}, middle={"n": 2000}, large={"n": 50000},
    ),
    LoopProgram(
        windowed, _windows, wrt=("x",), scalar=squares, grows=("n",),
        small={"n": 24, "width": 5}, middle={"n": 400, "width": 32},
        large={"n": 5000, "width": 64},
    ),
    LoopProgram(
        kalman, _observed, wrt=("f", "h", "q", "r"), whole=True, grows=("n",),
        small={"n": 20, "states": 3}, middle={"n": 200, "states": 4},
        large={"n": 2000, "states": 8},
    ),
)  # fmt: skip
