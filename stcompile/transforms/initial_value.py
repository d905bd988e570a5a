"""``solve_ivp``: ordinary differential equations, differentiated by the steps that were made.

The right-hand side is staged once, as a program of its own, with the values that it reads from
outside as further parameters; each stage of a step has a copy of it. The solver is in
`stcompile.library.initial_values`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from stcompile.base.boundary import public
from stcompile.base.errors import DerivativeError
from stcompile.base.options import Level, Options, options
from stcompile.frontend.protocol import staged_by
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, described
from stcompile.frontend.substage import function_name, substage
from stcompile.library.initial_values import accepting, solving, stepping
from stcompile.transforms.custom_rule import CustomRule, RuleCall
from stcompile.transforms.hooks import stop_gradient
from stcompile.transforms.implicit import inlined, refuse_effects
from stcompile.transforms.partial_pullback import Cotangents
from stcompile.transforms.primal import Primal, kept
from stcompile.transforms.pushforward import Staged, plain_signature
from stcompile.wengert.ir import Program

REAL = np.dtype(np.float64)
STEP_ARGUMENTS = 5  # arguments of a step before the extra arguments of ``fun``
MOVING = (2, 3, 4)  # differentiated arguments of a step: the state, its slope, the shift


class Trajectory(NamedTuple):
    """The states ``y`` at the times ``t``, one in a column."""

    t: Any
    y: Any


@staged_by(lambda run, arguments, keywords: _stage(run, *arguments, **keywords))
@public
def solve_ivp(
    fun: Callable[..., Any],
    t_span: Any,
    y0: Any,
    *,
    t_eval: Any = None,
    args: tuple[Any, ...] = (),
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    level: Level | None = None,
) -> Trajectory:
    """The solution of ``dy/dt = fun(t, y, *args)`` with ``y = y0`` at the first time of ``t_span``.

    The steps are those of the method ``RK45`` of `scipy.integrate.solve_ivp`. The result has the
    times ``t``, which are ``t_eval`` or the two of ``t_span``, and the states ``y`` at these times,
    a column for each, all in float64. Derivatives by ``y0``, ``args``, the times and the values
    that ``fun`` reads from the enclosing function are those of the steps, with their sizes held
    fixed. `AssertionError` if the step size becomes too small.

    >>> import stcompile as st, numpy as np
    >>> def end(rate):
    ...     return st.solve_ivp(lambda t, y: -rate * y, (0.0, 1.0), [2.0], rtol=1e-9).y[0, -1]
    >>> value, slope = st.value_and_grad(end)(0.5)
    >>> print(f"{value:.6f} {slope:.6f}")
    1.213061 -1.213061
    """
    return Trajectory(*kept(_solver, fun, options(level))(t_span, y0, t_eval, args, rtol, atol))


class _Solved(Staged):
    """The function of all that may be traced."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun
        self.__name__ = f"solution_of_{function_name(fun)}"
        self.__signature__ = plain_signature(["t_span", "y0", "t_eval", "args", "rtol", "atol"])

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        t_span, y0, t_eval, args, rtol, atol = arguments
        made = _stage(run, self.fun, t_span, y0, t_eval=t_eval, args=args, rtol=rtol, atol=atol)
        return tuple(made)


def _solver(fun: Callable[..., Any], chosen: Options) -> Any:
    return Primal(_Solved(fun), chosen, results=0)


def _stage(
    run: Run,
    fun: Any,
    t_span: Any,
    y0: Any,
    *,
    t_eval: Any = None,
    args: Any = (),
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    level: Level | None = None,
) -> Trajectory:
    y = _real(run, y0, "y0", 1)
    ends = _real(run, t_span, "t_span", 1)
    if ends.type.dims != (2,):
        run.refuse("`t_span` is not two times", "give the first and the last: (0.0, 1.0)")
    times = ends if t_eval is None else _real(run, t_eval, "t_eval", 1)
    if not times.type.size:
        run.refuse("`t_eval` has no times", "give one or more, or leave it out")
    if not isinstance(args, tuple | list):
        run.refuse(f"`args` is {described(args)}", "give a tuple: args=(rate,)")
    start, last = run.call(_two, (ends,), {})
    sub = substage(run, _RightHandSide(fun, y.type.dims), (start, y, *args), {})
    refuse_effects(run, sub, fun, "which would be done in each step")
    slope = _Slope(sub.program)
    step = stepping(slope)
    given = list(map(run.value, sub.inputs[2:]))
    besides = enumerate(sub.program.inputs[2:], STEP_ARGUMENTS)
    moving = [*MOVING, *(at for at, variable in besides if variable.type.inexact)]
    accepted = _Step(*accepting(step, Cotangents(step, moving)), name="step_of_solve_ivp")
    solved = solving(slope, accepted, stop_gradient)
    tolerances = (run.call(np.maximum, (rtol, 100 * np.finfo(REAL).eps), {}), atol)
    states = run.call(solved, (start, last, y, times, *tolerances, *given), {})
    return Trajectory(times, run.call(np.transpose, (states,), {}))


def _two(ends: Any) -> Any:
    return ends[0], ends[1]


def _real(run: Run, value: Any, name: str, ndim: int) -> Array:
    array = run.as_array(value)
    if array.type.dtype.kind not in "iuf" or len(array.type.dims) != ndim:
        run.refuse(
            f"`{name}` of `solve_ivp` is {described(value)}",
            "give real numbers in one row: np.array([1.0, 0.0])",
            DerivativeError,
        )
    return run.as_array(array, REAL)


class _RightHandSide(Staged):
    """The user's function, with its value as an array."""

    def __init__(self, fun: Any, dims: tuple[int, ...]) -> None:
        self.fun, self.dims = fun, dims
        self.__name__ = function_name(fun)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        value = run.call(self.fun, arguments, keywords)
        array = run.as_array(value)
        if array.type.dims != self.dims or array.type.dtype.kind not in "iuf":
            run.about_result(
                lambda: run.refuse(
                    f"`{self.__name__}` returns {array.type} for a state of shape {self.dims}",
                    "return the derivative of each element of the state, as real numbers",
                    DerivativeError,
                )
            )
        return run.as_array(array, REAL)


class _Step(CustomRule[..., Any]):
    """A step with its adjoint. It reads nothing but its arguments, and is staged once for their
    types, though a loop stages its body until all types settle."""

    def staged(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> RuleCall:
        made: dict[Any, RuleCall] = self.__dict__.setdefault("made", {})
        atoms = tuple(map(run.atom, arguments))
        types = tuple(atom.type for atom in atoms)
        if types not in made:
            made[types] = super().staged(run, arguments, keywords)
        return replace(made[types], inputs=atoms)


class _Slope(Staged):
    """The staged right-hand side as a function of the time, the state, and its other inputs."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.__name__ = program.name
        self.__signature__ = plain_signature([v.name for v in program.inputs])

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        return run.value(inlined(run, self.program, [*map(run.atom, arguments)]))
