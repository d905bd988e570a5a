"""Operands whose lengths have to be equal, if equality is known only at run time.

NumPy broadcasts an axis of length 1. An axis whose length the data decide is never broadcast: it
has the other operand's length, or there is an error at run time. So the shapes of all results are
known, and no gradient is added up along a wrong axis.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stcompile.wengert.bounds import greatest, least
from stcompile.wengert.dims import Size, Sizes, is_named
from stcompile.wengert.ir import Atom
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.indexing import index_dims, slice_dims
from stcompile.wengert.types import Type

_ELEMENTS = "operands could not be broadcast together with shapes"
_PRODUCT = "matmul: shapes not aligned:"
_JOINED = "all the input array dimensions except for the concatenation axis must match exactly:"
_STORED = "could not broadcast input array from shape into shape"


class Pair(NamedTuple):
    """Two axes that have to have the same length: the axis of an operand, which is made to fit, and
    another axis of length ``dim``; and the shapes that NumPy names if they do not."""

    operand: int
    axis: int
    dim: Size
    shapes: tuple[Sizes, ...]


def pairs_that_must_fit(
    primitive: str, types: Sequence[Type], params: Mapping[str, Any]
) -> tuple[str, list[Pair]]:
    """The message of NumPy's for lengths that differ, and the pairs of axes that need equal
    lengths."""
    shapes = [t.dims for t in types]
    found: Iterator[Pair] = iter(())
    text = _ELEMENTS
    if PRIMITIVES[primitive].elementwise:
        found = _of_elements(shapes)
    elif primitive == "contract":
        found, text = _of_product(shapes, params), _PRODUCT
    elif primitive in ("concatenate", "stack"):
        joined = params["axis"] if primitive == "concatenate" else None
        found, text = _of_joined(shapes, joined), _JOINED
    elif PRIMITIVES[primitive].assigns or primitive == "accumulate":
        found, text = _of_place(primitive, types, params), _STORED
    return text, [*found]


def may_fit(one: Size, other: Size) -> bool:
    """True for two lengths if it is not known whether they are equal."""
    if one == other or not is_named((one, other)):
        return False
    return least(one - other) <= 0 <= greatest(one - other)


def _of_elements(shapes: Sequence[Sizes]) -> Iterator[Pair]:
    ndim = max(map(len, shapes), default=0)
    for behind in range(1, ndim + 1):
        column = [(i, s) for i, s in enumerate(shapes) if len(s) >= behind and s[-behind] != 1]
        if not column:
            continue
        numbers = [s for _, s in column if isinstance(s[-behind], int)]
        wanted = numbers[0] if numbers else column[0][1]
        for i, shape in column:
            yield Pair(i, len(shape) - behind, wanted[-behind], tuple(shapes))


def _of_product(shapes: Sequence[Sizes], params: Mapping[str, Any]) -> Iterator[Pair]:
    x, y = shapes
    for a, b in (*params["batch"], *params["contracted"]):
        if isinstance(x[a], int):
            yield Pair(1, b, x[a], (x, y))
        else:
            yield Pair(0, a, y[b], (x, y))


def _of_joined(shapes: Sequence[Sizes], joined: int | None) -> Iterator[Pair]:
    for axis in range(min(map(len, shapes), default=0)):
        if axis == joined:
            continue
        numbers = [shape for shape in shapes if isinstance(shape[axis], int)]
        wanted = (numbers or shapes)[0]
        for i in range(len(shapes)):
            yield Pair(i, axis, wanted[axis], (shapes[i], wanted))


def _of_place(primitive: str, types: Sequence[Type], params: Mapping[str, Any]) -> Iterator[Pair]:
    """The axes of the stored value, paired with those of the part where it is stored."""
    if len(types) < 2 or types[0].kind != "array":
        return
    x, v, *rest = types
    if "at" in params:
        place = index_dims(primitive, x, tuple(rest), params["at"])
    elif "start" in params:
        place = slice_dims(primitive, x, tuple(rest), params)
    else:
        place = x.dims
    for behind in range(1, min(len(v.dims), len(place)) + 1):
        if v.dims[-behind] != 1:
            yield Pair(1, len(v.dims) - behind, place[-behind], (v.dims, place))


def with_dims(atom: Atom, pairs: Sequence[Pair]) -> Sizes:
    """The dims of an operand that is made to fit."""
    dims = list(atom.type.dims)
    for pair in pairs:
        dims[pair.axis] = pair.dim
    return tuple(dims)


def by_operand(pairs: Sequence[Pair]) -> Iterator[tuple[int, list[Pair]]]:
    """The pairs of each operand."""
    for operand, group in itertools.groupby(pairs, key=lambda pair: pair.operand):
        yield operand, list(group)
