"""``root`` and ``fixed_point``: solutions of equations, differentiated by the equation.

The equation is staged as a program of its own. Values that it reads from outside, traced values of
the enclosing function, become parameters like those that are passed, so that derivatives by them
are right as well. The solvers and their adjoints are in `stcompile.library.implicit`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.base.boundary import public
from stcompile.base.errors import DerivativeError
from stcompile.base.options import Level, Options, options
from stcompile.frontend.operations.binding import signature_of
from stcompile.frontend.protocol import staged_by
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import described
from stcompile.frontend.substage import Output, SubStage, function_name, substage
from stcompile.library.implicit import iteration, newton
from stcompile.transforms.custom_rule import CustomRule
from stcompile.transforms.jacobian import Jacobian
from stcompile.transforms.partial_pullback import Cotangents
from stcompile.transforms.primal import Primal, kept
from stcompile.transforms.pushforward import Staged, exactly, plain_signature
from stcompile.wengert.ir import Atom, Program

NEWTON_STEPS, ITERATIONS = 100, 10_000


@staged_by(lambda run, arguments, keywords: _stage(run, "root", *arguments, **keywords))
@public
def root(
    function: Callable[..., Any],
    x0: Any,
    *args: Any,
    tol: float | None = None,
    level: Level | None = None,
) -> Any:
    """The solution ``x`` of ``function(x, *args) == 0`` that Newton's method finds from ``x0``.

    ``x`` and the function's value are arrays of the same shape and dtype, or numbers. Steps end
    when they are smaller than ``tol`` times each element, or when rounding lets the function's
    value become no smaller; ``tol`` is the dtype's precision to the power 3/4 if it is not given.
    Derivatives by ``args``, and by values that the function reads from the enclosing function,
    follow from the equation (the implicit function theorem), not from the steps; the derivative by
    ``x0`` is zero. `AssertionError` if there is no convergence.

    >>> import stcompile as st, numpy as np
    >>> def f(a):
    ...     return st.root(lambda x: x * x - a, 1.0)
    >>> value, slope = st.value_and_grad(f)(2.0)
    >>> print(f"{value:.6f} {slope:.6f}")
    1.414214 0.353553
    """
    return kept(_solver, function, "root", tol, options(level))(x0, *args)


@staged_by(lambda run, arguments, keywords: _stage(run, "fixed_point", *arguments, **keywords))
@public
def fixed_point(
    function: Callable[..., Any],
    x0: Any,
    *args: Any,
    tol: float | None = None,
    level: Level | None = None,
) -> Any:
    """The fixed point ``x`` of ``x = function(x, *args)`` that the iteration from ``x0`` finds.

    The iteration ends when a step is smaller than ``tol`` times the largest value that it met. Then
    Newton's method makes the error of each element smaller than ``tol`` times this element, which
    the last step of a slow iteration does not tell. Arguments and derivatives are as for `root`.

    >>> import stcompile as st, numpy as np
    >>> def f(a):
    ...     return st.fixed_point(lambda x: np.cos(a * x), 0.5)
    >>> value, slope = st.value_and_grad(f)(1.0)
    >>> print(f"{value:.6f} {slope:.6f}")
    0.739085 -0.297474
    """
    return kept(_solver, function, "fixed_point", tol, options(level))(x0, *args)


class _Solved(Staged):
    """The function from a first guess, and the equation's other arguments, to the solution."""

    def __init__(self, kind: str, function: Callable[..., Any], tol: float | None) -> None:
        self.kind = kind
        self.function = function
        self.tol = tol
        self.__name__ = f"{kind}_of_{function_name(function)}"
        self.__signature__ = signature_of(function)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        return _stage(run, self.kind, self.function, *arguments, tol=self.tol)


def _solver(function: Callable[..., Any], kind: str, tol: float | None, chosen: Options) -> Any:
    return Primal(_Solved(kind, function, tol), chosen, results=0)


