"""Arithmetic on axes and shapes for the rules: static values in, static values out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Axes = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]
Params = dict[str, Any]


def inverse(axes: Sequence[int]) -> Axes:
    """The permutation that undoes ``axes``."""
    return tuple(axes.index(i) for i in range(len(axes)))


def count(shape: Axes, axis: Axes) -> int:
    """The number of elements that each result of a reduction is made of."""
    return math.prod(shape[i] for i in axis)


def at_least_one(number: int) -> int:
    """The number, or 1."""
    return max(number, 1)


def one_to_divide(out: Any, divisor: Any) -> Any:
    """1, as NumPy's number where NumPy divided by a Python number to get ``out``: then it gives an
    infinity for 0, where Python raises an error. The compiler does this by types."""
    is_python = type(divisor) in (bool, int, float, complex)
    return np.result_type(out).type(1) if is_python and isinstance(out, np.generic) else 1


def lengthened(x: Any, axis: int, fill: float) -> Any:
    """The array; if the length of an axis is known only at run time, an array of the greatest
    possible length, with ``fill`` behind the elements. The compiler does this: here, lengths are
    known."""
    return x


def part(axis: int, start: int | None, stop: int | None, step: int | None = None) -> Any:
    """The subscript of ``start:stop:step`` on one axis."""
    return (slice(None),) * axis + (slice(start, stop, step),)


def consecutive(axis: int, lengths: Sequence[int]) -> list[Any]:
    """The subscripts of consecutive parts of these lengths on one axis."""
    stops = [sum(lengths[: i + 1]) for i in range(len(lengths))]
    return [part(axis, stop - n, stop) for n, stop in zip(lengths, stops, strict=True)]


def interior(pad_width: Pairs, shape: Axes) -> Any:
    """The subscript that takes the array of that shape out of the padded one."""
    return tuple(slice(a, a + n) for (a, _), n in zip(pad_width, shape, strict=True))


def per_degree(shape: Axes, axis: Axes, ddof: int) -> float:
    """1 / (degrees of freedom); NaN where a variance has none, as NumPy."""
    degrees = count(shape, axis) - ddof
    return 1 / degrees if degrees > 0 else math.nan


# --- windows ---------------------------------------------------------------------------------


def offsets(size: Axes) -> list[Axes]:
    """The offsets of a window's elements."""
    return list(itertools.product(*map(range, size)))


def at_offset(
    shape: Axes, offset: Axes, axis: Axes, start: Axes, count: Axes, step: Axes, dilation: Axes
) -> Params:
    """The slice of an array of that shape that has the elements at an offset of all windows."""
    first, length, stride = [0] * len(shape), list(shape), [1] * len(shape)
    for i, of in enumerate(axis):
        first[of] = start[i] + offset[i] * dilation[i]
        length[of], stride[of] = count[i], step[i]
    forms = tuple((n,) for n in first)
    return {"start": forms, "length": tuple(length), "step": tuple(stride), "drop": ()}


# --- contractions ----------------------------------------------------------------------------


def for_left(x: int, y: int, batch: Pairs, contracted: Pairs, order: Axes) -> Params:
    """The params of ``contract(d_out, y)``, the cotangent of x.

    ``x`` and ``y`` are numbers of axes. An axis of d_out is known by the axis of x or y that it
    comes from. The axes that d_out shares with y beyond the batch are summed; the remaining axes
    are those of x.
    """
    from_x, from_y = _origins(x, y, batch, contracted, order)
    batch_x, batch_y = [a for a, _ in batch], [b for _, b in batch]
    pairs = tuple((from_y[b], b) for b in batch_y)
    summed = tuple(
        (from_y[b], b) for b in range(y) if b in from_y and b not in dict(pairs).values()
    )
    x_of_y = {b: a for a, b in contracted}
    batch_x = [a for a, _ in batch]
    result = [
        *batch_x,
        *sorted((a for a in from_x if a not in batch_x), key=from_x.__getitem__),
        *(x_of_y[b] for b in range(y) if b in x_of_y),
    ]
    return _params(pairs, summed, result)


def for_right(x: int, y: int, batch: Pairs, contracted: Pairs, order: Axes) -> Params:
    """The params of ``contract(x, d_out)``, the cotangent of y."""
    from_x, from_y = _origins(x, y, batch, contracted, order)
    batch_x, batch_y = [a for a, _ in batch], [b for _, b in batch]
    y_of_x = dict(contracted)
    result = [
        *batch_y,
        *(y_of_x[a] for a in range(x) if a in y_of_x),
        *sorted((b for b in from_y if b not in batch_y), key=from_y.__getitem__),
    ]
    pairs = tuple((a, from_x[a]) for a in batch_x)
    summed = tuple((a, from_x[a]) for a in range(x) if a in from_x and a not in batch_x)
    return _params(pairs, summed, result)


def _origins(
    x: int, y: int, batch: Pairs, contracted: Pairs, order: Axes
) -> tuple[dict[int, int], dict[int, int]]:
    """For each axis of x, and of y, that is left in the result: its position there."""
    taken_x = [a for a, _ in (*batch, *contracted)]
    taken_y = [b for _, b in (*batch, *contracted)]
    free_x = [a for a in range(x) if a not in taken_x]
    free_y = [b for b in range(y) if b not in taken_y]
    natural_x = [*(a for a, _ in batch), *free_x]
    natural_y = [*(b for _, b in batch), *free_y]
    place = inverse(order) if order else tuple(range(len(natural_x) + len(free_y)))
    from_x = {a: place[i] for i, a in enumerate(natural_x)}
    from_y = {b: place[i] for i, b in enumerate(natural_y[: len(batch)])}
    from_y.update({b: place[len(natural_x) + i] for i, b in enumerate(free_y)})
    return from_x, from_y


def _params(batch: Pairs, contracted: Pairs, result: Sequence[int]) -> Params:
    """Params of a contraction that returns ``result``'s axes, which are put in order."""
    order = () if list(result) == sorted(result) else inverse(result)
    return {"batch": batch, "contracted": contracted, "order": order, "spelling": ""}


def aligned(contracted: Pairs, axis: int) -> Axes:
    """For a full contraction: the axes of one operand in the order of the other's.

    ``axis`` 0: the axes of x as y orders them, 1: those of y as x orders them.
    """
    return tuple(pair[axis] for pair in sorted(contracted, key=lambda pair: pair[1 - axis]))


# --- sums by the names of axes ---------------------------------------------------------------


def parsed(subscripts: str) -> tuple[list[str], str]:
    """``"ij,jk->ik"`` as the terms of the operands and that of the result."""
    terms, _, result = subscripts.partition("->")
    return terms.split(","), result


def found(term: str, others: Sequence[str]) -> str:
    """The names of a term, each once, that occur in another term as well."""
    names = dict.fromkeys(term)
    return "".join(name for name in names if any(name in other for other in others))


def places(term: str, known: str, shape: Axes) -> Axes:
    """The shape in which an array with the axes ``known`` broadcasts against all axes of the term:
    1 for axes that it does not have, and for repetitions of a name."""
    return tuple(
        dim if name in known and term.index(name) == i else 1
        for i, (name, dim) in enumerate(zip(term, shape, strict=True))
    )


def repeats(term: str) -> list[tuple[int, int]]:
    """The axes of a term that repeat a name, with the first of that name."""
    return [(term.index(name), i) for i, name in enumerate(term) if term.index(name) != i]
