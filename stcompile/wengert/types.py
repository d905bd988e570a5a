"""Types of the Wengert list: exactly the distinctions that NumPy itself makes.

A value is a weak Python number, a NumPy scalar or an ndarray (its *kind*), with a dtype and, for
arrays, dims. The kind matters because promotion depends on it: a Python ``float`` leaves a
``float32`` array alone, a ``numpy.float64`` scalar does not (NEP 50). A *stack* holds a value for
each step of a loop whose number of steps is known only at run time. An *object* is a source of
random numbers, or a communicator or its requests, by which processes exchange arrays. A dim may be
a named integer instead of a number: see `stcompile.wengert.dims`.

>>> Type.array("float32", (2, 3))
f32[2,3]
>>> Type.scalar("float64"), Type.array("float64", ()), Type.python(float)
(f64, f64[], float)
>>> Type.stack(Type.array("float32", (2, 3)))
stack[f32[2,3]]
>>> Type.object("Generator")
Generator
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from stcompile.base.classes import is_changeable
from stcompile.wengert.bounds import usual
from stcompile.wengert.dims import Dim, UnknownSizeError, is_named, varies

Kind = Literal["python", "scalar", "array", "stack", "object"]

PYTHON_DTYPES: dict[type, np.dtype[Any]] = {
    bool: np.dtype(np.bool_),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}
PYTHON_TYPES: dict[np.dtype[Any], type] = {dtype: kind for kind, dtype in PYTHON_DTYPES.items()}
GENERATORS = ("Generator", "RandomState")  # classes of `numpy.random`
COMMUNICATOR, REQUESTS = "Comm", "requests"  # to exchange arrays with other processes
OUTER = "object"  # an object of the caller, whose attributes the function sets
# "np.random" is NumPy's global state.
OBJECTS = frozenset({*GENERATORS, "np.random", COMMUNICATOR, REQUESTS, OUTER})


@dataclass(frozen=True, repr=False)
class Type:
    """The type of a variable: ``kind``, ``dtype`` and ``dims`` (``()`` unless an array). A stack
    has the dtype and dims of its items, whose type is ``of``; an object has a ``name``."""

    tree_leaf: ClassVar[bool] = True
    kind: Kind
    dtype: np.dtype[Any]
    dims: tuple[Any, ...] = ()  # of ints and `Dim`s
    of: Type | None = None
    name: str = ""

    @staticmethod
    def array(dtype: Any, dims: tuple[Any, ...]) -> Type:
        sizes = tuple(d if isinstance(d, Dim) else int(d) for d in dims)
        return Type("array", np.dtype(dtype), sizes)

    @staticmethod
    def scalar(dtype: Any) -> Type:
        return Type("scalar", np.dtype(dtype))

    @staticmethod
    def python(kind: type) -> Type:
        return Type("python", PYTHON_DTYPES[kind])

    @staticmethod
    def stack(item: Type) -> Type:
        return Type("stack", item.dtype, item.dims, item)

    @staticmethod
    def object(name: str) -> Type:
        return Type("object", np.dtype(np.object_), name=name)

    @property
    def item(self) -> Type:
        """The type of a stack's items."""
        assert self.of is not None
        return self.of

    @property
    def ndim(self) -> int:
        return len(self.dims)

    @property
    def is_named(self) -> bool:
        """True if the length of an axis is known only at run time."""
        return is_named(self.dims)

    @property
    def varies(self) -> bool:
        """True if the length of an axis may change within a call."""
        return varies(self.dims)

    @property
    def size(self) -> int:
        """Number of elements, to estimate costs with: a dim that is known only at run time counts
        as its usual or its greatest value (see `usual`)."""
        size = 1
        for dim in self.dims:
            size *= max(usual(dim), 0)
        return size

    @property
    def count(self) -> int:
        """Number of elements, exactly; `UnknownSizeError` where it is known only at run time."""
        if self.is_named:
            raise UnknownSizeError(f"the number of elements of {self}", self.dims)
        return self.size

    @property
    def nbytes(self) -> int:
        """Bytes of array data (0 for numbers)."""
        return self.size * self.dtype.itemsize if self.kind == "array" else 0

    @property
    def python_type(self) -> type:
        """The type of a weak number: ``bool``, ``int``, ``float`` or ``complex``."""
        return PYTHON_TYPES[self.dtype]

    @property
    def inexact(self) -> bool:
        """True for types that can have a derivative: real or complex floating point."""
        return self.dtype.kind in "fc"

    def with_dtype(self, dtype: Any) -> Type:
        return Type(self.kind, np.dtype(dtype), self.dims)

    def __repr__(self) -> str:
        if self.kind == "stack":
            return f"stack[{self.item}]"
        if self.kind == "object":
            return self.name
        if self.kind == "python":
            return self.python_type.__name__
        name = short_dtype(self.dtype)
        return name if self.kind == "scalar" else f"{name}[{','.join(map(str, self.dims))}]"


def short_dtype(dtype: np.dtype[Any]) -> str:
    """The short name of a dtype, its kind and bits: ``f32`` for ``float32``, ``b8`` for
    ``bool``."""
    return f"{dtype.kind}{dtype.itemsize * 8}"


def parse_dtype(text: str) -> np.dtype[Any]:
    """The inverse of `short_dtype`."""
    return np.dtype(f"{text[0]}{int(text[1:]) // 8}")


def type_of(value: Any) -> Type:
    """The type of a concrete number, NumPy scalar, ndarray, random generator or communicator;
    `TypeError` for anything else."""
    if isinstance(value, np.ndarray):
        return Type.array(value.dtype, value.shape)
    if isinstance(value, np.generic):
        return Type.scalar(value.dtype)
    if type(value) in PYTHON_DTYPES:
        return Type.python(type(value))
    if is_generator(value):
        return Type.object(type(value).__name__)
    if is_communicator(value):
        return Type.object(COMMUNICATOR)
    raise TypeError(f"{type(value).__name__} is not a number or an array")


def is_generator(value: Any) -> bool:
    """True for a random generator of NumPy's own classes."""
    name = type(value).__name__  # first: `numpy.random` is loaded by the programs that draw
    return name in GENERATORS and type(value) is getattr(np.random, name)


def is_communicator(value: Any) -> bool:
    """True for a communicator of mpi4py, and for objects with the same interface."""
    return all(callable(getattr(value, name, None)) for name in _INTERFACE)


_INTERFACE = ("Allreduce", "Iallreduce", "Get_rank", "Get_size", "allgather")


def is_number(value: Any) -> bool:
    """True for a weak Python number or a NumPy number, the values that a `Constant` may hold."""
    return type(value) in PYTHON_DTYPES or isinstance(value, np.number | np.bool_)


def is_counter(value: Any) -> bool:
    """True for an integer: static, unless it is one that the program changes."""
    return type(value) is int or (isinstance(value, np.integer) and not is_changeable(type(value)))


OTHER_BYTES = "numbers whose bytes are in another order than this machine's are not compiled"
NATIVE_BYTES = "convert it first: x.astype(x.dtype.newbyteorder('='))"


def is_input(value: Any) -> bool:
    """True for values that are traced: arrays of numbers, floats, complex and inexact NumPy
    scalars, and random generators."""
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray and value.dtype.kind in "biufc"
    if isinstance(value, np.inexact):
        return not is_changeable(type(value))
    return type(value) in (float, complex) or is_generator(value)