def _stage(
    run: Run,
    kind: str,
    function: Any,
    x0: Any,
    *args: Any,
    tol: Any = None,
    level: Level | None = None,
) -> Any:
    guess = run.as_array(x0)
    if guess.type.dtype.kind != "f":
        run.refuse(
            f"the first guess of `{kind}` is {described(x0)}",
            "give real numbers of floating point: 1.0, np.ones(3)",
            DerivativeError,
        )
    if not guess.type.size:
        run.refuse(
            f"the first guess of `{kind}` has no elements",
            "give one number or more",
            DerivativeError,
        )
    sub = substage(run, function, (guess, *args), {})
    result = sub.result
    if not isinstance(result, Output) or result.type.dims != guess.type.dims:
        shown = result.type if isinstance(result, Output) else described(result)
        return run.about_result(
            lambda: run.refuse(
                f"`{function_name(function)}` returns {shown} for an x of shape {guess.type.dims}",
                "return one array of the shape of x: as many equations as unknowns",
                DerivativeError,
            )
        )
    refuse_effects(run, sub, function, "which would be done in each step")
    if result.type.dtype != guess.type.dtype:
        run.about_result(
            lambda: run.refuse(
                f"`{function_name(function)}` returns {result.type} for an x of {guess.type}",
                "give the first guess in the dtype of the result, as np.zeros(3, np.float64), or "
                "all that the equation reads in that of the guess",
                DerivativeError,
            )
        )
    inner = sub.program.inputs[1:]
    values = list(map(run.value, sub.inputs[1:]))
    moving = [1 + at for at, variable in enumerate(inner) if variable.type.inexact]
    equation = _Equation(sub.program, guess.type.dims)
    rule = CustomRule(*_rule(kind, equation, moving), name=kind)
    precision = float(np.finfo(guess.type.dtype).eps ** 0.75)
    flat = run.call(np.ravel, (guess,), {})
    found = rule.stage_call(run, (flat, precision if tol is None else tol, *values), {})
    if not guess.type.dims:
        return run.record("to_scalar", run.record("reshape", found, shape=()))
    return run.call(np.reshape, (found, guess.type.dims), {})


def _rule(
    kind: str, equation: _Equation, moving: Sequence[int]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The function for the value and the function for the cotangents, by the inputs ``moving``."""
    by_given = Cotangents(equation, moving)
    jacobian: Jacobian[..., Any] = Jacobian(equation)
    if kind == "root":
        return newton(equation, jacobian, by_given, NEWTON_STEPS)
    return iteration(equation, jacobian, by_given, ITERATIONS, NEWTON_STEPS)


class OfVector(Staged):
    """A program of an array of these ``dims``, which is given as a vector, and of other inputs."""

    def __init__(self, program: Program, dims: tuple[int, ...]) -> None:
        self.program = program
        self.dims = dims
        self.__name__ = program.name
        self.__signature__ = plain_signature(["x", *(v.name for v in program.inputs[1:])])

    def inlined(self, run: Run, arguments: Sequence[Any]) -> Atom:
        """The program's value."""
        x, *given = map(run.atom, arguments)
        (shaped,) = run.record_atoms("reshape", (x,), {"shape": self.dims})
        return inlined(run, self.program, (shaped, *given))


def inlined(run: Run, program: Program, arguments: Sequence[Atom]) -> Atom:
    """The value of a program of its inputs."""
    pairs = zip(arguments, program.inputs, strict=True)
    atoms = tuple(exactly(run, atom, variable.type) for atom, variable in pairs)
    (value,) = run.recorder.inline(program, atoms)
    return value


def refuse_effects(run: Run, sub: SubStage, function: Any, when: str) -> None:
    """Refuse an equation that does more than compute, ``when`` it is evaluated."""
    if any({*equation.effects} - {"raise", "bind"} for equation in sub.program.equations):
        name = function_name(function)
        run.refuse(f"`{name}` draws or prints, {when}", "do it outside of the equation")


class _Equation(OfVector):
    """The equation that is solved, as a function of a vector and of the program's other inputs."""

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        value = self.inlined(run, arguments)
        (flat,) = run.record_atoms("reshape", (value,), {"shape": run.atom(arguments[0]).type.dims})
        return run.value(flat)
