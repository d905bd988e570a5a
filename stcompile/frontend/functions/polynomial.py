"""`numpy.polynomial`, which NumPy imports on first use: tables by the names of its modules.

Its classes stand for `stcompile.library.polynomial_series.Series`. An object from outside the
function becomes a `Series` when it is called or computed with.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.base.errors import StcompileError, TypingError
from stcompile.frontend.functions.library import inlined
from stcompile.frontend.operations.attributes import attribute
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import is_static
from stcompile.library import polynomial as library
from stcompile.library import polynomial_calculus as calculus
from stcompile.library import polynomial_series as objects

Lowering = Callable[..., Any]
_PREFIXES = {
    "polynomial": "poly",
    "chebyshev": "cheb",
    "legendre": "leg",
    "hermite": "herm",
    "hermite_e": "herme",
    "laguerre": "lag",
}
_CLASSES = {
    "polynomial": "Polynomial",
    "chebyshev": "Chebyshev",
    "legendre": "Legendre",
    "hermite": "Hermite",
    "hermite_e": "HermiteE",
    "laguerre": "Laguerre",
}


def _operations(module: str) -> Mapping[str, Any]:
    """The functions of a kind of series, by the endings of NumPy's names."""
    every = {**vars(library), **library.FUNCTIONS, **calculus.FUNCTIONS}
    found = {n: every[_PREFIXES[module] + n] for n in ("val", "vander", "der", "int", "mul")}
    return {**found, "add": library.add, "sub": library.subtract}


_KINDS = {module: _operations(module) for module in _PREFIXES}


def _made(
    module: str, run: Run, coef: Any, domain: Any = None, window: Any = None, symbol: str = "x"
) -> Any:
    """The lowering of a class of series; its domain and window default to those of the class."""
    parts = [_interval(run, part, _usual(module)) for part in (domain, window)]
    return _called(run, objects.Series, [_KINDS[module], coef, *parts], {})


def _usual(module: str) -> tuple[int, int]:
    return (0, 1) if module == "laguerre" else (-1, 1)


def _fit(
    module: str,
    run: Run,
    x: Any,
    y: Any,
    deg: Any,
    domain: Any = None,
    rcond: Any = None,
    w: Any = None,
    window: Any = None,
    symbol: str = "x",
) -> Any:
    """The lowering of the class method ``fit``."""
    if not isinstance(deg, int):
        run.refuse("`fit` takes one degree that is known at compile time", "give a Python int")
    if isinstance(domain, list) and not domain:
        domain = _usual(module)
    ends = None if domain is None else _interval(run, domain, _usual(module))
    given = [_KINDS[module], x, y, deg, ends, rcond, w]
    return _called(run, objects.fitted, [*given, _interval(run, window, _usual(module))], {})


def _basis(module: str, run: Run, deg: int, domain: Any = None, window: Any = None) -> Any:
    """The lowering of the class method ``basis``."""
    return _made(module, run, [0.0] * deg + [1.0], domain, window)


def _interval(run: Run, given: Any, usual: tuple[int, int]) -> tuple[Any, ...]:
    """The ends of a domain or window as float64, since NumPy keeps them in an array of float64."""
    if given is None:
        given = usual
    if not (isinstance(given, list | tuple) and len(given) == 2 and is_static(given)):
        run.refuse("a domain or window is two numbers known at compile time", "write [a, b]")
    return np.float64(given[0]), np.float64(given[1])


def _series(run: Run, value: Any) -> Any:
    """An object of NumPy's, from outside the function, as a series."""
    module = type(value).__module__.rpartition(".")[2]
    if not type(value).__module__.startswith("numpy.polynomial.") or module not in _CLASSES:
        return value
    place = run.relied.place_of(value)
    if place is None:
        run.refuse("where this polynomial comes from is not known", "capture it by a name")
    name = type(value).__name__
    if name != _CLASSES[module]:
        run.refuse(f"the class {name} is not one of numpy.polynomial", "", TypingError)
    parts = [
        run.relied.guard(place.fact(part, functools.partial(_ends, part)))
        for part in ("domain", "window")
    ]
    coef = attribute(run, value, "coef")
    return _called(run, objects.Series, [_KINDS[module], coef, *parts], {})


def _ends(part: str, series: Any) -> tuple[Any, ...]:
    """The domain or window of an object of NumPy's."""
    return tuple(getattr(series, part))


def _called(run: Run, function: Any, arguments: Sequence[Any], keywords: Any) -> Any:
    """Call a function of the library; refusals inside it are located at the call."""
    try:
        return run.call(function, arguments, keywords)
    except StcompileError as error:
        return run.refuse(error.reason, error.hint, type(error))


def _method(name: str, /, run: Run, *arguments: Any, **keywords: Any) -> Any:
    """The lowering of a method of all classes."""
    receiver, *others = [_series(run, value) for value in arguments]
    return _called(run, attribute(run, receiver, name), others, keywords)


METHODS_OF_SERIES = (
    *("__call__", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__"),
    *("__neg__", "__pos__", "__truediv__", "__pow__", "__len__", "__iter__"),
    *("deriv", "integ", "degree", "copy", "mapparms", "linspace"),
)


def _functions(module: str) -> Mapping[str, Lowering]:
    prefix = _PREFIXES[module]
    found = {prefix + name: inlined(f) for name, f in _KINDS[module].items()}
    if module == "polynomial":
        found["polyvalfromroots"] = inlined(library.polyvalfromroots)
        found |= {
            f"Polynomial.{name}": functools.partial(_method, name) for name in METHODS_OF_SERIES
        }
    name = _CLASSES[module]
    found |= {
        f"{name}.fit": functools.partial(_fit, module),
        f"{name}.basis": functools.partial(_basis, module),
    }
    return {**found, name: functools.partial(_made, module)}


POLYNOMIAL: Mapping[str, Mapping[str, Lowering]] = MappingProxyType(
    {f"numpy.polynomial.{module}": _functions(module) for module in _PREFIXES}
)
SHARED: Mapping[str, Lowering] = MappingProxyType({"as_series": _series})
