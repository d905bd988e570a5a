"""Reading, writing and adding to a part of an array.

A *slice* is basic indexing: for each axis a start, a length and a step, where the start is an
affine form of the counters of enclosing loops, ``(offset, coefficient of each counter, ...)``, and
the axes in ``drop`` (of length 1) are taken away. Where the length is a `Dim`, the offset may be
one, too, there are no counters, and the slice is known to lie within the array. An *index* is
NumPy's advanced indexing: ``at`` has one entry for each position of the subscript: ``"index"`` (the
next index operand), ``("mask", size, ndim)`` (the next index operand is a mask of so many axes,
which selects so many elements; None if that does
not matter), ``(start, length, step)`` (a basic slice of that axis) or ``"new"``
(`numpy.newaxis`).

*Windows* over an ``axis`` of an array turn it into two: element ``[p, i]`` is element ``start + p *
step + i * dilation`` of the axis, with ``count`` positions ``p`` in place of the axis and ``size``
offsets ``i`` behind all other axes. ``order`` permutes the result as `numpy.transpose`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Dim, Sizes, broadcast
from stcompile.wengert.primitives.base import (
    OperandError,
    Primitive,
    Types,
    array_or_scalar,
    require_array,
    require_assignable,
    require_axes,
    require_count,
    require_integer,
    shapes,
)
from stcompile.wengert.primitives.elementwise import promoted
from stcompile.wengert.primitives.linear import contracted_type
from stcompile.wengert.types import Type

Params = Mapping[str, Any]

FIRST_INTEGER: Mapping[str, int] = MappingProxyType(
    {"slice": 1, "index": 1, "update": 2, "index_update": 2, "accumulate": 2}
)
"""The place of the first integer among the operands of what reads and writes parts."""


def slice_dims(name: str, x: Type, counters: Types, params: Params) -> Sizes:
    """The dims of a slice; bounds that do not depend on a counter are checked."""
    require_array(name, x)
    start, length, step, drop = (params[key] for key in ("start", "length", "step", "drop"))
    if not len(start) == len(length) == len(step) == x.ndim:
        raise OperandError(f"{name}: {len(start)} subscripts for shape {x.dims}")
    for counter in counters:
        if counter.dims:
            raise OperandError(f"{name}: a counter is an integer, not {counter}")
        require_integer(name, counter)
    for axis, (form, count, stride) in enumerate(zip(start, length, step, strict=True)):
        if isinstance(count, Dim):
            _require_within(name, form[0], count, stride, x, axis)
            continue
        if len(form) > 1 + len(counters):
            raise OperandError(f"{name}: start {form} for {len(counters)} counters")
        last = form[0] + (count - 1) * stride
        fixed = count > 0 and not any(form[1:])
        ends = (form[0], last) if fixed else ()
        if not all(least(end) >= 0 and least(x.dims[axis] - end) > 0 for end in ends):
            raise OperandError(
                f"{name}: {form[0]} to {last} is out of bounds for axis {axis} of shape {x.dims}"
            )
        if axis in drop and count != 1:
            raise OperandError(f"{name}: axis {axis} has {count} elements, not one")
    return tuple(count for axis, count in enumerate(length) if axis not in drop)


def _require_within(name: str, start: Any, count: Any, step: int, x: Type, axis: int) -> None:
    """Check that a slice lies within the array if its length is known only at run time."""
    last = start + (count - 1) * step
    low, high = (start, last) if step > 0 else (last, start)
    if not step or min(map(least, (low, count, x.dims[axis] - high - 1))) < 0:
        raise OperandError(
            f"{name}: {count} elements from {start} of axis {axis} of shape {x.dims}, step {step}"
        )


def is_mask(entry: Any) -> bool:
    """True for the entry of a mask in ``at``."""
    return isinstance(entry, tuple) and entry[0] == "mask"


def axes_taken(entry: Any) -> int:
    """The number of axes of an array that an entry of ``at`` is for."""
    return int(entry[2]) if is_mask(entry) else int(entry != "new")


def _selected(entry: Any) -> Sizes:
    """The dims of the selection of a mask: 1 if only a value that broadcasts is written there."""
    return (1 if entry[1] is None else entry[1],)


def index_dims(name: str, x: Type, indices: Types, at: tuple[Any, ...]) -> Sizes:
    """The dims of ``x[...]`` by NumPy's rules of advanced indexing.

    Index arrays broadcast against each other. Their dims take the place of the first index if all
    indices stand next to each other, else they come first. Integers among them count as indices,
    except that integers alone are basic indexing.
    """
    require_array(name, x)
    taken = [entry for entry in at if entry == "index" or is_mask(entry)]
    require_count(f"{name} at {at}", indices, len(taken))
    if sum(map(axes_taken, at)) > x.ndim:
        raise OperandError(f"{name}: too many indices for shape {x.dims}")
    selected = [
        _selected(entry) if is_mask(entry) else require_integer(name, index).dims
        for entry, index in zip(taken, indices, strict=True)
    ]
    try:
        common = broadcast(*selected)
    except ValueError:
        raise OperandError(
            f"{name}: index {shapes(*(dims for dims in selected if dims))} do not broadcast"
        ) from None
    masks = (index for entry, index in zip(taken, indices, strict=True) if is_mask(entry))
    rest = iter(enumerate(x.dims))
    dims: list[int | Dim] = []
    where: list[tuple[int, int]] = []
    for position, entry in enumerate(at):
        if entry == "new":
            dims.append(1)
            continue
        axis, dim = next(rest)
        if is_mask(entry):
            covered = (dim, *(next(rest)[1] for _ in range(entry[2] - 1)))
            mask = require_array(name, next(masks))
            if mask.dtype.kind != "b" or mask.dims != covered:
                raise OperandError(f"{name}: {mask} is no mask of the axes {covered}")
        if entry == "index" or is_mask(entry):
            where.append((position, len(dims)))
            continue
        start, count, step = entry
        ends = start, start + (count - 1) * step
        low, high = ends if step > 0 else ends[::-1]
        if count != 0 and not (least(low) >= 0 and least(dim - high) > 0):
            raise OperandError(f"{name}: {entry} is out of bounds for axis {axis} of {x.dims}")
        dims.append(count)
    dims += [dim for _, dim in rest]
    adjacent = all(b[0] - a[0] == 1 for a, b in itertools.pairwise(where))
    place = where[0][1] if where and adjacent else 0
    return (*dims[:place], *common, *dims[place:])


def _slice(types: Types, params: Params) -> Types:
    x, *counters = types
    return (array_or_scalar(x.dtype, slice_dims("slice", x, tuple(counters), params)),)


def _update(types: Types, params: Params) -> Types:
    x, v, *counters = types
    dims = slice_dims("update", x, tuple(counters), params)
    require_assignable("update", v, x.dtype, dims)
    return (x,)


def _index(types: Types, params: Params) -> Types:
    x, *indices = types
    return (array_or_scalar(x.dtype, index_dims("index", x, tuple(indices), params["at"])),)


def _index_update(types: Types, params: Params) -> Types:
    x, v, *indices = types
    dims = index_dims("index_update", x, tuple(indices), params["at"])
    require_assignable("index_update", v, x.dtype, dims)
    return (x,)


def _accumulate(types: Types, params: Params) -> Types:
    acc, *operands = types
    op = params["op"]
    if op == "add":
        require_count("accumulate add", types, 2)
        v, dims = operands[0], acc.dims
        if acc.kind == "stack":
            if v != acc:
                raise OperandError(f"accumulate: {v} does not add to {acc}")
            return (acc,)
        if acc.kind != "array":
            if v.dims:
                raise OperandError(f"accumulate: shape {v.dims} does not add to the number {acc}")
            both_python = acc.kind == v.kind == "python"
            return (acc if both_python else Type.scalar(promoted(types)),)
    elif op == "slice":
        v, *counters = operands
        dims = slice_dims("accumulate slice", acc, tuple(counters), params)
    elif op in ("index", "distinct"):
        v, *indices = operands
        dims = index_dims("accumulate index", acc, tuple(indices), params["at"])
    elif op == "contract":
        v, dims = contracted_type(tuple(operands), params), acc.dims
    else:
        raise OperandError(f"accumulate: no operation {op!r}")
    require_array("accumulate", acc)
    require_assignable(f"accumulate {op}", v, acc.dtype, dims)
    if not np.can_cast(promoted((acc, v)), acc.dtype, "same_kind"):
        raise OperandError(f"accumulate: {v} does not add to {acc}")
    return (acc,)


def _windows(types: Types, params: Params) -> Types:
    (x,) = types
    dims = list(require_array("windows", x).dims)
    require_axes("windows", params["axis"], x.dims)
    keys = ("axis", "start", "count", "step", "size", "dilation")
    for axis, start, count, step, size, dilation in zip(*map(params.get, keys), strict=True):
        last = start + (count - 1) * step + (size - 1) * dilation
        sizes = start, count, step - 1, size - 1, dilation - 1
        if any(least(n) < 0 for n in sizes) or (count != 0 and least(dims[axis] - last) <= 0):
            raise OperandError(
                f"windows: {count} windows of {size} do not fit axis {axis} of shape {x.dims}"
            )
        dims[axis] = count
    natural = (*dims, *params["size"])
    order = params["order"] or tuple(range(len(natural)))
    if sorted(order) != list(range(len(natural))):
        raise OperandError(f"windows: order {order} does not permute {len(natural)} axes")
    return (Type.array(x.dtype, tuple(natural[i] for i in order)),)


INDEXING: tuple[Primitive, ...] = (
    Primitive("slice", _slice, linear=True, view=True),
    Primitive("update", _update, linear=True, assigns=True),
    Primitive("windows", _windows, linear=True, view=True),
    Primitive("index", _index, linear=True),
    Primitive("index_update", _index_update, linear=True, assigns=True),
    Primitive("accumulate", _accumulate),
)
