"""Spellings of reading, writing and adding to parts of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh, view, write
from .linear import contract
from .subscripts import (
    extents,
    index_subscript,
    reversal,
    single,
    subscript,
    window_subscript,
)


@view
def slice(x: Any, counters: Any, *, start: Any, length: Any, step: Any, drop: Any) -> Any:
    if reversal(start, length, step, drop) is not None:
        return x[subscript(x.shape, counters, start, length, step, drop)][
            reversal(start, length, step, drop)
        ]
    return x[subscript(x.shape, counters, start, length, step, drop)]


@view
def windows(
    x: Any, *, axis: Any, start: Any, count: Any, step: Any, size: Any, dilation: Any, order: Any
) -> Any:
    if order != ():
        return windows(
            x,
            axis=axis,
            start=start,
            count=count,
            step=step,
            size=size,
            dilation=dilation,
            order=(),
        ).transpose(*order)
    if window_subscript(x.shape, axis, start, count, step, size, dilation) == ...:
        return np.lib.stride_tricks.sliding_window_view(
            x, extents(size, dilation), axis=single(axis)
        )
    return np.lib.stride_tricks.sliding_window_view(x, extents(size, dilation), axis=single(axis))[
        window_subscript(x.shape, axis, start, count, step, size, dilation)
    ]


@write(inplace=("x",))
def update(x: Any, v: Any, counters: Any, *, start: Any, length: Any, step: Any, drop: Any) -> Any:
    if reversal(start, length, step, drop) is not None:
        x[subscript(x.shape, counters, start, length, step, drop)][
            reversal(start, length, step, drop)
        ] = v
    else:
        x[subscript(x.shape, counters, start, length, step, drop)] = v
    return x


@view
def index(x: Any, indices: Any, *, at: Any) -> Any:
    return x[index_subscript(x.shape, indices, at)]


@write(inplace=("x",))
def index_update(x: Any, v: Any, indices: Any, *, at: Any) -> Any:
    x[index_subscript(x.shape, indices, at)] = v
    return x


@fresh
def _total(x: Any, y: Any) -> Any:
    """The sum of two stacks: lists with an item for each step of a loop."""
    if isinstance(x, list):
        return [_total(a, b) for a, b in zip(x, y)]
    return x + y


@write(inplace=("acc",))
def accumulate(
    acc: Any,
    operands: Any,
    *,
    op: str,
    start: Any = (),
    length: Any = (),
    step: Any = (),
    drop: Any = (),
    at: Any = (),
    batch: Any = (),
    contracted: Any = (),
    order: Any = (),
    spelling: str = "",
) -> Any:
    if isinstance(acc, list):
        return _total(acc, operands[0])
    if op == "add":
        acc += operands[0]
    elif op == "slice" and reversal(start, length, step, drop) is not None:
        acc[subscript(acc.shape, operands[1:], start, length, step, drop)][
            reversal(start, length, step, drop)
        ] += operands[0]
    elif op == "slice":
        acc[subscript(acc.shape, operands[1:], start, length, step, drop)] += operands[0]
    elif op == "distinct":
        acc[index_subscript(acc.shape, operands[1:], at)] += operands[0]
    elif op == "index":
        np.add.at(acc, index_subscript(acc.shape, operands[1:], at), operands[0])
    else:
        acc += contract(
            operands[0],
            operands[1],
            batch=batch,
            contracted=contracted,
            order=order,
            spelling=spelling,
        )
    return acc
