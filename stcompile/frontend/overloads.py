"""Operators of the user's own classes: their special methods, staged like other methods.

They are looked up on the class, the left operand's first, as in section 3.3.8 of Python's language
reference. What NumPy's arrays and numbers leave to the operand on their right is what NumPy does.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

from stcompile.frontend.places import Place
from stcompile.frontend.run import Run
from stcompile.frontend.values import Array, Bound, Scalar, is_traced

REFLECTED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def special_method(run: Run, owner: Any, name: str) -> Bound | None:
    """A special method that the class of ``owner`` writes in Python; None if it has none."""
    if is_traced(owner) or type(owner).__module__ == "builtins":
        return None
    run.refuse_foreign(owner)
    method = inspect.getattr_static(type(owner), name, None)
    if not isinstance(method, FunctionType) or method.__code__.co_filename.startswith("<"):
        return None  # what `dataclass` writes has no source
    run.captures.guard(Place.of_class(type(owner), name))
    return Bound(method, owner)


def binary(run: Run, operator: str, left: Any, right: Any) -> Any:
    """``left op right`` by ``__op__`` or ``__rop__``; `NotImplemented` if neither class has it."""
    return _first(run, f"__{operator}__", f"__r{operator}__", left, right)


def comparison(run: Run, operator: str, left: Any, right: Any) -> Any:
    """A comparison by the left operand's method or the right one's mirrored; ``!=`` without one is
    the opposite of ``==``. `NotImplemented` if neither class has it."""
    found = _first(run, f"__{operator}__", f"__{REFLECTED[operator]}__", left, right)
    if found is NotImplemented and operator == "ne":
        equal = _first(run, "__eq__", "__eq__", left, right)
        if equal is not NotImplemented:
            return run.record("not", equal) if is_traced(equal) else not run.truth(equal)
    return found


def in_place(run: Run, operator: str, target: Any, value: Any) -> Any:
    """``target op= value`` by ``__iop__``; `NotImplemented` if the class has none."""
    method = special_method(run, target, f"__i{operator}__")
    return run.call(method, [value], {}) if method is not None else NotImplemented


def unary(run: Run, name: str, operand: Any) -> Any:
    """``-x``, ``abs(x)`` and the like by the method of that name; else `NotImplemented`."""
    method = special_method(run, operand, name)
    return run.call(method, [], {}) if method is not None else NotImplemented


def _first(run: Run, name: str, reflected: str, left: Any, right: Any) -> Any:
    """The result of the first method that implements the operator."""
    ours, theirs = special_method(run, left, name), special_method(run, right, reflected)
    if theirs is not None and is_traced(left):
        left = _left_to(run, left, right)
    if type(left) is type(right) and name != reflected:
        theirs = None
    attempts = [(ours, right), (theirs, left)]
    if type(left) is not type(right) and issubclass(type(right), type(left)):
        attempts.reverse()  # a subclass knows better
    for method, other in attempts:
        if method is not None:
            result = run.call(method, [other], {})
            if result is not NotImplemented:
                return result
    return NotImplemented


def _left_to(run: Run, left: Any, right: Any) -> Any:
    """What the class on the right is given for a traced operand on its left. NumPy hands its own
    numbers over as Python's, and takes apart what it can make an array of."""
    if isinstance(left, Scalar) and left.type.kind == "python":
        return left
    cls = type(right)
    if hasattr(cls, "__array_ufunc__"):
        defers = cls.__array_ufunc__ is None
    else:
        defers = getattr(cls, "__array_priority__", 0.0) > 0
    if defers:
        return left
    names = ("__len__", "__array__", "__array_interface__")
    is_sequence = any(hasattr(cls, name) for name in names)
    if is_sequence or (isinstance(left, Array) and left.type.ndim):
        run.refuse(
            f"NumPy would make an array of `{cls.__name__}` here",
            f"put it on the left, or write `__array_ufunc__ = None` in the class `{cls.__name__}`",
        )
    kinds: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
    return run.call(kinds[left.type.dtype.kind], [left], {})
