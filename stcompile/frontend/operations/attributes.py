"""Attributes: of traced arrays, of modules, and of the user's objects."""

from __future__ import annotations

import collections
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

import stcompile.base.trees as trees
from stcompile.base.classes import MISSING, defined_in, is_changeable
from stcompile.base.errors import LanguageError, TypingError
from stcompile.base.places import Place
from stcompile.frontend.operations import data_model, sparse
from stcompile.frontend.operations.affine import combined_sizes
from stcompile.frontend.operations.data_model import class_attribute, get_attribute, super_attribute
from stcompile.frontend.operations.indexing import set_item
from stcompile.frontend.operations.layout import dummy_of, in_order_of
from stcompile.frontend.operations.powers import refuse_complex
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.state import ShapeSite
from stcompile.frontend.state.values import (
    Array,
    ArrayMethod,
    Bound,
    Closure,
    Flat,
    Frozen,
    GeneratorMethod,
    GeneratorValue,
    Partial,
    Scalar,
    Super,
    Traced,
    class_of_number,
    describe,
    described,
    is_traced,
)
from stcompile.frontend.state.walking import INSTEAD
from stcompile.wengert.types import Type

MUTATING = frozenset(
    {"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"}
    | {"appendleft", "extendleft", "popleft", "rotate", "move_to_end"}
    | {"update", "setdefault", "popitem", "add", "discard"}
    | {"intersection_update", "difference_update", "symmetric_difference_update"}
)


def attribute(run: Run, owner: Any, name: str, *default: Any) -> Any:
    """``owner.name``, or ``getattr(owner, name, default)``."""
    if default and not isinstance(owner, type | Super) and _is_value(owner):
        if not has_attribute(run, owner, name):
            return default[0]
        default = ()
    if is_traced(owner):
        return _of_traced(run, owner, name)
    if isinstance(owner, Frozen):
        return Partial(frozen_method, (owner, name), {})
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
    return _of_object(run, owner, name, default)


def _is_value(owner: Any) -> bool:
    is_one = isinstance(owner, GeneratorValue | types.ModuleType)
    return is_traced(owner) or is_one


def has_attribute(run: Run, owner: Any, name: str) -> bool:
    """``hasattr(owner, name)``."""
    if isinstance(owner, Scalar):
        return hasattr(class_of_number(owner), name)
    if isinstance(owner, Array):
        return hasattr(np.ndarray, name)
    if isinstance(owner, GeneratorValue):
        return hasattr(owner.example, name)
    if isinstance(owner, types.ModuleType):
        place = Place.constant(owner, owner.__name__)
        return bool(run.relied.guard(data_model.fact_of_having(place, name)))
    if isinstance(owner, type | Super) or type(owner) in _BUILT_IN:
        return _of_object(run, owner, name, (MISSING,)) is not MISSING
    if isinstance(owner, Closure | Bound) or type(owner).__module__ == Array.__module__:
        return hasattr(owner, name)
    return data_model.has_attribute(run, owner, name)


def frozen_method(frozen: Frozen, name: str, *arguments: Any, **keywords: Any) -> Any:
    """The value of a method of a distribution with its parameters (see `functions.frozen`)."""
    raise NotImplementedError


def _transposed(run: Run, x: Array) -> Array:
    if x.type.ndim < 2:
        return Array(x.cell, x.type, x.path)
    return run.view(x, "transpose", axes=tuple(reversed(range(x.type.ndim))))


def _matrix_transposed(run: Run, x: Array) -> Array:
    if x.type.ndim < 2:
        run.refuse("`.mT` needs at least two dimensions", "", TypingError)
    *batch, row, column = range(x.type.ndim)
    return run.view(x, "transpose", axes=(*batch, column, row))


_VIEWS: dict[str, Callable[[Run, Array], Array]] = {"T": _transposed, "mT": _matrix_transposed}


def shape_of_array(run: Run, x: Traced) -> tuple[Any, ...]:
    """``x.shape``: a new tuple each time."""
    return tuple([run.integer(dim) for dim in x.type.dims])


def number_of_elements(run: Run, x: Traced) -> Any:
    """``x.size``."""
    return product_of(run, map(run.integer, x.type.dims))


def product_of(run: Run, numbers: Iterable[Any]) -> Any:
    """The product of sizes, which may be known only at run time."""
    total: Any = 1
    for number in numbers:
        if isinstance(total, int) and isinstance(number, int):
            total *= number
            continue
        known = combined_sizes(run, "multiply", total, number)
        total = run.record("multiply", total, number) if known is None else known
    return total


