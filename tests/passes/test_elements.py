"""Arrays that loops over numbers read and write element by element, against the evaluator."""

# ruff: noqa: E501
from __future__ import annotations

import re
from typing import Any

import numpy as np

from stcompile.base.thresholds import UNPACKED
from stcompile.passes.kernels.elements import is_small, split_axes
from stcompile.passes.kernels.scalarise import scalarise
from stcompile.passes.kernels.writer import Writer
from stcompile.wengert.dims import Symbol, size_of
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Equation, Program, Variable, freeze
from stcompile.wengert.text import parse_program
from stcompile.wengert.types import Type
from stcompile.wengert.verify import verify

RNG = np.random.default_rng(8)
INTEGERS = {"i": 2, "j": -1, "k": [2, 0, 2, -1, 1], "l": [[1], [-2], [0], [3], [1]]}

CASES = """
# parts with strides, of what is computed
x: f64[11,12]
  a: f64[11,12] = sin(x)
  b: f64[11,4] = slice(a; drop=(), length=(11, 4), start=((10,), (1,)), step=(-1, 3))
  c: f64[4] = slice(a; drop=(0,), length=(1, 4), start=((4,), (11,)), step=(1, -2))
  d: f64[11,4] = multiply(b, c)
  return d

# windows, as they lie and in another order
x: f64[12,5]
  a: f64[12,5] = sin(x)
  b: f64[4,5,3] = windows(a; axis=(0,), start=(1,), count=(4,), step=(2,), size=(3,), dilation=(2,), order=())
  c: f64[4,5,3] = multiply(b, 2.0)
  e: f64[3,2,5,4] = windows(a; axis=(0, 1), start=(1, 0), count=(5, 2), step=(2, 1), size=(3, 4), dilation=(1, 1), order=(2, 1, 0, 3))
  f: f64[3,2,5,4] = multiply(e, 2.0)
  return c, f

# axes that are split, with axes of length 1
x: f64[6,10]
  a: f64[6,10] = sin(x)
  b: f64[2,3,10] = reshape(a; shape=(2, 3, 10))
  c: f64[2,3,10] = multiply(b, 2.0)
  d: f64[1,6,1,5,2] = reshape(a; shape=(1, 6, 1, 5, 2))
  e: f64[1,6,1,5,2] = multiply(d, 2.0)
  g: f64[6,1,10] = reshape(a; shape=(6, 1, 10))
  h: f64[6,1,10] = negative(g)
  i: f64[6,2,1,5] = reshape(h; shape=(6, 2, 1, 5))
  j: f64[6,2,1,5] = multiply(i, 2.0)
  return c, e, h, j

# axes that are joined
x: f64[4,5,1,3]
  a: f64[4,5,1,3] = sin(x)
  b: f64[20,3] = reshape(a; shape=(20, 3))
  c: f64[20,3] = multiply(b, 2.0)
  d: f64[1,4,15] = reshape(a; shape=(1, 4, 15))
  e: f64[1,4,15] = multiply(d, 2.0)
  return c, e

# diagonals above and below
x: f64[9,3,11]
  a: f64[9,3,11] = sin(x)
  b: f64[3,9] = diagonal(a; axis1=0, axis2=2, offset=1)
  c: f64[3,9] = multiply(b, 2.0)
  d: f64[3,7] = diagonal(a; axis1=0, axis2=2, offset=-2)
  e: f64[3,7] = multiply(d, 2.0)
  f: f64[3,9] = diagonal(a; axis1=0, axis2=2, offset=0)
  g: f64[3,9] = multiply(f, 2.0)
  h: f64[3,9] = diagonal(a; axis1=2, axis2=0, offset=-1)
  i: f64[3,9] = multiply(h, 2.0)
  return c, e, g, i

# numbers of rows and columns
x: f64[7,12], y: f64[13]
  a: i64[12] = arange(; dtype=i64, start=3, stop=39, step=3)
  b: f64[7,12] = multiply(x, a)
  c: f64[7,12] = eye(; n=7, m=12, k=2, dtype=f64)
  d: f64[7,12] = multiply(x, c)
  e: f64[7,12] = eye(; n=7, m=12, k=-1, dtype=f64)
  f: f64[7,12] = subtract(x, e)
  g: i64[13] = arange(; dtype=i64, start=12, stop=-1, step=-1)
  h: f64[13] = multiply(y, g)
  i: f64[7,12] = eye(; n=7, m=12, dtype=f64)
  j: f64[7,12] = add(x, i)
  return b, d, f, h, j

# elements by integers
x: f64[4,5,6], k: i64[5], l: i64[5,1], i: int
  a: f64[5,6] = index(x, k, k; at=('index', 'index'))
  b: f64[5,6] = multiply(a, 2.0)
  c: f64[5,5,5] = index(x, k, l; at=('index', (0, 5, 1), 'index'))
  h: f64[5,5,5] = multiply(c, 2.0)
  d: f64[5,2,6] = index(x, k; at=('index', (1, 2, 3)))
  e: f64[5,2,6] = multiply(d, 2.0)
  f: f64[5,5,3] = index(x, k, l; at=('index', 'index', (5, 3, -2)))
  g: f64[5,5,3] = multiply(f, 2.0)
  return b, e, g, h

# parts that are written, and that are read while they are
x: f64[7,8], y: f64[3,8], s: f64[8]
  w: f64[7,8] = sin(x)
  a: f64[3,8] = sin(y)
  b: f64[7,8] = update(w, a; drop=(), length=(3, 8), start=((1,), (0,)), step=(2, 1))
  c: f64[8] = sin(s)
  d: f64[7,8] = update(b, c; drop=(), length=(2, 8), start=((0,), (0,)), step=(4, 1))
  return d

# a part of an array that moves to another part of it
x: f64[12], y: f64[12], z: f64[12,3]
  a: f64[12] = sin(x)
  b: f64[11] = slice(a; drop=(), length=(11,), start=((0,),), step=(1,))
  c: f64[11] = multiply(b, 2.0)
  d: f64[12] = update(a, c; drop=(), length=(11,), start=((1,),), step=(1,))
  e: f64[12] = sin(y)
  f: f64[11] = slice(e; drop=(), length=(11,), start=((1,),), step=(1,))
  g: f64[11] = multiply(f, 2.0)
  h: f64[12] = update(e, g; drop=(), length=(11,), start=((0,),), step=(1,))
  i: f64[12,3] = sin(z)
  j: f64[12,3] = slice(i; drop=(), length=(12, 3), start=((11,), (2,)), step=(-1, -1))
  k: f64[12,3] = multiply(j, 2.0)
  l: f64[12,3] = update(i, k; drop=(), length=(12, 3), start=((0,), (0,)), step=(1, 1))
  return d, h, l

# rows and columns of steps, that are written to by others
x: f64[9,10]
  c: f64[9,10] = sin(x)
  y: f64[9,10] = loop(c; carry=1, constants=0, length=8, body=program body(i: int, x: f64[9,10]) {
    r: f64[10] = slice(x, i; drop=(0,), length=(1, 10), start=((0, 1), (9,)), step=(1, -1))
    v: f64[10] = multiply(r, 0.5)
    x.1: f64[9,10] = update(x, v, i; drop=(0,), length=(1, 10), start=((1, 1), (0,)), step=(1, 1))
    q: f64[9] = slice(x.1, i; drop=(1,), length=(9, 1), start=((0,), (2, 1)), step=(1, 1))
    w: f64[9] = multiply(q, 0.5)
    x.2: f64[9,10] = update(x.1, w, i; drop=(1,), length=(9, 1), start=((0,), (0, 1)), step=(1, 1))
    return x.2
  })
  return y

# parts of steps that move by two, of what is computed, and roots
x: f64[19,10]
  c: f64[19,10] = exp(x)
  e: f64[19,10] = power(c, 0.5)
  y: f64[9] = loop(e, x; carry=0, constants=2, length=9, body=program body(e: f64[19,10], x: f64[19,10], i: int) {
    q: f64[19,10] = multiply(e, x)
    r: f64[10] = slice(q, i; drop=(0,), length=(1, 10), start=((1, 2), (9,)), step=(1, -1))
    s: f64 = sum(r; axis=(0,), keepdims=False)
    return s
  })
  return y

# small arrays with other elements at parts that are known
x: f64[7,5], w: f64[7,2,3], y: f64[7,2]
  a: f64[7], b: f64[7] = loop(x, w, y; carry=0, constants=3, length=7, body=program body(x: f64[7,5], w: f64[7,2,3], y: f64[7,2], i: int) {
    r: f64[2] = slice(y, i; drop=(0,), length=(1, 2), start=((0, 1), (0,)), step=(1, 1))
    j: f64[5] = slice(x, i; drop=(0,), length=(1, 5), start=((0, 1), (0,)), step=(1, 1))
    k: f64[5] = sin(j)
    l: f64[5] = multiply(k, k)
    m: f64 = sum(l; axis=(0,), keepdims=False)
    p: f64[5] = update(k, r; drop=(), length=(2,), start=((4,),), step=(-3,))
    q: f64[5] = accumulate(p, r; drop=(), length=(2,), op='slice', start=((1,),), step=(2,))
    n: f64[5] = multiply(q, j)
    t: f64 = sum(n; axis=(0,), keepdims=False)
    c: f64[2,3] = slice(w, i; drop=(0,), length=(1, 2, 3), start=((0, 1), (0,), (0,)), step=(1, 1, 1))
    d: f64[2,3] = sin(c)
    e: f64[2,3] = multiply(d, d)
    s: f64[2,3] = update(d, r; drop=(1,), length=(2, 1), start=((0,), (1,)), step=(1, 1))
    f: f64[2,3] = multiply(s, e)
    u: f64 = sum(f; axis=(0, 1), keepdims=False)
    v: f64 = add(m, t)
    return v, u
  })
  return a, b

# sums along each of the axes, and products
x: f64[9,10,11], w: f64[11,10], u: f64[9,11]
  a: f64[9,10,11] = sin(x)
  b: f64[10,11] = sum(a; axis=(0,), keepdims=False)
  c: f64[9,1,11] = sum(a; axis=(1,), keepdims=True)
  d: f64[9,10] = sum(a; axis=(2,), keepdims=False)
  e: f64[11] = sum(a; axis=(0, 1), keepdims=False)
  f: f64[9,10] = contract(u, w; batch=(), contracted=((1, 0),), order=(), spelling='matmul')
  return b, c, d, e, f
"""

