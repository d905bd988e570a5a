"""Partial differential equations on grids: stencils in place, upwind schemes, relaxation."""

from __future__ import annotations

import numpy as np
import pytest

from tests.control.checks import check_float32, check_second_order
from tests.programs import Examples
from tests.science.checks import check_program, in_place

examples = Examples(check_program)
second_order = Examples(check_second_order)
in_float32 = Examples(check_float32)

GRID = np.sin(np.linspace(0.0, np.pi, 9)) + 0.1 * np.cos(5 * np.arange(9.0))
PLATE = np.cos(np.arange(30.0)).reshape(5, 6)


@examples(GRID, 0.3, 3, wrt=(0, 1))
@examples(GRID, 0.3, 30, wrt=(0, 1))
@second_order(GRID, 0.3, 20)
@in_place
def heat_in_place(u, r, steps):
    """The explicit stencil; the ends keep their values."""
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += r * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@examples(GRID[:5], 0.3, 3)
@examples(GRID[:5], 0.3, 20)
@in_place
def heat_in_two_buffers(u, r, steps):
    """Point by point, from one array into the other, which change places."""
    old, new = u.copy(), u.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            new[i] = old[i] + r * (old[i + 1] - 2 * old[i] + old[i - 1])
        old, new = new.copy(), old.copy()
    return old


