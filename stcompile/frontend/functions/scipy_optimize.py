"""The solvers of `scipy.optimize`: what is asked of SciPy, and the object that a call returns.

Derivatives that a call hands over (``jac``, ``fprime``) are not needed: those of the compiler are
taken. Options that change the equation, such as bounds, are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stcompile.base.deferred import deferred
from stcompile.frontend.functions.library import inlined
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import is_static
from stcompile.library import optimize as library

Lowering = Callable[..., Any]
SCALAR_METHODS = ("Nelder-Mead", "Powell", "COBYLA", "COBYQA")
"""Methods of `scipy.optimize.minimize` that take no gradient."""
_GRADIENT_METHODS = (None, "CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP")
stage = deferred("stcompile.transforms.scipy_solvers", "stage")


@dataclass(frozen=True)
class Problem:
    """A call of a solver: ``kind`` says what the solution is, ``starts`` are the numbers that it
    begins with, of which the first has its shape; ``options`` are known at compile time."""

    solver: str
    kind: str  # "root", "minimum" or "squares"
    function: Any
    args: Sequence[Any]
    starts: Sequence[Any]
    options: Mapping[str, Any]


def _solved(
    run: Run, solver: str, kind: str, function: Any, args: Any, starts: Any, **options: Any
) -> Any:
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if not is_static(value):
            run.refuse(
                f"`{name}` of `{solver}` is known only at run time",
                "give a value that is known at compile time",
            )
    others = args if isinstance(args, tuple) else (args,)
    return stage(run, Problem(solver, kind, function, others, starts, given))


def _bracketing(solver: str) -> Lowering:
    def lowering(
        run: Run,
        f: Any,
        a: Any,
        b: Any,
        args: Any = (),
        xtol: Any = None,
        rtol: Any = None,
        maxiter: Any = None,
    ) -> Any:
        return _solved(run, solver, "root", f, args, (a, b), xtol=xtol, rtol=rtol, maxiter=maxiter)

    return lowering


def _newton(
    run: Run,
    func: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = (),
    tol: Any = None,
    maxiter: Any = None,
    *,
    x1: Any = None,
    rtol: Any = None,
) -> Any:
    starts = (x0,) if x1 is None else (x0, x1)
    if x1 is not None:
        run.refuse("the argument `x1` of `optimize.newton` is not supported", "leave it out")
    slope = True if fprime is not None else None
    return _solved(
        run, "newton", "root", func, args, starts, fprime=slope, tol=tol, maxiter=maxiter, rtol=rtol
    )


def _root_scalar(
    run: Run,
    f: Any,
    args: Any = (),
    method: Any = None,
    bracket: Any = None,
    fprime: Any = None,
    *,
    x0: Any = None,
    xtol: Any = None,
    rtol: Any = None,
    maxiter: Any = None,
) -> Any:
    if bracket is not None:
        chosen = "brentq" if method is None else method
        if chosen not in _BRACKETING:
            run.refuse(f"method={method!r} of `root_scalar` with a bracket is not supported", "")
        a, b = tuple(bracket)
        found = OPTIMIZE[chosen](run, f, a, b, args, xtol, rtol, maxiter)
    elif x0 is not None and method in (None, "newton", "secant"):
        slope = True if fprime is not None else None
        found = _newton(run, f, x0, slope, args, xtol, maxiter, rtol=rtol)
    else:
        run.refuse(
            f"`root_scalar` with method={method!r} is supported with a bracket, or by newton and "
            "secant from x0",
            "",
        )
    return run.call(library.Root, (found,), {})


def _fsolve(
    run: Run,
    func: Any,
    x0: Any,
    args: Any = (),
    fprime: Any = None,
    *,
    xtol: Any = None,
    maxfev: Any = None,
) -> Any:
    start = library.at_least_vector
    x = run.call(start, (x0,), {})
    return _solved(run, "fsolve", "root", func, args, (x,), xtol=xtol, maxfev=maxfev)


def _root(
    run: Run,
    fun: Any,
    x0: Any,
    args: Any = (),
    method: Any = "hybr",
    jac: Any = None,
    tol: Any = None,
) -> Any:
    if method not in ("hybr", "lm"):
        run.refuse(f"method={method!r} of `root` is not supported", "hybr and lm are")
    x = run.call(library.at_least_vector, (x0,), {})
    found = _solved(run, "root", "root", fun, args, (x,), method=method, tol=tol)
    return run.call(library.Optimum, (found, run.call(fun, (found, *_tuple(args)), {})), {})


def _tuple(args: Any) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else (args,)


def _minimize(
    run: Run,
    fun: Any,
    x0: Any,
    args: Any = (),
    method: Any = None,
    jac: Any = None,
    *,
    tol: Any = None,
    options: Any = None,
) -> Any:
    if jac is True:
        run.refuse("jac=True of `minimize` is not supported", "return the value alone: no jac")
    if method not in (*_GRADIENT_METHODS, *SCALAR_METHODS):
        run.refuse(f"method={method!r} of `minimize` is not supported", "")
    x = run.call(library.at_least_vector, (x0,), {})
    found = _solved(
        run, "minimize", "minimum", fun, args, (x,), method=method, tol=tol, options=options
    )
    return run.call(library.Optimum, (found, run.call(fun, (found, *_tuple(args)), {})), {})


def _minimize_scalar(
    run: Run,
    fun: Any,
    bracket: Any = None,
    *,
    args: Any = (),
    method: Any = None,
    tol: Any = None,
    options: Any = None,
) -> Any:
    if method not in (None, "brent", "golden"):
        run.refuse(f"method={method!r} of `minimize_scalar` is not supported", "")
    found = _solved(
        run,
        "minimize_scalar",
        "minimum",
        fun,
        args,
        (0.0,),
        bracket=bracket,
        method=method,
        tol=tol,
        options=options,
    )
    return run.call(library.Optimum, (found, run.call(fun, (found, *_tuple(args)), {})), {})


def _least_squares(
    run: Run,
    fun: Any,
    x0: Any,
    jac: Any = "2-point",
    *,
    method: Any = None,
    ftol: Any = None,
    xtol: Any = None,
    gtol: Any = None,
    args: Any = (),
) -> Any:
    x = run.call(library.at_least_vector, (x0,), {})
    found = _solved(
        run,
        "least_squares",
        "squares",
        fun,
        args,
        (x,),
        method=method,
        ftol=ftol,
        xtol=xtol,
        gtol=gtol,
    )
    return run.call(library.Fit, (found, run.call(fun, (found, *_tuple(args)), {})), {})


_BRACKETING = ("brentq", "brenth", "ridder", "bisect", "toms748")
OPTIMIZE: dict[str, Lowering] = {
    **{name: _bracketing(name) for name in _BRACKETING},
    "newton": _newton,
    "root_scalar": _root_scalar,
    "fsolve": _fsolve,
    "root": _root,
    "minimize": _minimize,
    "minimize_scalar": _minimize_scalar,
    "least_squares": _least_squares,
    "curve_fit": inlined(library.curve_fit),
    "rosen": inlined(library.rosen),
}