WHOLE = {"windows", "diagonal", "reshape", "eye"}
"""What is written for elements instead, or in place of it."""


def cases() -> dict[str, Program]:
    found = {}
    for part in CASES.strip().split("\n\n"):
        title, inputs, *lines = part.split("\n")
        program = parse_program("\n".join([f"program f({inputs}) {{", *lines, "}"]))
        verify(program)
        found[title.removeprefix("# ")] = program
    return found


def values(program: Program) -> list[Any]:
    found = []
    for v in program.inputs:
        given = INTEGERS.get(v.name, RNG.normal(size=v.type.dims))
        found.append(np.array(given) if v.type.dims else given)
    return found


def test_elements_are_those_of_the_arrays() -> None:
    for name, program in cases().items():
        after = scalarise(program)
        verify(after)
        left = re.findall(r"= (\w+)\(", str(after))
        assert ("loop" in left and WHOLE.isdisjoint(left)) or "joined" in name, name
        given = values(program)
        copies = [np.copy(v) if isinstance(v, np.ndarray) else v for v in given]
        pairs = zip(evaluate(after, *given), evaluate(program, *copies), strict=True)
        for at, (found, expected) in enumerate(pairs):
            np.testing.assert_allclose(
                found, expected, rtol=1e-12, err_msg=f"{name}, {at}\n{after}"
            )


