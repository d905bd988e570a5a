"""Solvers of equations, and the linear systems of their derivatives.

The solution of ``f(x, p) = 0`` has the derivative ``-(df/dx)^-1 df/dp`` by ``p`` (the implicit
function theorem), so that its adjoint is a single linear system, whatever the number of steps that
found it (Blondel et al., "Efficient and modular implicit differentiation", NeurIPS 2022). A fixed
point, ``x = g(x, p)``, is the solution of ``x - g(x, p) = 0``. (Its system could be solved by an
iteration like that of ``g``, as by Christianson 1994; but then the number of steps would depend on
the cotangent, and the adjoint would not be linear in it, as tangents need it to be.)

The equation, its Jacobian and its pullbacks are functions of a vector and of the other inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[..., Any]

HALVINGS = 30
ROUNDINGS = 10


def newton(
    equation: Function, jacobian: Function, by_given: Function, most: int
) -> tuple[Function, Function]:
    """Newton's method for ``f(x) = 0``."""

    def solved(x: Any, tolerance: Any, *given: Any) -> Any:
        solution, is_exact = refined(equation, jacobian, most, x, tolerance, *given)
        assert is_exact, "root: not converged"
        return solution, (solution, given)

    def backward(kept: Any, d_x: Any) -> Any:
        x, given = kept
        weights = np.linalg.solve(jacobian(x, *given).T, -d_x)
        return None, None, *by_given(weights, x, *given)[1:]

    return solved, backward


def implicit(
    solver: Function, jacobian: Function, by_given: Function, starts: int
) -> tuple[Function, Function]:
    """A solver that is called: its first arguments, ``starts`` of them, are where it begins."""

    def solved(*operands: Any) -> Any:
        solution = solver(*operands)
        return solution, (solution, operands[starts:])

    def backward(kept: Any, d_x: Any) -> Any:
        x, given = kept
        weights = np.linalg.solve(jacobian(x, *given).T, -d_x)
        return *([None] * starts), *by_given(weights, x, *given)[1:]

    return solved, backward


def iteration(
    equation: Function, jacobian: Function, by_given: Function, most: int, corrections: int
) -> tuple[Function, Function]:
    """The iteration ``x = g(x)``, until its steps are small beside the largest values that it met.

    The last step does not tell how far the fixed point still is: with slow convergence it is many
    steps away, and a small element of ``x`` counts little. So Newton's method goes on from there,
    which stays near if the iteration had converged.
    """

    def residual(x: Any, *given: Any) -> Any:
        return x - equation(x, *given)

    def slope(x: Any, *given: Any) -> Any:
        return np.eye(x.size, dtype=x.dtype) - jacobian(x, *given)

    def solved(x: Any, tolerance: Any, *given: Any) -> Any:
        change = np.max(np.abs(x)) + 1
        largest = np.max(np.abs(x))
        count = 0
        while change > tolerance * largest and count < most:
            following = equation(x, *given)
            change = np.max(np.abs(following - x))
            largest = np.maximum(largest, np.max(np.abs(following)))
            x = following
            count += 1
        is_near = change <= tolerance * largest
        assert is_near and np.isfinite(largest), "fixed_point: not converged"
        solution, is_exact = refined(residual, slope, corrections, x, tolerance, *given)
        moved = np.max(np.abs(solution - x))
        assert is_exact and moved <= largest / 10, "fixed_point: not converged"
        return solution, (solution, given)

    def backward(kept: Any, d_x: Any) -> Any:
        x, given = kept
        weights = np.linalg.solve(slope(x, *given).T, d_x)
        return None, None, *by_given(weights, x, *given)[1:]

    return solved, backward


def refined(
    equation: Function, jacobian: Function, most: int, x: Any, tolerance: Any, *given: Any
) -> Any:
    """The solution from a guess, and whether the method has converged.

    A step that does not make the residual smaller is halved. The end is a whole step that is
    smaller than ``tolerance`` times each element, or a step of which no part makes the residual
    smaller: then rounding decides, and ``x`` is a solution if that step is small beside all of
    ``x``, or the residual has the size of a few rounding errors. Residuals are measured, each by
    its own size, by the effect of a relative error of ``x`` on them.
    """
    value = equation(x, *given)
    is_exact: Any = False
    is_stuck = False
    count = 0
    while not (is_exact or is_stuck) and count < most:
        slope = jacobian(x, *given)
        step = np.linalg.solve(slope, value)
        scale = np.abs(slope) @ np.abs(x) + np.abs(value)
        scale = np.where(scale > 0, scale, 1)
        size = np.max(np.abs(value) / scale)
        is_exact = np.all(np.abs(step) <= tolerance * np.abs(x))
        is_small = np.max(np.abs(step)) <= tolerance * (1 + np.max(np.abs(x)))
        is_small = is_small or size <= ROUNDINGS * np.finfo(x.dtype).eps
        following = equation(x - step, *given)
        halvings = 0
        while not (is_exact or np.max(np.abs(following) / scale) < size) and halvings < HALVINGS:
            step = step / 2
            following = equation(x - step, *given)
            halvings += 1
        if np.max(np.abs(following) / scale) < size:
            x = x - step
            value = following
        else:
            is_exact = is_exact or is_small
            is_stuck = True
        count += 1
    return x, is_exact and np.all(np.isfinite(x))
