"""Rules for indices that differ between the items of a batch, or that do not lead the array.

A batch of indices into a batch of arrays has the number of the item as another index, in front.
NumPy's rules say where the axes of indices go; results with other places are transposed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from stcompile.batch.step import INDEX, Step
from stcompile.codegen_templates.numpy.subscripts import has_masks
from stcompile.wengert.ir import Atom, Constant
from stcompile.wengert.primitives.axes import Name
from stcompile.wengert.primitives.axis_rules import picked
from stcompile.wengert.primitives.indexing import is_mask
from stcompile.wengert.stacked import Value

BATCH = "batch"
MASKED = "keep the shape: np.where(mask, x, 0), or loop over the items"


class _Subscript(NamedTuple):
    """The subscript of a batch: its entries and indices; the names of the axes that it takes, in
    NumPy's order, and in the order of one item behind the batch."""

    at: tuple[Any, ...]
    indices: tuple[Atom, ...]
    names: tuple[Name, ...]
    wanted: tuple[Name, ...]


def _subscript(step: Step, first: int, in_batch: bool) -> _Subscript:
    """The subscript of the operands from ``first`` on, of an array that has rows for the items or
    is the same for all."""
    at, indices = step.equation.params["at"], step.operands[first:]
    if has_masks(at):
        if any(value.batched for value in indices):
            step.refuse_primitive(MASKED)
        entries = [entry for entry in at if entry == "index" or is_mask(entry)]
    else:
        entries = ["index"] * len(indices)
    ndims = [1 if is_mask(entry) else step.one(first + i).ndim for i, entry in enumerate(entries)]
    own: tuple[Name, ...] = tuple(range(step.one(0).ndim))
    common: tuple[Name, ...] = tuple(("common", axis) for axis in range(max(ndims, default=0)))
    wanted = (BATCH, *picked(at, own, common))
    atoms = tuple(
        step.aligned(value.atom, len(common)) if value.batched else value.atom for value in indices
    )
    if not any(value.batched for value in indices):
        at = ((0, step.size, 1), *at)
        return _Subscript(at, atoms, picked(at, (BATCH, *own), common), wanted)
    if in_batch:
        numbers = step.aligned(step.item_numbers(), len(common))
        at, atoms, own = ("index", *at), (numbers, *atoms), ("items", *own)
    return _Subscript(at, atoms, picked(at, own, (BATCH, *common)), wanted)


def _index(step: Step) -> Atom:
    x = step.operands[0]
    part = _subscript(step, 1, x.batched)
    found = step.record("index", x.atom, *part.indices, at=part.at)
    return step.turned(found, [part.names.index(name) for name in part.wanted])


def _write(step: Step) -> Atom:
    """Write, or add, a value to the elements that an index picks."""
    at = step.equation.params["at"]
    if len(at) == 1 and is_mask(at[0]) and at[0][1] is None:
        return _written_where(step)
    part = _subscript(step, 2, True)
    value = _turned_value(step, part)
    return step.same(step.rows(0), value, *part.indices, at=part.at)


def _written_where(step: Step) -> Atom:
    """Write one value to all places that a mask selects, which may differ between items."""
    rows, mask, value = step.rows(0), step.operands[2], step.operands[1]
    trailing = (1,) * (step.one(0).ndim - step.one(2).ndim)
    lead = (step.size,) if mask.batched else ()
    selected = step.shaped(mask.atom, *lead, *step.one(2).dims, *trailing)
    given = step.cast(value.atom, step.one(0).dtype)
    one = step.one(1).dims[-step.one(0).ndim :]  # leading axes of length 1 are let go
    if value.batched:
        given = step.aligned(step.shaped(given, step.size, *one), step.one(0).ndim)
    else:
        given = step.shaped(given, *one)
    return step.record("where", selected, given, rows)


def _turned_value(step: Step, part: _Subscript, last: int = 0) -> Atom:
    """The value for the elements that a subscript picks, its axes in the same order; the ``last``
    axes are of length 1, and the value does not have them."""
    value, ndim = step.operands[1], len(part.wanted) - 1 - last
    dims = step.one(1).dims
    dims = dims[max(0, len(dims) - ndim) :]  # leading axes of length 1 are let go
    if not (value.batched or last) and part.names == part.wanted:
        return value.atom
    lead = (step.size,) if value.batched else (1,)
    whole = step.shaped(value.atom, *lead, *(1,) * (ndim - len(dims)), *dims, *(1,) * last)
    return step.turned(whole, [part.wanted.index(name) for name in part.names])


