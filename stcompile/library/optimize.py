"""Functions of `scipy.optimize` that are made of its solvers, and the objects that these return.

An object has what depends on the solution alone, and no counts of steps. A solver that has not
converged is an error, so that ``success`` is always True.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import optimize


class Optimum:
    """The result of `minimize` and `root`: the solution and the value of the function there."""

    def __init__(self, x: Any, fun: Any) -> None:
        self.x = x
        self.fun = fun
        self.success = True


class Fit:
    """The result of `least_squares`."""

    def __init__(self, x: Any, fun: Any) -> None:
        self.x = x
        self.fun = np.atleast_1d(fun)
        self.cost = 0.5 * np.sum(self.fun**2)
        self.success = True


class Root:
    """The result of `root_scalar`."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.converged = True


def at_least_vector(x: Any) -> Any:
    """A first guess as an array of one axis at least."""
    return np.atleast_1d(np.asarray(x))


def curve_fit(
    f: Any,
    xdata: Any,
    ydata: Any,
    p0: Any,
    sigma: Any = None,
    absolute_sigma: bool = False,
) -> tuple[Any, Any]:
    """The parameters of least squares from the first guess ``p0``, and their covariance, by the
    Jacobian of the model at the solution."""
    y = np.asarray(ydata)
    weights = 1.0 if sigma is None else 1.0 / np.asarray(sigma)
    if np.ndim(weights) > 1:
        raise NotImplementedError("curve_fit with a covariance as sigma is not supported")
    start = at_least_vector(p0)
    count = start.shape[0]

    def model(p: Any) -> Any:
        return f(xdata, *[p[i] for i in range(count)]) * weights

    def residuals(p: Any) -> Any:
        return model(p) - y * weights

    fitted = optimize.least_squares(residuals, start, method="lm")
    slopes = jacobian(model, fitted.x)
    covariance = np.linalg.inv(slopes.T @ slopes)
    if absolute_sigma:
        return fitted.x, covariance
    return fitted.x, covariance * (2 * fitted.cost / (y.size - count))


def jacobian(function: Any, x: Any) -> Any:
    """The Jacobian of a function at a vector. Frontends know how."""
    raise NotImplementedError("the Jacobian is known to the compiler only")


def rosen(x: Any) -> Any:
    """Rosenbrock's function."""
    at = np.asarray(x)
    return np.sum(100.0 * (at[1:] - at[:-1] ** 2.0) ** 2.0 + (1 - at[:-1]) ** 2.0, axis=0)
