"""Bodies that attract one another, and particles on grids."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs import Array
from .program import Arguments, LoopProgram, squares

SOFTENING = 0.01


def n_body(position: Array, velocity: Array, mass: Array, dt: float, steps: int) -> Any:
    """Leapfrog steps; the forces of all on all as matrices."""
    for _ in range(steps):
        d = position[None, :, :] - position[:, None, :]
        inverse = (np.sum(d * d, axis=2) + SOFTENING) ** -1.5
        acceleration = np.sum(d * (inverse * mass[None, :])[:, :, None], axis=1)
        velocity = velocity + dt * acceleration
        position = position + dt * velocity
    return position


def pair_energy(position: Array, charge: Array) -> Any:
    """The energy of charges that repel one another, pair by pair."""
    energy = 0.0
    n = position.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            d = position[i] - position[j]
            energy += charge[i] * charge[j] / np.sqrt(np.dot(d, d) + SOFTENING)
    return energy


def pair_forces(position: Array, charge: Array) -> Any:
    """The forces among the bodies, each body against the bodies that follow."""
    force = np.zeros_like(position)
    n = position.shape[0]
    for i in range(n - 1):
        d = position[i] - position[i + 1 :]
        r2 = np.sum(d * d, axis=1) + SOFTENING
        f = (charge[i] * charge[i + 1 :] * r2**-1.5)[:, None] * d
        force[i] += np.sum(f, axis=0)
        force[i + 1 :] -= f
    return force


def deposit(x: Array, weight: Array, cells: Array, grid: int) -> Any:
    """The charge of particles shared out to the two nearest points of a grid, one by one."""
    density = np.zeros(grid)
    for p in range(x.shape[0]):
        c = cells[p]
        right = x[p] - c
        density[c] += weight[p] * (1.0 - right)
        density[c + 1] += weight[p] * right
    return density


def push(x: Array, v: Array, field: Array, cells: Array, dt: float) -> Any:
    """Particles pushed by a field between grid points, one by one."""
    energy = np.zeros_like(x)
    for p in range(x.shape[0]):
        c = cells[p]
        right = x[p] - c
        e = field[c] * (1.0 - right) + field[c + 1] * right
        new = v[p] + dt * e
        if new > 1.0:
            new = 2.0 - new
        energy[p] = 0.5 * new * new
    return energy


def neighbours(position: Array, lists: Array) -> Any:
    """Lennard-Jones energy of atoms with those in their lists."""
    energy = 0.0
    for i in range(position.shape[0]):
        d = position[lists[i]] - position[i]
        s = 1.0 / np.sum(d * d, axis=1) ** 3
        energy += 2.0 * np.sum(s * s - s)
    return energy


def _bodies(rng: np.random.Generator, n: int, steps: int) -> Arguments:
    position, velocity = rng.normal(size=(n, 3)), rng.normal(size=(n, 3))
    return {
        "position": position, "velocity": velocity, "mass": 1 + rng.random(n), "dt": 0.01,
        "steps": steps,
    }  # fmt: skip


def _charges(rng: np.random.Generator, n: int) -> Arguments:
    return {"position": rng.normal(size=(n, 3)), "charge": 1 + rng.random(n)}


def _on_grid(rng: np.random.Generator, n: int, grid: int) -> Arguments:
    x = (grid - 1) * (0.001 + 0.998 * rng.random(n))
    return {"x": x, "weight": rng.random(n), "cells": np.floor(x).astype(np.int64), "grid": grid}


def _pushed(rng: np.random.Generator, n: int, grid: int) -> Arguments:
    found = _on_grid(rng, n, grid)
    x, cells = found["x"], found["cells"]
    v, field = rng.normal(size=n), rng.normal(size=grid)
    return {"x": x, "v": v, "field": field, "cells": cells, "dt": 0.3}


def _atoms(rng: np.random.Generator, n: int, near: int) -> Arguments:
    side = int(np.ceil(n ** (1 / 3)))
    axes = np.meshgrid(*3 * [1.2 * np.arange(side)], indexing="ij")
    position = np.stack([axis.ravel() for axis in axes], axis=1)[:n]
    position = position + 0.05 * rng.normal(size=position.shape)
    distances = np.sum((position[:, None] - position[None]) ** 2, axis=2)
    return {"position": position, "lists": np.argsort(distances, axis=1)[:, 1 : near + 1]}


PROGRAMS = (
    LoopProgram(
        n_body, _bodies, wrt=("position", "velocity", "mass"), scalar=squares, whole=True,
        grows=("n",),
        small={"n": 6, "steps": 20}, middle={"n": 50, "steps": 50},
        large={"n": 200, "steps": 100},
    ),
    LoopProgram(
        pair_energy, _charges, wrt=("position", "charge"), grows=("n",),
        small={"n": 18}, middle={"n": 60}, large={"n": 300},
    ),
    LoopProgram(
        pair_forces, _charges, wrt=("position", "charge"), scalar=squares, grows=("n",),
        small={"n": 18}, middle={"n": 100}, large={"n": 1000},
    ),
    LoopProgram(
        deposit, _on_grid, wrt=("x", "weight"), scalar=squares, grows=("n", "grid"),
        small={"n": 30, "grid": 10}, middle={"n": 2000, "grid": 64},
        large={"n": 50000, "grid": 256},
    ),
    LoopProgram(
        push, _pushed, wrt=("x", "v", "field"), scalar=squares, grows=("n", "grid"),
        small={"n": 30, "grid": 10}, middle={"n": 2000, "grid": 64},
        large={"n": 50000, "grid": 256},
    ),
    LoopProgram(
        neighbours, _atoms, wrt=("position",), whole=True, grows=("n",),
        small={"n": 27, "near": 6}, middle={"n": 512, "near": 16},
        large={"n": 2000, "near": 32},
    ),
)  # fmt: skip
