"""Integrals over several variables and of vectors, and equations of motion of `scipy.integrate`.

An integral is the sum of Kronrod's rule of 21 points (QUADPACK, dqk21) in equal parts of each
range, and is compared with that of Gauss's rule of 10 of the same points: where they differ by more
than the tolerance the function is not smooth enough for it, which is an error. Points move with the
bounds, so that the derivative by a bound is exact as well.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.library.conditions import is_known, require
from stcompile.library.quadrature import infinite, rule

_GAUSS = (
    *(0.066671344308688137593568809893332, 0.149451349150580593145863397657697),
    *(0.219086362515982043995534934228163, 0.269266719309996355091226921569469),
    0.295524224714752870173815619188769,
)
"""The weights of Gauss's rule, at every other of Kronrod's points (QUADPACK, dqk21)."""


def _rule(parts: int) -> tuple[Any, Any, Any]:
    """Points from 0 to 1, and the weights of both rules, in equal parts."""
    nodes, weights = rule(True)
    gauss = np.array([*_zeros_between(_GAUSS), 0.0, *_zeros_between(_GAUSS)[::-1]])
    starts = np.arange(float(parts))[:, None]
    points = np.ravel((starts + (nodes + 1) / 2) / parts)
    return points, np.tile(weights / (2 * parts), parts), np.tile(gauss / (2 * parts), parts)


def _zeros_between(numbers: Any) -> list[float]:
    return [x for number in numbers for x in (0.0, number)]


def _over(
    func: Any, ranges: Any, args: Any, epsabs: float, epsrel: float, parts: int
) -> tuple[Any, Any]:
    """The integral over ranges, the outermost first, whose bounds are numbers or functions of the
    outer variables; ``func`` takes the innermost first."""
    t, kronrod, gauss = _rule(parts)
    variables: list[Any] = []
    first, second = np.ones(1), np.ones(1)
    for low, high in ranges:
        start, end = _bound(low, variables), _bound(high, variables)
        width = end - start
        at = start[:, None] + width[:, None] * t
        variables = [np.ravel(v[:, None] + 0.0 * at) for v in variables]
        variables.append(np.ravel(at))
        first = np.ravel((first * width)[:, None] * kronrod)
        second = np.ravel((second * width)[:, None] * gauss)
    values = each_of(func, variables[::-1], args)
    first = np.reshape(first, (-1,) + (1,) * (values.ndim - 1))
    second = np.reshape(second, (-1,) + (1,) * (values.ndim - 1))
    total = np.sum(first * values, axis=0)
    error = np.max(np.abs(total - np.sum(second * values, axis=0)))
    size = np.max(np.abs(total))
    require(
        error <= np.maximum(np.maximum(epsabs, epsrel * size), 1e-13 * size),
        "the function is not smooth enough for a fixed rule: integrate by parts in which it is",
    )
    return total, error


def _bound(bound: Any, variables: list[Any]) -> Any:
    """A bound for each point of the outer variables."""
    if callable(bound):
        return each_of(bound, variables, ())
    if infinite(bound, 1) or infinite(bound, -1):
        raise NotImplementedError("an infinite range is supported by integrate.quad alone")
    shape = variables[0].shape if variables else (1,)
    return np.broadcast_to(np.asarray(bound) + 0.0, shape)


def _tuple(args: Any) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else (args,)


def dblquad(
    func: Any,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    args: Any = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> tuple[Any, Any]:
    """The integral of ``func(y, x)`` for y between functions of x, and x between a and b."""
    return _over(func, [(a, b), (gfun, hfun)], _tuple(args), epsabs, epsrel, 2)


def tplquad(
    func: Any,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    qfun: Any,
    rfun: Any,
    args: Any = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> tuple[Any, Any]:
    """The integral of ``func(z, y, x)``."""
    ranges = [(a, b), (gfun, hfun), (qfun, rfun)]
    return _over(func, ranges, _tuple(args), epsabs, epsrel, 1)


def nquad(func: Any, ranges: Any, args: Any = None) -> tuple[Any, Any]:
    """The integral over up to three ranges, the innermost first, each of two numbers."""
    pairs = [tuple(pair) for pair in ranges]
    parts = {1: 8, 2: 2, 3: 1}.get(len(pairs))
    if parts is None:
        raise NotImplementedError("nquad over more than three variables is not supported")
    given = () if args is None else _tuple(args)
    return _over(func, pairs[::-1], given, 1.49e-8, 1.49e-8, parts)


def quad_vec(
    f: Any, a: Any, b: Any, epsabs: float = 1e-200, epsrel: float = 1e-8, *, args: Any = ()
) -> tuple[Any, Any]:
    """The integral of a function with an array as its value."""
    return _over(f, [(a, b)], _tuple(args), epsabs, epsrel, 8)


def each_of(func: Any, points: Any, args: Any) -> Any:
    """The values of a function of several numbers at points. Frontends know how."""
    return np.array([func(*at, *args) for at in zip(*points, strict=True)])


# --- initial values ------------------------------------------------------------------------------


class Steps:
    """The states at the ends, of which those between are not known."""

    def __init__(self, states: Any) -> None:
        self._states = states

    def __getitem__(self, key: Any) -> Any:
        last = key[-1] if isinstance(key, tuple) else None
        if not (is_known(last) and isinstance(last, int) and last in (0, -1)):
            raise NotImplementedError(
                "how many steps solve_ivp makes is not known at compile time: give t_eval, or read "
                "the last state, y[:, -1]"
            )
        return self._states[key]


class Solution:
    """The result of `solve_ivp`."""

    def __init__(self, t: Any, y: Any) -> None:
        self.t = t
        self.y = y
        self.status = 0
        self.success = True


_METHODS = ("RK45", "RK23", "DOP853", "LSODA")


def solve_ivp(
    fun: Any,
    t_span: Any,
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Any = None,
    *,
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    max_step: Any = math.inf,
) -> Any:
    """`stcompile.solve_ivp`: the steps of ``RK45``, whichever method of no stiff kind is asked for;
    the others differ from it by the tolerances."""
    if method not in _METHODS:
        raise NotImplementedError(
            f"method={method!r} of solve_ivp is not supported: RK45 is, and is taken for "
            "RK23, DOP853 and LSODA"
        )
    if dense_output or events is not None or max_step != math.inf:
        raise NotImplementedError(
            "solve_ivp with dense_output, events or max_step is not supported: give t_eval"
        )
    given = () if args is None else tuple(args)
    t, y = initial_values(fun, t_span, y0, t_eval, given, rtol, atol)
    return Solution(t, Steps(y) if t_eval is None else y)


def odeint(
    func: Any,
    y0: Any,
    t: Any,
    args: Any = (),
    Dfun: Any = None,
    *,
    rtol: Any = 1.49012e-8,
    atol: Any = 1.49012e-8,
    tfirst: bool = False,
    mxstep: Any = 0,
    hmax: Any = 0.0,
) -> Any:
    """The states at the times, a row for each, by the steps of ``RK45`` with the same tolerances;
    the equations must not be stiff."""
    start, times = np.atleast_1d(np.asarray(y0)) + 0.0, np.asarray(t) + 0.0

    def slope(at: Any, y: Any, *given: Any) -> Any:
        value = func(at, y, *given) if tfirst else func(y, at, *given)
        return np.reshape(np.asarray(value), start.shape)

    ends = np.stack([times[0], times[-1]])
    return initial_values(slope, ends, start, times, _tuple(args), rtol, atol)[1].T


def initial_values(
    fun: Any, t_span: Any, y0: Any, t_eval: Any, args: Any, rtol: Any, atol: Any
) -> Any:
    """Times and states. Frontends know how."""
    raise NotImplementedError("differential equations are known to the compiler only")