def _placeholder(run: Run, x: Traced, what: str) -> Any:
    dummy = dummy_of(run, x) if isinstance(x, Array) else np.empty((), x.type.dtype)
    if dummy is None or x.type.is_named:
        run.refuse(f"{what} of this array is not known", "make a copy: np.ascontiguousarray(x)")
    return dummy


def strides_known(run: Run, x: Traced) -> tuple[int, ...]:
    """``x.strides``."""
    return tuple(_placeholder(run, x, "the memory layout").strides)


class Flags(NamedTuple):
    """The parts of ``x.flags`` that follow from the memory layout."""

    c_contiguous: bool
    f_contiguous: bool
    fnc: bool
    forc: bool
    contiguous: bool
    fortran: bool
    writeable: bool
    aligned: bool = True

    def __getitem__(self, key: Any) -> Any:
        return getattr(self, _FLAGS.get(key, str(key).lower()))


_FLAGS = {"C": "c_contiguous", "F": "f_contiguous"}


def flags_of(run: Run, x: Traced) -> Flags:
    """``x.flags``."""
    found = _placeholder(run, x, "the memory layout").flags
    return Flags(*(getattr(found, name) for name in Flags._fields[:-1]))


_FACTS: dict[str, Callable[[Run, Traced], Any]] = {
    "shape": shape_of_array,
    "ndim": lambda run, x: x.type.ndim,
    "size": number_of_elements,
    "dtype": lambda run, x: x.type.dtype,
    "itemsize": lambda run, x: x.type.dtype.itemsize,
    "strides": lambda run, x: strides_known(run, x),
    "flags": lambda run, x: flags_of(run, x),
    "device": lambda run, x: "cpu",
    "nbytes": lambda run, x: product_of(run, [x.type.dtype.itemsize, number_of_elements(run, x)]),
}


def _of_traced(run: Run, owner: Traced, name: str) -> Any:
    weak = owner.type.kind == "python"
    if name == "__class__":
        return run.call(type, [owner], {})
    if name in _FACTS and not weak:
        return _FACTS[name](run, owner)
    if name in _VIEWS and isinstance(owner, Array):
        return _VIEWS[name](run, owner)
    if name == "T" and not weak:
        return owner
    if name in ("real", "imag"):
        return _part(run, owner, name)
    if name == "flat" and isinstance(owner, Array):
        return Flat(owner)
    if weak and name == "conjugate":
        return ArrayMethod(owner, name)
    is_method = callable(getattr(np.ndarray, name, None))
    if not weak and is_method and has_attribute(run, owner, name):
        return ArrayMethod(owner, name)
    kind = (
        "a Python number" if weak else "an array" if isinstance(owner, Array) else "a NumPy scalar"
    )
    if not has_attribute(run, owner, name):
        return run.raises(
            AttributeError(f"no attribute {name!r}"),
            reason=f"{kind} ({describe(owner)}) has no attribute `{name}`",
        )
    return run.refuse(f"`.{name}` of {kind} ({describe(owner)}) is not supported", INSTEAD)


def _part(run: Run, owner: Traced, name: str) -> Any:
    """The real or imaginary part: views of a complex array; of a real array the array itself, and
    read-only zeros."""
    if owner.type.dtype.kind == "c":
        return run.view(owner, name) if isinstance(owner, Array) else run.record(name, owner)
    if owner.type == Type.python(bool):  # an integer for Python
        return run.record("to_python", owner, dtype=np.dtype(int)) if name == "real" else 0
    if name == "real":
        return owner
    if not isinstance(owner, Array):
        refuse_complex(run, owner, "the imaginary part of this number")
        return owner.type.python_type() if owner.type.kind == "python" else owner.type.dtype.type()
    zeros = run.record("full", 0, shape=owner.type.dims, dtype=owner.type.dtype)
    zeros = in_order_of(run, zeros, owner)
    zeros.cell.frozen = "the imaginary part of real numbers is zero"
    return zeros


def set_part(run: Run, owner: Array, name: str, value: Any) -> None:
    """``z.real = v`` and ``z.imag = v``."""
    if name not in ("real", "imag"):
        run.refuse(f"this sets the attribute `{name}` of an array", "make a new array")
    if name == "imag" and owner.type.dtype.kind != "c":
        run.refuse(f"{describe(owner)} has no imaginary part to set", "", TypingError)
    set_item(run, attribute(run, owner, name), Ellipsis, value)


