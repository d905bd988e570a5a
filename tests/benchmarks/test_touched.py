"""The elements that a program touches: each kind of equation by hand, loops, copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from examples.benchmarks.touched import count_touched
from stcompile.base.trees import follow
from stcompile.wengert.text import parse_program


def count(equations: str, *args: Any, inputs: str = "x: f64[3,4], y: f64[4]") -> int:
    """What a program with these equations touches, the last of which is its result."""
    result = equations.strip().splitlines()[-1].split(":")[0].strip()
    text = f"program f({inputs}) {{\n{equations}\nreturn {result}\n}}"
    return count_touched(parse_program(text), *args)


X, Y = np.arange(12.0).reshape(3, 4), np.arange(4.0)
ROW = "drop=(0,), length=(1, 4), start=((1,), (0,)), step=(1, 1)"


@pytest.mark.parametrize(
    ("equations", "expected"),
    [
        ("z: f64[3,4] = add(x, y)", 12 + 4 + 12),
        ("z: f64[3,4] = multiply(x, 2.0)", 12 + 12),
        ("z: f64 = sum(x; axis=(0, 1), keepdims=False)", 12 + 1),
        ("z: f64[3,4] = full(2.0; dtype=f64, shape=(3, 4))", 12),
        ("z: f64[4,3] = transpose(x; axes=(1, 0))", 0),
        (f"z: f64[4] = slice(x; {ROW})", 0),
        ("v: f64[3,4] = broadcast_to(y; shape=(3, 4))\nz: f64[3,4] = exp(v)", 4 + 12),
        (f"v: f64[4] = slice(x; {ROW})\nz: f64[4] = exp(v)", 4 + 4),
        ("z: f64 = slice(y; drop=(0,), length=(1,), start=((2,),), step=(1,))", 2),
        ("t: f64[4,3] = transpose(x; axes=(1, 0))\nz: f64[12] = reshape(t; shape=(12,))", 24),
        (
            "z: f64[3] = contract(x, y; batch=(), contracted=((1, 0),), order=(),"
            " spelling='matmul')",
            12 + 4 + 3,
        ),
    ],
)
def test_equations(equations: str, expected: int) -> None:
    assert count(equations, X, Y) == expected


WHOLE = 12 + 12  # `v = exp(x)`, and the arrays that are written below are v


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        (f"z: f64[3,4] = update(v, y; {ROW})", 4 + 4),
        (f"z: f64[3,4] = update(v, 0.0; {ROW})", 4),
        (f"z: f64[3,4] = accumulate(v, y; op='slice', {ROW})", 2 * 4 + 4),
        ("z: f64[3,4] = accumulate(v, x; op='add')", 2 * 12 + 12),
        ("z: f64[3,4] = index_update(v, y, i; at=('index',))", 2 * 4 + 4 + 2),
        ("z: f64[3,4] = accumulate(v, y, i; at=('index',), op='index')", 2 * 2 * 4 + 4 + 2),
        ("z: f64[3,4] = index_update(v, 0.0, m; at=(('mask', None, 2),))", 5 + 12),
    ],
)
def test_writes_count_what_they_write(equation: str, expected: int) -> None:
    inputs = "x: f64[3,4], y: f64[4], i: i64[2], m: b8[3,4]"
    rows, mask = np.array([0, 2]), X > 6.5
    found = count(f"v: f64[3,4] = exp(x)\n{equation}", X, Y, rows, mask, inputs=inputs)
    assert found == WHOLE + expected


ADDED = "z: f64[3,4] = accumulate(v, {0}; op='slice', " + ROW + ")"


def test_a_product_that_is_added_is_not_stored() -> None:
    """It is read where it is added; so is its negative, which is subtracted."""
    whole = "v: f64[3,4] = exp(x)\np: f64[4] = multiply(y, 2.0)\n"
    assert count(whole + ADDED.format("p"), X, Y) == WHOLE + 4 + 2 * 4
    signed = whole + "q: f64[4] = negative(p)\n"
    assert count(signed + ADDED.format("q"), X, Y) == WHOLE + 4 + 2 * 4
    again = "\nw: f64[3,4] = add(z, p)"  # which reads the product: it is stored
    assert count(whole + ADDED.format("p") + again, X, Y) == WHOLE + 8 + 12 + (12 + 4 + 12)
    outer = "p: f64[4,4] = contract(y, y; batch=(), contracted=(), order=(), spelling='')\n"
    added = "v: f64[4,4] = full(2.0; dtype=f64, shape=(4, 4))\n" + outer
    assert count(added + "z: f64[4,4] = accumulate(v, p; op='add')", X, Y) == 16 + 2 * 4 + 2 * 16
    summed = "p: f64[4,4] = contract(x, x; batch=(), contracted=((0, 0),), order=(), spelling='')\n"
    added = "v: f64[4,4] = full(2.0; dtype=f64, shape=(4, 4))\n" + summed
    stored = 16 + (2 * 12 + 16) + 3 * 16
    assert count(added + "z: f64[4,4] = accumulate(v, p; op='add')", X, Y) == stored
    other = "v: f64[3,4] = exp(x)\np: f64[4] = exp(y)\n"
    assert count(other + ADDED.format("p"), X, Y) == WHOLE + 8 + 12


def test_a_write_copies_what_is_read_later() -> None:
    write = f"v: f64[3,4] = exp(x)\nz: f64[3,4] = update(v, y; {ROW})\n"
    again = "w: f64[3,4] = add({0}, z)\n"
    assert count(write + again.format("x"), X, Y) == WHOLE + 8 + 36
    assert count(write + again.format("v"), X, Y) == WHOLE + 2 * 12 + 8 + 36


def test_arguments_are_copied_and_stay() -> None:
    before = X.copy()
    assert count(f"z: f64[3,4] = update(x, y; {ROW})", X, Y) == 2 * 12 + 8
    np.testing.assert_array_equal(X, before)


LOOP = """
a: f64[3,4], ys: f64[{n},4] = loop({first}, y; carry=1, constants=0, length={n},
  body=program body(t: int, c: f64[3,4], k: f64) {{
    v: f64[4] = slice(c; drop=(0,), length=(1, 4), start=((1,), (0,)), step=(1, 1))
    w: f64[4] = multiply(v, k)
    {later}
    d: f64[3,4] = update(c, w; drop=(0,), length=(1, 4), start=((1,), (0,)), step=(1, 1))
    return d, {kept}
  }})
