"""Copies between views of the same array: `a[1] = a[:, 2]`.

NumPy copies the source first if the two overlap, but not between vectors that lie in the same
direction: there it overwrites elements that it reads later, unless their strides are equal, and the
result depends on the strides of the array. Such a copy is refused. Any other copy has the same
result as with a copy of the source.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from stcompile.base.strides import dense_order
from stcompile.frontend.operations.subscripts import Basic
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, ViewStep
from stcompile.wengert.dims import Dim, replaced, size_of, symbols_in
from stcompile.wengert.templates import TEMPLATES


def check_copy(run: Run, target: Array, basic: Basic, value: Any) -> None:
    """Refuse ``target[basic] = value`` where NumPy may overwrite elements that it has yet to
    read."""
    part = basic.params
    if not isinstance(value, Array) or value.cell is not target.cell or value.type.size < 2:
        return
    if len(part["length"]) - len(part["drop"]) != 1:
        return  # NumPy copies the source first
    moves = any(any(form[1:]) for form in part["start"]) or _moves(target) or _moves(value)
    moves = moves or any(any(symbols_in(static)) for static in part.values())
    if moves and _meet_in_order(run, target, basic, value):
        return
    if not _is_safe(run, target, part, value, moves):
        run.refuse(
            "this copies from an array to an overlapping part of itself: NumPy overwrites elements "
            "that it has yet to read" + (", in some steps at least" if moves else ""),
            "copy the source first: `x[...] = x[...].copy()`",
        )


def _moves(array: Array) -> bool:
    return any(step.counters or step.is_named for step in array.path)


def _meet_in_order(run: Run, target: Array, part: Basic, value: Array) -> bool:
    """True for a part of a row that is copied to a part of a column, or the reverse, if their
    common element has the same position in both, whatever the step of the loop."""
    if target.path or len(value.path) != 1 or value.path[0].primitive != "slice":
        return False
    (view,) = value.path
    if {*part.step, *view.params["step"]} != {1}:
        return False
    axes = range(len(part.step))
    (to,) = (axis for axis in axes if axis not in part.drop)
    (of,) = (axis for axis in axes if axis not in view.params["drop"])
    ours = [run.size_of(start) for start in part.start]
    theirs = [_start(run, form, view) for form in view.params["start"]]
    if to == of or None in ours or None in theirs:
        return False
    same = theirs[to] - ours[to] == ours[of] - theirs[of]
    return bool(same and all(ours[a] == theirs[a] for a in axes if a not in (to, of)))


def _start(run: Run, form: tuple[Any, ...], view: ViewStep) -> Any:
    terms = [run.terms.get(counter) for counter in view.counters]
    moving = [(factor, term) for factor, term in zip(form[1:], terms, strict=False) if factor]
    if any(term is None for _, term in moving):
        return None
    return form[0] + sum(factor * size_of(term) for factor, term in moving if term is not None)


def _is_safe(run: Run, target: Array, part: Mapping[str, Any], value: Array, moves: bool) -> bool:
    """True if NumPy gives the same result with and without a copy of the source; tried on numbers
    in place of the elements."""
    found = []
    for is_copied in (False, True):
        memory = _numbers(run, target)
        written, read = _part(_viewed(target, memory), part), _viewed(value, memory)
        if abs(written.strides[0]) == abs(read.strides[-1]) or not read.strides[-1]:
            return True
        if not moves and np.intersect1d(written, read).size == 0:
            return True
        if moves or _order(run, target) is None:
            return False  # the places are not known
        written[...] = read.copy() if is_copied else read
        found.append(memory)
    return np.array_equal(*found)


def _order(run: Run, array: Array) -> tuple[int, ...] | None:
    """The axes of an array's base in the order of memory; None if that is not known."""
    made = array.cell.made
    return dense_order(made.type.dims, run.layouts.of(made), made.type.dtype.itemsize)


def _numbers(run: Run, array: Array) -> Any:
    """An array of different numbers with the strides of the array's base; if the strides are not
    known, in C order, where each axis has a stride of its own."""
    base, order = array.cell.variable.type, _order(run, array)
    dtype = np.complex128 if base.dtype.kind == "c" else np.int64
    dims = base.dims if order is None else [base.dims[axis] for axis in order]
    numbers = np.arange(1, 1 + math.prod(dims)).reshape(dims).astype(dtype)
    if base.dtype.kind == "c":
        numbers.imag = -numbers.real
    return numbers if order is None else numbers.transpose(np.argsort(order))


def _viewed(array: Array, memory: Any) -> Any:
    """The view ``array`` of its base, taken of the array ``memory``."""
    for step in array.path:
        if step.primitive == "slice":
            memory = _part(memory, step.params)
        else:
            memory = TEMPLATES[step.primitive](memory, **step.params)
    return memory


def _part(memory: Any, slice: Mapping[str, Any]) -> Any:
    """Take a slice of ``memory``. Along axes on which it moves with a counter it starts at 0, since
    only its strides matter; a length that is not static counts as two."""
    params = {name: replaced(static, lambda _: 2) for name, static in slice.items()}
    if params["length"] != slice["length"]:
        named = zip(params["step"], slice["length"], params["start"], strict=True)
        params["start"] = tuple(
            ((0 if step > 0 else 1,) if isinstance(length, Dim) else form)
            for step, length, form in named
        )
    spans = zip(params["start"], params["length"], params["step"], strict=True)
    params["start"] = tuple(
        (max(0, (1 - length) * step) if any(form[1:]) else form[0],) for form, length, step in spans
    )
    return TEMPLATES["slice"](memory, (), **params)
