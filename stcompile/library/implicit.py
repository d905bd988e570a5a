"""Equations that are solved, and the linear systems of their derivatives.

The solution of ``f(x, p) = 0`` has the derivative ``-(df/dx)^-1 df/dp`` by ``p`` (the implicit
function theorem), so that its adjoint is one linear system, whatever the number of steps that found
it (Blondel et al., "Efficient and modular implicit differentiation", NeurIPS 2022). A fixed point,
``x = g(x, p)``, is the solution of ``x - g(x, p) = 0``. (Its system could be solved by an iteration
like that of ``g``, as by Christianson 1994; but then the number of steps would depend on the
cotangent, and the adjoint would not be linear in it, as tangents need it to be.)

What is solved, its Jacobian and its pullbacks are functions of a vector and of what else is given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[..., Any]


def newton(
    equation: Function, jacobian: Function, by_given: Function, most: int
) -> tuple[Function, Function]:
    """Newton's method. A step that makes the residual larger is halved."""

    def solved(x: Any, tolerance: Any, *given: Any) -> Any:
        value = equation(x, *given)
        size = np.max(np.abs(value))
        step = np.abs(x) + 1
        count = 0
        while np.max(np.abs(step)) > tolerance * (1 + np.max(np.abs(x))) and count < most:
            step = np.linalg.solve(jacobian(x, *given), value)
            halvings = 0
            following = equation(x - step, *given)
            while not np.max(np.abs(following)) <= size and halvings < 30:
                step = step / 2
                following = equation(x - step, *given)
                halvings += 1
            x = x - step
            value = following
            size = np.max(np.abs(value))
            count += 1
        is_small = np.max(np.abs(step)) <= tolerance * (1 + np.max(np.abs(x)))
        assert is_small and np.isfinite(np.max(np.abs(x))), "root: not converged"
        return x, (x, given)

    def backward(kept: Any, d_x: Any) -> Any:
        x, given = kept
        weights = np.linalg.solve(jacobian(x, *given).T, -d_x)
        return None, None, *by_given(weights, x, *given)[1:]

    return solved, backward


def iteration(
    equation: Function, jacobian: Function, by_given: Function, most: int
) -> tuple[Function, Function]:
    """The iteration ``x = g(x)``."""

    def solved(x: Any, tolerance: Any, *given: Any) -> Any:
        change = np.abs(x) + 1
        count = 0
        while np.max(np.abs(change)) > tolerance * (1 + np.max(np.abs(x))) and count < most:
            following = equation(x, *given)
            change = following - x
            x = following
            count += 1
        is_small = np.max(np.abs(change)) <= tolerance * (1 + np.max(np.abs(x)))
        assert is_small and np.isfinite(np.max(np.abs(x))), "fixed_point: not converged"
        return x, (x, given)

    def backward(kept: Any, d_x: Any) -> Any:
        x, given = kept
        slope = jacobian(x, *given)
        weights = np.linalg.solve(np.eye(x.size, dtype=x.dtype) - slope.T, d_x)
        return None, None, *by_given(weights, x, *given)[1:]

    return solved, backward
