"""Reads and writes of parts for a batch, as equations: each item is what the equation gives alone."""

# ruff: noqa: E501
from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np

from stcompile import LanguageError
from stcompile.batch.walk import batched
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Program
from stcompile.wengert.text import parse_program
from stcompile.wengert.types import Type
from stcompile.wengert.verify import verify

RNG = np.random.default_rng(6)
SIZE = 3
RANGES = {"i": (-3, 3), "j": (-3, 3), "k": (-3, 3), "l": (-3, 3), "c": (0, 2), "d": (0, 2)}
DISTINCT = {"q": 3}  # indices that differ

EQUATIONS = """
x: f64[3,4,5], i: int -> f64[4,5] = slice(x, i; drop=(0,), length=(1, 4, 5), start=((0, 1), (0,), (0,)), step=(1, 1, 1))
x: f64[3,4,5], i: int -> f64[3,3] = slice(x, i; drop=(1,), length=(3, 1, 3), start=((2,), (0, 1), (0,)), step=(-1, 1, 2))
x: f64[7,6], c: int -> f64[3,6] = slice(x, c; drop=(), length=(3, 6), start=((1, 2), (0,)), step=(1, 1))
x: f64[7,6], c: int -> f64[3,2] = slice(x, c; drop=(), length=(3, 2), start=((6, -1), (3, 1)), step=(-2, -1))
x: f64[7,6,5], c: int, d: int -> f64[2,5] = slice(x, c, d; drop=(1,), length=(2, 1, 5), start=((0, 1, 2), (0, 0, 3), (4,)), step=(2, 1, -1))
x: f64[7,6,5], c: int, d: int -> f64[7,2,3] = slice(x, c, d; drop=(), length=(7, 2, 3), start=((0,), (0, 1, 1), (1, 0, 1)), step=(1, 2, 1))
x: f64[7,6], c: int -> f64[6] = slice(x, c; drop=(0,), length=(1, 6), start=((4, -2), (0,)), step=(1, 1))
x: f64[7,6], c: int -> f64[2] = slice(x, c; drop=(1,), length=(2, 1), start=((0, 1), (3,)), step=(1, 1))
x: f64[7,6], c: int -> f64 = slice(x, c; drop=(0, 1), length=(1, 1), start=((1, 1), (2,)), step=(1, 1))
x: f64[7,6,5], c: int -> f64[6] = slice(x, c; drop=(0, 2), length=(1, 6, 1), start=((2,), (0,), (0, 1)), step=(1, 1, 1))
x: f64[7] -> f64[3] = slice(x; drop=(), length=(3,), start=((5,),), step=(-2,))
x: f64[7,6], y: f64[3,6], c: int -> f64[7,6] = update(x, y, c; drop=(), length=(3, 6), start=((1, 1), (0,)), step=(1, 1))
x: f64[7,6], y: f64[6], c: int -> f64[7,6] = update(x, y, c; drop=(), length=(3, 6), start=((1, 1), (0,)), step=(1, 1))
x: f64[7,6], y: f64[1,1,6], c: int -> f64[7,6] = update(x, y, c; drop=(0,), length=(1, 6), start=((1, 1), (0,)), step=(1, 1))
x: f64[7,6], y: f64[2], c: int -> f64[7,6] = update(x, y, c; drop=(1,), length=(2, 1), start=((0, 1), (3,)), step=(2, 1))
x: f64[7,6], y: f64, c: int -> f64[7,6] = update(x, y, c; drop=(1,), length=(2, 1), start=((0, 1), (3,)), step=(2, 1))
x: f64[7,6,5], y: f64[2,3], c: int, d: int -> f64[7,6,5] = update(x, y, c, d; drop=(1,), length=(2, 1, 3), start=((0, 1), (1,), (0, 0, 1)), step=(2, 1, 1))
x: f64[7,6], y: f64[2,6] -> f64[7,6] = update(x, y; drop=(), length=(2, 6), start=((1,), (0,)), step=(3, 1))
x: f64[7,6], y: f64[2,3], c: int -> f64[7,6] = accumulate(x, y, c; drop=(), length=(2, 3), op='slice', start=((0, 3), (0,)), step=(1, 2))
x: f64[7,6], y: f64[2], c: int -> f64[7,6] = accumulate(x, y, c; drop=(1,), length=(2, 1), op='slice', start=((0, 3), (5,)), step=(1, 1))
x: f64[7,6], y: f64, c: int -> f64[7,6] = accumulate(x, y, c; drop=(0, 1), length=(1, 1), op='slice', start=((0, 3), (5, -1)), step=(1, 1))
x: f64[7,6], y: f64[7,6] -> f64[7,6] = accumulate(x, y; op='add')
x: f64[7,6], y: f64 -> f64[7,6] = accumulate(x, y; op='add')
x: f64[7,6], y: f64[6] -> f64[7,6] = accumulate(x, y; op='add')
x: f64, y: f64 -> f64 = accumulate(x, y; op='add')
x: f64[3,4,5], i: int -> f64[4,5] = index(x, i; at=('index',))
x: f64[3,4,5], k: i64[2] -> f64[2,4,5] = index(x, k; at=('index',))
x: f64[3,4,5], i: int, k: i64[2] -> f64[2,5] = index(x, i, k; at=('index', 'index'))
x: f64[3,4,5], k: i64[2], l: i64[4,1] -> f64[4,2,4] = index(x, k, l; at=('index', (0, 4, 1), 'index'))
x: f64[3,4,5], k: i64[2], l: i64[4,1] -> f64[3,4,2] = index(x, k, l; at=((0, 3, 1), 'index', 'index'))
x: f64[3,4,5], k: i64[2], i: int -> f64[2,3,1] = index(x, i, k; at=((2, 3, -1), 'index', 'new', 'index'))
x: f64[3,4,5], k: i64[2] -> f64[1,2,4,5] = index(x, k; at=('new', 'index'))
x: f64[3,4] -> f64[1,3,4] = index(x; at=('new', (0, 3, 1), (0, 4, 1)))
x: f64[3,4], m: b8[3,4] -> f64[5] = index(x, m; at=(('mask', 5, 2),))
x: f64[3,4,5], m: b8[3,4], k: i64[5] -> f64[5] = index(x, m, k; at=(('mask', 5, 2), 'index'))
x: f64[4,3,4], m: b8[3,4], k: i64[1] -> f64[5] = index(x, k, m; at=('index', ('mask', 5, 2)))
x: f64[3,4], m: b8[3] -> f64[2,4] = index(x, m; at=(('mask', 2, 1),))
x: f64[3,4,5], y: f64[4,5], i: int -> f64[3,4,5] = index_update(x, y, i; at=('index',))
x: f64[3,4,5], y: f64[5], i: int, j: int -> f64[3,4,5] = index_update(x, y, i, j; at=('index', 'index'))
x: f64[3,4,5], y: f64, q: i64[2] -> f64[3,4,5] = index_update(x, y, q; at=('index',))
x: f64[3,4,5], y: f64[1,2,4,5], q: i64[2] -> f64[3,4,5] = index_update(x, y, q; at=('index',))
x: f64[3,4,5], y: f64[4,2], q: i64[2] -> f64[3,4,5] = index_update(x, y, q; at=('index', (0, 4, 1), (1, 2, 2)))
x: f64[3,4,5], y: f64[2,4], q: i64[2], i: int -> f64[3,4,5] = index_update(x, y, q, i; at=('index', (0, 4, 1), 'index'))
x: f64[3,4,5], y: f64[3,2], q: i64[2] -> f64[3,4,5] = accumulate(x, y, q, 2; at=((0, 3, 1), 'index', 'index'), op='distinct')
x: f64[3,4,5], y: f64[2,5], k: i64[2], i: int -> f64[3,4,5] = accumulate(x, y, k, i; at=('index', 'index'), op='index')
x: f64[3,4,5], y: f64[5], k: i64[2] -> f64[3,4,5] = accumulate(x, y, k; at=('index',), op='index')
x: f64[3,4], y: f64[5], m: b8[3,4] -> f64[3,4] = accumulate(x, y, m; at=(('mask', 5, 2),), op='distinct')
x: f64[3,4], y: f64, m: b8[3,4] -> f64[3,4] = index_update(x, y, m; at=(('mask', None, 2),))
x: f64[3,4], y: f64[1], m: b8[3,4] -> f64[3,4] = index_update(x, y, m; at=(('mask', None, 2),))
x: f64[3,4], y: f64, m: b8[3] -> f64[3,4] = index_update(x, y, m; at=(('mask', None, 1),))
x: f64[3,4], y: f64[4], m: b8[3] -> f64[3,4] = index_update(x, y, m; at=(('mask', None, 1),))
x: f64[3,4], y: f64[1,4], m: b8[3] -> f64[3,4] = index_update(x, y, m; at=(('mask', None, 1),))
x: f64[3,4], y: f64[1,1,4], m: b8[3] -> f64[3,4] = index_update(x, y, m; at=(('mask', None, 1),))
x: f64[3,4], y: f64[1,1,1,4], m: b8[3] -> f64[3,4] = index_update(x, y, m; at=(('mask', None, 1),))
x: f32[3,4], y: f64[4], m: b8[3] -> f32[3,4] = index_update(x, y, m; at=(('mask', None, 1),))
x: f64[3,4], y: f32, m: b8[3] -> f64[3,4] = index_update(x, y, m; at=(('mask', None, 1),))
"""


