"""Patterns of dependence against those that are found by changing each element in turn."""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stcompile.analysis import sparsity
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Program
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify

pytest.importorskip("scipy.sparse")

RNG = np.random.default_rng(7)
NUMBERS = {"i": 1, "j": -2, "p": True, "n": 3}  # of inputs of these names
INTEGERS = {"k": [2, 0, 2], "l": [-1, 1, 0]}

EXACT = """
# numbers and axes of length 1 are spread
x: f64[3], y: f64[2,1], s: f64, c: f64[3]
  a: f64[2,3] = multiply(x, y)
  b: f64[2,3] = add(a, s)
  d: f64 = multiply(s, s)
  e: f64[3] = multiply(c, s)
  return b, d, e, y

# elements that are arranged
x: f64[2,3], y: f64[3], c: f64[3]
  a: f64[3,2] = transpose(x; axes=(1, 0))
  b: f64[6] = reshape(a; shape=(6,))
  d: f64[2] = slice(b; drop=(), length=(2,), start=((4,),), step=(-3,))
  e: f64[11] = concatenate(c, b, d; axis=0)
  f: f64[2,3] = stack(y, c; axis=0)
  g: f64[3,3] = stack(y, c, y; axis=1)
  h: f64[5] = pad(y; mode='constant', pad_width=((0, 2),), value=4.0)
  k: f64[2,3] = windows(h; axis=(0,), start=(1,), count=(2,), step=(1,), size=(3,), dilation=(1,), order=())
  l: f64[3] = diagonal(g; axis1=0, axis2=1, offset=0)
  m: f32[3] = cast(y; dtype=f32)
  return e, f, g, k, l, m

# known parts are written
x: f64[4,3], y: f64[2], c: f64[2]
  a: f64[4,3] = update(x, y; drop=(1,), length=(2, 1), start=((1,), (2,)), step=(2, 1))
  b: f64[4,3] = update(x, c; drop=(1,), length=(2, 1), start=((3,), (0,)), step=(-3, 1))
  d: f64[4,3] = index_update(a, y, 3; at=('index', (1, 2, 1)))
  e: f64[4,3] = index_update(b, 2.0, -1, -3; at=('index', 'index'))
  f: f64[4,3] = full(1.0; dtype=f64, shape=(4, 3))
  g: f64[4,3] = update(f, y; drop=(0,), length=(1, 2), start=((2,), (0,)), step=(1, 2))
  return a, b, d, e, g

# known parts are added to
x: f64[4,3], y: f64[2], s: f64, z: f64[1,3], c: f64[2]
  a: f64[4,3] = accumulate(x, y; drop=(1,), length=(2, 1), op='slice', start=((1,), (2,)), step=(2, 1))
  b: f64[4,3] = accumulate(x, c; drop=(1,), length=(2, 1), op='slice', start=((1,), (2,)), step=(2, 1))
  d: f64[4,3] = accumulate(x, s; drop=(0, 1), length=(1, 1), op='slice', start=((3,), (0,)), step=(1, 1))
  e: f64[4,3] = full(0.0; dtype=f64, shape=(4, 3))
  f: f64[4,3] = accumulate(e, y, 3; at=('index', (1, 2, 1)), op='index')
  g: f64[4,3] = accumulate(f, y, 3; at=('index', (0, 2, 2)), op='distinct')
  k: i64[2] = arange(; dtype=i64, start=0, stop=3, step=2)
  h: f64[4,3] = accumulate(x, z, k; at=('index', (0, 3, 1)), op='distinct')
  return a, b, d, f, g, h

# rows spread over rows
x: f64[4,3], z: f64[3], s: f64
  a: f64[4,3] = accumulate(x, z; drop=(), length=(2, 3), op='slice', start=((1,), (0,)), step=(2, 1))
  b: f64[4,3] = accumulate(x, s; drop=(), length=(2, 2), op='slice', start=((1,), (1,)), step=(2, 1))
  c: f64[4,3] = accumulate(x, a; op='add')
  return a, b, c

# sums and products along axes
x: f64[2,3,4], y: f64[2,4,3], c: f64[4,2]
  a: f64[2,4] = sum(x; axis=(1,), keepdims=False)
  b: f64[2,1,4] = sum(x; axis=(1,), keepdims=True)
  d: f64[2,3,3] = contract(x, y; batch=((0, 0),), contracted=((2, 1),), order=(), spelling='matmul')
  e: f64[2,3,2] = contract(x, c; batch=(), contracted=((2, 0),), order=(), spelling='matmul')
  f: f64[4,4,3] = contract(c, y; batch=(), contracted=((1, 0),), order=(), spelling='')
  return a, b, d, e, f

# steps with their counter: 41
x: f64[4], s: f64, c: f64[4]
  t: f64, y: f64[4], z: f64[4] = loop(c, s, x; carry=1, constants=1, length=4, body=program body(c: f64[4], i: int, s: f64, x: f64) {
    v: f64 = slice(c, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
    a: f64 = multiply(s, x)
    b: f64 = multiply(v, x)
    return a, a, b
  })
  return t, y, z

# steps the other way round, with rows and a list: 81
x: f64[3,2], u: f64[3]
  t: f64[3], y: f64[3,2] = loop(u, x; carry=1, constants=0, length=3, reverse=True, body=program body(i: int, u: f64[3], x: f64[2]) {
    s: f64 = sum(x; axis=(0,), keepdims=False)
    w: f64[3] = update(u, s, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
    q: f64 = slice(u, i; drop=(0,), length=(1,), start=((2, -1),), step=(1,))
    r: f64[2] = multiply(x, q)
    return w, r
  })
  return t, y

# a branch depends on either arm, and a call on what is given
x: f64[3], y: f64[3], p: bool
  a: f64[3], b: f64[3] = cond(p, x, y; then=program then(x: f64[3], y: f64[3]) {
    v: f64[3] = slice(x; drop=(), length=(3,), start=((2,),), step=(-1,))
    return v, y
  }, otherwise=program otherwise(x: f64[3], y: f64[3]) {
    v: f64[3] = slice(x; drop=(), length=(3,), start=((2,),), step=(-1,))
    return v, y
  })
  return a, b

# what depends on nothing
x: f64[2], c: f64[3]
  a: f64[3] = sin(c)
  return a, c, x

# indices that are computed
x: f64[6]
  k: i64[3] = arange(; dtype=i64, start=0, stop=3, step=1)
  l: i64[3] = multiply(k, 2)
  a: f64[3] = index(x, l; at=('index',))
  b: f64[3] = index(x, k; at=('index',))
  d: f64[6] = index_update(x, b, l; at=('index',))
  return a, d

# numbers of Python
x: f64[2]
  a: f64 = slice(x; drop=(0,), length=(1,), start=((1,),), step=(1,))
  b: float = to_python(a; dtype=f64)
  d: f64[] = asarray(b)
  return d

# a number out of an array of one
x: f64[1,1]
  a: float = to_python(x; dtype=f64)
  return a
"""

