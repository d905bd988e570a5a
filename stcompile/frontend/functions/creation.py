"""Functions that make arrays, and conversions of dtype and kind."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.base.strides import kept_order
from stcompile.frontend.control.conditions import truth_of
from stcompile.frontend.functions.shapes import atleast, laid, new_shape_of, shape_of
from stcompile.frontend.functions.shapes import copy as copy_of
from stcompile.frontend.operations.attributes import product_of, shape_of_array
from stcompile.frontend.operations.indexing import get_item, set_item
from stcompile.frontend.operations.layout import copy_in_c_order, dummy_of
from stcompile.frontend.state.known import number_known
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


def ordered(make: Any) -> Any:
    """The lowering of a function that makes an array, with an ``order`` of memory besides."""

    def lowering(run: Run, *arguments: Any, **keywords: Any) -> Any:
        named = signature.bind(run, *arguments, **keywords).arguments
        order = named.pop("order", "C") or "C"
        if order not in ("C", "F"):
            run.refuse(f"order must be 'C' or 'F' (got {order!r})", "", TypingError)
        return laid(run, make(**named), order)

    own = inspect.signature(make)
    order = inspect.Parameter("order", inspect.Parameter.POSITIONAL_OR_KEYWORD, default="C")
    signature = own.replace(parameters=[*own.parameters.values(), order])
    lowering.__dict__["__signature__"] = signature
    return lowering


def full(run: Run, shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """np.full of a number, or of an array that broadcasts."""
    fill = run.as_array(fill_value) if isinstance(fill_value, LISTED) else fill_value
    kind = dtype_of(run, dtype) if dtype is not None else np.dtype(run.atom(fill).type.dtype)
    dims = new_shape_of(run, shape)
    if isinstance(fill, Array) and fill.type.ndim:
        return copy_in_c_order(run, run.record("broadcast_to", run.cast(fill, kind), shape=dims))
    return run.record("full", fill, shape=dims, dtype=kind)


def _filled(fill: int, run: Run, shape: Any, dtype: Any = float) -> Any:
    return run.record("full", fill, shape=new_shape_of(run, shape), dtype=dtype_of(run, dtype))


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
    return _filled(0, run, shape, dtype)


def full_like(
    run: Run, a: Any, fill_value: Any, dtype: Any = None, order: str = "K", shape: Any = None
) -> Any:
    x = run.as_array(a)
    kind = dtype_of(run, dtype) if dtype is not None else x.type.dtype
    truncates = dtype is None and not x.type.inexact and run.atom(fill_value).type.inexact
    if shape is not None or order not in ("K", "A"):
        dims = x.type.dims if shape is None else new_shape_of(run, shape)
        made = run.record("full", 0 if truncates else fill_value, shape=dims, dtype=kind)
        made = laid(run, made, "C" if order in ("K", "A") else order)
        if truncates:
            set_item(run, made, Ellipsis, fill_value)
        return made
    dummy = dummy_of(run, x)
    natural = tuple(range(x.type.ndim))
    axes = natural if dummy is None else kept_order(dummy.shape, dummy.strides)
    if order == "A":
        is_turned = dummy is not None and np.isfortran(dummy)
        axes = natural[::-1] if is_turned else natural
    dims = tuple(x.type.dims[axis] for axis in axes)
    made = run.record("full", 0 if truncates else fill_value, shape=dims, dtype=kind)
    if truncates:
        set_item(run, made, Ellipsis, fill_value)  # a store, of which the user is warned
    if dummy is None:  # the result lies in memory as x does
        run.layouts.note(made.cell.made, None)
    if axes == natural:
        return made
    return run.view(made, "transpose", axes=tuple(np.argsort(axes).tolist()))  # laid out alike


def _alike(
    fill: int, run: Run, a: Any, dtype: Any = None, order: str = "K", shape: Any = None
) -> Any:
    return full_like(run, a, fill, dtype, order, shape)


def empty_like(
    run: Run, prototype: Any, dtype: Any = None, order: str = "K", shape: Any = None
) -> Any:
    return full_like(run, prototype, 0, dtype, order, shape)


def _is_integer(value: Any) -> bool:
    if isinstance(value, Scalar):
        return value.type.dtype.kind in "iu"
    return isinstance(value, int | np.integer)


def broadcast(run: Run, *arrays: Any) -> Any:
    """np.broadcast: an object that has the common shape."""
    dims = [(x if is_traced(x) else run.as_array(x)).type.dims for x in arrays]
    if any(map(is_named, dims)):
        run.refuse("np.broadcast of lengths known only at run time", "write np.broadcast_arrays")
    return run.computed(np.broadcast, *(np.broadcast_to(np.float64(0), d) for d in dims))


def arange(run: Run, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    first, last = (0, start) if stop is None else (start, stop)
    first, last, step = (number_known(run, part) for part in (first, last, step))
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
    if not is_static([first, last, step]):
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
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    if retstep:
        made = linspace(run, start, stop, num, endpoint, False, dtype, axis)
        return made, run.call(arrangement.step_between, [start, stop, num, endpoint], {})
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


def array(
    run: Run,
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: str = "K",
    ndmin: int = 0,
) -> Any:
    """np.array: a copy, unless it is not asked for."""
    kind = dtype_of(run, dtype) if dtype is not None else None
    if not isinstance(object, Array):
        made = run.as_array(object, kind)
    elif kind is not None and kind != object.type.dtype:
        made = run.record("cast", object, dtype=kind)
    else:
        made = run.record("copy", object) if copy else object
    if made is not object and copy is False and isinstance(object, Array):
        run.fails(ValueError("Unable to avoid copy while creating an array as requested."))
    if order != "K":
        made = laid(run, made, order)
    return atleast(run, made, ndmin) if ndmin > made.type.ndim else made


def asarray(run: Run, a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None) -> Any:
    """np.asarray: ``a`` itself if it is an array already."""
    if copy is not None:
        return array(run, a, dtype, copy=copy, order=order or "K")
    made = run.as_array(a, dtype_of(run, dtype) if dtype is not None else None)
    return made if order in (None, "K") else laid(run, made, order)


def astype(run: Run, x: Any, dtype: Any, *, copy: bool = True) -> Any:
    kind = dtype_of(run, dtype)
    is_same = isinstance(x, Array) and kind == x.type.dtype
    return x if is_same and not copy else run.record("cast", x, dtype=kind)


def conversion(kind: type, run: Run, x: Any = 0) -> Any:
    """The lowering of ``float(x)``, ``int(x)``, ``bool(x)`` and ``complex(x)`` for a traced
    ``x``."""
    if not is_traced(x):
        return run.computed(kind, x)
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


def complex_(run: Run, real: Any = 0, imag: Any = 0) -> Any:
    """``complex(x)``, or of two parts."""
    if is_static([real, imag]):
        return run.computed(complex, *([real] if isinstance(real, str) else [real, imag]))
    if is_number(imag) and type(imag) is int and imag == 0:
        return conversion(complex, run, real)
    if any(run.atom(part).type.dtype.kind == "c" for part in (real, imag)):
        run.refuse("complex(a, b) of complex parts is not supported", "write a + 1j * b")
    return run.call(elementwise.complex_of, [run.call(float, [real], {}),
                                             run.call(float, [imag], {})], {})  # fmt: skip


def scalar_type(kind: type[np.generic], run: Run, x: Any = 0) -> Any:
    """``np.float32(x)``: a number or an array in that dtype."""
    if not is_traced(x):
        if not is_number(x):
            return run.record("cast", run.as_array(x), dtype=np.dtype(kind))
        return kind(x)
    if isinstance(x, Array) and not x.type.ndim:
        x = run.record("to_scalar", x)
    if isinstance(x, Array) and x.type.dtype == np.dtype(kind):
        return Array(x.cell, x.type, x.path)
    return run.record("cast", x, dtype=np.dtype(kind))


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
    return conversion(kind, run, x)


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


def iinfo(run: Run, type: Any) -> Any:
    """Facts about a dtype of integers."""
    return run.computed(np.iinfo, type.type.dtype if is_traced(type) else dtype_of(run, type))


def min_scalar_type(run: Run, a: Any) -> Any:
    """The smallest dtype that holds a static number."""
    if not is_static(a):
        run.refuse("np.min_scalar_type of a value known only at run time", "say which dtype it is")
    return np.min_scalar_type(a)


CREATION: dict[Any, Any] = {
    np.zeros: ordered(functools.partial(_filled, 0)),
    np.ndarray: ndarray,
    np.ones: ordered(functools.partial(_filled, 1)),
    np.empty: ordered(functools.partial(_filled, 0)),  # zeros are as good, and always the same
    np.full: ordered(full),
    np.zeros_like: functools.partial(_alike, 0),
    np.ones_like: functools.partial(_alike, 1),
    np.empty_like: empty_like,
    np.full_like: full_like,
    np.arange: arange,
    np.eye: ordered(eye),
    np.identity: lambda run, n, dtype=float: eye(run, n, dtype=dtype),
    np.linspace: linspace,
    np.array: array,
    np.asarray: asarray,
    np.asanyarray: asarray,
    np.copy: copy_of,
    np.astype: astype,
    np.shape: shape,
    np.ndim: ndim,
    np.size: size,
    np.result_type: result_type,
    np.isscalar: isscalar,
    np.iscomplexobj: iscomplexobj,
    np.isrealobj: isrealobj,
    np.finfo: finfo,
    np.iinfo: iinfo,
    np.broadcast: broadcast,
    np.min_scalar_type: min_scalar_type,
    float: functools.partial(conversion, float),
    int: functools.partial(conversion, int),
    bool: functools.partial(conversion, bool),
    complex: complex_,
    **{
        kind: functools.partial(scalar_type, kind)
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
