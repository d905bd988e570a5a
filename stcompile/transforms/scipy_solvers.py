"""Solvers of `scipy.optimize`: the value is that of SciPy's own call, and its derivative follows
from the equation that it solves (see `stcompile.library.implicit`).

The function is staged as a program of its own, as for `stcompile.root`; the generated code calls
SciPy's solver with this program, compiled. A minimum solves the equation that the gradient is zero,
whose Jacobian is the Hessian; of least squares that of half the sum of the squares.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.base.errors import DerivativeError
from stcompile.frontend.functions.scipy_problem import ITERATIVE, SCALAR_METHODS, Problem
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import described
from stcompile.frontend.substage import Output, function_name, substage
from stcompile.library.implicit import implicit
from stcompile.transforms.custom_rule import CustomRule
from stcompile.transforms.implicit import OfVector, refuse_effects
from stcompile.transforms.jacobian import Jacobian
from stcompile.transforms.partial_pullback import Cotangents
from stcompile.transforms.primal import Primal
from stcompile.transforms.pushforward import Staged
from stcompile.transforms.scipy_flat import CallOfScipy
from stcompile.wengert.types import Type

NEAR = 1e-3  # what a step of Newton's method from a minimum may be, relative to its size


def stage(run: Run, problem: Problem) -> Any:
    """Record a call of a solver; the solution has the shape of the first guess."""
    name = problem.solver
    starts = [run.cast(run.as_array(start), np.dtype(float)) for start in problem.starts]
    guess = starts[0]
    if not guess.type.size or len(guess.type.dims) > 1:
        run.refuse(f"the first guess of `{name}` is {described(guess)}", "give a number or vector")
    given: Any = guess if guess.type.dims else run.record("to_scalar", guess)
    sub = substage(run, problem.function, (given, *problem.args), {})
    result = sub.result
    if not isinstance(result, Output) or result.type.dtype != np.float64:
        shown = result.type if isinstance(result, Output) else described(result)
        run.refuse(
            f"`{function_name(problem.function)}` returns {shown} to `{name}`",
            "return a number or an array of float64",
            DerivativeError,
        )
    size = guess.type.size
    if problem.kind == "root" and result.type.size != size:
        run.refuse(
            f"`{function_name(problem.function)}` returns {result.type} for an x of {guess.type}",
            "return as many equations as unknowns",
            DerivativeError,
        )
    if problem.kind == "minimum" and result.type.size != 1:
        run.refuse(f"`{name}` minimises a number, not {result.type}", "", DerivativeError)
    refuse_effects(run, sub, problem.function, "in each step of the solver")
    inner = sub.program.inputs[1:]
    moving = [1 + at for at, variable in enumerate(inner) if variable.type.inexact]
    values = Values(sub.program, guess.type.dims)
    bounds = problem.options.get("bounds") if guess.type.dims else None
    equation: Any = values if problem.kind == "root" else _Slope(values, problem.kind, bounds)
    called = _Solver(run, problem, values, equation, size)
    pair = implicit(called, Jacobian(equation), Cotangents(equation, moving), len(starts))
    rule = CustomRule(*pair, name=name)
    operands = [*starts, *map(run.value, sub.inputs[1:])]
    found = rule.stage_call(run, operands, {})
    if guess.type.dims:
        return found
    return run.record("to_scalar", run.record("reshape", found, shape=()))


class Values(OfVector):
    """The function that is given to the solver, of a vector, and of what it reads."""

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        array = run.as_array(run.value(self.inlined(run, arguments)))
        return run.call(np.reshape, (array, (array.type.size,)), {})


class _Sum(Staged):
    """The number that is minimised: the value itself, or half the sum of squares."""

    def __init__(self, values: Values, kind: str) -> None:
        self.values = values
        self.kind = kind
        self.__name__ = values.__name__
        self.__signature__ = values.__signature__

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        found = run.call(self.values, arguments, {})
        if self.kind == "squares":
            found = run.record("multiply", run.record("multiply", found, found), 0.5)
        return run.call(np.sum, (found,), {})


class _Slope(Staged):
    """The gradient of what is minimised; between bounds the step that projected descent makes,
    which is zero at the minimum (Bertsekas, Nonlinear programming, 2016, section 3.3)."""

    def __init__(self, values: Values, kind: str, bounds: Any = None) -> None:
        self.bounds = None if bounds is None else [list(ends) for ends in zip(*bounds, strict=True)]
        self.gradient = Cotangents(_Sum(values, kind), [0])
        self.__name__ = f"slope_of_{values.__name__}"
        self.__signature__ = values.__signature__

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        slope = self.gradient.stage_call(run, [np.float64(1.0), *arguments], {})[0]
        if self.bounds is None:
            return slope
        x = arguments[0]
        moved = run.record("subtract", x, slope)
        inside = run.call(np.clip, (moved, *map(run.as_array, self.bounds)), {})
        return run.record("subtract", x, inside)


class _Solver(CallOfScipy):
    """A call of SciPy's solver: an external function of the starts and of what the function
    reads."""

    def __init__(
        self, run: Run, problem: Problem, values: Values, equation: Any, size: int
    ) -> None:
        plain = f"{problem.solver}_of_{function_name(problem.function)}".replace("<lambda>", "f")
        super().__init__(run, plain, problem.solver, Type.array(np.dtype(float), (size,)))
        self.problem = problem
        self.values: Primal[..., Any] = Primal(values)
        self.slope: Primal[..., Any] = Primal(equation)
        self.jacobian: Jacobian[..., Any] = Jacobian(values)
        self.curvature: Jacobian[..., Any] = Jacobian(equation)
        self.gradient: Primal[..., Any] = self.slope
        if isinstance(equation, _Slope) and equation.bounds is not None:
            self.gradient = Primal(_Slope(values, problem.kind))
        self.size = size

    def __call__(self, *operands: Any) -> Any:
        count = len(self.problem.starts)
        starts, given = operands[:count], operands[count:]

        def of(function: Any) -> Callable[[Any], Any]:
            return lambda x: function(np.asarray(x, float).reshape(self.size), *given)

        solve = _SOLVERS[self.problem.solver]
        found = solve(self.problem, of(self.values), of(self.gradient), of(self.jacobian), starts)
        x = np.array(found, float).reshape(self.size)
        if self.problem.kind == "minimum":
            self._check(x, given)
        return x

    def _check(self, x: Any, given: Any) -> None:
        """Raise unless Newton's step from a minimum is small: otherwise the solver has not found
        where the gradient is zero, and the minimum does not follow from this equation."""
        step = np.linalg.solve(self.curvature(x, *given), self.slope(x, *given))
        if not np.max(np.abs(step)) <= NEAR * (1 + np.max(np.abs(x))):
            raise RuntimeError(f"the gradient is not zero where {self.problem.solver} ends")

    def adjoint(self, *operands: Any) -> Any:
        raise DerivativeError(f"{self.shown} has no adjoint of its own")


# --- SciPy's calls -------------------------------------------------------------------------------


def _scipy(name: str) -> Any:
    return getattr(importlib.import_module("scipy.optimize"), name)


def _succeeded(result: Any, solver: str) -> Any:
    if not result.success:
        raise RuntimeError(f"{solver} has not converged: {result.message}")
    return result.x


def _bracketing(p: Problem, value: Any, slope: Any, jacobian: Any, starts: Any) -> Any:
    of_number = lambda x: float(value(x)[0])  # noqa: E731
    return _scipy(p.solver)(of_number, *(float(start) for start in starts), **p.options)


def _newton(p: Problem, value: Any, slope: Any, jacobian: Any, starts: Any) -> Any:
    of_number = lambda x: float(value(x)[0])  # noqa: E731
    options = dict(p.options)
    if options.pop("fprime", False):
        options["fprime"] = lambda x: float(jacobian(x)[0, 0])
    return _scipy("newton")(of_number, *(float(start) for start in starts), **options)


def _root(p: Problem, value: Any, slope: Any, jacobian: Any, starts: Any) -> Any:
    result = _scipy("root")(value, np.atleast_1d(starts[0]), jac=jacobian, **p.options)
    return _succeeded(result, "root")


def _fsolve(p: Problem, value: Any, slope: Any, jacobian: Any, starts: Any) -> Any:
    found, _, flag, message = _scipy("fsolve")(
        value, np.atleast_1d(starts[0]), fprime=jacobian, full_output=True, **p.options
    )
    if flag != 1:
        raise RuntimeError(f"fsolve has not converged: {message}")
    return found


def _iterative(p: Problem, value: Any, slope: Any, jacobian: Any, starts: Any) -> Any:
    return _scipy(p.solver)(value, np.atleast_1d(starts[0]), **p.options)


def _fixed_point(p: Problem, value: Any, slope: Any, jacobian: Any, starts: Any) -> Any:
    start = np.atleast_1d(starts[0])
    return _scipy("fixed_point")(lambda x: x + value(x), start, **p.options)


def _minimize(p: Problem, value: Any, gradient: Any, jacobian: Any, starts: Any) -> Any:
    options = dict(p.options)
    if options.get("method") not in SCALAR_METHODS:
        options["jac"] = gradient
    of_number = lambda x: float(value(x)[0])  # noqa: E731
    result = _scipy("minimize")(of_number, np.atleast_1d(starts[0]), **options)
    is_exact = "precision loss" in str(result.message)  # whether it is near enough is checked
    return result.x if is_exact else _succeeded(result, "minimize")


def _minimize_scalar(p: Problem, value: Any, slope: Any, jacobian: Any, starts: Any) -> Any:
    of_number = lambda x: float(value(x)[0])  # noqa: E731
    result = _scipy("minimize_scalar")(of_number, **p.options)
    return _succeeded(result, "minimize_scalar")


def _least_squares(p: Problem, value: Any, slope: Any, jacobian: Any, starts: Any) -> Any:
    options = dict(p.options)
    if "bounds" in options:
        options["bounds"] = tuple(zip(*options["bounds"], strict=True))
    result = _scipy("least_squares")(value, np.atleast_1d(starts[0]), jac=jacobian, **options)
    return _succeeded(result, "least_squares")


_SOLVERS: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(("brentq", "brenth", "ridder", "bisect", "toms748"), _bracketing),
    "newton": _newton,
    "root": _root,
    "fsolve": _fsolve,
    **dict.fromkeys(ITERATIVE, _iterative),
    "fixed_point": _fixed_point,
    "minimize": _minimize,
    "minimize_scalar": _minimize_scalar,
    "least_squares": _least_squares,
}
