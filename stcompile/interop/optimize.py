"""Solvers of SciPy that are given exact derivatives: `minimize`, `least_squares` and `root`.

They are called outside of functions that are compiled. The solvers of `scipy.optimize` that a
compiled function calls are differentiated themselves: the derivative is then that of the solution
(`stcompile.transforms.scipy_solvers`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from stcompile.base.boundary import public
from stcompile.base.errors import ArgumentsError
from stcompile.base.extras import require
from stcompile.base.options import Level, Options
from stcompile.calls.dispatch import Dispatcher
from stcompile.frontend.protocol import staged_by
from stcompile.frontend.state.run import Run
from stcompile.interop.leaves import Positional, options_of
from stcompile.interop.packed import Packed, Structure, Weighted
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.hessian import Hessian
from stcompile.transforms.jacobian import Jacobian
from stcompile.transforms.primal import Primal, kept
from stcompile.transforms.sparse import SparseHessian, SparseJacobian

__all__ = ["least_squares", "minimize", "root"]

WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
WITH_PRODUCTS = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")
WITH_HESSIAN = ("dogleg", "trust-exact")
WITH_SPARSE_HESSIAN = ("newton-cg", "trust-constr")
ROOTS_WITH_JACOBIAN = ("hybr", "lm")


def __dir__() -> list[str]:
    return sorted(__all__)


def _inside(run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> NoReturn:
    run.refuse(
        "st.optimize is called outside of functions that are compiled",
        "call the solver of scipy.optimize itself, which is then differentiated",
    )


@staged_by(_inside)
@public
def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str | None = None,
    bounds: Any = None,
    constraints: Any = (),
    callback: Callable[..., Any] | None = None,
    sparse: bool = False,
    level: Level | None = None,
    **keywords: Any,
) -> Any:
    """Minimise a function of a structure by `scipy.optimize.minimize`, with exact derivatives.

    ``fun(x, *args)`` returns a number; ``x0`` is an array of floats, or a structure of arrays and
    floats, in objects too, and the result's ``x`` has this structure and these dtypes; everything
    else in it is SciPy's, of the numbers in a vector. Value and gradient come from one call; the
    methods that take more get products with the Hessian (Newton-CG, trust-ncg, trust-krylov,
    trust-constr) or the Hessian (dogleg, trust-exact), and with ``sparse`` Newton-CG and
    trust-constr a sparse one. Methods without derivatives get the value alone.

    ``bounds`` of an array are SciPy's; of a structure they are the same structure with a pair
    ``(low, high)`` for each leaf, of numbers or arrays, from which parts may be left out.
    Constraints are dicts or `scipy.optimize.NonlinearConstraint` without derivatives, which are
    made from their functions of ``x``. ``callback`` is given the structure, other ``keywords`` go
    to SciPy. `ArgumentsError` for what is no floating-point number, and for derivatives of yours.

    >>> import stcompile as st, numpy as np
    >>> def loss(p):
    ...     return (p["a"] - 1.0) ** 2 + np.sum((p["w"] - p["a"]) ** 2)
    >>> found = st.optimize.minimize(loss, {"a": 0.0, "w": np.zeros(2)}, method="trust-ncg")
    >>> round(found.x["a"], 6), found.x["w"].round(6)
    (1.0, array([1., 1.]))
    """
    scipy: Any = require("scipy.optimize", "scipy", "st.optimize.minimize")
    _refuse_derivatives(keywords)
    problem = _Problem(fun, x0, args, level)
    if method is None:
        method = "SLSQP" if constraints else "BFGS" if bounds is None else "L-BFGS-B"
    name = method.lower()
    if name in WITHOUT_GRADIENT:
        value = problem.made(_value)
    else:
        value, keywords["jac"] = problem.made(_value_and_gradient), True
    if sparse and name in WITH_SPARSE_HESSIAN:
        keywords["hess"] = problem.made(_sparse_hessian)
    elif name in WITH_PRODUCTS:
        product = problem.made(_product)
        keywords["hessp"] = lambda x, direction: product(x, direction)[0]
    elif name in WITH_HESSIAN:
        keywords["hess"] = problem.made(_hessian)
    if constraints:
        many = constraints if isinstance(constraints, list | tuple) else [constraints]
        keywords["constraints"] = [problem.constraint(one, sparse) for one in many]
    if callback is not None:
        keywords["callback"] = problem.of_structure(callback)
    keywords["bounds"] = problem.bounds(bounds)
    found = scipy.minimize(value, problem.structure.vector(), method=method, **keywords)
    return problem.solved(found)


@staged_by(_inside)
@public
def least_squares(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    bounds: Any = None,
    sparse: bool = False,
    level: Level | None = None,
    **keywords: Any,
) -> Any:
    """Fit by `scipy.optimize.least_squares`, with the exact Jacobian.

    ``fun(x, *args)`` returns the residuals: an array, a number, or a structure of them. ``x0`` and
    the result's ``x`` are as in `minimize`, and so are ``bounds`` of a structure. With ``sparse``
    the Jacobian is a `sparse_jacobian`, for the methods ``trf`` and ``dogbox``. Other ``keywords``
    go to SciPy. `ArgumentsError` as there.

    >>> import stcompile as st, numpy as np
    >>> t = np.linspace(0.0, 1.0, 5)
    >>> def residuals(p):
    ...     return p["a"] * np.exp(-p["k"] * t) - 2.0 * np.exp(-3.0 * t)
    >>> found = st.optimize.least_squares(residuals, {"a": 1.0, "k": 1.0})
    >>> round(found.x["a"], 6), round(found.x["k"], 6)
    (2.0, 3.0)
    """
    scipy: Any = require("scipy.optimize", "scipy", "st.optimize.least_squares")
    _refuse_derivatives(keywords)
    problem = _Problem(fun, x0, args, level)
    keywords["jac"] = problem.made(_sparse_jacobian if sparse else _jacobian)
    if bounds is not None:
        keywords["bounds"] = problem.bounds(bounds)
    start = problem.structure.vector()
    return problem.solved(scipy.least_squares(problem.made(_values), start, **keywords))


@staged_by(_inside)
@public
def root(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str = "hybr",
    level: Level | None = None,
    **keywords: Any,
) -> Any:
    """Find a root by `scipy.optimize.root`, with the exact Jacobian for the methods ``hybr`` and
    ``lm``; the others take none.

    ``fun(x, *args)`` returns as many numbers as ``x`` has, in any structure. ``x0`` and the ``x``
    of the result are as in `minimize`; other ``keywords`` go to SciPy. `ArgumentsError` as there.

    >>> import stcompile as st, numpy as np
    >>> found = st.optimize.root(lambda x: x**2 - np.array([4.0, 9.0]), np.array([1.0, 1.0]))
    >>> found.x.round(6)
    array([2., 3.])
    """
    scipy: Any = require("scipy.optimize", "scipy", "st.optimize.root")
    _refuse_derivatives(keywords)
    problem = _Problem(fun, x0, args, level)
    if method.lower() in ROOTS_WITH_JACOBIAN:
        keywords["jac"] = problem.made(_jacobian)
    start = problem.structure.vector()
    return problem.solved(scipy.root(problem.made(_values), start, method=method, **keywords))


def _refuse_derivatives(given: Mapping[str, Any]) -> None:
    found = [name for name in ("jac", "hess", "hessp") if given.get(name) is not None]
    if found:
        raise ArgumentsError(
            f"{found[0]} is given to a solver of st.optimize, which makes the derivatives itself",
            hint=f"leave it out; with a {found[0]} of your own call scipy.optimize",
        )


class _Problem:
    """A function, the structure of its first argument, and its other arguments."""

    def __init__(self, function: Any, x0: Any, args: Any, level: Level | None) -> None:
        self.function, self.level = function, level
        self.structure = Structure(x0)
        self.args = args if isinstance(args, tuple) else (args,)

    def made(self, make: Any) -> Callable[..., Any]:
        """A function of the vector that is ``make`` of the function."""
        options = replace(options_of(self.function, self.level), dynamic=False)
        compiled = kept(make, self.function, 1 + len(self.args), options)
        like, args = self.structure.start, self.args

        def called(numbers: Any, *more: Any) -> Any:
            return compiled(np.asarray(numbers, float), like, *args, *more)

        return called

    def constraint(self, given: Any, sparse: bool) -> Any:
        """A constraint of SciPy's, with the Jacobian of its function, and with the Hessian if it is
        asked for."""
        if isinstance(given, Mapping):
            _refuse_derivatives(given)
            other = _Problem(given["fun"], self.structure.start, given.get("args", ()), self.level)
            made = {"fun": other.made(_values), "jac": other.made(_jacobian)}
            return {"type": given["type"], **made}
        scipy: Any = require("scipy.optimize", "scipy", "st.optimize.minimize")
        if not isinstance(given, scipy.NonlinearConstraint):
            return given
        own = {name: getattr(given, name) for name in ("jac", "hess")}
        _refuse_derivatives({name: one for name, one in own.items() if callable(one)})
        other = _Problem(given.fun, self.structure.start, (), self.level)
        make = _sparse_jacobian if sparse else _jacobian
        return scipy.NonlinearConstraint(
            other.made(_values),
            given.lb,
            given.ub,
            jac=other.made(make),
            hess=other.made(_weighted_hessian),
            keep_feasible=given.keep_feasible,
        )

    def bounds(self, given: Any) -> Any:
        """Bounds as SciPy takes them."""
        if given is None or self.structure.is_array:
            return given
        scipy: Any = require("scipy.optimize", "scipy", "bounds")
        return scipy.Bounds(*self.structure.bounds(given))

    def of_structure(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        """A callback that is given the structure for the vector."""
        return lambda x, *more: callback(self.structure.structured(x), *more)

    def solved(self, found: Any) -> Any:
        """SciPy's result, with the solution in the structure."""
        found.x = self.structure.structured(found.x)
        return found