def _elements(step: Step, first: int, in_batch: bool) -> _Subscript:
    """The same for a slice that starts elsewhere in each item: by indices along the axes where it
    does."""
    params, counters = step.equation.params, step.operands[first:]
    parts = list(zip(params["start"], params["length"], params["step"], strict=True))
    moving = [axis for axis, (form, _, _) in enumerate(parts) if any(form[1:])]
    kept = [axis for axis in moving if axis not in params["drop"]]
    at: list[Any] = []
    indices: list[Atom] = []
    for axis, (form, length, stride) in enumerate(parts):
        if axis not in moving:
            at.append((form[0], length, stride))
            continue
        index: Atom = step.aligned(_first(step, form, counters), len(kept))
        if axis in kept:
            dims = [length if other == axis else 1 for other in kept]
            offsets = step.record("arange", start=0, stop=length * stride, step=stride, dtype=INDEX)
            index = step.record("add", index, step.shaped(offsets, *dims))
        at.append("index")
        indices.append(index)
    own: tuple[Name, ...] = tuple(range(step.one(0).ndim))
    if in_batch:
        numbers = step.aligned(step.item_numbers(), len(kept))
        at, indices, own = ["index", *at], [numbers, *indices], ("items", *own)
    names = picked(at, own, (BATCH, *kept))
    fixed = [axis for axis in params["drop"] if axis not in moving]
    wanted = (BATCH, *(axis for axis in range(len(parts)) if axis not in params["drop"]))
    return _Subscript(tuple(at), tuple(indices), names, (*wanted, *fixed))


def _first(step: Step, form: Sequence[int], counters: Sequence[Value]) -> Atom:
    """The start of a slice in each item: a number plus multiples of counters."""
    total: Atom = step.record("full", Constant(form[0]), shape=(step.size,), dtype=INDEX)
    for factor, counter in zip(form[1:], counters, strict=False):
        if factor:
            term = step.record("multiply", Constant(factor), counter.atom)
            total = step.record("add", total, term)
    return total


def _moving_part(step: Step, first: int) -> Atom:
    """A slice whose start differs between items, or a write or an addition to it."""
    x, params = step.operands[0], step.equation.params
    in_batch = x.batched or first == 2
    part = _elements(step, first, in_batch)
    count = len(part.wanted) - len([a for a in params["drop"] if a in part.names])
    if first == 1:
        found = step.record("index", x.atom, *part.indices, at=part.at)
        turned = step.turned(found, [part.names.index(name) for name in part.wanted])
        return step.shaped(turned, *turned.type.dims[:count])
    value = _turned_value(step, part, len(part.wanted) - count)
    name = "index_update" if step.equation.primitive == "update" else "accumulate"
    op = {"op": "index"} if name == "accumulate" else {}
    return step.record(name, step.rows(0), value, *part.indices, at=part.at, **op)


def _part(step: Step) -> Atom:
    """A slice, or a write or an addition to a slice."""
    writes = step.equation.primitive != "slice"
    if any(counter.batched for counter in step.operands[1 + writes :]):
        return _moving_part(step, 1 + writes)
    if writes:
        step = replace(step, operands=(Value(step.rows(0), True), *step.operands[1:]))
    found = step.by_axes()
    return step.refuse_primitive() if found is None else found


def _accumulate(step: Step) -> Atom:
    return _write(step) if step.equation.params["op"] in ("index", "distinct") else _sum(step)


def _sum(step: Step) -> Atom:
    is_list = step.one(0).kind == "stack"
    if step.equation.params["op"] != "add" or not (is_list or not step.one(0).dims):
        return _part(step)
    if is_list:
        return step.record("accumulate", step.rows(0), step.rows(1), op="add")
    return step.record("add", step.rows(0), step.rows(1))


RULES: Mapping[str, Callable[[Step], Atom]] = MappingProxyType(
    {
        "index": _index,
        "index_update": _write,
        "accumulate": _accumulate,
        **dict.fromkeys(("slice", "update"), _part),
    }
)
