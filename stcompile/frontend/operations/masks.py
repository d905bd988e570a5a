"""Boolean masks: the items that a mask selects, whose number is known only at run time.

`x[mask]` is kept as the whole array and the mask (`Masked`). An elementwise function of it is
computed on the whole array, with the items that are not selected replaced by a number at which
nothing goes wrong; a reduction, or a write through the same mask, selects. A mask that depends on
nothing but static values is turned into index arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.frontend.state.known import LARGEST, known_value, pure_maker
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Cell, Masked, describe, is_traced
from stcompile.wengert.ir import Atom, Variable, exact
from stcompile.wengert.primitives.base import shapes
from stcompile.wengert.primitives.masks import REDUCED

# Numbers at which a function and its derivative are finite: 1, except for these functions.
_HARMLESS = {"arcsin": 0.5, "arccos": 0.5, "arctanh": 0.5, "arccosh": 2.0}
_DIVISIONS = frozenset({"divide", "floor_divide", "remainder"})


# --- subscripts ----------------------------------------------------------------------------------


def as_mask(run: Run, entry: Any) -> Array | None:
    """An entry of a subscript as a boolean array; None if it is something else."""
    if isinstance(entry, list) and entry:
        first: Any = entry
        while isinstance(first, list) and first:
            first = first[0]
        is_flag = is_traced(first) and first.type.dtype.kind == "b"
        if not (is_flag or isinstance(first, bool | np.bool_)):
            return None
        entry = run.as_array(entry)
    if isinstance(entry, Array) and entry.type.dtype.kind == "b" and entry.type.ndim:
        return entry
    return None


def mask_of(run: Run, array: Array, index: Any) -> Array | None:
    """The mask, if a subscript is one whose items are known only at run time."""
    entries = list(index) if isinstance(index, tuple) else [index]
    masks = [as_mask(run, entry) for entry in entries]
    unknown = [mask for mask in masks if mask is not None and _known_mask(run, mask) is None]
    if not unknown:
        return None
    while len(entries) > 1 and (entries[-1] is Ellipsis or _is_full(entries[-1])):
        entries.pop()
    if len(entries) > 1:
        run.refuse(
            "a boolean mask beside other indices selects a number of elements that is known only "
            "at run time",
            "subscript twice: x[:, 0][mask]",
        )
    (mask,) = unknown
    _check_fits(run, mask, array.type.dims)
    return mask


def without_masks(run: Run, array: Array, entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """The entries of a subscript with masks known at compile time as index arrays."""
    masks = [as_mask(run, entry) for entry in entries]
    if not any(mask is not None for mask in masks):
        return entries
    widths = [_width(e, m) for e, m in zip(entries, masks, strict=True)]
    found: list[Any] = []
    axis = 0
    for place, (entry, mask) in enumerate(zip(entries, masks, strict=True)):
        known = None if mask is None else _known_mask(run, mask)
        if mask is None or known is None:
            found.append(entry)
        else:
            _check_fits(run, mask, array.type.dims[axis:])
            found += [run.as_array(i.tolist(), np.dtype(np.int64)) for i in np.nonzero(known)]
        axis += widths[place]
        if entry is Ellipsis:
            axis = array.type.ndim - sum(widths[place + 1 :])
    return tuple(found)


def _width(entry: Any, mask: Array | None) -> int:
    """The number of axes that an entry takes."""
    if mask is not None:
        return mask.type.ndim
    return 0 if entry is None or entry is Ellipsis else 1


def _is_full(entry: Any) -> bool:
    return isinstance(entry, slice) and entry == slice(None)


def _check_fits(run: Run, mask: Array, dims: tuple[int, ...]) -> None:
    if dims[: mask.type.ndim] != mask.type.dims:
        run.refuse(
            f"{shapes(dims, mask.type.dims)} of array and mask do not fit",
            "a mask has the shape of the array, or of its first dimensions",
            TypingError,
        )


def selected(run: Run, array: Array, mask: Array) -> Masked:
    """``array[mask]``: a copy of what both hold now."""
    return Masked(_held(run, array), _held(run, mask))


def _held(run: Run, array: Array) -> Array:
    """The present value of an array, in storage of its own."""
    variable = run.read(array)
    frozen = "it belongs to a selection by a mask"
    cell = Cell(variable, frozen, run.depth, run.age())
    return Array(cell, variable.type)


def write(run: Run, array: Array, mask: Array, value: Any) -> None:
    """``array[mask] = value``."""
    trailing = array.type.dims[mask.type.ndim :]
    if isinstance(value, Masked):
        items, own = parts_of(run, value)
        _check_same(run, own, mask)
        if items.type.ndim != array.type.ndim:
            run.refuse(
                f"the items have shape {_item_dims(value)}, their places {trailing}",
                "give both the same number of dimensions",
                TypingError,
            )
        stored: Atom = run.read(items)
    else:
        dims: tuple[int, ...] = value.type.dims if is_traced(value) else ()
        if len(dims) > len(trailing) and (len(dims) > len(trailing) + 1 or dims[0] != 1):
            run.refuse(
                f"how many elements the mask selects is known only at run time: a value of shape "
                f"{dims} may not fit",
                "select from a whole array by the same mask: y[mask] = v[mask]",
            )
        stored = run.atom(value)
    chosen = run.read(mask)

    def update(present: Variable) -> Any:
        return run.record("masked_update", present, stored, chosen, items=isinstance(value, Masked))

    run.write(array, update)


# --- masks that are equal ------------------------------------------------------------------------


def _check_same(run: Run, one: Array, other: Array) -> None:
    if not _is_same(run, run.read(one), run.read(other), set()):
        run.refuse(
            "these items are selected by another mask: whether they are as many is known only at "
            "run time",
            "select by the same mask on both sides, by its name",
        )


def _is_same(run: Run, one: Atom, other: Atom, seen: set[tuple[Atom, Atom]]) -> bool:
    """True if two atoms certainly have the same value: equal equations make them."""
    if one == other or (one, other) in seen:
        return True
    ours, theirs = (pure_maker(run, atom) for atom in (one, other))
    if ours is None or theirs is None:
        return False
    if ours.primitive != theirs.primitive or exact(ours.params) != exact(theirs.params):
        return False
    if len(ours.inputs) != len(theirs.inputs):
        return False
    pairs = zip(ours.inputs, theirs.inputs, strict=True)
    if not all(_is_same(run, a, b, seen) for a, b in pairs):
        return False
    seen.add((one, other))
    return True


# --- masks that are known ------------------------------------------------------------------------


def _known_mask(run: Run, mask: Array) -> Any:
    """The value of a mask that depends on static values alone; else None."""
    return known_value(run, run.read(mask)) if mask.type.size <= LARGEST else None


# --- elementwise functions and reductions --------------------------------------------------------


def parts_of(run: Run, value: Masked) -> tuple[Array, Array]:
    """The whole array and the mask."""
    return run.checked(value.items), run.checked(value.mask)


def _item_dims(value: Masked) -> tuple[int, ...]:
    return value.items.type.dims[value.mask.type.ndim :]


def has_masked(operands: Sequence[Any]) -> bool:
    return any(isinstance(operand, Masked) for operand in operands)


def mapped(run: Run, name: str, function: Callable[..., Any], operands: Sequence[Any]) -> Masked:
    """An elementwise function of selected items, numbers, and arrays of the items' shape."""
    first = next(operand for operand in operands if isinstance(operand, Masked))
    _, mask = parts_of(run, first)
    safe: list[Any] = []
    for operand in operands:
        if isinstance(operand, Masked):
            safe.append(_harmless(run, name, operand, mask))
        elif isinstance(operand, Array | list | tuple):
            safe.append(_of_items(run, run.as_array(operand), first))
        else:
            safe.append(operand)
    if name in _DIVISIONS and is_traced(safe[1]) and not isinstance(operands[1], Masked):
        wide = _wide(run, mask, safe[0].type.ndim)
        safe[1] = run.record("where", wide, safe[1], safe[0])  # the divisor may be 0
    result: Array = function(*safe)
    return Masked(_held(run, result), mask)


