"""Boolean masks: the items that a mask selects, whose number is a size that the data decides.

A mask that depends only on static values is turned into index arrays.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.frontend.state.known import LARGEST, known_value
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, is_traced
from stcompile.wengert.dims import Size, Sizes, Symbol
from stcompile.wengert.ir import Variable
from stcompile.wengert.primitives.base import shapes


def as_mask(run: Run, entry: Any) -> Array | None:
    """An entry of a subscript as a boolean array; None if it is not a mask."""
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


def with_masks(run: Run, array: Array, entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """The entries of a subscript with each mask as a boolean array, or as index arrays if it is
    known at compile time."""
    masks = [as_mask(run, entry) for entry in entries]
    if not any(mask is not None for mask in masks):
        return entries
    widths = [axes_of_entry(e if m is None else m) for e, m in zip(entries, masks, strict=True)]
    found: list[Any] = []
    axis = 0
    for place, (entry, mask) in enumerate(zip(entries, masks, strict=True)):
        if entry is Ellipsis:
            axis = array.type.ndim - sum(widths[place + 1 :])
        if mask is None:
            found.append(entry)
        else:
            _check_fits(run, mask, array.type.dims[axis:])
            known = _known_mask(run, mask)
            indices = () if known is None else np.nonzero(known)
            found += [run.as_array(i.tolist(), np.dtype(np.int64)) for i in indices] or [mask]
        axis += widths[place]
    return tuple(found)


def axes_of_entry(entry: Any) -> int:
    """The number of axes that an entry takes."""
    if entry is None or entry is Ellipsis:
        return 0
    return entry.type.ndim if is_mask(entry) else 1


def is_mask(entry: Any) -> bool:
    """True for an entry that is a boolean array with axes."""
    return isinstance(entry, Array) and entry.type.dtype.kind == "b" and entry.type.ndim > 0


def _check_fits(run: Run, mask: Array, dims: Sizes) -> None:
    if dims[: mask.type.ndim] != mask.type.dims:
        run.refuse(
            f"{shapes(dims, mask.type.dims)} of array and mask do not fit",
            "a mask has the shape of the array, or of its first dimensions",
            TypingError,
        )


def _known_mask(run: Run, mask: Array) -> Any:
    """The value of a mask that depends on static values alone; else None."""
    return known_value(run, run.read(mask)) if mask.type.size <= LARGEST else None


def selected(run: Run, mask: Variable) -> Size:
    """The number of items that a mask selects."""
    return run.measured("count_nonzero", (mask,), {}, Symbol("n", 0, math.prod(mask.type.dims)))
