"""Copies between parts of an array are refused where NumPy overwrites what it has yet to read."""

from __future__ import annotations

import itertools
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

from stcompile.base.strides import in_order
from stcompile.frontend.operations.overlapping import check_copy
from stcompile.frontend.operations.subscripts import counted_entries, parse_basic
from stcompile.frontend.state.values import Array, ViewStep
from stcompile.wengert.ir import Variable, freeze
from stcompile.wengert.types import Type
from tests.frontend.test_subscripts import Refused, Run


def run_of(dims: tuple[int, ...], order: tuple[int, ...] | None, size: int = 8) -> Any:
    run: Any = Run()
    strides = None if order is None else in_order(dims, size, order)
    run.layouts = SimpleNamespace(of=lambda made: strides)
    return run


def array_of(dims: tuple[int, ...], dtype: str = "f8") -> Array:
    variable = Variable("x", Type.array(dtype, dims))
    cell: Any = SimpleNamespace(variable=variable, made=variable)
    return Array(cell, variable.type)


def viewed(run: Any, array: Array, entries: tuple[Any, ...]) -> Array:
    basic = parse_basic(run, array, counted_entries(run, array, entries))
    kept = tuple(n for a, n in enumerate(basic.length) if a not in basic.drop)
    step = ViewStep("slice", freeze(basic.params), basic.counters)
    return Array(array.cell, Type.array(array.type.dtype, kept), (*array.path, step))


def is_taken(run: Any, target: Array, entries: tuple[Any, ...], value: Any) -> bool:
    basic = parse_basic(run, target, counted_entries(run, target, entries))
    try:
        check_copy(run, target, basic, value)
    except Refused:
        return False
    return True


def part(rng: Random, dims: tuple[int, ...], length: int, axis: int) -> tuple[Any, ...]:
    """A vector of that length along an axis."""
    found: list[Any] = [rng.randrange(dim) for dim in dims]
    stride = rng.choice((1, 1, 2, -1))
    extent = (length - 1) * abs(stride)
    if extent >= dims[axis]:
        stride, extent = stride // abs(stride), length - 1
    low = rng.randint(0, dims[axis] - 1 - extent)
    ends = slice(low, low + extent + 1, stride)
    if stride < 0:
        ends = slice(low + extent, low - 1 if low else None, stride)
    found[axis] = ends
    return tuple(found)


def memory(dims: tuple[int, ...], order: tuple[int, ...]) -> Any:
    x = np.arange(float(np.prod(dims)))
    return x.reshape([dims[a] for a in order]).transpose(np.argsort(order))


def test_copies_that_are_known() -> None:
    rng, taken, refused = Random(3), 0, 0
    for dims in [(5, 6), (6, 5), (4, 3, 5), (9,)] * 150:
        order = tuple(rng.sample(range(len(dims)), len(dims)))
        length = rng.randint(2, min(dims))
        ours, theirs = (part(rng, dims, length, rng.randrange(len(dims))) for _ in range(2))
        dtype, size = rng.choice((("f8", 8), ("c16", 16)))
        run, target = run_of(dims, order, size), array_of(dims, dtype)
        value = viewed(run, target, theirs)
        x, y = memory(dims, order), memory(dims, order)
        x[ours] = x[theirs]
        y[ours] = y[theirs].copy()
        if is_taken(run, target, ours, value):
            np.testing.assert_array_equal(x, y, f"{dims} {order} {ours} {theirs}")
            taken += 1
        else:
            assert not np.array_equal(x, y), f"{dims} {order} {ours} {theirs}"
            refused += 1
    assert taken > 100 and refused > 10


def test_copies_in_an_unknown_order() -> None:
    """What is taken is right in any order of the axes."""
    rng, taken = Random(4), 0
    for dims in [(5, 6), (5, 5), (4, 3, 5)] * 100:
        length = rng.randint(2, min(dims))
        ours, theirs = (part(rng, dims, length, rng.randrange(len(dims))) for _ in range(2))
        run, target = run_of(dims, None), array_of(dims)
        if not is_taken(run, target, ours, viewed(run, target, theirs)):
            continue
        taken += 1
        for order in itertools.permutations(range(len(dims))):
            x, y = memory(dims, order), memory(dims, order)
            x[ours] = x[theirs]
            y[ours] = y[theirs].copy()
            np.testing.assert_array_equal(x, y, f"{dims} {order} {ours} {theirs}")
    assert taken > 50


def test_copies_that_move() -> None:
    """Rows to columns that meet at the same position in every step, and others."""
    rng, outcomes = Random(5), [0, 0]
    dims = (9, 9)
    for _ in range(300):
        run = run_of(dims, (0, 1))
        s = run.counters["s"]
        a, b, c, d = (rng.choice((0, 0, 1, 2)) for _ in range(4))
        length, turned = rng.randint(2, 4), rng.random() < 0.5
        first, second = s.scaled(1, a), s.scaled(1, b)
        ours: tuple[Any, ...] = (first, slice(second, second.scaled(1, length)))
        third, fourth = s.scaled(1, c), s.scaled(1, d)
        theirs: tuple[Any, ...] = (slice(third, third.scaled(1, length)), fourth)
        if turned:
            ours, theirs = ours[::-1], theirs[::-1]
        target = array_of(dims)
        found = is_taken(run, target, ours, viewed(run, target, theirs))
        same = True
        for known in run.steps(False):
            x, y = memory(dims, (0, 1)), memory(dims, (0, 1))
            to, of = (tuple(run.entry(e, known) for e in entries) for entries in (ours, theirs))
            x[to] = x[of]
            y[to] = y[of].copy()
            same = same and np.array_equal(x, y)
        assert same or not found, (ours, theirs)
        outcomes[found] += 1
        assert found or d - b != a - c  # the common element has one position in both
    assert min(outcomes) > 10


def test_a_part_that_moves_to_what_is_read() -> None:
    """The first step is right, a later one is not."""
    run = run_of((9, 9), (0, 1))
    target, s = array_of((9, 9)), run.counters["s"]
    value = viewed(run, target, (0, slice(1, 5)))
    assert is_taken(run, target, (slice(0, 4), 0), value)
    assert not is_taken(run, target, (slice(0, 4), s), value)


def test_a_part_of_a_part_that_moves() -> None:
    """A row of rows that run backwards, of which the last one is the first of the array."""
    run = run_of((9, 9), (0, 1))
    target, s = array_of((9, 9)), run.counters["s"]
    rows = viewed(run, target, (slice(s.scaled(1, 4), s, -1), slice(0, 5)))
    assert rows.type.dims == (4, 5)
    value = viewed(run, rows, (3, slice(0, 4)))
    assert is_taken(run, target, (5, slice(0, 4)), value)
    assert not is_taken(run, target, (slice(0, 4), 2), value)


def test_other_copies_are_taken() -> None:
    """Of another array, of one number, and of what is no vector, which NumPy copies first."""
    run, target = run_of((4, 4), (0, 1)), array_of((4, 4))
    row: tuple[Any, ...] = (slice(0, 4), 2)
    value = viewed(run, target, (1, slice(0, 4)))
    assert not is_taken(run, target, row, value)
    assert is_taken(run, target, row, viewed(run, array_of((4, 4)), (1, slice(0, 4))))
    assert is_taken(run, target, (slice(0, 1), 1), viewed(run, target, (1, slice(0, 1))))
    assert is_taken(
        run, target, (slice(0, 4), slice(0, 2)), viewed(run, target, (slice(0, 4), slice(1, 3)))
    )
    assert is_taken(run, target, row, 1.0)
