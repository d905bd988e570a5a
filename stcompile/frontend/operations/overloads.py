"""Operators of the user's own classes: their special methods, staged like other methods.

They are looked up on the class, the left operand's first, as in section 3.3.8 of Python's language
reference. What NumPy's arrays and numbers leave to the operand on their right is what NumPy does.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

from stcompile.base.classes import MISSING, find, is_changeable
from stcompile.base.errors import TypingError
from stcompile.base.wording import an
from stcompile.frontend.operations.data_model import bound
from stcompile.frontend.operations.generated import generated
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Bound, Scalar, describe, is_traced

REFLECTED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def special_method(run: Run, owner: Any, name: str) -> Any:
    """A special method that the class of ``owner`` has in Python, bound to it; None if it has
    none."""
    cls = type(owner)
    if is_traced(owner) or cls.__module__ in ("builtins", Array.__module__):
        return None
    run.refuse_foreign(owner)
    found = run.captures.lookup(run.captures.class_of(owner), name)
    if isinstance(found, FunctionType):  # what `dataclass` writes has no source
        return (
            None
            if generated(found, owner) is not None or _has_no_source(found)
            else Bound(found, owner)
        )
    if found is MISSING or found is None or type(found) in _BUILT_IN:
        return None
    return bound(run, found, owner, cls, name)


_BUILT_IN = (WrapperDescriptorType, MethodDescriptorType, BuiltinFunctionType)


def _has_no_source(method: FunctionType) -> bool:
    return method.__code__.co_filename.startswith("<string")


_COMPARED = ("eq", "ne", "lt", "le", "gt", "ge", "add", "radd")


def has_comparisons(cls: type) -> bool:
    """True for classes of the user's that say what comparisons and sums of their objects are."""
    found = (find(cls, f"__{name}__") for name in _COMPARED if is_changeable(cls))
    return any(isinstance(method, FunctionType) for method in found)


def refuse_hash(run: Run, *keys: Any) -> None:
    """Refuse keys of dicts and items of sets that a class of the user's hashes: it would have to
    compute with the values that the program has while it runs."""
    for key in keys:
        if isinstance(key, tuple):
            refuse_hash(run, *key)
        cls = type(key)
        is_real = is_changeable(cls) or cls.__module__ == "builtins"
        if is_real and find(cls, "__hash__") is None:
            error = TypeError(f"unhashable type: {cls.__name__!r}")
            run.raises(error, reason=str(error))
        own = is_changeable(cls) and not isinstance(key, Enum | type)
        if own and isinstance(find(cls, "__hash__"), FunctionType):
            run.refuse(
                f"{an(cls.__name__)} is a key of a dict or an item of a set: `__hash__` and "
                "`__eq__` of its class are not asked at compile time",
                "use a string or a number as the key",
            )


def binary(run: Run, operator: str, left: Any, right: Any) -> Any:
    """``left op right`` by ``__op__`` or ``__rop__``; `NotImplemented` if neither class has it."""
    reflected, cls = f"__r{operator}__", type(right)
    if type(left) is cls:
        reflected = ""  # what cannot be done from the left cannot be done from the right
    # A subclass with a method of its own knows better.
    is_first = bool(reflected) and _overrides(run, cls, type(left), reflected)
    return _first(run, f"__{operator}__", reflected, left, right, is_first)


def comparison(run: Run, operator: str, left: Any, right: Any) -> Any:
    """A comparison by the left operand's method or the right one's mirrored; ``!=`` without one is
    the opposite of ``==``. `NotImplemented` if neither class has it."""
    cls = type(right)
    is_first = cls is not type(left) and issubclass(cls, type(left))
    name, reflected = f"__{operator}__", f"__{REFLECTED[operator]}__"
    found = _first(run, name, reflected, left, right, is_first)
    if found is NotImplemented and operator == "ne":
        equal = _first(run, "__eq__", "__eq__", left, right, is_first)
        if equal is not NotImplemented:
            return run.record("not", equal) if is_traced(equal) else not run.truth(equal)
    return found


