"""Ordinary differential equations: integrators with fixed and adaptive steps, events, N bodies."""

from __future__ import annotations

import numpy as np
import pytest

from tests.control.checks import check_float32, check_second_order
from tests.programs import Examples
from tests.science.checks import check_program, in_place

examples = Examples(check_program)
second_order = Examples(check_second_order)
in_float32 = Examples(check_float32)

START = np.array([1.0, 0.5, 1.2])
RNG = np.random.default_rng(5)
POSITIONS = RNG.normal(size=(4, 2)) * 2
SPEEDS = RNG.normal(size=(4, 2)) * 0.3
MASSES = np.array([1.0, 0.5, 2.0, 0.8])


# --- fixed steps ---------------------------------------------------------------------------------


def rk4_step(rhs, t, y, h, *parameters):
    """One step of the classical method."""
    k1 = rhs(t, y, *parameters)
    k2 = rhs(t + h / 2, y + h / 2 * k1, *parameters)
    k3 = rhs(t + h / 2, y + h / 2 * k2, *parameters)
    k4 = rhs(t + h, y + h * k3, *parameters)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def lorenz(t, state, sigma=10.0, rho=28.0, beta=8 / 3):
    x, y, z = state
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def pendulum(t, state, damping, drive=0.0):
    angle, speed = state
    return np.array([speed, -np.sin(angle) - damping * speed + drive * np.cos(0.7 * t)])


@examples(START, 2)
@examples(START, 40)
@second_order(START, 20)
def lorenz_by_rk4(state, steps):
    """The end of a trajectory."""
    for k in range(steps):
        state = rk4_step(lorenz, 0.01 * k, state, 0.01)
    return state


@examples(np.array([10.0, 28.0, 2.5]), 30)
def lorenz_by_parameters(parameters, steps):
    """A loss of a trajectory, by the parameters of the system."""
    state, loss = START, 0.0
    for k in range(steps):
        state = rk4_step(lorenz, 0.0, state, 0.01, *parameters)
        loss = loss + np.sum((state - 1.0) ** 2)
    return loss / steps


@examples(np.array([0.7, 0.1]), 0.2, wrt=(0, 1))
@second_order(np.array([0.7, 0.1]), 0.2)
def driven_pendulum(state, damping):
    """All states, in a list."""
    t, h = 0.0, 0.1
    states = [state]
    for _ in range(25):
        state = rk4_step(pendulum, t, state, h, damping, 0.3)
        t += h
        states.append(state)
    return np.stack(states)


@examples(np.array([0.7, 0.1]), 4)
@examples(np.array([0.7, 0.1]), 30)
@in_place
def trajectory_in_an_array(state, steps):
    """All states, in rows of an array; what `solve(rhs, y0, times)` would return."""
    times = np.linspace(0.0, 2.0, steps)
    states = np.empty((steps, 2))
    states[0] = state
    for i in range(1, steps):
        h = times[i] - times[i - 1]
        states[i] = rk4_step(pendulum, times[i - 1], states[i - 1], h, 0.1)
    return states


@examples(np.array([0.9, 0.4]), np.array([1.1, 0.6, 0.7, 0.9]), wrt=(0, 1))
def predators_and_prey(populations, rates):
    """Heun's method with floats in the place of arrays."""
    a, b, c, d = rates
    prey, predators = populations
    h = 0.05
    for _ in range(30):
        dx, dy = a * prey - b * prey * predators, c * prey * predators - d * predators
        x, y = prey + h * dx, predators + h * dy
        prey = prey + h / 2 * (dx + a * x - b * x * y)
        predators = predators + h / 2 * (dy + c * x * y - d * y)
    return prey, predators


@examples(0.7, 1.3, wrt=(0, 1))
@second_order(0.7, 1.3)
def implicit_euler(y, rate):
    """A stiff equation: Newton's iteration inside each step."""
    h = 0.1
    for _ in range(20):
        new, residual = y, 1.0
        while abs(residual) > 1e-13:
            residual = new - y + h * rate * new**3
            new = new - residual / (1 + 3 * h * rate * new**2)
        y = new
    return y