@examples(GRID, 0.3)
def heat_until_steady(u, r):
    """With other values at the ends, until little changes or too many steps were taken."""
    change, steps = 1.0, 0
    while change > 0.005 and steps < 60:
        inner = u[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
        change = np.max(np.abs(inner - u[1:-1]))
        u = np.concatenate([u[:1], inner, u[-1:]])
        steps += 1
    return u, steps


@examples(GRID, 0.4, 3, wrt=(0, 1))
@examples(GRID, 0.4, 25, wrt=(0, 1))
def wave(u, speed, steps):
    """Periodic, by rolls; the energy is part of the result."""
    before, energy = u, 0.0
    for _ in range(steps):
        laplacian = np.roll(u, 1) - 2 * u + np.roll(u, -1)
        u, before = 2 * u - before + speed**2 * laplacian, u
        energy = energy + np.sum((u - before) ** 2)
    return u, energy


@examples(GRID, 20)
@in_place
def wave_in_an_array_of_time(u, steps):
    """All times are kept in one array."""
    history = np.zeros((steps, len(u)))
    history[0] = history[1] = u
    for n in range(1, steps - 1):
        history[n + 1, 1:-1] = (
            2 * history[n, 1:-1]
            - history[n - 1, 1:-1]
            + 0.2 * (history[n, 2:] - 2 * history[n, 1:-1] + history[n, :-2])
        )
    return history


@examples(GRID - 0.45, 5)
@examples(GRID - 0.45, 20)
@second_order(GRID - 0.45, 5)
def burgers_upwind(u, steps):
    """The side of the difference depends on the sign of the speed."""
    for _ in range(steps):
        left, right = u - np.roll(u, 1), np.roll(u, -1) - u
        u = u - 0.2 * u * np.where(u > 0, left, right)
    return u


@examples(GRID - 0.45, 0.1)
def burgers_with_a_time_step_by_the_fastest(u, end):
    """As many steps as the largest speed demands."""
    t = 0.0
    while t < end:
        h = 0.05 / np.max(np.abs(u))
        if t + h > end:
            h = end - t
        flux = 0.5 * u * u
        faces = np.where(u + np.roll(u, -1) > 0, flux, np.roll(flux, -1))
        u = u - h * 4 * (faces - np.roll(faces, 1))
        t = t + h
        if end - t < 1e-12:
            break
    return u


def minmod(a, b):
    return np.where(a * b > 0, np.where(np.abs(a) < np.abs(b), a, b), 0.0)


@examples(GRID + 0.03 * np.sin(9.0 * np.arange(9.0)), 20, step=1e-6)
def advection_with_a_limiter(u, steps):
    for _ in range(steps):
        slope = minmod(u - np.roll(u, 1), np.roll(u, -1) - u)
        face = u + 0.4 * slope
        u = u - 0.2 * (face - np.roll(face, 1))
    return u


@examples(PLATE, 4)
@examples(PLATE, 20)
@in_place
def laplace_by_jacobi(u, sweeps):
    """Relaxation on a plate, with writes into its inner part."""
    u = u.copy()
    inner = u[1:-1, 1:-1]
    for _ in range(sweeps):
        inner[:] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u


@examples(PLATE)
@in_place
def laplace_red_and_black(u):
    """Sweeps over points in two colours, with strided writes."""
    u = u.copy()
    for sweep in range(18):
        for start in (0, 1):
            middle = u[1:-1, 1:-1]
            mean = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
            middle[start::2, ::2] += 1.2 * (mean - middle)[start::2, ::2]
            middle[1 - start :: 2, 1::2] += 1.2 * (mean - middle)[1 - start :: 2, 1::2]
    return u


@examples(GRID[:5], 0.7, wrt=(0, 1))
@examples(np.tile(GRID, 3)[:22], 0.7, wrt=(0, 1))
@in_place
def crank_nicolson(u, r):
    """One implicit step: a tridiagonal system by the Thomas algorithm."""
    n = len(u)
    d = u + r / 2 * (np.roll(u, 1) - 2 * u + np.roll(u, -1))
    c, x = np.zeros(n), np.zeros(n)
    diagonal, off = 1 + r, -r / 2
    c[0] = off / diagonal
    d[0] = d[0] / diagonal
    for i in range(1, n):
        m = diagonal - off * c[i - 1]
        c[i] = off / m
        d[i] = (d[i] - off * d[i - 1]) / m
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


@examples.slow
@examples(0.3 + 0.1 * PLATE[:3], 0.2 + 0.05 * PLATE[2:], wrt=(0, 1))
def gray_scott(u, v):
    """Reaction and diffusion of two substances."""

    def laplacian(z):
        return np.roll(z, 1, 0) + np.roll(z, -1, 0) + np.roll(z, 1, 1) + np.roll(z, -1, 1) - 4 * z

    for _ in range(20):
        reaction = u * v * v
        u, v = (
            u + 0.16 * laplacian(u) - reaction + 0.035 * (1 - u),
            v + 0.08 * laplacian(v) + reaction - 0.1 * v,
        )
    return u, v


@examples(GRID[:5])
def eikonal_by_sweeps(speed):
    """Fast sweeping in both directions: the least time to a point."""
    n = len(speed)
    times = [100.0 if i else 0.0 for i in range(n)]
    slowness = 1 / (speed**2 + 0.5)
    for order in (range(1, n), range(n - 2, -1, -1)):
        for i in order:
            neighbour = times[i - 1] if i == n - 1 else min(times[i - 1], times[i + 1])
            times[i] = min(times[i], neighbour + slowness[i]) if i else times[i]
    return times


@examples(GRID[:6], GRID[3:9], wrt=(0, 1))
@in_place
def shallow_water(h, m):
    """Two fields in the rows of one array, the flux of Rusanov at the faces."""
    state = np.stack([1 + 0.1 * h, 0.1 * m])
    for _ in range(17):
        height, momentum = state[0], state[1]
        flux = np.stack([momentum, momentum**2 / height + 0.5 * height**2])
        speed = np.max(np.abs(momentum / height) + np.sqrt(height))
        faces = 0.5 * (flux + np.roll(flux, -1, 1)) - 0.5 * speed * (np.roll(state, -1, 1) - state)
        state -= 0.05 * (faces - np.roll(faces, 1, 1))
    return state


@in_float32(GRID.astype(np.float32), 20)
def in_single_precision(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += 0.3 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


test_program = examples.tests()
test_second_order = pytest.mark.slow(second_order.tests())
test_float32 = in_float32.tests()