def _overrides(run: Run, cls: type, base: type, name: str) -> bool:
    """True for a subclass that has another method than its base."""
    if cls is base or not issubclass(cls, base):
        return False
    return run.captures.lookup(cls, name) is not run.captures.lookup(base, name)


def in_place(run: Run, operator: str, target: Any, value: Any) -> Any:
    """``target op= value`` by ``__iop__``; `NotImplemented` if the class has none."""
    method = special_method(run, target, f"__i{operator}__")
    return run.call(method, [value], {}) if method is not None else NotImplemented


def unary(run: Run, name: str, operand: Any) -> Any:
    """``-x``, ``abs(x)`` and the like by the method of that name; else `NotImplemented`."""
    method = special_method(run, operand, name)
    return run.call(method, [], {}) if method is not None else NotImplemented


def _first(
    run: Run, name: str, reflected: str, left: Any, right: Any, is_reflected_first: bool
) -> Any:
    """The result of the first method that implements the operator."""
    ours = special_method(run, left, name)
    theirs = special_method(run, right, reflected) if reflected else None
    if theirs is not None and is_traced(left):
        left = _left_to(run, left, right)
    attempts = [(ours, right), (theirs, left)]
    if is_reflected_first:
        attempts.reverse()
    for method, other in attempts:
        if method is not None:
            result = run.call(method, [other], {})
            if result is not NotImplemented:
                return result
    return NotImplemented


def index_of(run: Run, value: Any) -> Any:
    """What an object of the user's gives as an index by ``__index__``; any other value itself."""
    method = None if isinstance(value, int) else special_method(run, value, "__index__")
    if method is None:
        return value
    number = run.call(method, [], {})
    if not (is_traced(number) or isinstance(number, int)):
        run.refuse(
            f"{type(value).__name__}.__index__ returned non-int (type {describe(number)})",
            "write `return int(...)`",
            TypingError,
        )
    return number


def subscript_of(run: Run, index: Any) -> Any:
    """A subscript with what objects of the user's give as an index in it."""
    if isinstance(index, slice):
        return slice(*(index_of(run, part) for part in (index.start, index.stop, index.step)))
    if type(index) is tuple:
        return tuple(subscript_of(run, part) for part in index)
    return index_of(run, index)


_CONVERSIONS = {
    "__array__": "pass the array that it holds",
    "__array_interface__": "pass the array that it holds",
    "__index__": "write `operator.index(...)` of it",
}


def refuse_conversions(run: Run, name: str, arguments: Sequence[Any]) -> None:
    """Refuse objects that a function of NumPy would ask for a number or an array."""
    for argument in arguments:
        cls = type(argument)
        for method, hint in _CONVERSIONS.items() if is_changeable(cls) else ():
            if isinstance(find(cls, method), FunctionType | property):
                run.refuse(f"`{name}` would ask {an(cls.__name__)} for `{method}`", hint)


def _left_to(run: Run, left: Any, right: Any) -> Any:
    """What the class on the right is given for a traced operand on its left. NumPy hands its own
    numbers over as Python's, and takes apart what it can make an array of."""
    if isinstance(left, Scalar) and left.type.kind == "python":
        return left
    cls = type(right)
    asked = ("__array_ufunc__", "__array_priority__", "__len__", "__array__", "__array_interface__")
    ufunc, priority, *sequence = (run.captures.lookup(cls, name) for name in asked)
    defers = ufunc is None if ufunc is not MISSING else priority is not MISSING and priority > 0
    if defers:
        return left
    is_sequence = any(found is not MISSING for found in sequence)
    if is_sequence or (isinstance(left, Array) and left.type.ndim):
        run.refuse(
            f"NumPy would make an array of `{cls.__name__}` here",
            f"put it on the left, or write `__array_ufunc__ = None` in the class `{cls.__name__}`",
        )
    kinds: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
    return run.call(kinds[left.type.dtype.kind], [left], {})