def listed(line: str) -> Program:
    inputs, _, equation = line.partition(" -> ")
    program = parse_program(f"program f({inputs}) {{\n  v: {equation}\n  return v\n}}")
    verify(program)
    return program


def drawn(name: str, type: Type) -> Any:
    if type.dtype.kind == "b":
        count = 5 if type.dims == (3, 4) else 2
        return RNG.permutation(np.arange(type.count) < count).reshape(type.dims)
    if name in RANGES:
        found = RNG.integers(*RANGES[name], size=type.dims)
        return found if type.dims else int(found)
    if name in DISTINCT:
        return RNG.permutation(DISTINCT[name])[: type.count].reshape(type.dims)
    found = RNG.normal(size=type.dims).astype(type.dtype)
    return found if type.dims else found[()]


def values(program: Program, arguments: Any) -> Any:
    return evaluate(program, *copy.deepcopy(arguments))[0]


def test_each_item_is_as_if_alone() -> None:
    refused = 0
    for line in EQUATIONS.strip().split("\n"):
        program = listed(line)
        for flags in itertools.product((False, True), repeat=len(program.inputs)):
            if not any(flags):
                continue
            given = [[drawn(v.name, v.type) for v in program.inputs] for _ in range(SIZE)]
            items = [
                [
                    one if flag else first
                    for one, first, flag in zip(item, given[0], flags, strict=True)
                ]
                for item in given
            ]
            columns = list(zip(*items, strict=True))
            whole = [np.stack(c) if flag else c[0] for c, flag in zip(columns, flags, strict=True)]
            try:
                found, _ = batched(program, flags, SIZE)
            except LanguageError:
                assert "mask" in line or "f64[1,1,6]" in line, line
                refused += 1
                continue
            verify(found)
            expected = np.stack([values(program, item) for item in items])
            result = values(found, whole)
            assert result.dtype == expected.dtype
            np.testing.assert_allclose(
                result, expected, rtol=1e-14, err_msg=f"{line}\n{flags}\n{found}"
            )
    assert refused == 23  # a mask of each item, and a value with more axes than the part


def test_large_integers_beside_what_a_mask_selects() -> None:
    """They are no floats in between."""
    line = "x: i64[3], y: f64, m: b8[3] -> i64[3] = index_update(x, y, m; at=(('mask', None, 1),))"
    found, _ = batched(listed(line), (True, True, False), 2)
    x = np.arange(6).reshape(2, 3) + 2**60 + 1
    (result,) = evaluate(found, x.copy(), np.array([1.5, 2.5]), np.array([False, True, False]))
    np.testing.assert_array_equal(result[:, 1], [1, 2])
    np.testing.assert_array_equal(result[:, ::2], x[:, ::2])


def test_lists_are_added_item_by_item() -> None:
    program = listed(
        "x: stack[f64[2]], y: stack[f64[2]] -> stack[f64[2]] = accumulate(x, y; op='add')"
    )
    found, _ = batched(program, (True, True), SIZE)
    verify(found)
    x, y = ([RNG.normal(size=(SIZE, 2)) for _ in range(4)] for _ in "xy")
    total = values(found, [x, y])
    for one, a, b in zip(total, x, y, strict=True):
        np.testing.assert_array_equal(one, a + b)
