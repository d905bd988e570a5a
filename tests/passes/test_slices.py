"""Slices move to the operands of what they take a part of."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.general.push_slices import push_slices
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.verify import verify
from tests.passes.texts import parse, primitives

RNG = np.random.default_rng(3)


ROWS = "drop=(), length=(2, 3), start=((1,), (0,)), step=(2, 1)"
BACKWARDS = "drop=(), length=(4, 2), start=((3,), (2,)), step=(-1, -2)"
ENTRY = "drop=(0, 1), length=(1, 1), start=((2,), (1,)), step=(1, 1)"
COLUMN = "drop=(1,), length=(4, 1), start=((0,), (2,)), step=(1, 1)"


@pytest.mark.parametrize(
    ("equations", "expected"),
    [
        (f"v: f64[4,3] = sin(x) y: f64[2,3] = slice(v; {ROWS})", ["slice", "sin"]),
        (f"v: f64[4,3] = add(x, c) y: f64[2,3] = slice(v; {ROWS})", ["slice", "slice", "add"]),
        (f"v: f64[4,3] = add(x, b) y: f64[2,3] = slice(v; {ROWS})", ["slice", "add"]),
        (
            f"v: f64[4,3] = multiply(x, b) y: f64[4,2] = slice(v; {BACKWARDS})",
            ["slice", "slice", "multiply"],
        ),
        (
            f"v: f64[4,3] = subtract(c, b) y: f64[4] = slice(v; {COLUMN})",
            ["slice", "slice", "subtract"],
        ),
        (
            f"v: f64[4,3] = subtract(c, b) w: f64[4,3] = multiply(v, 2.0)"
            f" y: f64 = slice(w; {ENTRY})",
            ["slice", "slice", "subtract", "multiply"],
        ),
        (
            f"v: f64[4,3] = sin(x) a: f64[2,3] = slice(v; {ROWS}) e: f64 = slice(v; {ENTRY})"
            " y: f64[2,3] = multiply(a, e)",
            ["slice", "sin", "slice", "sin", "multiply"],
        ),
        (
            f"v: f64[4,2] = slice(x; {BACKWARDS}) y: f64[1,2] ="
            " slice(v; drop=(), length=(1, 2), start=((2,), (1,)), step=(1, -1))",
            ["slice"],
        ),
        (
            "v: f64[3] = slice(x; drop=(0,), length=(1, 3), start=((2,), (0,)), step=(1, 1))"
            " y: f64 = slice(v; drop=(0,), length=(1,), start=((1,),), step=(1,))",
            ["slice"],
        ),
        (
            "v: f64[4,5] = contract(x, m; batch=(), contracted=((1, 0),), order=(), spelling='')"
            " y: f64[2,3] = slice(v; drop=(), length=(2, 3), start=((1,), (4,)), step=(2, -1))",
            ["slice", "slice", "contract"],
        ),
        (
            "v: f64[5,4] = contract(x, m; batch=(), contracted=((1, 0),), order=(1, 0),"
            " spelling='') y: f64[1,4] ="
            " slice(v; drop=(), length=(1, 4), start=((3,), (0,)), step=(1, 1))",
            ["slice", "contract"],
        ),
        (
            "v: f64[4,3,1] = contract(x, c; batch=((0, 0),), contracted=(), order=(),"
            " spelling='') y: f64[1,2,1] = slice(v; drop=(), length=(1, 2, 1),"
            " start=((3,), (1,), (0,)), step=(1, 1, 1))",
            ["slice", "slice", "contract"],
        ),
        (
            "v: f64[4,5] = contract(x, m; batch=(), contracted=((1, 0),), order=(), spelling='')"
            " y: f64[5] = slice(v; drop=(0,), length=(1, 5), start=((3,), (0,)), step=(1, 1))",
            ["slice", "contract", "squeeze"],
        ),
    ],
)
def test_slices_move_to_the_operands(equations: str, expected: list[str]) -> None:
    x, m = RNG.normal(size=(4, 3)), RNG.normal(size=(3, 5))
    c, b = RNG.normal(size=(4, 1)), RNG.normal(size=3)
    inputs = "x: f64[4,3], m: f64[3,5], c: f64[4,1], b: f64[3]"
    program = parse(f"program f({inputs}) {{ {equations} return y }}")
    pushed = push_slices(program)
    verify(pushed)
    assert primitives(pushed) == expected
    (found,), (exact,) = evaluate(pushed, x, m, c, b), evaluate(program, x, m, c, b)
    assert type(found) is type(exact)
    np.testing.assert_allclose(found, exact, rtol=1e-14)


def test_rows_that_nobody_reads_are_not_computed() -> None:
    """Neither in the primal nor in the adjoint."""

    def last(w, x):
        h = np.tanh(x @ w + 1.0)
        return np.sum(h[-1] * h[-1])

    w, x = RNG.normal(size=(3, 3)), RNG.normal(size=(500, 3))
    fast, readable = (st.value_and_grad(last, level=level) for level in ("fast", "readable"))
    programs = [made.program(w, x) for made in (fast, readable)]
    largest = [
        max(o.type.size for e in p.equations if e.primitive != "slice" for o in e.outputs)
        for p in programs
    ]
    assert largest == [w.size, x.size]
    for found, exact in zip(fast(w, x), readable(w, x), strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-13)


@pytest.mark.parametrize(
    "equations",
    [
        f"v: f64[4,3] = contract(x, q; batch=(), contracted=((1, 0),), order=(), spelling='')"
        f" y: f64 = slice(v; {ENTRY})",  # it would be no number
        f"v: f64[4,3] = sin(x) a: f64[2,3] = slice(v; {ROWS}) y: f64[4,3] = cos(v)",  # all is read
        f"v: f64[4,3] = sin(x) a: f64[4,2] = slice(v; {BACKWARDS}) y: f64[4,2] = slice(v;"
        f" {BACKWARDS})",  # twice: more than all
        f"v: f64[4,3] = sin(x) y: f64[4,3] = accumulate(v, x; op='add') a: f64[2,3] = slice(y;"
        f" {ROWS})",  # an output
        "v: f64[4,3] = sin(x) y: f64[3] = slice(v, k; drop=(0,), length=(1, 3),"
        " start=((0, 1), (0,)), step=(1, 1))",  # a row that is known at run time
        "v: f64[4,3] = cumsum(x; axis=0) y: f64[2,3] = slice(v; drop=(), length=(2, 3),"
        " start=((1,), (0,)), step=(2, 1))",
    ],
)
def test_slices_that_stay(equations: str) -> None:
    program = parse(f"program f(x: f64[4,3], q: f64[3,3], k: int) {{ {equations} return y }}")
    assert push_slices(program) is program