@examples(np.array([0.5, 1.0, -0.2]))
def adams_bashforth(y):
    """A method that keeps the slope of the step before; the first step is Euler's."""
    h, before = 0.05, None
    for k in range(20):
        slope = np.sin(y[::-1]) - 0.2 * y
        y = y + h * slope if before is None else y + h * (1.5 * slope - 0.5 * before)
        before = slope
    return y


# --- adaptive steps ------------------------------------------------------------------------------


def bogacki_shampine(rhs, y, h):
    """The new state, and an estimate of the error."""
    k1 = rhs(y)
    k2 = rhs(y + h / 2 * k1)
    k3 = rhs(y + 3 / 4 * h * k2)
    new = y + h * (2 / 9 * k1 + 1 / 3 * k2 + 4 / 9 * k3)
    k4 = rhs(new)
    return new, h * (-5 / 72 * k1 + 1 / 12 * k2 + 1 / 9 * k3 - 1 / 8 * k4)


@examples.slow
@examples(np.array([0.8, 0.0]), 0.5, wrt=(0, 1), step=1e-6)
@examples(np.array([0.1, -0.3]), 2.5, wrt=(0, 1), step=1e-6)
def adaptive_van_der_pol(state, mu):
    """Steps are accepted or repeated with a smaller size; the last one ends at the end."""

    def rhs(y):
        return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    t, end, h, tolerance = 0.0, 2.0, 0.8, 1e-4
    while t < end:
        if t + h > end:
            h = end - t
        new, error = bogacki_shampine(rhs, state, h)
        ratio = np.sqrt(np.mean(error**2)) / tolerance
        if ratio <= 1.0:
            state = new
            t = t + h
            if end - t < 1e-12:
                break
        h = h * min(3.0, max(0.2, 0.9 * (1 / (ratio + 1e-10)) ** (1 / 3)))
    return state


@examples(1.3)
@examples(4.0)
def adaptive_step_doubling(rate):
    """A scalar equation; returns the counts of accepted and refused steps as well."""

    def step(y, h):
        middle = y + h / 2 * (-rate * y + 1)
        return y + h * (-rate * middle + 1)

    t, y, h = 0.0, 3.0, 0.5
    accepted = refused = 0
    while t < 1.0 - 1e-12:
        h = min(h, 1.0 - t)
        once, twice = step(y, h), step(step(y, h / 2), h / 2)
        if abs(once - twice) > 1e-3:
            h *= 0.5
            refused += 1
            continue
        t, y = t + h, twice
        accepted += 1
        h *= 1.3
    return y, accepted, refused


# --- events --------------------------------------------------------------------------------------


@examples(np.array([1.0, 0.3]), 0.3, wrt=(0, 1), step=1e-5)
@examples(np.array([0.4, 0.1]), 0.3, wrt=(0, 1), step=1e-5)
@second_order(np.array([0.9, 0.2]), 0.3)
def oscillator_with_an_event(state, damping):
    """Stop at the first crossing of zero, which is found by interpolation."""
    x, v = state
    h, t = 0.05, 0.0
    for k in range(60):
        new_v = v - h * (x + damping * v)
        new_x = x + h * new_v
        if new_x < 0:
            t = t + h * x / (x - new_x)
            break
        x, v, t = new_x, new_v, t + h
    else:
        t = t + x
    return t, v


