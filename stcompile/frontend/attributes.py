"""Attributes: of traced arrays, of modules, and of the user's objects."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import stcompile.trees as trees
from stcompile.errors import TypingError
from stcompile.frontend import masks
from stcompile.frontend.indexing import set_item
from stcompile.frontend.places import Place
from stcompile.frontend.run import Run
from stcompile.frontend.values import (
    Array,
    ArrayMethod,
    Bound,
    Closure,
    Flat,
    GeneratorMethod,
    GeneratorValue,
    Masked,
    Scalar,
    Traced,
    describe,
    described,
)

MUTATING = frozenset(
    {"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"}
    | {"update", "setdefault", "popitem", "add", "discard"}
)


def attribute(run: Run, owner: Any, name: str) -> Any:
    if isinstance(owner, Array | Scalar):
        return _of_traced(run, owner, name)
    if isinstance(owner, Masked):
        return ArrayMethod(owner, name) if name in _OF_MASKED else masks.attribute(run, owner, name)
    if isinstance(owner, types.ModuleType):
        return _of_module(run, owner, name)
    if isinstance(owner, GeneratorValue):
        if not callable(getattr(owner.example, name, len)):
            return run.refuse(
                f"the attribute `{name}` of {described(owner)} is not supported",
                "draw with its methods, or pass a generator in",
            )
        return GeneratorMethod(owner, name)
    if isinstance(owner, Closure | Bound):
        return run.refuse(f"the attribute `{name}` of a function is not supported", "")
    return _of_object(run, owner, name)


def _transposed(run: Run, x: Array) -> Array:
    return run.view(x, "transpose", axes=tuple(reversed(range(x.type.ndim))))


def _matrix_transposed(run: Run, x: Array) -> Array:
    if x.type.ndim < 2:
        run.refuse("`.mT` needs at least two dimensions", "", TypingError)
    *batch, row, column = range(x.type.ndim)
    return run.view(x, "transpose", axes=(*batch, column, row))


_OF_MASKED = frozenset({"sum", "prod", "mean", "max", "min", "any", "all"})
_OF_MASKED |= {"astype", "copy", "clip", "round"}
_VIEWS: dict[str, Callable[[Run, Array], Array]] = {"T": _transposed, "mT": _matrix_transposed}
_FACTS: dict[str, Callable[[Traced], Any]] = {
    "shape": lambda x: x.type.dims,
    "ndim": lambda x: x.type.ndim,
    "size": lambda x: x.type.size,
    "dtype": lambda x: x.type.dtype,
    "itemsize": lambda x: x.type.dtype.itemsize,
    "nbytes": lambda x: x.type.size * x.type.dtype.itemsize,
}


def _of_traced(run: Run, owner: Traced, name: str) -> Any:
    weak = owner.type.kind == "python"
    if name in _FACTS and not weak:
        return _FACTS[name](owner)
    if name in _VIEWS and not weak:
        if isinstance(owner, Array) and owner.type.ndim > 1:
            return _VIEWS[name](run, owner)
        return owner
    if name in ("real", "imag"):
        return _part(run, owner, name)
    if name == "flat" and isinstance(owner, Array):
        return Flat(owner)
    if weak and name == "conjugate":
        return ArrayMethod(owner, name)
    if not weak and callable(getattr(np.ndarray, name, None)):
        return ArrayMethod(owner, name)
    kind = (
        "a Python number" if weak else "an array" if isinstance(owner, Array) else "a NumPy scalar"
    )
    known = hasattr(np.ndarray, name) if not weak else hasattr(owner.type.python_type, name)
    if not known:
        return run.refuse(f"{kind} ({describe(owner)}) has no attribute `{name}`", "", TypingError)
    return run.refuse(
        f"`.{name}` of {kind} ({describe(owner)}) is not supported",
        "write it with the functions listed in the documentation",
    )


def _part(run: Run, owner: Traced, name: str) -> Any:
    """The real or imaginary part: of complex arrays a view; of real ones the array itself, and
    zeros that nobody may write."""
    if owner.type.dtype.kind == "c":
        return run.view(owner, name) if isinstance(owner, Array) else run.record(name, owner)
    if name == "real":
        return owner
    if not isinstance(owner, Array):
        return owner.type.python_type() if owner.type.kind == "python" else owner.type.dtype.type()
    zeros = run.record("full", 0, shape=owner.type.dims, dtype=owner.type.dtype)
    zeros.cell.frozen = "the imaginary part of real numbers is zero"
    return zeros


def set_part(run: Run, owner: Array, name: str, value: Any) -> None:
    """``z.real = v`` and ``z.imag = v``."""
    if name not in ("real", "imag"):
        run.refuse(f"this sets the attribute `{name}` of an array", "make a new array")
    if name == "imag" and owner.type.dtype.kind != "c":
        run.refuse(f"{describe(owner)} has no imaginary part to set", "", TypingError)
    set_item(run, attribute(run, owner, name), Ellipsis, value)


def _of_module(run: Run, module: types.ModuleType, name: str) -> Any:
    try:
        value = getattr(module, name)
    except ModuleNotFoundError as error:
        return run.refuse(
            f"the derivative needs {error.name}, which is not installed",
            'python -m pip install "stcompile[scipy]"',
        )
    except AttributeError:
        return run.refuse(
            f"module `{module.__name__}` has no attribute `{name}`", "is it misspelt?"
        )
    if module.__name__.split(".")[0] in ("numpy", "scipy", "math", "cmath", "builtins", "operator"):
        return value  # constants of a library do not change
    place = Place.constant(module, module.__name__).attribute(name)
    return run.captures.captured(value, place)


def _of_object(run: Run, owner: Any, name: str) -> Any:
    if str(type(owner).__module__).startswith("scipy.") and callable(getattr(owner, name, None)):
        return getattr(owner, name)  # a method such as that of a distribution: known, or refused
    if trees.is_namedtuple(owner) and name in ("_replace", "_asdict"):
        return getattr(owner, name)
    static = None if isinstance(owner, super) else inspect.getattr_static(type(owner), name, None)
    on_instance = name in getattr(owner, "__dict__", {})
    if static is not None and not on_instance:
        run.captures.guard(Place.of_class(type(owner), name))  # it may be replaced on the class
        place = run.captures.place_of(owner)
        if place is not None:  # or hidden by an attribute of the object's own
            own = place.fact(f"own {name}", lambda o: name in getattr(o, "__dict__", {}))
            run.captures.guard(own)
        if isinstance(static, property) and static.fget is not None:
            return run.call(static.fget, [owner], {})
        if isinstance(static, functools.cached_property):
            return run.call(static.func, [owner], {})
        if isinstance(static, types.FunctionType):
            return Bound(static, owner)
    try:
        value = getattr(owner, name)
    except AttributeError as error:
        return run.refuse(str(error), "", TypingError)
    if isinstance(value, types.MethodType):
        return Bound(value.__func__, value.__self__)
    if name in MUTATING and isinstance(owner, list | dict | set) and not run.owns(owner):
        return run.refuse(
            f"`.{name}` changes {described(owner)} {run.owner(owner)}",
            f"make a copy: `{type(owner).__name__}(...)`",
        )
    if isinstance(owner, type):
        return run.captures.captured(value, Place.of_class(owner, name))
    if static is not None and not on_instance and not inspect.isdatadescriptor(static):
        return run.captures.captured(value, Place.of_class(type(owner), name))
    return run.captures.attribute(owner, name, value)
