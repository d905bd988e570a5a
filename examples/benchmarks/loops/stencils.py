"""Stencils: each point of a grid from its neighbours, again and again."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs import Array
from .program import Arguments, LoopProgram, squares


def jacobi(u: Array, f: Array, sweeps: int) -> Any:
    """Poisson's equation: every point at once from the last sweep."""
    for _ in range(sweeps):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + f[1:-1, 1:-1]
        )
        u = new
    return u


def gauss_seidel(u: Array, f: Array, sweeps: int) -> Any:
    """The same point by point: the points above and on the left are new already."""
    u = u.copy()
    n, m = u.shape
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + f[i, j])
    return u


def gauss_seidel_rows(u: Array, sweeps: int) -> Any:
    """An average over nine points: a row at a time, then along the row."""
    u = u.copy()
    n, m = u.shape
    for _ in range(sweeps):
        for i in range(1, n - 1):
            u[i, 1:-1] += (
                u[i - 1, :-2] + u[i - 1, 1:-1] + u[i - 1, 2:]
                + u[i, 2:]
                + u[i + 1, :-2] + u[i + 1, 1:-1] + u[i + 1, 2:]
            )  # fmt: skip
            for j in range(1, m - 1):
                u[i, j] = (u[i, j] + u[i, j - 1]) / 9.0
    return u


def red_black(u: Array, f: Array, omega: float, sweeps: int) -> Any:
    """Over-relaxation, the squares of one colour of a chessboard at a time."""
    u = u.copy()
    for _ in range(sweeps):
        for first in (1, 2):
            for row in (1, 2):
                start = 1 + (first + row) % 2
                here = u[row:-1:2, start:-1:2]
                above, below = u[row - 1 : -2 : 2, start:-1:2], u[row + 1 :: 2, start:-1:2]
                left, right = u[row:-1:2, start - 1 : -2 : 2], u[row:-1:2, start + 1 :: 2]
                mean = 0.25 * (above + below + left + right + f[row:-1:2, start:-1:2])
                u[row:-1:2, start:-1:2] = (1 - omega) * here + omega * mean
    return u


def heat_3d(u: Array, steps: int) -> Any:
    """Heat in three dimensions, two arrays in turn."""
    a, b = u.copy(), u.copy()
    for _ in range(steps):
        for x, y in ((a, b), (b, a)):
            y[1:-1, 1:-1, 1:-1] = (
                0.125 * (x[2:, 1:-1, 1:-1] - 2.0 * x[1:-1, 1:-1, 1:-1] + x[:-2, 1:-1, 1:-1])
                + 0.125 * (x[1:-1, 2:, 1:-1] - 2.0 * x[1:-1, 1:-1, 1:-1] + x[1:-1, :-2, 1:-1])
                + 0.125 * (x[1:-1, 1:-1, 2:] - 2.0 * x[1:-1, 1:-1, 1:-1] + x[1:-1, 1:-1, :-2])
                + x[1:-1, 1:-1, 1:-1]
            )
    return a


def fdtd(ex: Array, ey: Array, hz: Array, pulse: Array) -> Any:
    """Maxwell's equations in two dimensions, Yee's grid, a source at one side."""
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for t in range(pulse.shape[0]):
        ey[0, :] = pulse[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return hz


def horizontal_diffusion(field: Array, strength: Array) -> Any:
    """Diffusion of fourth order with limited fluxes, as weather models have it."""
    lap = 4.0 * field[1:-1, 1:-1, :] - (
        field[2:, 1:-1, :] + field[:-2, 1:-1, :] + field[1:-1, 2:, :] + field[1:-1, :-2, :]
    )
    flx = lap[1:, 1:-1, :] - lap[:-1, 1:-1, :]
    flx = np.where(flx * (field[2:-1, 2:-2, :] - field[1:-2, 2:-2, :]) > 0, 0.0, flx)
    fly = lap[1:-1, 1:, :] - lap[1:-1, :-1, :]
    fly = np.where(fly * (field[2:-2, 2:-1, :] - field[2:-2, 1:-2, :]) > 0, 0.0, fly)
    change = flx[1:, :, :] - flx[:-1, :, :] + fly[:, 1:, :] - fly[:, :-1, :]
    return field[2:-2, 2:-2, :] - strength * change


def _plane(rng: np.random.Generator, n: int, sweeps: int) -> Arguments:
    return {"u": rng.normal(size=(n, n)), "f": rng.normal(size=(n, n)), "sweeps": sweeps}


def _rows(rng: np.random.Generator, n: int, sweeps: int) -> Arguments:
    return {"u": rng.normal(size=(n, n)), "sweeps": sweeps}


def _red_black(rng: np.random.Generator, n: int, sweeps: int) -> Arguments:
    plane = {"u": rng.normal(size=(n, n)), "f": rng.normal(size=(n, n))}
    return {**plane, "omega": 1.5, "sweeps": sweeps}


def _cube(rng: np.random.Generator, n: int, steps: int) -> Arguments:
    return {"u": rng.normal(size=(n, n, n)), "steps": steps}


def _fields(rng: np.random.Generator, n: int, steps: int) -> Arguments:
    fields = {name: rng.normal(size=(n, n)) for name in ("ex", "ey", "hz")}
    return {**fields, "pulse": rng.normal(size=steps)}


def _weather(rng: np.random.Generator, n: int, levels: int) -> Arguments:
    field = rng.normal(size=(n + 4, n + 4, levels))
    return {"field": field, "strength": 0.1 * rng.random((n, n, levels))}


PROGRAMS = (
    LoopProgram(
        jacobi, _plane, wrt=("u", "f"), scalar=squares, whole=True, grows=("n",),
        small={"n": 16, "sweeps": 20}, middle={"n": 150, "sweeps": 100},
        large={"n": 500, "sweeps": 200},
    ),
    LoopProgram(
        gauss_seidel, _plane, wrt=("u", "f"), scalar=squares, grows=("n",),
        small={"n": 20, "sweeps": 2}, middle={"n": 50, "sweeps": 8},
        large={"n": 200, "sweeps": 20},
    ),
    LoopProgram(
        gauss_seidel_rows, _rows, wrt=("u",), scalar=squares, grows=("n",),
        small={"n": 20, "sweeps": 2}, middle={"n": 60, "sweeps": 20},
        large={"n": 400, "sweeps": 40},
    ),
    LoopProgram(
        red_black, _red_black, wrt=("u", "f", "omega"), scalar=squares, whole=True,
        grows=("n",),
        small={"n": 16, "sweeps": 2}, middle={"n": 150, "sweeps": 40},
        large={"n": 500, "sweeps": 100},
    ),
    LoopProgram(
        heat_3d, _cube, wrt=("u",), scalar=squares, whole=True, grows=("n",),
        small={"n": 8, "steps": 3}, middle={"n": 25, "steps": 25},
        large={"n": 70, "steps": 50},
    ),
    LoopProgram(
        fdtd, _fields, wrt=("ex", "ey", "hz", "pulse"), scalar=squares, whole=True,
        grows=("n",),
        small={"n": 16, "steps": 20}, middle={"n": 100, "steps": 60},
        large={"n": 400, "steps": 150},
    ),
    LoopProgram(
        horizontal_diffusion, _weather, wrt=("field", "strength"), scalar=squares, whole=True,
        grows=("n",),
        small={"n": 8, "levels": 5}, middle={"n": 64, "levels": 40},
        large={"n": 192, "levels": 80},
    ),
)  # fmt: skip
