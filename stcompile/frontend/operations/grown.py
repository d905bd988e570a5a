"""The length and the items of a list that grows with the counter of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stcompile.frontend.operations.affine import combined
from stcompile.frontend.state.grids import place_in_grid
from stcompile.frontend.state.rests import filled_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Affine, Grown


def length_of(run: Run, items: Sequence[Any]) -> Any:
    """The length of a list: affine in the counter of a loop that appends to it."""
    filled = filled_in(items)
    if filled is not None:
        return filled.count
    found = place_in_grid(items)
    if found is not None and found[0].owner is items:
        return found[0].array.type.dims[0]
    total: Any = 0
    for item in items:
        is_counted = isinstance(item, Grown) and item.count is not None
        total = combined("add", total, item.count if is_counted else 1)
        if not is_counted:
            run.checked(item)
    return total


def place_of(run: Run, items: Sequence[Any], index: Affine) -> Any:
    """An affine index of a list that a loop appends to, counted from the end, if its distance from
    the end is constant; else the index itself. In the first step all counters are 0."""
    if all(counter in run.starting for counter, _ in index.terms):
        return index.offset
    if not any(isinstance(item, Grown) and item.count is not None for item in items):
        return index
    distance = combined("subtract", index, length_of(run, items))
    return distance if type(distance) is int and distance < 0 else index