z: f64[3,4] = exp(a)
"""


def test_loops_count_their_trips() -> None:
    step = (4 + 1 + 4) + (4 + 4) + 4  # a product, a write, and what is kept of the step
    own = "v: f64[3,4] = exp(x)" + LOOP.format(n=4, first="v", later="", kept="w")
    assert count(own, X, Y) == WHOLE + 4 * step + 24


def test_loops_copy_the_first_value_once() -> None:
    step = (4 + 1 + 4) + (4 + 4) + 4
    callers = LOOP.format(n=4, first="x", later="", kept="w")
    assert count(callers, X, Y) == 2 * 12 + 4 * step + 24


def test_steps_that_copy_the_state_count_it_each_time() -> None:
    """The old state is read after the new one is made."""
    text = """
    program f(x: f64[3,4], y: f64[4]) {
      a: f64[3,4], b: f64[3,4] = loop(x, x; carry=2, constants=0, length=4,
        body=program body(t: int, c: f64[3,4], o: f64[3,4]) {
          d: f64[3,4] = update(c, 0.0, t; drop=(0,1), length=(1, 1), start=((1,0), (0,1)),
                               step=(1, 1))
          return d, c
        })
      return a, b
    }"""
    (copies,) = {count_touched(parse_program(text), X, Y) - 4}
    assert copies >= 4 * 2 * 12


def test_branches_count_the_arm_that_is_taken() -> None:
    text = """
    program f(p: bool, x: f64[100]) {
      y: f64[100] = cond(p, x; otherwise=program otherwise(a: f64[100]) { return a },
        then=program then(a: f64[100]) { b: f64[100] = exp(a) return b })
      return y
    }"""
    program = parse_program(text)
    assert count_touched(program, True, np.ones(100)) == 200
    assert count_touched(program, False, np.ones(100)) == 0


def sweep(u: Any, n: int) -> Any:
    u = u.copy()
    for i in range(1, n):
        u[i] += 0.5 * u[i - 1]
    return np.sum(u * u)


def test_a_gradient_that_grows_with_the_whole_would_be_seen() -> None:
    """Rows of a constant width: what a sweep and its gradient touch grows with their number."""

    def touched(n: int) -> tuple[int, int]:
        u = np.ones((n, 8))
        found = []
        for compiled in (st.compile(sweep), st.value_and_grad(sweep)):
            bound = compiled.bind((u, n), {})
            staged = compiled.specialise(bound).staged
            leaves = (follow(bound.values[leaf.argument], leaf.path) for leaf in staged.leaves)
            found.append(count_touched(staged.program, *leaves))
        return found[0], found[1]

    (value, both), (values, boths) = touched(20), touched(80)
    assert 1 < both / value < 5
    assert boths / values == pytest.approx(both / value, rel=0.1)