@examples(np.float64(2.0), 0.8)
@examples(np.float64(0.55), 0.8)
@second_order(np.float64(2.0), 0.8)
def bouncing_ball(height, restitution):
    """Bounces end the flights; their times are those of the parabola."""
    t, speed, bounces = 0.0, height * 0.0, 0
    while t < 2.0 and bounces < 5:
        fall = (speed + np.sqrt(speed * speed + 2 * 9.81 * height)) / 9.81
        if t + fall > 2.0:
            rest = 2.0 - t
            height = height + speed * rest - 0.5 * 9.81 * rest * rest
            break
        speed = restitution * (9.81 * fall - speed)
        height = 0.0 * height
        t = t + fall
        bounces += 1
    return height, speed, bounces


@examples(0.9)
@examples(1.4)
def thermostat(start):
    """A switch with hysteresis: a flag that the loop carries."""
    temperature, heating, switched = start, False, 0
    for _ in range(30):
        if heating and temperature > 1.0:
            heating = False
            switched += 1
        elif not heating and temperature < 0.8:
            heating = True
            switched += 1
        temperature = temperature + 0.1 * ((1.5 if heating else 0.0) - temperature)
    return temperature, switched


# --- N bodies ------------------------------------------------------------------------------------


def accelerations(positions, masses):
    """By broadcasts."""
    apart = positions[None, :, :] - positions[:, None, :]
    cubes = (np.sum(apart**2, axis=-1) + 0.05) ** 1.5
    return np.sum(masses[None, :, None] * apart / cubes[..., None], axis=1)


@examples(POSITIONS[:3], SPEEDS[:3], MASSES[:3], wrt=(0, 1, 2), step=1e-4)
@second_order(POSITIONS[:3], SPEEDS[:3], MASSES[:3])
def leapfrog(positions, speeds, masses):
    h = 0.05
    speeds = speeds + h / 2 * accelerations(positions, masses)
    for _ in range(20):
        positions = positions + h * speeds
        speeds = speeds + h * accelerations(positions, masses)
    return positions, speeds


@examples.slow
@examples(POSITIONS[:3], SPEEDS[:3], MASSES[:3], wrt=(0, 2))
@in_place
def leapfrog_by_pairs(positions, speeds, masses):
    """By a double loop over pairs, with writes into an array of forces."""
    x, v = positions.copy(), speeds.copy()
    n = len(masses)
    for _ in range(18):
        force = np.zeros_like(x)
        for i in range(n):
            for j in range(i + 1, n):
                apart = x[j] - x[i]
                distance = np.sqrt(apart @ apart + 0.05)
                pull = masses[i] * masses[j] * apart / distance**3
                force[i] += pull
                force[j] -= pull
        v += 0.05 * force / masses[:, None]
        x += 0.05 * v
    return x, v


@examples(POSITIONS, MASSES, wrt=(0, 1))
def potential_energy(positions, masses):
    """Pairs beyond a cutoff do not count."""
    energy = 0.0
    for i in range(len(masses)):
        for j in range(i):
            apart = positions[i] - positions[j]
            distance = np.sqrt(apart[0] ** 2 + apart[1] ** 2)
            if distance > 3.0:
                continue
            energy = energy - masses[i] * masses[j] / distance
    return energy


@examples(POSITIONS, step=1e-6)
@in_place
def particles_in_a_box(positions):
    """Reflections at the walls, by masks."""
    x, v = positions.copy(), 0.5 * positions[::-1]
    for _ in range(20):
        x += 0.1 * v
        outside = np.abs(x) > 2.0
        v = np.where(outside, -v, v)
        x = np.where(outside, np.sign(x) * 4.0 - x, x)
        if np.any(outside):
            v *= 0.99
    return x, v


# --- float32 -------------------------------------------------------------------------------------


@in_float32(START.astype(np.float32), 20)
def in_single_precision(state, steps):
    for _ in range(steps):
        slope = np.sin(state[::-1]) - 0.2 * state
        middle = state + 0.05 * slope
        state = state + 0.1 * (np.sin(middle[::-1]) - 0.2 * middle)
    return state


test_program = examples.tests()
test_second_order = pytest.mark.slow(second_order.tests())
test_float32 = in_float32.tests()
