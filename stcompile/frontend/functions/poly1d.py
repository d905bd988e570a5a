"""`numpy.poly1d`, which `stcompile.library.poly1d.Poly1d` stands for.

An object from outside the function becomes a `Poly1d` when it is called or computed with.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.frontend.functions.library import CALCULUS, inlined
from stcompile.frontend.operations.attributes import attribute
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import is_static
from stcompile.library import poly1d as library

Lowering = Callable[..., Any]


def _made(run: Run, c_or_r: Any, r: bool = False, variable: Any = None) -> Any:
    """np.poly1d: leading zeros that are known at compile time are dropped as in NumPy."""
    if is_static(c_or_r) and not isinstance(c_or_r, np.poly1d) and not r:
        c_or_r = run.computed(np.poly1d, c_or_r).coeffs.tolist()
    return run.call(library.Poly1d, [c_or_r, r, variable], {})


def _converted(run: Run, value: Any) -> Any:
    """See `stcompile.library.poly1d.as_poly1d`."""
    if not isinstance(value, np.poly1d):
        return value
    place = run.relied.place_of(value)
    if place is None:
        run.refuse("where this polynomial comes from is not known", "capture it by a name")
    coefficients = run.captures.captured(value.coeffs, place.attribute("coeffs"))
    return run.call(library.Poly1d, [coefficients], {})


def _method(name: str, /, run: Run, receiver: Any, *arguments: Any, **keywords: Any) -> Any:
    """The lowering of a method, also of one that computes an attribute."""
    found = attribute(run, _converted(run, receiver), name)
    is_method = callable(getattr(library.Poly1d, name))
    return run.call(found, arguments, keywords) if is_method else found


def _also_of_polynomials(function: Any, lowering: Lowering) -> Lowering:
    """The lowering of a function of coefficients that takes polynomials, too."""
    own = inlined(library.OPERATIONS[function.__name__])

    def either(run: Run, *arguments: Any, **keywords: Any) -> Any:
        given = [_converted(run, value) for value in arguments]
        is_object = any(isinstance(value, library.Poly1d) for value in given)
        return (own if is_object else lowering)(run, *given, **keywords)

    either.__dict__["__signature__"] = inspect.signature(lowering)
    return either


_METHODS = (
    *("__call__", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__neg__"),
    *("__pos__", "__pow__", "__truediv__", "__len__", "__iter__", "__getitem__", "__array__"),
    *("deriv", "integ"),
)
_FACTS = ("coeffs", "order", "roots")

POLY1D: dict[Any, Lowering] = {
    np.poly1d: _made,
    library.as_poly1d: _converted,
    **{vars(np.poly1d)[name]: functools.partial(_method, name) for name in _METHODS},
    **{vars(np.poly1d)[name].fget: functools.partial(_method, name) for name in _FACTS},
    **{
        function: _also_of_polynomials(function, lowering)
        for function, lowering in CALCULUS.items()
        if function.__name__ in library.OPERATIONS
    },
}
