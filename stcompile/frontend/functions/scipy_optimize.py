"""The solvers of `scipy.optimize`: what is asked of SciPy, and the object that a call returns.

Derivatives that a call hands over (``jac``, ``fprime``) are not needed: those of the compiler are
taken. Options that change the equation, such as bounds, are refused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.base.deferred import deferred
from stcompile.frontend.functions.library import inlined
from stcompile.frontend.functions.scipy_problem import ITERATIVE, SCALAR_METHODS, Problem
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import is_static
from stcompile.library import optimize as library

Lowering = Callable[..., Any]
_GRADIENT_METHODS = (None, "CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "Newton-CG")
stage = deferred("stcompile.transforms.scipy_solvers", "stage")


def _solved(
    run: Run, solver: str, kind: str, function: Any, args: Any, starts: Any, **options: Any
) -> Any:
    given = _options(**options)
    for name, value in given.items():
        if not is_static(value):
            run.refuse(
                f"`{name}` of `{solver}` is known only at run time",
                "give a value that is known at compile time",
            )
    return stage(run, Problem(solver, kind, function, _tuple(args), starts, given))


def _vector(run: Run, guess: Any) -> Any:
    return run.call(library.at_least_vector, (guess,), {})


def _ended(run: Run, made: Any, function: Any, args: Any, found: Any) -> Any:
    """The object that a call returns, of a class of the library: the solution, and the function's
    value there."""
    return run.call(made, (found, run.call(function, (found, *_tuple(args)), {})), {})


def _options(**given: Any) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _bracketing(
    solver: str,
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
    starts = (_vector(run, x0),)
    return _solved(run, "fsolve", "root", func, args, starts, xtol=xtol, maxfev=maxfev)


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
    starts = (_vector(run, x0),)
    found = _solved(run, "root", "root", fun, args, starts, method=method, tol=tol)
    return _ended(run, library.Optimum, fun, args, found)


def _tuple(args: Any) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else (args,)


def _minimize(
    run: Run,
    fun: Any,
    x0: Any,
    args: Any = (),
    method: Any = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    *,
    tol: Any = None,
    options: Any = None,
) -> Any:
    if jac is True:
        run.refuse("jac=True of `minimize` is not supported", "return the value alone: no jac")
    if method not in (*_GRADIENT_METHODS, *SCALAR_METHODS):
        run.refuse(f"method={method!r} of `minimize` is not supported", "")
    starts, more = (_vector(run, x0),), {"options": options, "bounds": _pairs(run, bounds)}
    found = _solved(run, "minimize", "minimum", fun, args, starts, method=method, tol=tol, **more)
    return _ended(run, library.Optimum, fun, args, found)


def _pairs(run: Run, bounds: Any) -> Any:
    """Bounds as a tuple of pairs of numbers, which are known at compile time."""
    if bounds is None:
        return None
    pairs = [tuple(pair) for pair in bounds] if isinstance(bounds, list | tuple) else None
    if pairs is None or not is_static(pairs) or any(len(pair) != 2 for pair in pairs):
        run.refuse(
            "the bounds are no pairs of numbers that are known at compile time",
            "write bounds=[(0, 1), (None, 2)]",
        )
    ends = (-np.inf, np.inf)
    return tuple(
        tuple(end if x is None else float(x) for x, end in zip(pair, ends, strict=True))
        for pair in pairs
    )


def _minimize_scalar(
    run: Run,
    fun: Any,
    bracket: Any = None,
    bounds: Any = None,
    *,
    args: Any = (),
    method: Any = None,
    tol: Any = None,
    options: Any = None,
) -> Any:
    if method is None and bounds is not None:
        method = "bounded"
    if method not in (None, "brent", "golden", "bounded"):
        run.refuse(f"method={method!r} of `minimize_scalar` is not supported", "")
    more = {"bracket": bracket, "bounds": bounds, "method": method, "tol": tol, "options": options}
    found = _solved(run, "minimize_scalar", "minimum", fun, args, (0.0,), **more)
    return _ended(run, library.Optimum, fun, args, found)


def _least_squares(
    run: Run,
    fun: Any,
    x0: Any,
    jac: Any = "2-point",
    bounds: Any = None,
    *,
    method: Any = None,
    ftol: Any = None,
    xtol: Any = None,
    gtol: Any = None,
    args: Any = (),
) -> Any:
    x = _vector(run, x0)
    pairs = None if bounds is None else _pairs(run, _turned(run, bounds, x.type.size))
    more = {"method": method, "ftol": ftol, "xtol": xtol, "gtol": gtol, "bounds": pairs}
    found = _solved(run, "least_squares", "squares", fun, args, (x,), **more)
    return _ended(run, library.Fit, fun, args, found)


def _turned(run: Run, bounds: Any, size: int) -> Any:
    """Pairs of bounds from the lower and the upper ones."""
    if not is_static(bounds) or len(bounds) != 2:
        run.refuse("bounds of `least_squares` are known at compile time", "as in ([0, 0], [1, 2])")
    ends = [[float(x)] * size if isinstance(x, int | float) else list(x) for x in bounds]
    return list(zip(*ends, strict=True))


def _by_iteration(
    solver: str,
    run: Run,
    F: Any,
    xin: Any,
    *,
    maxiter: Any = None,
    f_tol: Any = None,
    x_tol: Any = None,
) -> Any:
    more = {"maxiter": maxiter, "f_tol": f_tol, "x_tol": x_tol}
    return _solved(run, solver, "root", F, (), (_vector(run, xin),), **more)


def fixed(run: Run, residual: Any, x0: Any, args: Any, xtol: Any, maxiter: Any) -> Any:
    return _solved(run, "fixed_point", "root", residual, args, (x0,), xtol=xtol, maxiter=maxiter)


def _by_values(
    solver: str,
    method: str,
    tolerances: tuple[str, str],
    /,
    run: Run,
    func: Any,
    x0: Any,
    args: Any = (),
    xtol: Any = 1e-4,
    ftol: Any = 1e-4,
    maxiter: Any = None,
    maxfun: Any = None,
    full_output: Any = False,
    disp: Any = True,
) -> Any:
    given = dict(zip(tolerances, (xtol, ftol), strict=True))
    more = _options(**given, maxiter=maxiter, maxfev=maxfun)
    found = _minimize(run, func, x0, args, method, options=more)
    x = _result(run, solver, found, full_output)
    return run.call(np.squeeze, (x,), {}) if method == "Powell" else x


def _by_gradient(
    solver: str,
    method: str,
    tolerance: str,
    /,
    run: Run,
    f: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = (),
    *,
    maxiter: Any = None,
    full_output: Any = False,
    disp: Any = True,
    **tolerances: Any,
) -> Any:
    wrong = tolerances.keys() - {tolerance}
    if wrong:
        run.refuse(f"the argument `{min(wrong)}` of `{solver}` is not supported", "leave it out")
    name = "xtol" if method == "Newton-CG" else tolerance
    more = _options(maxiter=maxiter, **{name: tolerances.get(tolerance)})
    found = _minimize(run, f, x0, args, method, options=more or None)
    return _result(run, solver, found, full_output)


def _result(run: Run, solver: str, found: Any, full_output: Any) -> Any:
    if full_output:
        run.refuse(f"`{solver}` with full_output is not supported", "write optimize.minimize")
    return found.x


def _fmin_l_bfgs_b(
    run: Run,
    func: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = (),
    approx_grad: Any = 0,
    bounds: Any = None,
    *,
    pgtol: Any = None,
    maxiter: Any = None,
) -> Any:
    if fprime is None and not approx_grad:
        run.refuse(
            "a function that returns its gradient is not supported by `fmin_l_bfgs_b`",
            "return the value alone, with approx_grad=True: the gradient is the compiler's",
        )
    more = _options(gtol=pgtol, maxiter=maxiter)
    found = _minimize(run, func, x0, args, "L-BFGS-B", bounds=bounds, options=more or None)
    return found.x, found.fun, {"warnflag": 0}


def _fminbound(
    run: Run,
    func: Any,
    x1: Any,
    x2: Any,
    args: Any = (),
    xtol: Any = 1e-5,
    maxfun: Any = 500,
    full_output: Any = 0,
    disp: Any = 1,
) -> Any:
    more = {"xatol": xtol, "maxiter": maxfun}
    found = _minimize_scalar(run, func, bounds=(x1, x2), args=args, method="bounded", options=more)
    return _result(run, "fminbound", found, full_output)


def _brent(
    method: str,
    /,
    run: Run,
    func: Any,
    args: Any = (),
    brack: Any = None,
    tol: Any = None,
    full_output: Any = 0,
    maxiter: Any = None,
) -> Any:
    more = _options(xtol=tol, maxiter=maxiter)
    found = _minimize_scalar(run, func, brack, args=args, method=method, options=more)
    return _result(run, method, found, full_output)


_BRACKETING = ("brentq", "brenth", "ridder", "bisect", "toms748")
OPTIMIZE: dict[str, Lowering] = {
    **{name: functools.partial(_bracketing, name) for name in _BRACKETING},
    "newton": _newton,
    "root_scalar": _root_scalar,
    "fsolve": _fsolve,
    "root": _root,
    "minimize": _minimize,
    "minimize_scalar": _minimize_scalar,
    "least_squares": _least_squares,
    "fmin": functools.partial(_by_values, "fmin", "Nelder-Mead", ("xatol", "fatol")),
    "fmin_powell": functools.partial(_by_values, "fmin_powell", "Powell", ("xtol", "ftol")),
    "fmin_bfgs": functools.partial(_by_gradient, "fmin_bfgs", "BFGS", "gtol"),
    "fmin_cg": functools.partial(_by_gradient, "fmin_cg", "CG", "gtol"),
    "fmin_ncg": functools.partial(_by_gradient, "fmin_ncg", "Newton-CG", "avextol"),
    "fmin_l_bfgs_b": _fmin_l_bfgs_b,
    "fminbound": _fminbound,
    "brent": functools.partial(_brent, "brent"),
    "golden": functools.partial(_brent, "golden"),
    **{name: functools.partial(_by_iteration, name) for name in ITERATIVE},
    **{
        name: inlined(vars(library)[name])
        for name in (
            *("curve_fit", "leastsq", "fixed_point", "nnls", "lsq_linear", "isotonic_regression"),
            *("linear_sum_assignment", "rosen", "rosen_der", "rosen_hess"),
        )
    },
}