def test_lengths_with_names_are_not_split() -> None:
    """An axis of length 1 beside them is no part of them."""
    n = size_of(Symbol("n.9", 2, None, typical=5))
    for before, after, is_known in (
        ((n,), (1, n), True),
        ((n, 6), (n, 2, 3), True),
        ((2 * n,), (2, n), False),
    ):
        x, y = (
            Variable(name, Type.array("f8", dims)) for name, dims in (("x", before), ("y", after))
        )
        equation = Equation((y,), "reshape", (x,), freeze({"shape": after}))
        assert (split_axes(Writer(), equation, [x]) is not None) is is_known


def test_calls_with_several_results_stay() -> None:
    program = parse_program("""
        program f(x: f64[3,30]) {
          a: f64[3,30] = sin(x)
          b: f64[3,30], c: f64[3,30] = call(a; adjoint=None, name='g', value=2, program=program g(a: f64[3,30]) {
            d: f64[3,30] = cos(a)
            return d, a
          })
          e: f64[3,30] = multiply(b, c)
          return e
        }""")
    after = scalarise(program)
    verify(after)
    assert " = call(" in str(after)
    given = values(program)
    (found,), (expected,) = (evaluate(p, *map(np.copy, given)) for p in (after, program))
    np.testing.assert_array_equal(found, expected)


def test_what_is_small_has_an_axis_and_an_element() -> None:
    small, others = [(1,), (2, 3)], [(), (0,), (3, 0), (UNPACKED + 1,)]
    assert all(is_small(Type.array("f8", dims)) for dims in small)
    assert not any(is_small(Type.array("f8", dims)) for dims in others)
    assert not is_small(Type.scalar("f8"))
