"""Functions that make arrays, and conversions of dtype and kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.base.strides import kept_order
from stcompile.frontend.control.conditions import truth_of
from stcompile.frontend.functions.shapes import copy, new_shape_of, shape_of
from stcompile.frontend.operations.attributes import product_of, shape_of_array
from stcompile.frontend.operations.indexing import get_item, set_item
from stcompile.frontend.operations.layout import copy_in_c_order, dummy_of
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import LISTED, Array, Flat, Scalar, is_static, is_traced
from stcompile.library import arrangement, elementwise
from stcompile.library.lists import length_between
from stcompile.wengert.dims import is_named
from stcompile.wengert.types import OTHER_BYTES, is_number


def dtype_of(run: Run, dtype: Any) -> np.dtype[Any]:
    """The dtype that an argument means; Python's number types mean NumPy's default dtypes."""
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        run.refuse(
            f"{dtype!r} is not a dtype", "use np.float32, np.float64 or x.dtype", TypingError
        )
    if not found.isnative:
        run.refuse(f"dtype {found.str}: {OTHER_BYTES}", "convert outside of the function")
    if found.kind not in "biufc":
        run.refuse(f"arrays of {found} are not supported", "use numbers", TypingError)
    return found


def full(run: Run, shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """np.full of a number, or of an array that broadcasts."""
    fill = run.as_array(fill_value) if isinstance(fill_value, LISTED) else fill_value
    kind = dtype_of(run, dtype) if dtype is not None else np.dtype(run.atom(fill).type.dtype)
    dims = new_shape_of(run, shape)
    if isinstance(fill, Array) and fill.type.ndim:
        return copy_in_c_order(run, run.record("broadcast_to", run.cast(fill, kind), shape=dims))
    return run.record("full", fill, shape=dims, dtype=kind)


def zeros(run: Run, shape: Any, dtype: Any = float) -> Any:
    return run.record("full", 0, shape=new_shape_of(run, shape), dtype=dtype_of(run, dtype))


def ndarray(
    run: Run,
    shape: Any,
    dtype: Any = float,
    buffer: Any = None,
    offset: int = 0,
    strides: Any = None,
    order: Any = None,
) -> Any:
    """np.ndarray: an array of zeros, as np.empty."""
    if buffer is not None or offset or strides is not None:
        run.refuse("np.ndarray of a buffer is not supported", "pass the array itself in")
    if order not in (None, "C"):
        run.refuse(
            f"np.ndarray in order {order!r} is not supported", "write np.zeros(shape[::-1]).T"
        )
    return zeros(run, shape, dtype)


def ones(run: Run, shape: Any, dtype: Any = float) -> Any:
    return run.record("full", 1, shape=new_shape_of(run, shape), dtype=dtype_of(run, dtype))


def full_like(run: Run, a: Any, fill_value: Any, dtype: Any = None) -> Any:
    x = run.as_array(a)
    kind = dtype_of(run, dtype) if dtype is not None else x.type.dtype
    dummy = dummy_of(run, x)
    natural = tuple(range(x.type.ndim))
    order = natural if dummy is None else kept_order(dummy.shape, dummy.strides)
    dims = tuple(x.type.dims[axis] for axis in order)
    truncates = dtype is None and not x.type.inexact and run.atom(fill_value).type.inexact
    made = run.record("full", 0 if truncates else fill_value, shape=dims, dtype=kind)
    if truncates:
        set_item(run, made, Ellipsis, fill_value)  # a store, of which the user is warned
    if dummy is None:  # the result lies in memory as x does
        run.layouts.note(made.cell.made, None)
    if order == natural:
        return made
    return run.view(made, "transpose", axes=tuple(np.argsort(order).tolist()))  # laid out alike


def zeros_like(run: Run, a: Any, dtype: Any = None) -> Any:
    return full_like(run, a, 0, dtype)


def ones_like(run: Run, a: Any, dtype: Any = None) -> Any:
    return full_like(run, a, 1, dtype)


def _is_integer(value: Any) -> bool:
    if isinstance(value, Scalar):
        return value.type.dtype.kind in "iu"
    return isinstance(value, int | np.integer)


def arange(run: Run, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    first, last = (0, start) if stop is None else (start, stop)
    ends = run.size_of(_whole(first)), run.size_of(_whole(last))
    stride = _whole(step)
    if None not in ends and is_named(ends) and isinstance(stride, int) and stride:
        is_float = any(isinstance(part, float) for part in (first, last, step))
        kind = np.dtype(float if is_float else int) if dtype is None else dtype_of(run, dtype)
        return run.record("arange", start=ends[0], stop=ends[1], step=stride, dtype=kind)
    is_traced_end = is_traced(first) or is_traced(last)
    if is_traced_end and all(map(_is_integer, (first, last))) and step == 1 and dtype is None:
        count = run.counted(run.call(length_between, [first, last], {}))
        counted = run.record("arange", start=0, stop=count, step=1, dtype=np.dtype(np.int64))
        is_moved = is_traced(first) or first != 0
        return run.record("add", counted, first) if is_moved else counted
    if not is_static([start, stop, step]):
        run.refuse(
            "np.arange of values known only at run time has an unknown length",
            "use bounds that are known at compile time",
        )
    kind = dtype_of(run, dtype) if dtype is not None else np.arange(first, last, step).dtype
    return run.record("arange", start=first, stop=last, step=step, dtype=kind)


def _whole(number: Any) -> Any:
    """A float that is a whole number as an int."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def eye(run: Run, N: int, M: Any = None, k: int = 0, dtype: Any = float) -> Any:
    n, m = shape_of(run, (N, N if M is None else M))
    (offset,) = shape_of(run, k)
    return run.record("eye", n=n, m=m, k=offset, dtype=dtype_of(run, dtype))


