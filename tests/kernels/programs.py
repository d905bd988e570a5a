"""Programs for the compiled level, each with arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RNG = np.random.default_rng(3)
SQUARE, WIDE = RNG.normal(size=(12, 12)), RNG.normal(size=(5, 30))
LONG = RNG.normal(size=700)
SINGLE = WIDE.astype(np.float32)
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def case(*args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES[function.__name__] = function, args
        return function

    return note


@case(SQUARE)
def sweeps(u: Any) -> Any:
    u = u.copy()
    for _ in range(30):
        for i in range(1, 11):
            for j in range(1, 11):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return np.sum(u * u)


@case(SQUARE)
def whole_sweeps(u: Any) -> Any:
    for _ in range(20):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = new
    return np.sum(u**3)


@case(SQUARE)
def in_its_own_place(u: Any) -> Any:
    u = u.copy()
    for _ in range(20):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])  # reads what it writes
        u[:, ::-1] += 0.1 * u
    return np.sum(u * u)


@case(SQUARE @ SQUARE.T + 12 * np.eye(12))
def cholesky(a: Any) -> Any:
    a = a.copy()
    for i in range(12):
        for j in range(i):
            a[i, j] = (a[i, j] - np.dot(a[i, :j], a[j, :j])) / a[j, j]
        a[i, i] = np.sqrt(a[i, i] - np.dot(a[i, :i], a[i, :i]))
    return np.sum(np.tril(a) ** 2)


@case(SQUARE + 12 * np.eye(12))
def lu(a: Any) -> Any:
    a = a.copy()
    for k in range(11):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.sum(a * a)


@case(WIDE)
def reductions(x: Any) -> Any:
    spread = x - np.mean(x, axis=0)
    top = np.max(spread, axis=1, keepdims=True)
    return np.sum(np.exp(spread - top)) + np.sum(np.prod(np.cos(x), axis=0)) + np.min(x)


@case(LONG)
def long_sums(x: Any) -> Any:
    return np.sum(np.sin(x)) * np.mean(x * x)


@case(SINGLE)
def single_precision(x: Any) -> Any:
    y = np.where(x > 0.1, x / 3, np.tanh(0.7 * x))
    return np.sum(y * 0.3 + np.maximum(y, 0.25)) / 2


@case(WIDE)
def arrangements(x: Any) -> Any:
    y = x.reshape(5, 5, 6).transpose(2, 0, 1)[::-1, :, 1:4]
    z = np.broadcast_to(y[0], (4, 5, 3)) * np.arange(3) + np.diagonal(y[:3])[0]
    return np.sum(z * y[2:]) + np.sum(np.expand_dims(x, 1) * x)


@case(WIDE, np.array([[4, 0], [-1, 2]]), np.array([3, 3, 29, -30]))
def picked(x: Any, rows: Any, columns: Any) -> Any:
    y = x[rows] * x[rows, 3:5][:, :, :1]
    return np.sum(y * y) + np.sum(x[:, columns] ** 3)


@case(LONG, RNG.integers(-40, 40, 50))
def walk(x: Any, steps: Any) -> Any:
    y, last = np.zeros(50), 0.0
    for t in range(50):
        last = 0.5 * last + x[steps[t]] * x[t]
        y[steps[t]] += last
    return np.sum(y * y)


@case(LONG)
def branches(x: Any) -> Any:
    low, total = 0.0, 0.0
    for t in range(600):
        rate = 0.5 if x[t] > low else 0.05
        low = low + rate * (x[t] - low)
        if low < 0.0:
            total += low * x[t + 1]
        else:
            total -= max(low, x[t + 2]) / 2.0
    return total


@case(0.3)
def iteration(a: float) -> Any:
    x = 1.0
    while abs(x * x - a) > 1e-9:
        x = 0.5 * (x + a / x)
    return x


@case(SQUARE[:, :3])
def pairs(position: Any) -> Any:
    energy = 0.0
    for i in range(12):
        for j in range(i + 1, 12):
            d = position[i] - position[j]
            energy += 1.0 / np.sqrt(np.dot(d, d) + 0.01)
    return energy


@case(SQUARE[:4, :3])
def systems_between(x: Any) -> Any:
    """Calls between loops, and loops with calls."""
    total = 0.0
    for t in range(20):
        a = np.outer(x[0], x[0]) + 3.0 * np.eye(3)
        x = np.tanh(x @ np.linalg.inv(a) + 0.1 * t)
        total = total + np.sum(x * x)
    return total


@case(WIDE)
def put_together(x: Any) -> Any:
    both = np.concatenate((x[:, 20:], 2 * x[:, :20]), axis=1)
    layers = np.stack((x, both * both, np.roll(x, 4, axis=1)), axis=1)
    edged = np.pad(layers[:, 1], ((1, 0), (2, 3)))
    row = np.array([x[0, 0], x[1, 1] * 2.0, np.sum(x[2])])
    flat = layers.transpose(1, 0, 2).reshape(3, 150)
    return np.sum(edged**2) + np.sum(np.cumsum(both, axis=1)) * np.sum(row @ flat)


@case(WIDE)
def picked_by_size(x: Any) -> Any:
    columns, row = np.argmax(x, axis=1), np.argmin(x[:, 2])
    return np.sum(x[np.arange(5), columns] ** 2) * x[row, 0] + np.sum((x[:, :5] * np.eye(5)) ** 3)


@case(SQUARE[:4])
def complex_steps(x: Any) -> Any:
    """Arrays that are not compiled, kept for all steps of a loop with some that are."""
    total = 0.0
    for t in range(20):
        z = np.fft.fft(x[t % 4] * x[1])
        x = np.tanh(x + 0.01 * np.abs(z))
        total = total + np.sum(x * x)
    return total


@case(RNG.normal(size=3))
def small_vectors(z: Any) -> Any:
    for _ in range(40):
        slope = np.array([10.0 * (z[1] - z[0]), z[0] * (28.0 - z[2]) - z[1], z[0] * z[1] - z[2]])
        z = z + 0.001 * slope
    return np.sum(z * z)


@case(WIDE, np.array(0.5))
def masked(x: Any, v: Any) -> Any:
    y = x * 2
    y[x > 0.3] = v
    y[(x < -0.5) | (x > 0.95)] = 0
    return np.sum(y * x) * v + np.sum(x[x > 1.0])


@case(WIDE)
def first_large_row(x: Any) -> Any:
    """Rows that some steps leave undefined."""
    for t in range(5):
        for k in range(30):
            row = x[t] * x[:, k][0]
            if np.sum(row) > 2.0:
                return np.sum(row * row)
    return np.sum(x)
