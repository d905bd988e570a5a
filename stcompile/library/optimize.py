"""Functions of `scipy.optimize` that are made of its solvers, and the objects that these return.

An object has what depends on the solution alone, and no counts of steps. A solver that has not
converged is an error, so that ``success`` is always True.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.codegen_templates.lazy import optimize
from stcompile.library.flat import flat


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


def leastsq(func: Any, x0: Any, args: Any = (), Dfun: Any = None, full_output: bool = False) -> Any:
    """The parameters of least squares and 1, the number of success; with ``full_output`` the
    inverse of the Gauss-Newton matrix, the residuals and a message as well."""
    given = args if isinstance(args, tuple) else (args,)

    def residuals(x: Any) -> Any:
        return func(x, *given)

    fitted = optimize.least_squares(residuals, x0, method="lm")
    if not full_output:
        return fitted.x, 1
    slopes = jacobian(residuals, fitted.x)
    return fitted.x, np.linalg.inv(slopes.T @ slopes), {"fvec": fitted.fun}, "", 1


def fixed_point(func: Any, x0: Any, args: Any = (), xtol: float = 1e-8, maxiter: int = 500) -> Any:
    """The solution of ``x = func(x, *args)`` that SciPy's iteration finds."""

    def residual(x: Any, *given: Any) -> Any:
        return func(x, *given) - x

    return fixed(residual, x0, args if isinstance(args, tuple) else (args,), xtol, maxiter)


def fixed(residual: Any, x0: Any, args: Any, xtol: Any, maxiter: Any) -> Any:
    """A fixed point as the root of the distance from it. Frontends know how."""
    raise NotImplementedError("fixed points are known to the compiler only")


def nnls(A: Any, b: Any, maxiter: Any = None) -> Any:
    """The least squares solution without negative numbers, and the norm of the residual. The zeros
    stay zeros; the others have the derivative of an ordinary solution."""
    matrix, right = np.asarray(A), np.asarray(b)
    start = flat(_nnls, (maxiter,), (matrix.shape[1],), np.float64, matrix, right)
    x = _refined(matrix, right, start, start > 0)
    return x, np.linalg.norm(matrix @ x - right)


def _nnls(maxiter: Any, matrix: Any, right: Any) -> Any:
    return optimize.nnls(matrix, right, maxiter=maxiter)[0]


def lsq_linear(A: Any, b: Any, bounds: Any = (-np.inf, np.inf)) -> Any:
    """The least squares solution between bounds, which are numbers or vectors."""
    matrix, right = np.asarray(A), np.asarray(b)
    n = matrix.shape[1]
    ends = [np.broadcast_to(np.asarray(end) + 0.0, (n,)) for end in bounds]
    found = flat(_lsq_linear, (), (2, n), np.float64, matrix, right, *ends)
    is_low, is_high = found[1] < 0, found[1] > 0
    start = np.where(is_low, ends[0], np.where(is_high, ends[1], found[0]))
    x = _refined(matrix, right, start, found[1] == 0)
    return Fit(x, matrix @ x - right)


def _lsq_linear(matrix: Any, right: Any, low: Any, high: Any) -> Any:
    found = optimize.lsq_linear(matrix, right, (low, high), tol=1e-14)
    return np.stack([found.x, found.active_mask])


def _refined(matrix: Any, right: Any, start: Any, is_free: Any) -> Any:
    """The solution by those unknowns that are free. It is a step from a solution that is known, so
    that rounding errors of the normal equations do not matter."""
    both = is_free[:, None] & is_free[None, :]
    normal = np.where(both, matrix.T @ matrix, 0.0) + np.diag(np.where(is_free, 0.0, 1.0))
    step = np.linalg.solve(normal, np.where(is_free, matrix.T @ (right - matrix @ start), 0.0))
    return start + step


class Isotonic:
    """The result of `isotonic_regression`."""

    def __init__(self, x: Any) -> None:
        self.x = x


def isotonic_regression(y: Any, *, weights: Any = None, increasing: bool = True) -> Any:
    """The nearest sequence that never falls (or never rises): means of blocks."""
    values = np.asarray(y) + 0.0
    w = np.ones_like(values) if weights is None else np.asarray(weights)
    blocks = flat(_blocks, (increasing,), values.shape, np.int64, values, w)
    weight, total = np.zeros_like(values), np.zeros_like(values)
    np.add.at(weight, blocks, w)
    np.add.at(total, blocks, w * values)
    return Isotonic(total[blocks] / weight[blocks])


def _blocks(increasing: bool, y: Any, weights: Any) -> Any:
    found = optimize.isotonic_regression(y, weights=weights, increasing=increasing)
    return np.repeat(np.arange(len(found.blocks) - 1), np.diff(found.blocks))


def linear_sum_assignment(cost_matrix: Any, maximize: bool = False) -> Any:
    """The rows and columns of the assignment of least cost, which do not change nearby."""
    cost = np.asarray(cost_matrix)
    found = flat(_assigned, (maximize,), (2, min(cost.shape)), np.int64, cost)
    return found[0], found[1]


def _assigned(maximize: bool, cost: Any) -> Any:
    return np.stack(optimize.linear_sum_assignment(cost, maximize))


def jacobian(function: Any, x: Any) -> Any:
    """The Jacobian of a function at a vector. Frontends know how."""
    raise NotImplementedError("the Jacobian is known to the compiler only")


def rosen(x: Any) -> Any:
    """Rosenbrock's function."""
    at = np.asarray(x)
    return np.sum(100.0 * (at[1:] - at[:-1] ** 2.0) ** 2.0 + (1 - at[:-1]) ** 2.0, axis=0)


def rosen_der(x: Any) -> Any:
    """The gradient of Rosenbrock's function."""
    at = np.asarray(x)
    bend = at[1:] - at[:-1] ** 2
    first = np.concatenate([-400 * at[:-1] * bend - 2 * (1 - at[:-1]), np.zeros(1)])
    return first + np.concatenate([np.zeros(1), 200 * bend])


def rosen_hess(x: Any) -> Any:
    """The Hessian of Rosenbrock's function."""
    at = np.asarray(x)
    beside = np.diag(-400 * at[:-1], 1) + np.diag(-400 * at[:-1], -1)
    first = np.concatenate([1200 * at[:-1] ** 2 - 400 * at[1:] + 2, np.zeros(1)])
    return beside + np.diag(first + np.concatenate([np.zeros(1), np.full(at.size - 1, 200.0)]))
