"""Differential equations, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs import Array
from .program import Arguments, LoopProgram, squares


def lorenz(z: Array, p: Array) -> Any:
    return np.array([p[0] * (z[1] - z[0]), z[0] * (p[1] - z[2]) - z[1], z[0] * z[1] - p[2] * z[2]])


def rk4_append(z0: Array, p: Array, dt: float, steps: int) -> Any:
    """Runge and Kutta's method; the last state is the last of a list."""
    zs = [z0]
    for _ in range(steps):
        z = zs[-1]
        k1 = lorenz(z, p)
        k2 = lorenz(z + 0.5 * dt * k1, p)
        k3 = lorenz(z + 0.5 * dt * k2, p)
        k4 = lorenz(z + dt * k3, p)
        zs.append(z + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4))
    return np.array(zs)


def rk4_carried(z: Array, p: Array, dt: float, steps: int) -> Any:
    """The same; the last state has a name."""
    for _ in range(steps):
        k1 = lorenz(z, p)
        k2 = lorenz(z + 0.5 * dt * k1, p)
        k3 = lorenz(z + 0.5 * dt * k2, p)
        k4 = lorenz(z + dt * k3, p)
        z = z + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return z


def adams_bashforth(y0: Array, a: Array, dt: float, steps: int) -> Any:
    """A step from the last two slopes, which are looked up in the list of states."""
    ys = [y0, y0 + dt * np.tanh(a @ y0)]
    for _ in range(steps):
        ys.append(ys[-1] + dt * (1.5 * np.tanh(a @ ys[-1]) - 0.5 * np.tanh(a @ ys[-2])))
    return ys[-1]


def euler_table(y0: Array, rates: Array, dt: float, steps: int) -> Any:
    """Species that turn into one another; all states in a table that is made beforehand."""
    y = np.zeros((steps + 1, y0.shape[0]))
    y[0] = y0
    for t in range(steps):
        flow = rates * y[t][:, None] * y[t][None, :]
        y[t + 1] = y[t] + dt * (np.sum(flow, axis=0) - np.sum(flow, axis=1))
    return y


def _weather(rng: np.random.Generator, steps: int) -> Arguments:
    z0, p = 1 + rng.random(3), np.array([10.0, 28.0, 8.0 / 3.0])
    return {"z0": z0, "p": p, "dt": 0.002, "steps": steps}


def _carried(rng: np.random.Generator, steps: int) -> Arguments:
    found = _weather(rng, steps)
    return {"z": found.pop("z0"), **found}


def _network(rng: np.random.Generator, n: int, steps: int) -> Arguments:
    y0, a = rng.normal(size=n), rng.normal(size=(n, n)) / np.sqrt(n)
    return {"y0": y0, "a": a, "dt": 0.05, "steps": steps}


def _species(rng: np.random.Generator, n: int, steps: int) -> Arguments:
    return {"y0": rng.random(n), "rates": rng.random((n, n)), "dt": 0.01, "steps": steps}


PROGRAMS = (
    LoopProgram(
        rk4_append, _weather, wrt=("z0", "p"), scalar=squares, whole=True, grows=("steps",),
        small={"steps": 20}, middle={"steps": 200}, large={"steps": 5000},
    ),
    LoopProgram(
        rk4_carried, _carried, wrt=("z", "p"), scalar=squares, whole=True, grows=("steps",),
        small={"steps": 20}, middle={"steps": 200}, large={"steps": 5000},
    ),
    LoopProgram(
        adams_bashforth, _network, wrt=("y0", "a"), scalar=squares, whole=True, grows=("steps",),
        small={"n": 5, "steps": 20}, middle={"n": 30, "steps": 200},
        large={"n": 100, "steps": 2000},
    ),
    LoopProgram(
        euler_table, _species, wrt=("y0", "rates"), scalar=squares, whole=True, grows=("steps",),
        small={"n": 4, "steps": 20}, middle={"n": 20, "steps": 300},
        large={"n": 50, "steps": 3000},
    ),
)  # fmt: skip
