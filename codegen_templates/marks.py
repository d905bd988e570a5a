"""Decorators that tell the compiler what a template is. They return the function unchanged.

>>> @partials
... def tanh(out, x):
...     return 1 - out * out
>>> tanh.mark, tanh(0.5, None)
('partials', 0.75)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
Table = dict[str, Callable[..., Any]]


def _mark(name: str, **facts: Any) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        function.__dict__["mark"] = name
        function.__dict__.update(facts)
        return function

    return decorate


# --- derivatives/: the mathematics -----------------------------------------------------------

partials = _mark("partials")
"""``f(out, x, y, ...)`` returns the partial derivative of an elementwise primitive for each input,
in their order (``None``: none exists). Forward and reverse mode both follow from it. The partial
derivative of a real result by a complex input is the p with which the result changes by Re(p dz).

A rule may ask for what the compiler knows about the inputs: keyword ``active``, a bool for each
(is it differentiated?), and keyword ``static`` (is it a constant of the program?)."""

adjoint = _mark("adjoint")
"""``f(out, x, y, ..., d_out, *, params)`` returns the cotangent of each input (``None``: none),
in one flat tuple if there are several; variadic inputs come as one tuple, as in the templates.
It may leave a broadcast or a cast of an input to the engine, which returns every cotangent to
its input's shape and dtype."""

accumulates = _mark("accumulates")
"""Like ``adjoint``, but the cotangent so far is handed in first and returned with the
contribution added: ``f(d_x, d_out, *indices, params)``; for a primitive that reads a part of
its first input, so that a loop over parts costs no more than the whole. Run alone, it writes to
that cotangent."""

# --- numpy/: how a primitive is written ------------------------------------------------------

fresh = _mark("fresh")
"""The returned expression is a new value that shares no storage with an input."""

view = _mark("view")
"""The returned expression may share storage with the first input."""


def write(*, inplace: tuple[str, ...]) -> Callable[[F], F]:
    """Mark a body of statements that change the parameters named in ``inplace`` and return them;
    the compiler copies first if such an input is still needed."""
    return _mark("write", inplace=inplace)


effect = _mark("effect")
"""The body is statements that have an effect and return nothing."""

# --- buffered/: how a primitive is written into an array that is there -----------------------


def into(*, inplace: tuple[str, ...] = ()) -> Callable[[F], F]:
    """The body is statements that write the result to the first parameter. It may be the array of
    an operand named in ``inplace``, if that has the type of the result."""
    return _mark("into", inplace=inplace)


helper = _mark("helper")
"""A function of plain numbers that is printed beside the code that calls it."""

reordered = _mark("helper", fastmath=("reassoc",))
"""A ``helper`` whose sums Numba's compiler may take in another order."""

# --- tables ----------------------------------------------------------------------------------


TABLES = {"PARTIALS": partials, "ADJOINTS": adjoint, "SPELLINGS": fresh, "VIEWS": view}
"""The names of the tables of a module, with the marks of their rows."""


def by_primitive(*modules: ModuleType, prefix: str = "") -> Table:
    """The templates or rules in modules, by their primitives, which have the same names (``not_``
    is for ``not``). A function whose name starts with an underscore is left out. Functions that are
    one expression stand in tables, `TABLES`."""
    found: Table = {}
    for module in modules:
        for name, function in vars(module).items():
            if _is_made_in(module, function) and "mark" in function.__dict__ and name[0] != "_":
                found[prefix + name.rstrip("_")] = function
        for table, mark in TABLES.items():
            for name, function in vars(module).get(table, {}).items():
                found[prefix + name] = mark(function)
    return found


def _is_made_in(module: ModuleType, value: object) -> bool:
    """True for an object that a module defines itself, and does not import from another module."""
    if isinstance(value, FunctionType):
        return value.__module__ == module.__name__
    return isinstance(value, functools.partial)