# --- functions of a vector, of a structure like it, and of other arguments ------------------------


def _value(function: Any, count: int, options: Options) -> Dispatcher[..., Any]:
    return Primal(Packed(function, count, False), options)


def _values(function: Any, count: int, options: Options) -> Dispatcher[..., Any]:
    return Primal(Packed(function, count, True), options)


def _value_and_gradient(function: Any, count: int, options: Options) -> Dispatcher[..., Any]:
    return Gradient(Packed(function, count, False), 0, True, options)


def _product(function: Any, count: int, options: Options) -> Dispatcher[..., Any]:
    packed = Packed(function, count, False)
    names = [*packed.__signature__.parameters]
    gradient: Any = Gradient(packed, 0, False, options)
    return Positional(gradient, names, options).pushforward((0,)).compiled


def _hessian(function: Any, count: int, options: Options) -> Dispatcher[..., Any]:
    return Hessian(Packed(function, count, False), 0, "forward", False, options)


def _weighted_hessian(function: Any, count: int, options: Options) -> Dispatcher[..., Any]:
    return Hessian(Weighted(function, count), 0, "forward", False, options)


def _sparse_hessian(function: Any, count: int, options: Options) -> Dispatcher[..., Any]:
    return SparseHessian(Packed(function, count, False), 0, options)


def _jacobian(function: Any, count: int, options: Options) -> Dispatcher[..., Any]:
    return Jacobian(Packed(function, count, True), 0, options=options)


def _sparse_jacobian(function: Any, count: int, options: Options) -> Dispatcher[..., Any]:
    return SparseJacobian(Packed(function, count, True), 0, options)