def set_shape(run: Run, owner: Array, shape: Any) -> None:
    """``x.shape = ...``: all names of the array see the new shape, views of the array do not."""
    new = run.call(np.reshape, [owner, shape], {})
    instead = "write x = x.reshape(...)"
    if (owner.cell.lent or owner.cell.frozen) and not owner.path:
        run.refuse("this sets the shape of an array of the caller", instead)
    if new.cell is not owner.cell:
        reason = "Incompatible shape for in-place modification: it needs a copy"
        run.raises(AttributeError(reason), reason=reason, hint=instead)
    site = ShapeSite(owner)
    if not run.is_sure_to_change(site):
        run.refuse("this sets the shape of an array in a branch or a kept loop", instead)
    run.set(site, (new.type, new.path))


def _of_module(run: Run, module: types.ModuleType, name: str) -> Any:
    try:
        value = getattr(module, name)
    except ModuleNotFoundError as error:
        return run.refuse(
            f"the derivative needs {error.name}, which is not installed",
            'python -m pip install "stcompile[scipy]"',
        )
    except AttributeError as error:
        place = Place.constant(module, module.__name__)
        run.relied.guard(data_model.fact_of_having(place, name))
        return run.raises(
            error,
            _suggestion(module, name),
            LanguageError,
            f"module `{module.__name__}` has no attribute `{name}`",
        )
    if module.__name__.split(".")[0] not in _LIBRARIES:
        place = Place.constant(module, module.__name__).attribute(name)
        return run.captures.captured(value, place)
    if vars(module).get(name) is value and not run.location.is_inside:
        run.relied.names.setdefault(module, {})[name] = None
    return value


def _suggestion(module: types.ModuleType, name: str) -> str:
    """The hint for a name that a module does not have: the name that is near it."""
    from difflib import get_close_matches

    near = get_close_matches(name, dir(module), n=1)
    return f"did you mean `{near[0]}`?" if near else "is it misspelt?"


def _of_object(run: Run, owner: Any, name: str, default: tuple[Any, ...]) -> Any:
    """An attribute of an object that is not a value of the program: by Python's data model, except
    for built-in objects."""
    if isinstance(owner, Super):
        return super_attribute(run, owner, name, *default)
    if sparse.is_sparse(owner):
        return sparse.attribute(run, owner, name)
    if type(owner).__module__ == Array.__module__:
        return run.refuse(f"the attribute `{name}` of {described(owner)} is not supported", "")
    if isinstance(owner, type) and is_changeable(owner):
        return class_attribute(run, owner, name, *default)
    if str(type(owner).__module__).startswith("scipy.") and callable(getattr(owner, name, None)):
        return getattr(owner, name)  # a method: a call of it is known, or refused
    if trees.is_namedtuple(owner) and name in _OF_TUPLES:
        value = getattr(owner, name)
        if defined_in(value.__func__) == _TUPLES:
            run.relied.lookup(type(owner), name)
            return value
    if not isinstance(owner, type) and type(owner) not in _BUILT_IN:
        return get_attribute(run, owner, name, *default)
    try:
        value = getattr(owner, name, *default)
    except AttributeError as error:
        place = run.relied.place_of(owner)
        if place is not None:
            run.relied.guard(data_model.fact_of_having(place, name))
        return run.fails(error)
    if name == "update" and data_model.owner_of_names(run, owner) is not None:
        return value
    if name in MUTATING and isinstance(owner, list | dict | set) and not run.may_change(owner):
        return run.refuse(
            f"`.{name}` changes {described(owner)} {run.owner(owner)}",
            f"make a copy: `{type(owner).__name__}(...)`",
        )
    return value


_BUILT_IN = (
    np.ndarray,
    np.iinfo,
    np.broadcast,
    list,
    dict,
    set,
    frozenset,
    tuple,
    str,
    bytes,
    int,
    bool,
    float,
    complex,
    range,
    slice,
)
_OF_TUPLES = ("_replace", "_asdict", "_make")
_TUPLES = collections.__name__
_LIBRARIES = ("numpy", "scipy", "math", "cmath", "builtins", "operator")


def set_attribute(run: Run, owner: Any, name: str, value: Any) -> None:
    """``owner.name = value``."""
    if isinstance(owner, Array) and name == "shape":
        set_shape(run, owner, value)
    elif isinstance(owner, Array):
        set_part(run, owner, name, value)
    else:
        data_model.set_attribute(run, owner, name, value)
