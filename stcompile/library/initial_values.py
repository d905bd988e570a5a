"""Ordinary differential equations, solved from an initial value.

The method is that of Dormand and Prince (1980) of order 5, with steps, their control and the
polynomial between them as in SciPy's ``RK45``. Derivatives are those of the steps that were made,
with their sizes held fixed: how the sizes depend on the arguments belongs to the control of the
error and not to the solution (Hairer, Nørsett, Wanner 1993, II.4).

A step that is refused has no part in the solution and none in a derivative, though its values may
overflow: only an accepted step is differentiated, computed once more from its start. So an adjoint
keeps a state for each step, not the stages in it.

Times have two parts. The ``clock`` and the size of a step have no derivative; ``shift``, which is
zero, has the derivative by the first time, which moves all steps with it. A clock that is NaN says
that no size of a step was small enough, which ends all loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Function = Callable[..., Any]

NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0)
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
WEIGHTS = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
# By which the weights differ from those of order 4:
ERRORS = (-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40)
# The coefficients of the polynomial in a step (Shampine 1986):
BETWEEN = (
    (1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432),
    (0.0, 0.0, 0.0, 0.0),
    (0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799),
    (0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072),
    (0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632),
    (0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844),
    (0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423),
)


def stepping(slope: Function) -> Function:
    """A function that makes a step of a given size: it returns the next state, and the slopes of
    its stages as rows."""

    def step(clock: Any, h: Any, y: Any, first: Any, shift: Any, *given: Any) -> Any:
        slopes = [first]
        for node, row in zip(NODES, STAGES, strict=True):
            inside = y + h * weighted(row, slopes)
            slopes.append(slope(clock + node * h + shift, inside, *given))
        following = y + h * weighted(WEIGHTS, slopes)
        slopes.append(slope(clock + h + shift, following, *given))
        return following, np.stack(slopes)

    return step


def weighted(weights: Sequence[float], slopes: Sequence[Any]) -> Any:
    total = weights[0] * slopes[0]
    for weight, slope in zip(weights[1:], slopes[1:], strict=True):
        if weight != 0:
            total = total + weight * slope
    return total


def accepting(step: Function, pullback: Function) -> tuple[Function, Function]:
    """A step that is tried with smaller sizes until its error is small enough."""

    def accepted(
        clock: Any,
        size: Any,
        last: Any,
        rtol: Any,
        atol: Any,
        y: Any,
        first: Any,
        shift: Any,
        *given: Any,
    ) -> Any:
        direction = np.where(last < clock, -1.0, 1.0)
        smallest = 10 * np.spacing(np.abs(clock))
        size = np.maximum(size, smallest)
        errors = np.array(ERRORS)
        largest_factor = 10.0
        error = np.inf
        tries = 0
        end, h, following = clock, size, y
        slopes = np.zeros((len(WEIGHTS) + 1, y.size))
        while not error < 1 and size >= smallest:
            if tries > 0:
                largest_factor = 1.0
            end = clock + direction * size
            if direction * (end - last) > 0:
                end = last
            h = end - clock
            following, slopes = step(clock, h, y, first, shift, *given)
            scale = atol + np.maximum(np.abs(y), np.abs(following)) * rtol
            error = mean_square_root(h * (errors @ slopes) / scale)
            factor = 0.9 * np.maximum(error, 1e-10) ** -0.2
            size = np.abs(h) * np.minimum(np.fmax(factor, 0.2), largest_factor)
            tries += 1
        end = np.where(error < 1, end, np.nan)
        return (following, slopes, h, end, size), (clock, h, y, first, shift, given)

    def backward(
        kept: Any, d_following: Any, d_slopes: Any, d_h: Any, d_end: Any, d_size: Any
    ) -> Any:
        clock, h, y, first, shift, given = kept
        cotangents = pullback((d_following, d_slopes), clock, h, y, first, shift, *given)
        return None, None, None, None, None, *cotangents[2:]

    return accepted, backward


def mean_square_root(x: Any) -> Any:
    return np.sqrt(np.mean(x * x))


def solving(slope: Function, accepted: Function, constant: Function) -> Function:
    """The states at given times, one in a row."""

    def solved(
        start: Any, last: Any, y0: Any, times: Any, rtol: Any, atol: Any, *given: Any
    ) -> Any:
        first = slope(start, y0, *given)
        clock, end = constant(start), constant(last)
        shift = start - clock
        size = constant(first_size(slope, start, last, y0, first, rtol, atol, *given))
        direction = np.where(end < clock, -1.0, 1.0)
        passed = direction * (times - clock)
        inside = (passed >= 0) & (passed <= direction * (end - clock)) & np.isfinite(passed)
        count = np.sum(inside)
        assert count == len(times), "solve_ivp: not all times are finite and within t_span"
        assert np.all(passed[1:] >= passed[:-1]), "solve_ivp: t_eval is not sorted as t_span is"
        y, old, old_clock, h = y0, y0, clock, direction
        slopes = np.stack([first] * (len(WEIGHTS) + 1))
        states = np.zeros((len(times), y0.size))
        between = np.array(BETWEEN).T
        at = 0
        while at < count:
            while direction * (constant(times[at]) - clock) > 0:
                old, old_clock = y, clock
                y, slopes, h, clock, size = accepted(
                    clock, size, end, rtol, atol, y, slopes[-1], shift, *given
                )
            x = (times[at] - old_clock - shift) / h
            powers = np.stack([x, x**2, x**3, x**4])
            states[at] = old + h * (powers @ between @ slopes)
            at += 1
        assert np.isfinite(clock), "solve_ivp: no step size is small enough: has it a pole?"
        return states

    return solved


def first_size(
    slope: Function,
    start: Any,
    last: Any,
    y: Any,
    first: Any,
    rtol: Any,
    atol: Any,
    *given: Any,
) -> Any:
    """The size of the first step (Hairer, Nørsett, Wanner 1993, II.4)."""
    length = np.abs(last - start)
    length = np.where(length > 0, length, 1.0)
    direction = np.where(last < start, -1.0, 1.0)
    scale = atol + np.abs(y) * rtol
    d0, d1 = mean_square_root(y / scale), mean_square_root(first / scale)
    h0: Any = 1e-6
    if d0 >= 1e-5 and d1 >= 1e-5:
        h0 = 0.01 * d0 / d1
    h0 = np.minimum(h0, length)
    moved = slope(start + h0 * direction, y + h0 * direction * first, *given)
    d2 = mean_square_root((moved - first) / scale) / h0
    h1 = np.maximum(1e-6, h0 * 1e-3)
    if d1 > 1e-15 or d2 > 1e-15:
        h1 = (0.01 / np.maximum(d1, d2)) ** 0.2
    return np.minimum(np.minimum(100 * h0, h1), length)
