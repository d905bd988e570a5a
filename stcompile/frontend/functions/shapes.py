"""Functions that rearrange elements: views where NumPy makes views, copies where NumPy copies."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from stcompile.analysis.layouts import reshaped_view
from stcompile.base.errors import LanguageError, TypingError
from stcompile.base.strides import reading_order
from stcompile.frontend.functions.reductions import axes_in_order, axes_of, axis_of
from stcompile.frontend.operations.indexing import get_item
from stcompile.frontend.operations.iteration import items_of
from stcompile.frontend.operations.layout import copy_in_c_order, dummy_of, in_c_order
from stcompile.frontend.state.fitting import may_fit
from stcompile.frontend.state.known import number_known
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import (
    Array,
    Scalar,
    as_entries,
    is_static,
    is_traced,
    is_whole,
    same_number,
)
from stcompile.frontend.state.walking import PYTHON_INT
from stcompile.library.arrangement import rolled_by
from stcompile.library.elementwise import as_pairs, of_pairs
from stcompile.library.lengths import require_size
from stcompile.wengert.bounds import generic, greatest, least
from stcompile.wengert.dims import (
    ENDLESS,
    Dim,
    Size,
    Sizes,
    UnknownSizeError,
    broadcast,
    is_named,
    number_of_elements,
    over,
    varies,
)


def lengthened(run: Run, x: Array, axis: int, fill: float) -> Array:
    """See `stcompile.codegen_templates.derivatives.axes`."""
    dims = x.type.dims
    dim = dims[axis]
    if not varies(dim):
        return x
    if greatest(dim) >= ENDLESS:
        raise UnknownSizeError(f"the length {dim} of an axis", dim)
    shape = (*dims[:axis], greatest(dim), *dims[axis + 1 :])
    wide = run.record("full", fill, shape=shape, dtype=x.type.dtype)
    ones = (1,) * len(dims)
    part = {"start": ((0,),) * len(dims), "length": dims, "step": ones, "drop": ()}
    result: Array = run.record("update", wide, x, **part)
    return result


def shape_of(run: Run, shape: Any) -> Any:
    """The sizes of a shape that does not depend on data."""
    given = tuple(number_known(run, size) for size in as_entries(shape))
    sizes = tuple(map(run.size_of, given))
    if is_named(size for size in sizes if size is not None) and None not in sizes:
        return sizes
    if not is_static(shape):
        run.refuse(
            "a shape depends on values known only at run time",
            "use x.shape or Python ints, which are known at compile time",
        )
    if not all(map(is_whole, given)):
        run.refuse(f"{shape!r} is not a shape", "use integers", TypingError)
    return tuple(int(dim) for dim in given)


def new_shape_of(run: Run, shape: Any) -> Any:
    """The sizes of a shape for a new array, which the data may decide."""
    given = as_entries(shape)
    counted = (run.counted(size) if is_traced(size) else None for size in given)
    sizes = [run.integer(n) if n is not None else s for s, n in zip(given, counted, strict=True)]
    return shape_of(run, tuple(sizes))


def reshape(run: Run, a: Any, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    made = _reshaped(run, a, shape, order)
    is_view = isinstance(a, Array) and made.cell is a.cell
    if copy is False and not is_view:
        run.fails(ValueError("Unable to avoid creating a copy while reshaping."))
    return run.record("copy", made) if copy and is_view else made


def _reshaped(run: Run, a: Any, shape: Any, order: str) -> Any:
    if isinstance(a, Scalar) and shape == ():
        return a
    x = run.as_array(a)
    if is_fortran(run, x, order):
        backwards = shape_of(run, shape)[::-1]
        return transpose(run, reshape(run, transpose(run, x), backwards))
    x, dims = _complete(run, x, shape_of(run, shape))
    if dims == x.type.dims:
        return Array(x.cell, x.type, x.path)
    dummy = dummy_of(run, x)
    if dummy is not None and reshaped_view(dummy, generic(dims)) is not None:
        return run.view(x, "reshape", shape=dims)
    copied: Array = run.record("reshape", x, shape=dims)
    if dummy is None or is_named((*dims, *x.type.dims)):  # it is a view if some lengths are equal
        why = "whether this reshape shares storage depends on the memory layout"
        copied.cell.frozen = x.cell.frozen = why
        run.layouts.note(copied.cell.made, None)
    return copied


def broadcast_shapes(run: Run, *args: Any) -> Any:
    """np.broadcast_shapes."""
    found = [shape_of(run, shape) for shape in args]
    try:
        named = any(map(is_named, found))
        return tuple(map(run.integer, broadcast(*found) if named else np.broadcast_shapes(*found)))
    except ValueError as error:
        return run.raises(error, error=LanguageError)


def _is_numpy_scalar(a: Any) -> bool:
    """True for scalars of NumPy: they have its methods, which return them as they are."""
    return isinstance(a, np.generic) or (isinstance(a, Scalar) and a.type.kind == "scalar")


def is_fortran(run: Run, x: Array, order: Any) -> bool:
    """True if elements are taken with the first index running fastest: in order "F", and in order
    "A" if the array is stored so."""
    if order in ("C", "F"):
        return bool(order == "F") and x.type.ndim > 0
    if order != "A":
        run.refuse(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})", "", TypingError)
    dummy = _known_storage(run, x)
    return bool(dummy.flags.f_contiguous and not dummy.flags.c_contiguous)


def _known_storage(run: Run, x: Array) -> Any:
    """A placeholder array with the same strides; refused if the strides are not known."""
    dummy = dummy_of(run, x)
    if dummy is None:
        run.refuse("the storage order of this array is not known", "say order='C' or order='F'")
    return dummy


def _complete(run: Run, x: Array, shape: Any) -> tuple[Array, Any]:
    """The array, and the shape with -1 replaced by the length that it stands for."""
    if is_named((*shape, *x.type.dims)):
        return _completed(run, x, shape)
    known = math.prod(dim for dim in shape if dim != -1)
    dims = shape
    if shape.count(-1) == 1 and known and x.type.size % known == 0:
        dims = tuple(x.type.size // known if dim == -1 else dim for dim in shape)
    if math.prod(dims) != x.type.size or min(dims, default=0) < 0:
        run.refuse(f"cannot reshape {x.type.dims} into {shape}", "", TypingError)
    return x, dims


def _completed(run: Run, x: Array, shape: Sizes) -> tuple[Array, Sizes]:
    """Complete a shape where lengths are known only at run time: replace -1, and check at run time
    that the number of elements fits if that depends on the lengths."""
    dims, has = shape, number_of_elements(x.type.dims)
    if shape.count(-1) == 1:
        missing = _missing(x.type.dims, [dim for dim in shape if dim != -1])
        if missing is None:
            raise UnknownSizeError(f"a reshape of {x.type.dims} into {shape}", (has, *shape))
        dims = tuple(missing if dim == -1 else dim for dim in shape)
    count = number_of_elements(dims)
    if count == has:
        return x, dims
    if not may_fit(count, has):
        run.refuse(f"cannot reshape {x.type.dims} into {shape}", "", TypingError)
    flat = x if x.type.ndim == 1 else ravel(run, x)
    if flat.cell is not x.cell and dummy_of(run, x) is None:
        raise UnknownSizeError(f"a reshape of {x.type.dims} into {shape}", (has, *shape))
    run.require(require_size, has, count, "cannot reshape array of size", shape)
    return run.view(flat, "as_shape", shape=(count,)), dims


def _missing(dims: Sizes, given: list[Size]) -> Size | None:
    """The length that -1 stands for, if the other lengths are ``given``. Common factors are
    cancelled first."""
    left = [*dims]
    for dim in [*given]:
        if dim in left:
            left.remove(dim)
            given.remove(dim)
    wanted, by = number_of_elements(tuple(left)), number_of_elements(tuple(given))
    found = over(wanted, by)
    return wanted // by if found is None and isinstance(by, int) and by > 0 else found


def ravel(run: Run, a: Any, order: str = "C") -> Any:
    """np.ravel: a view of contiguous arrays only (reshape makes more views)."""
    x = run.as_array(a)
    if order == "K":
        dummy = _known_storage(run, x)
        x, order = transpose(run, x, reading_order(dummy.shape, dummy.strides)), "C"
    if is_fortran(run, x, order):
        x = transpose(run, x)
    flat = reshape(run, x, (-1,) if x.type.is_named else (x.type.size,))
    dummy = dummy_of(run, x)
    if dummy is None or dummy.flags.c_contiguous:
        return flat
    return run.record("copy", flat) if flat.cell is x.cell else flat


def ascontiguousarray(run: Run, a: Any, dtype: Any = None) -> Any:
    x = atleast(run, a if dtype is None else run.call(np.asarray, [a, dtype], {}), 1)
    dummy = dummy_of(run, x)
    if dummy is not None and dummy.flags.c_contiguous:
        return x
    return reshape(run, ravel(run, x), x.type.dims)


def asfortranarray(run: Run, a: Any, dtype: Any = None) -> Any:
    x = atleast(run, a if dtype is None else run.call(np.asarray, [a, dtype], {}), 1)
    made = transpose(run, ascontiguousarray(run, transpose(run, x)))
    return x if made.cell is x.cell else made


def copy(run: Run, a: Any, order: str = "K") -> Any:
    """np.copy: with the order "K" the copy has the memory order of the array."""
    x = run.as_array(a)
    if order == "K":
        return run.record("copy", x)
    if is_fortran(run, x, order):
        return transpose(run, copy_in_c_order(run, transpose(run, x)))
    return copy_in_c_order(run, x)


def laid(run: Run, x: Array, order: str) -> Any:
    """The array in the given order, copied only if its memory order differs."""
    if is_fortran(run, x, order):
        return transpose(run, in_c_order(run, transpose(run, x)))
    return in_c_order(run, x)


def flatten(run: Run, a: Array, order: str = "C") -> Any:
    return run.record("copy", ravel(run, a, order))


def transpose(run: Run, a: Any, axes: Any = None) -> Any:
    if _is_numpy_scalar(a) and axes in (None, ()):
        return same_number(a)
    x = run.as_array(a)
    ndim = x.type.ndim
    if axes is None:
        order = tuple(reversed(range(ndim)))
    else:
        order = tuple(axis_of(run, ndim, axis) for axis in items_of(run, axes))
        if sorted(order) != list(range(ndim)):
            run.refuse(f"axes {axes} are no permutation of {ndim} axes", "", TypingError)
    if order == tuple(range(ndim)):
        return Array(x.cell, x.type, x.path)
    return run.view(x, "transpose", axes=order)


def swapaxes(run: Run, a: Any, axis1: int, axis2: int) -> Any:
    x = run.as_array(a)
    order = list(range(x.type.ndim))
    i, j = axis_of(run, x.type.ndim, axis1), axis_of(run, x.type.ndim, axis2)
    order[i], order[j] = order[j], order[i]
    return transpose(run, x, tuple(order))


def moveaxis(run: Run, a: Any, source: Any, destination: Any) -> Any:
    x = run.as_array(a)
    ndim = x.type.ndim
    sources = [axis_of(run, ndim, s) for s in as_entries(source)]
    targets = [axis_of(run, ndim, d) for d in as_entries(destination)]
    if len(sources) != len(targets):
        run.refuse("np.moveaxis needs as many sources as destinations", "", TypingError)
    order = [axis for axis in range(ndim) if axis not in sources]
    for target, axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, axis)
    return transpose(run, x, tuple(order))


def expand_dims(run: Run, a: Any, axis: Any) -> Array:
    x = run.as_array(a)
    axes = axes_of(run, x.type.ndim + len(as_entries(axis)), axis)
    return run.view(x, "expand_dims", axis=axes) if axes else Array(x.cell, x.type, x.path)


def squeeze(run: Run, a: Any, axis: Any = None) -> Any:
    if _is_numpy_scalar(a) and axis in (None, (), 0, -1):
        return same_number(a)
    x = run.as_array(a)
    if axis is None:
        for dim in x.type.dims:
            if isinstance(dim, Dim) and least(dim) <= 1 <= greatest(dim):
                raise UnknownSizeError(f"whether the length {dim} is that of one element", dim)
        axes = tuple(i for i, dim in enumerate(x.type.dims) if dim == 1)
    else:
        axes = axes_of(run, x.type.ndim, axis)
        if any(x.type.dims[i] != 1 for i in axes):
            run.refuse(f"cannot squeeze axis {axis} of shape {x.type.dims}", "", TypingError)
    return run.view(x, "squeeze", axis=axes) if axes else x


def broadcast_to(run: Run, array: Any, shape: Any) -> Any:
    """np.broadcast_to: a read-only view."""
    x = run.of_list(array)
    dims = shape_of(run, shape)
    if isinstance(x, Array):
        return read_only(run.view(x, "broadcast_to", shape=dims), "np.broadcast_to")
    result: Array = run.record("broadcast_to", x, shape=dims)
    result.cell.frozen = "np.broadcast_to gives a read-only view"
    return result


def read_only(view: Array, function: str) -> Array:
    """A view that NumPy does not write to."""
    *path, step = view.path
    step = replace(step, read_only=f"{function} gives a read-only view")
    return Array(view.cell, view.type, (*path, step))


def atleast(run: Run, a: Any, ndim: int) -> Array:
    x = run.as_array(a)
    missing = ndim - x.type.ndim
    return run.view(x, "expand_dims", axis=tuple(range(missing))) if missing > 0 else x


def _each(ndim: int, run: Run, *arys: Any) -> Any:
    """An array of ``ndim`` dimensions at least, or a tuple of them."""
    made = tuple(atleast(run, a, ndim) for a in arys)
    return made[0] if len(made) == 1 else made


def sliding_window_view(
    run: Run,
    x: Any,
    window_shape: Any,
    axis: Any = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> Array:
    """A read-only view: windows at all positions, their axes behind those of the array."""
    array = run.as_array(x)
    dims = array.type.dims
    sizes = shape_of(run, window_shape)
    axes = tuple(range(len(dims))) if axis is None else axes_in_order(run, len(dims), axis)
    if len(axes) != len(sizes):
        run.refuse(f"window shape {sizes} does not match axes {axes}", "", TypingError)
    if any(
        least(size) <= 0 or least(dims[i] - size) < 0 for size, i in zip(sizes, axes, strict=True)
    ):
        run.refuse(
            f"windows of shape {sizes} do not fit axes {axes} of shape {dims}",
            "use windows of at least one element that are no larger than the array",
            TypingError,
        )
    if writeable:
        run.refuse("writing through overlapping windows is not supported", "write to the array")
    ones = (1,) * len(axes)
    counts = tuple(dims[i] - size + 1 for size, i in zip(sizes, axes, strict=True))
    return run.view(
        array, "windows", axis=axes, start=(0,) * len(axes), count=counts, step=ones, size=sizes,
        dilation=ones, order=(),
    )  # fmt: skip


def diagonal(run: Run, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """np.diagonal: a read-only view."""
    return read_only(diagonal_part(run, a, offset, axis1, axis2), "np.diagonal")


def diagonal_part(run: Run, a: Any, offset: int, axis1: int, axis2: int) -> Array:
    """A diagonal as a view, which may be written to if its matrices are square."""
    x = run.as_array(a)
    if x.type.ndim < 2:
        run.refuse("diag requires an array of at least two dimensions", "", TypingError)
    one, two = axis_of(run, x.type.ndim, axis1), axis_of(run, x.type.ndim, axis2)
    if one == two:
        run.refuse("axis1 and axis2 cannot be the same", "", TypingError)
    if not is_whole(offset):
        run.refuse(
            "the offset of a diagonal is not an integer that is known at compile time", PYTHON_INT
        )
    return run.view(x, "diagonal", offset=int(offset), axis1=one, axis2=two)


def flip(run: Run, m: Any, axis: Any = None) -> Any:
    x = run.as_array(m)
    axes = axes_of(run, x.type.ndim, axis)
    index = tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(x.type.ndim))
    return get_item(run, x, index)


def roll(run: Run, a: Any, shift: Any, axis: Any = None) -> Any:
    x = run.as_array(a)
    if any(isinstance(one, Scalar) and run.size_of(one) is None for one in as_entries(shift)):
        return run.call(rolled_by, (x, as_entries(shift), axis), {})
    shifts = shape_of(run, shift)
    if axis is None:
        flat = ravel(run, x)
        rolled = run.record("roll", flat, shift=(sum(shifts),), axis=(0,))
        return reshape(run, rolled, x.type.dims)
    axes = [axis_of(run, x.type.ndim, i) for i in as_entries(axis)]
    shifts = shifts * len(axes) if len(shifts) == 1 else shifts
    if len(shifts) != len(axes):
        run.refuse("np.roll takes one shift, or one for each axis", "give as many shifts as axes")
    total = dict.fromkeys(axes, 0)
    for one, shift_by in zip(axes, shifts, strict=True):
        total[one] += shift_by  # NumPy adds the shifts if an axis is named twice
    return run.record("roll", x, shift=tuple(total.values()), axis=tuple(total))


def repeat(run: Run, a: Any, repeats: Any, axis: Any = None) -> Any:
    """np.repeat by a static count: a new axis, broadcast and merged; by a count for each element:
    an index of the elements."""
    x = run.as_array(a) if axis is not None else ravel(run, a)
    at = axis_of(run, x.type.ndim, 0 if axis is None else axis)
    if isinstance(repeats, list | tuple) and is_static(repeats) and len(repeats) > 1:
        try:
            places = np.repeat(np.arange(x.type.dims[at]), repeats).tolist()
        except (TypeError, ValueError) as error:
            run.raises(error, reason=f"np.repeat: {error}")
        return run.call(np.take, [x, places], {"axis": at})
    if isinstance(repeats, list | tuple) and is_static(repeats) and len(repeats) == 1:
        (repeats,) = repeats
    count = run.size_of(repeats)
    if count is None or varies(count):
        run.refuse(
            "np.repeat takes one count that is known at compile time",
            "index with an integer array",
            TypingError,
        )
    dims = list(x.type.dims)
    wide = run.record("broadcast_to", expand_dims(run, x, at + 1),
                      shape=(*dims[: at + 1], count, *dims[at + 1 :]))  # fmt: skip
    dims[at] *= count
    return copy_in_c_order(run, run.record("reshape", wide, shape=dims))


def seen_as(run: Run, x: Any, dtype: Any = None) -> Any:
    """``x.view(dtype)``: of complex numbers as pairs of real ones or back, and of integers of one
    size. It shares storage, so neither of the arrays may be written to."""
    if dtype is None or dtype is np.ndarray:
        return Array(x.cell, x.type, x.path) if isinstance(x, Array) else same_number(x)
    kind, array = np.dtype(dtype), run.as_array(x)
    own = array.type.dtype
    if kind == own:
        return Array(array.cell, array.type, array.path) if array is x else same_number(x)
    pair = {kind.kind, own.kind} == {"c", "f"}
    is_half = kind.itemsize == 2 * own.itemsize if kind.kind == "c" else (
        own.itemsize == 2 * kind.itemsize
    )  # fmt: skip
    if kind.kind in "iu" and own.kind in "iub" and kind.itemsize == own.itemsize:
        made = run.record("cast", array, dtype=kind)
    elif pair and is_half and array.type.ndim:
        if dummy_of(run, array) is None or dummy_of(run, array).strides[-1] != own.itemsize:
            run.refuse("the last axis of this array is not known to lie in one piece", "copy it")
        if kind.kind == "c" and array.type.dims[-1] % 2:
            run.fails(
                ValueError(
                    "When changing to a larger dtype, its size must be a divisor of the total size"
                )
            )
        made = run.call(as_pairs, [array], {}) if own.kind == "c" else run.call(
            of_pairs, [array, kind], {}
        )  # fmt: skip
    else:
        run.refuse(
            f"a view of {own} as {kind} is not supported: bits have no derivative",
            "convert by astype; np.frexp and np.signbit give parts of floats",
        )
    why = "`.view(dtype)` shares its storage with the array"
    made.cell.frozen = array.cell.frozen = why
    return made


SHAPES: dict[Any, Any] = {
    np.reshape: reshape,
    np.ravel: ravel,
    np.ascontiguousarray: ascontiguousarray,
    np.asfortranarray: asfortranarray,
    np.transpose: transpose,
    np.permute_dims: transpose,
    np.matrix_transpose: lambda run, x: swapaxes(run, x, -1, -2),
    np.swapaxes: swapaxes,
    np.moveaxis: moveaxis,
    np.expand_dims: expand_dims,
    np.squeeze: squeeze,
    np.broadcast_shapes: broadcast_shapes,
    np.broadcast_to: broadcast_to,
    np.atleast_1d: partial(_each, 1),
    np.atleast_2d: partial(_each, 2),
    np.lib.stride_tricks.sliding_window_view: sliding_window_view,
    np.diagonal: diagonal,
    np.flip: flip,
    np.fliplr: lambda run, m: flip(run, m, 1),
    np.flipud: lambda run, m: flip(run, m, 0),
    np.roll: roll,
    np.repeat: repeat,
}
