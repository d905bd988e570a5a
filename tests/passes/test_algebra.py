"""Algebra on small programs: what becomes simpler, and what stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.rebuild import in_adjoint
from stcompile.passes.phases import simplify
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.verify import verify
from tests.passes.texts import parse, primitives

RNG = np.random.default_rng(3)


@pytest.mark.parametrize(
    ("equations", "expected"),
    [
        ("y: f64[3] = multiply(x, 1.0)", []),
        ("y: f64[3] = multiply(-1, x)", ["negative"]),
        ("y: f64[3] = divide(x, 1)", []),
        ("a: f64[3] = negative(x) y: f64[3] = negative(a)", []),
        ("a: f64[3] = negative(x) y: f64[3] = add(x, a)", ["subtract"]),
        ("a: f64[3] = divide(1, x) y: f64[3] = multiply(2.0, a)", ["divide"]),
        ("a: f64[3] = divide(1, x) y: f64[3] = multiply(x, a)", ["broadcast_to"]),
        (
            "b: f64[3] = sin(x) a: f64[3] = divide(b, x) y: f64[3] = multiply(a, x)",
            ["sin"],
        ),
        (
            "b: f64 = mean(x; axis=(0,), keepdims=False) a: f64[3] = divide(b, x)"
            " y: f64[3] = multiply(a, x)",
            ["mean", "divide", "multiply"],
        ),
        ("y: f64[3] = reshape(x; shape=(3,))", []),
        ("y: f64[3] = cast(x; dtype=f64)", []),
        ("y: f32[3] = cast(x; dtype=f32)", ["cast"]),
        ("y: f64[3] = sum(x; axis=(), keepdims=False)", []),
        ("a: f64 = add(f64(1.0), 2.0) y: f64[3] = multiply(x, a)", ["multiply"]),
        ("a: f64[3] = negative(x) y: f64[3] = subtract(x, a)", ["multiply"]),
        (
            "a: f64[3] = negative(x) y: f64 = sum(a; axis=(0,), keepdims=False)",
            ["sum", "negative"],
        ),
        (
            "a: f64[3] = negative(x) b: f64[3,1] = expand_dims(a; axis=(1,))"
            " y: f64[3,1] = negative(b)",
            ["expand_dims"],
        ),
        (
            "a: f64[2,3] = broadcast_to(x; shape=(2, 3)) b: f64[2,1] = full(2.0; shape=(2, 1),"
            " dtype=f64) y: f64[2,3] = divide(a, b)",
            ["full", "divide"],
        ),
        (
            "a: f64[3] = broadcast_to(2.0; shape=(3,)) y: f64[3] = accumulate(x, a; op='add')",
            ["accumulate"],
        ),
        (
            "a: f64[] = broadcast_to(1.0; shape=()) b: f64 = to_scalar(a)"
            " y: f64[3] = multiply(b, x)",
            [],
        ),
    ],
)
def test_simplified(equations: str, expected: list[str]) -> None:
    program = parse(f"program f(x: f64[3]) {{ {equations} return y }}")
    assert simplify(program).equations == program.equations, "the primal is the user's"
    adjoint = in_adjoint(program)
    simple = eliminate_dead_code(simplify(adjoint))
    verify(simple)
    assert primitives(simple) == expected
    x = np.array([0.3, -2.0, 7.0])
    (found,), (exact,) = evaluate(simple, x), evaluate(program, x)
    np.testing.assert_allclose(found, exact, rtol=1e-15)
    assert found.dtype == exact.dtype


@pytest.mark.parametrize(
    "equation",
    [
        "y: f64[3] = multiply(x, f64(1.0))",  # float32 becomes float64
        "y: f64[3] = divide(x, f64(1.0))",
        "y: f32[2,3] = multiply(x, z)",  # a broadcast
        "a: f32[3,3] = broadcast_to(x; shape=(3, 3)) b: f32[3,3] = transpose(a; axes=(1, 0))"
        " y: f32[3,3] = sin(b)",  # of a square
        "a: f64[3] = broadcast_to(f64(2.0); shape=(3,)) b: f32[3] = cast(a; dtype=f32)"
        " y: f32[3] = multiply(b, b)",
        "a: f32[2,3] = broadcast_to(x; shape=(2, 3)) y: f32[2,3] = accumulate(a, x; op='add')",
        "a: f64[3] = broadcast_to(2.0; shape=(3,)) y: f64[3] = multiply(x, a)",  # not f32
    ],
)
def test_what_changes_the_type_stays(equation: str) -> None:
    program = parse(f"program f(x: f32[3], z: f32[2,1]) {{ {equation} return y }}")
    assert simplify(in_adjoint(program)).equations == program.equations


@pytest.mark.parametrize(
    ("equations", "expected"),
    [
        (
            "a: f64[1,1,2,3] = expand_dims(x; axis=(0, 1)) y: f64[6] = reshape(a; shape=(6,))",
            ["reshape"],
        ),
        ("a: f64[3,2] = reshape(x; shape=(3, 2)) y: f64[2,3] = reshape(a; shape=(2, 3))", []),
        ("a: f64[2,1,3] = expand_dims(x; axis=(1,)) y: f64[2,3] = squeeze(a; axis=(1,))", []),
        (
            "a: f64[3,2] = transpose(x; axes=(1, 0)) y: f64[2,3] = transpose(a; axes=(1, 0))",
            [],
        ),
        (
            "a: f64[1,2,3] = broadcast_to(x; shape=(1, 2, 3))"
            " y: f64[4,2,3] = broadcast_to(a; shape=(4, 2, 3))",
            ["broadcast_to"],
        ),
        (
            "a: f64[3,2] = reshape(x; shape=(3, 2)) y: f64[2,3] = transpose(a; axes=(1, 0))",
            ["reshape", "transpose"],
        ),
        (
            "a: f64[2,1,3] = expand_dims(x; axis=(1,)) y: f64[2,1,3,1] = expand_dims(a; axis=(3,))",
            ["expand_dims", "expand_dims"],
        ),
    ],
)
def test_views_of_views(equations: str, expected: list[str]) -> None:
    program = parse(f"program f(x: f64[2,3]) {{ {equations} return y }}")
    assert simplify(program) is program, "the primal is the user's"
    composed = eliminate_dead_code(simplify(in_adjoint(program)))
    verify(composed)
    assert primitives(composed) == expected
    x = np.arange(6.0).reshape(2, 3)
    (found,), (exact,) = evaluate(composed, x), evaluate(program, x)
    np.testing.assert_array_equal(found, exact)


def test_transposes_of_transposes() -> None:
    program = in_adjoint(
        parse("""
        program f(x: f64[2,3,4]) {
          a: f64[3,4,2] = transpose(x; axes=(1, 2, 0))
          b: f64[2,3,4] = transpose(a; axes=(2, 0, 1))
          c: f64[4,3,2] = transpose(a; axes=(1, 0, 2))
          return b, c
        }""")
    )
    composed = simplify(program)
    x = np.arange(24.0).reshape(2, 3, 4)
    assert composed.outputs[0] == composed.inputs[0]
    assert str(composed.equations[0]) == "c: f64[4,3,2] = transpose(x; axes=(2, 1, 0))"
    for found, exact in zip(evaluate(composed, x), evaluate(program, x), strict=True):
        np.testing.assert_array_equal(found, exact)


def test_choices_inside_choices_by_one_condition() -> None:
    program = parse("""
        program f(x: f64[3], c: b8[3], e: b8[3]) {
          a: f64[3] = where(c, x, 1.0)
          b: f64[3] = where(c, a, 0.0)
          d: f64[3] = where(c, 2.0, b)
          y: f64[3] = where(e, d, x)
          return b, y
        }
    """)
    simple = simplify(in_adjoint(program))
    assert [str(e).split(" = ")[1] for e in simple.equations] == [
        "where(c, x, 0.0)",
        "where(c, 2.0, 0.0)",
        "where(e, d, x)",
    ]