BOUNDED = """
# places that the data decide: 32
x: f64[4], y: f64, i: int
  a: f64 = slice(x, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
  b: f64[4] = update(x, y, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
  d: f64[4] = accumulate(x, y, i; drop=(0,), length=(1,), op='slice', start=((0, 1),), step=(1,))
  return a, b, d

# one number in a row that the data decide: 60
x: f64[4,3], y: f64[1], i: int
  b: f64[4,3] = update(x, y, i; drop=(0,), length=(1, 3), start=((0, 1), (0,)), step=(1, 1))
  return b

# as many steps as the data decide: 20
x: f64[3], y: f64[3], n: int
  a: f64[3], b: f64[3] = loop(n, y, x, y; carry=2, constants=1, length=None, body=program body(y: f64[3], i: int, x: f64[3], z: f64[3]) {
    v: f64[3] = slice(x; drop=(), length=(3,), start=((2,),), step=(-1,))
    w: f64[3] = multiply(v, y)
    return w, v
  })
  return a, b

# at a place that all steps know: 7
x: f64[4], n: int
  a: f64[4] = loop(n, 2, x; carry=1, constants=1, length=None, body=program body(k: int, i: int, x: f64[4]) {
    v: f64 = slice(x, k; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
    w: f64[4] = multiply(x, v)
    return w
  })
  return a

# while a number is small: 6
x: f64[3], y: f64[3], c: float
  a: f64[3], b: float = loop(y, x, c; carry=2, condition=program condition(y: f64[3], x: f64[3], c: float) {
    q: bool = less(c, 4.0)
    return q
  }, constants=1, length=None, body=program body(y: f64[3], x: f64[3], c: float) {
    v: f64[3] = multiply(x, y)
    w: float = add(c, 1.0)
    return v, w
  })
  return a, b

# one dependence, handed on: 3
x: f64, c: f64
  a: f64, b: f64, d: f64 = loop(x, c, c, c; carry=3, constants=1, length=20, body=program body(x: f64, i: int, a: f64, b: f64, d: f64) {
    v: f64 = sin(x)
    return v, a, b
  })
  return a, b, d

# two dependences, handed on: 6
x: f64[2], c: f64[2]
  a: f64[2], b: f64[2], d: f64[2] = loop(x, c, c, c; carry=3, constants=1, length=20, body=program body(x: f64[2], i: int, a: f64[2], b: f64[2], d: f64[2]) {
    v: f64[2] = sin(x)
    return v, a, b
  })
  return a, b, d

# axes without a map: 9
x: f64[3]
  a: f64[3] = sort(x; axis=0)
  return a
"""


