"""Functions that call one of SciPy's. They have a small file of their own, since the source of a
lambda is looked for in all of its file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stcompile as st

Function = Callable[..., Any]


def plain(scipys: Any) -> Function:
    """A function that returns what SciPy's does, a tuple as a list."""
    if scipys.nout > 1:
        return (lambda x: list(scipys(x))) if scipys.nin == 1 else lambda x, y: list(scipys(x, y))
    if scipys.nin == 1:
        return lambda x: scipys(x)
    if scipys.nin == 3:
        return lambda x, y, z: scipys(x, y, z)
    return lambda x, y: scipys(x, y)


def after(scipys: Any, *first: Any) -> Function:
    """A function of the operand that comes after these."""
    return lambda x: scipys(*first, x)


def derivatives(scipys: Any, *args: Any, wrt: int = 0) -> tuple[Any, Any]:
    """The first and the second derivative of a function, at numbers."""
    first = st.grad(lambda *xs: scipys(*xs), wrt)
    return first(*args), st.grad(lambda *xs: first(*xs), wrt)(*args)


def summed(function: Function) -> Function:
    """The sum of all that a function returns."""
    return lambda *xs: np.sum(function(*xs))


def located(method: Any) -> Function:
    """A method of a distribution, of all its arguments."""
    return lambda x, *rest: method(x, *rest)


def parameters(method: Any) -> Function:
    """A method of a distribution, of its parameters."""
    return lambda *given: method(*given)


def shaped(method: Any, k: Any) -> Function:
    """A method of a discrete distribution, of its parameters."""
    return lambda *parameters: method(k, *parameters)


def several(methods: Any, shapes: Any) -> Function:
    """The results of several methods, of loc and scale."""
    return lambda x, loc, scale: [method(x, *shapes, loc, scale) for method in methods]


def transformed(scipys: Any, **keywords: Any) -> Function:
    """A function of an array with static arguments, and the square of its result for curvature."""
    return lambda x: scipys(x, **keywords) ** 2


def made_with(scipys: Any, **keywords: Any) -> Function:
    """The square of an interpolant of x and y at points."""
    return lambda x, y, at: scipys(x, y, **keywords)(at) ** 2


def called(made: Any) -> Function:
    """The square of a function that was made outside."""
    return lambda at: made(at) ** 2


def derived(scipys: Any, keywords: Any, data: Any) -> Function:
    """Derivatives and integrals of an interpolant, which is made inside or (of data) outside."""

    def used(made: Any, at: Any) -> Any:
        area = made.integrate(0.2, 2.0) + made.integrate(2.5, 0.4)
        return made(at, 1) * made.derivative()(at) + made.antiderivative()(at) * area

    if data is None:
        return lambda x, y, at: used(scipys(x, y, **keywords), at)
    outside = scipys(*data, **keywords)
    return lambda at: used(outside, at)


def sampled(rule: Any, **keywords: Any) -> Function:
    """The square of an integral of samples at points."""
    return lambda y, x: rule(y, x=x, **keywords) ** 2


def weighted(scipys: Any, **keywords: Any) -> Function:
    """The square of a function of two arrays with static arguments."""
    return lambda x, w: scipys(x, w, **keywords) ** 2


def between(metric: Any) -> Function:
    """A distance of two vectors with weights."""
    return lambda u, v, w: metric(u, v, w=w) ** 2