def _of_items(run: Run, array: Array, first: Masked) -> Array:
    items = _item_dims(first)
    if array.type.ndim > len(items):
        run.refuse(
            f"the number of selected items is known only at run time: an array of shape "
            f"{array.type.dims} may not fit",
            "select from a whole array by the same mask: v[mask]",
        )
    return array


def _harmless(run: Run, name: str, value: Masked, mask: Array) -> Array:
    """The whole array with the items that are not selected replaced."""
    items, own = parts_of(run, value)
    _check_same(run, own, mask)
    is_bool = items.type.dtype.kind == "b"
    number: Any = True if is_bool else _HARMLESS.get(name, 1) if items.type.inexact else 1
    result: Array = run.record("where", _wide(run, mask, items.type.ndim), items, number)
    return result


def _wide(run: Run, mask: Array, ndim: int) -> Array:
    dims = mask.type.dims
    if len(dims) == ndim:
        return mask
    wide: Array = run.record("reshape", mask, shape=(*dims, *(1,) * (ndim - len(dims))))
    return wide


def reduced(run: Run, primitive: str, value: Masked, axis: Any, keepdims: bool) -> Any:
    """A reduction of selected items: of all their elements, or along their first axis."""
    items, mask = parts_of(run, value)
    ndim = items.type.ndim - mask.type.ndim + 1
    axes = axis if isinstance(axis, tuple) else tuple(range(ndim)) if axis is None else (axis,)
    if not all(isinstance(a, int) and -ndim <= a < ndim for a in axes):
        run.refuse(f"axis {axis} is out of range for {ndim} dimensions", "", TypingError)
    axes = tuple(sorted({a % ndim for a in axes}))
    if primitive not in REDUCED or keepdims or 0 not in axes:
        run.refuse_masked()
    return run.record("masked", items, mask, reduce=primitive, axis=axes)


def count(run: Run, value: Masked) -> Any:
    """``len(x[mask])``."""
    _, mask = parts_of(run, value)
    number = run.record("sum", mask, axis=tuple(range(mask.type.ndim)), keepdims=False)
    return run.record("to_python", number, dtype=np.dtype(np.int64))


def size(run: Run, value: Masked) -> Any:
    """``x[mask].size``."""
    each = int(np.prod(_item_dims(value), dtype=int))
    number = count(run, value)
    return number if each == 1 else run.record("multiply", number, each)


def attribute(run: Run, value: Masked, name: str) -> Any:
    """An attribute of selected items that does not depend on how many there are."""
    items, mask = parts_of(run, value)
    if name == "size":
        return size(run, value)
    if name == "dtype":
        return items.type.dtype
    if name == "ndim":
        return items.type.ndim - mask.type.ndim + 1
    return run.refuse(
        f"`.{name}` of {describe(value)} is not supported",
        "their number is known only at run time: keep the shape, np.where(mask, x, 0)",
    )