def _cases(text: str) -> dict[str, tuple[Program, int | None]]:
    found = {}
    for part in text.strip().split("\n\n"):
        title, inputs, *lines = part.split("\n")
        name, _, count = title.removeprefix("# ").partition(": ")
        program = parse_program("\n".join([f"program f({inputs}) {{", *lines, "}"]))
        verify(program)
        found[name] = program, int(count) if count else None
    return found


def moving(program: Program) -> list[Any]:
    """The inputs that move: numbers with a fraction, but for those that stay the same."""
    return [v for v in program.inputs if v.type.inexact and v.name != "c"]


def values(program: Program) -> list[Any]:
    found: list[Any] = []
    for v in program.inputs:
        drawn = RNG.uniform(0.5, 1.5, size=v.type.dims)
        given = NUMBERS.get(v.name, INTEGERS.get(v.name))
        found.append(drawn if given is None else np.array(given) if v.type.dims else given)
    return [
        a if np.ndim(a) or v.type.dtype.kind != "f" else a[()]
        for a, v in zip(found, program.inputs)
    ]


def changed(program: Program) -> list[Any]:
    """The dependence of each output, found by changing each element of the inputs."""
    found: list[list[Any]] = [[] for _ in program.outputs]
    for at, variable in enumerate(program.inputs):
        for element in range(variable.type.count if variable in moving(program) else 0):
            rows = [np.zeros(atom.type.count, bool) for atom in program.outputs]
            for _ in range(3):
                before = values(program)
                after = list(before)
                other = np.array(after[at])
                other.flat[element] += RNG.uniform(0.1, 0.4)
                after[at] = other if variable.type.dims else other[()]
                pairs = zip(evaluate(program, *before), evaluate(program, *after), strict=True)
                for row, (one, another) in zip(rows, pairs, strict=True):
                    row |= np.ravel(np.asarray(one) != np.asarray(another))
            for column, row in zip(found, rows, strict=True):
                column.append(row)
    return [np.transpose(columns) for columns in found]


def patterns(program: Program) -> list[Any]:
    found = sparsity.pattern(program, moving(program), range(len(program.outputs)))
    return [matrix.toarray() != 0 for matrix in found]


EXACTLY, AT_MOST = _cases(EXACT), _cases(BOUNDED)


def assert_exact(name: str) -> None:
    program, _ = EXACTLY[name]
    for found, expected in zip(patterns(program), changed(program), strict=True):
        np.testing.assert_array_equal(found, expected, name)


def assert_bound(name: str, program: Program, count: int | None) -> None:
    found, expected = patterns(program), changed(program)
    assert not any(np.any(e & ~f) for f, e in zip(found, expected, strict=True)), name
    assert count is None or sum(int(f.sum()) for f in found) == count, name


def test_patterns_are_exact() -> None:
    for name in EXACTLY:
        assert_exact(name)


def test_patterns_miss_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparsity, "EXACT_STEPS", 10)
    for name, (program, count) in AT_MOST.items():
        assert_bound(name, program, count)


def test_steps_that_are_not_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four steps of three equations are too many for eleven."""
    monkeypatch.setattr(sparsity, "EXACT_STEPS", 12)
    assert_exact("steps with their counter")
    monkeypatch.setattr(sparsity, "EXACT_STEPS", 11)
    assert_bound("steps with their counter", *EXACTLY["steps with their counter"])
    monkeypatch.setattr(sparsity, "EXACT_STEPS", 0)
    for name, (program, count) in EXACTLY.items():
        assert_bound(name, program, count)


def test_large_values_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparsity, "KNOWN_ELEMENTS", 3)
    assert_exact("indices that are computed")
    monkeypatch.setattr(sparsity, "KNOWN_ELEMENTS", 2)
    assert_bound("indices that are computed", EXACTLY["indices that are computed"][0], 54)