def linspace(
    run: Run,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    kind = dtype_of(run, dtype) if dtype is not None else None
    if is_static([start, stop, num]):
        return constant(run, np.linspace(start, stop, num, endpoint, dtype=kind, axis=axis))
    if kind is not None and kind.kind not in "fc":
        run.refuse(
            f"np.linspace of bounds known only at run time in {kind} is not supported",
            "leave `dtype` out",
        )
    by_data = isinstance(num, Scalar) and run.size_of(num) is None
    spaced = arrangement.spaced_by_data if by_data else arrangement.spaced
    made = run.call(spaced, [start, stop, num, endpoint, axis], {})
    return made if kind is None else run.cast(made, kind)


def constant(run: Run, values: Any) -> Any:
    """An array that is known at compile time."""
    flat = tuple(values.ravel().tolist())
    return run.record("constant", values=flat, shape=values.shape, dtype=values.dtype)


def grid(run: Run, maker: Any, key: Any) -> Any:
    """``np.mgrid[...]`` and ``np.ogrid[...]``."""
    if not is_static(key):
        run.refuse(
            "a grid with bounds known only at run time is not supported",
            "write np.meshgrid(np.linspace(...))",
        )
    made = maker[key]
    if isinstance(made, np.ndarray):
        return constant(run, made)
    return type(made)([constant(run, part) for part in made])


def joined(run: Run, maker: Any, key: Any) -> Any:
    """``np.r_[...]`` and ``np.c_[...]``."""
    arguments = [key, maker.axis, maker.ndmin, maker.trans1d]
    return run.call(arrangement.joined_along, arguments, {})


def subscript(run: Run, maker: Any, key: Any) -> Any:
    """``np.s_[...]`` and ``np.index_exp[...]``."""
    return (key,) if maker.maketuple and not isinstance(key, tuple) else key


def array(run: Run, object: Any, dtype: Any = None) -> Any:
    """np.array: always a copy."""
    kind = dtype_of(run, dtype) if dtype is not None else None
    if isinstance(object, Array):
        if kind is None or kind == object.type.dtype:
            return run.record("copy", object)
        return run.record("cast", object, dtype=kind)
    return run.as_array(object, kind)


def asarray(run: Run, a: Any, dtype: Any = None) -> Any:
    """np.asarray: ``a`` itself if it is an array already."""
    return run.as_array(a, dtype_of(run, dtype) if dtype is not None else None)


def astype(run: Run, x: Any, dtype: Any) -> Any:
    return run.record("cast", x, dtype=dtype_of(run, dtype))


def conversion(kind: type) -> Any:
    """The lowering of ``float(x)``, ``int(x)``, ``bool(x)`` and ``complex(x)`` for a traced
    ``x``."""

    def lowering(run: Run, x: Any = 0) -> Any:
        if not is_traced(x):
            try:
                return kind(x)
            except (TypeError, ValueError, OverflowError) as error:
                return run.raises(error, reason=str(error))
        if x.type.size != 1:
            run.refuse(
                f"only an array of one element converts to a Python {kind.__name__}, not shape "
                f"{x.type.dims}",
                "",
                TypingError,
            )
        if kind is bool:
            return truth_of(run, x)
        if x.type.kind == "python" and x.type.python_type is kind:
            return x
        target = np.dtype({int: np.int64, float: np.float64, complex: np.complex128}[kind])
        return run.record("to_python", x, dtype=target)

    return lowering


def complex_(run: Run, real: Any = 0, imag: Any = 0) -> Any:
    """``complex(x)``, or of two parts."""
    if is_static([real, imag]):
        return static_complex(run, real, imag)
    if is_number(imag) and type(imag) is int and imag == 0:
        return conversion(complex)(run, real)
    if any(run.atom(part).type.dtype.kind == "c" for part in (real, imag)):
        run.refuse("complex(a, b) of complex parts is not supported", "write a + 1j * b")
    return run.call(elementwise.complex_of, [run.call(float, [real], {}),
                                             run.call(float, [imag], {})], {})  # fmt: skip


def static_complex(run: Run, real: Any, imag: Any) -> Any:
    try:
        return complex(real, imag) if not isinstance(real, str) else complex(real)
    except (TypeError, ValueError) as error:
        return run.raises(error, reason=str(error))


def scalar_type(kind: type[np.generic]) -> Any:
    """``np.float32(x)``: a number or an array in that dtype."""

    def lowering(run: Run, x: Any = 0) -> Any:
        if not is_traced(x):
            if not is_number(x):
                return run.record("cast", run.as_array(x), dtype=np.dtype(kind))
            return kind(x)
        if isinstance(x, Array) and not x.type.ndim:
            x = run.record("to_scalar", x)
        if isinstance(x, Array) and x.type.dtype == np.dtype(kind):
            return Array(x.cell, x.type, x.path)
        return run.record("cast", x, dtype=np.dtype(kind))

    return lowering


def item(run: Run, x: Any, *args: Any) -> Any:
    """``x.item()``: the only element as a Python number, or the element at an index."""
    place = args[0] if len(args) == 1 else args
    if args and isinstance(x, Array):
        if not isinstance(place, tuple):
            return item(run, get_item(run, Flat(x), place))
        if len(place) != x.type.ndim:
            run.refuse(f"{len(place)} indices for {x.type.ndim} dimensions", "", TypingError)
        return item(run, get_item(run, x, place))
    if args and place not in (0, -1, ()):
        run.refuse("a number has one item, with the index 0", "", TypingError)
    kind = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[x.type.dtype.kind]
    return conversion(kind)(run, x)


def tolist(run: Run, x: Any) -> Any:
    """``x.tolist()``: nested lists of Python numbers."""
    if not x.type.dims:
        return item(run, x)
    rows = [get_item(run, x, index) for index in range(x.type.dims[0])]
    return run.own([tolist(run, row) for row in rows])


def shape(run: Run, a: Any) -> tuple[Any, ...]:
    if isinstance(a, Array | Scalar):
        return shape_of_array(run, a)
    return np.shape(a) if is_static(a) else run.as_array(a).type.dims


def ndim(run: Run, a: Any) -> int:
    return len(shape(run, a))


def size(run: Run, a: Any, axis: Any = None) -> Any:
    dims = shape(run, a)
    if axis is not None:
        dims = tuple(dims[at] for at in np.lib.array_utils.normalize_axis_tuple(axis, len(dims)))
    return product_of(run, dims)


def result_type(run: Run, *arrays_and_dtypes: Any) -> np.dtype[Any]:
    types = [
        (x.type.python_type(0) if x.type.kind == "python" else x.type.dtype) if is_traced(x) else x
        for x in arrays_and_dtypes
    ]
    return np.result_type(*types)


def isscalar(run: Run, element: Any) -> bool:
    return isinstance(element, Scalar) or is_number(element)


def iscomplexobj(run: Run, x: Any) -> bool:
    """True for numbers and arrays of a complex dtype, whatever their values."""
    if is_static(x):
        return bool(np.iscomplexobj(x))
    return (x if is_traced(x) else run.as_array(x)).type.dtype.kind == "c"


def isrealobj(run: Run, x: Any) -> bool:
    return not iscomplexobj(run, x)


def finfo(run: Run, dtype: Any) -> Any:
    """Facts about a dtype: its limits are static."""
    return np.finfo(dtype.type.dtype if is_traced(dtype) else dtype_of(run, dtype))


CREATION: dict[Any, Any] = {
    np.zeros: zeros,
    np.ndarray: ndarray,
    np.ones: ones,
    np.empty: zeros,  # its contents are arbitrary: zeros are as good, and always the same
    np.full: full,
    np.zeros_like: zeros_like,
    np.ones_like: ones_like,
    np.empty_like: zeros_like,
    np.full_like: full_like,
    np.arange: arange,
    np.eye: eye,
    np.identity: lambda run, n, dtype=float: eye(run, n, dtype=dtype),
    np.linspace: linspace,
    np.array: array,
    np.asarray: asarray,
    np.asanyarray: asarray,
    np.copy: copy,
    np.astype: astype,
    np.shape: shape,
    np.ndim: ndim,
    np.size: size,
    np.result_type: result_type,
    np.isscalar: isscalar,
    np.iscomplexobj: iscomplexobj,
    np.isrealobj: isrealobj,
    np.finfo: finfo,
    float: conversion(float),
    int: conversion(int),
    bool: conversion(bool),
    complex: complex_,
    **{
        kind: scalar_type(kind)
        for kind in (
            np.float16,
            np.float32,
            np.float64,
            *(np.int8, np.int16, np.int32, np.int64),
            *(np.uint8, np.uint16, np.uint32, np.uint64, np.bool_),
            np.complex64,
            np.complex128,
        )
    },
}

# Objects that make an array or a subscript when they are subscripted, by the method that does it.
SUBSCRIPTED: dict[Any, Any] = {
    type(np.r_).__getitem__: joined,
    type(np.mgrid).__getitem__: grid,
    type(np.s_).__getitem__: subscript,
}
